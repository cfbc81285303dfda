/** v1 calls with texts that look like something else, in every resource that has texts. */
import type { JsonObject } from "../../../src/model/json.ts";
import { at, type Call, get, idOf, post, put, type Scenario, type Seen, without } from "./call.ts";
import { inPlace, madeBy, OWN_KEYS, place } from "./words.ts";

const TEXTS: readonly (readonly [what: string, text: string])[] = [
  ["JSON", '{"id":"a","uid":"b"}'],
  ["quotes and backslashes", '"\\"\\\\" \\u0041 \\n'],
  ["control letters", "\b\f\n\r\t\u0000\u001f\u007f"],
  ["what HTML escapes", "<b>&amp;</b>"],
  ["separators of lines", "\u2028\u2029"],
  ["letters of four bytes", "\u{1f600}\u{10ffff}"],
  ["letters of other scripts", "日本語 ключ עברית"],
  ["a name of v2", "createTime"],
  ["a capability of v2", "CAP_IAM_GROUPS_LIST"],
  ["a time", "2026-03-01T08:00:00Z"],
  ["a number", "12345678901234567890"],
  ["spaces", "  "],
  ["a long text", "x".repeat(70_000)],
];
const UNKNOWN =
  '"__proto__":{"polluted":true},"constructor":1,"unknown":[1e400,-0,12345678901234567890,"\\ud83d\\ude00"]';

interface Kind {
  readonly name: string;
  readonly collection: string;
  /** What a record needs beside its name. */
  readonly rest: (seen: Seen) => JsonObject;
}

const KINDS: readonly Kind[] = [
  { name: "groups", collection: "/iam/v1/groups", rest: () => ({}) },
  {
    name: "identities",
    collection: "/iam/v1/identities",
    rest: () => ({ claimMatch: { issuer: "https://i", subject: "s", claims: OWN_KEYS, claimPatterns: OWN_KEYS } }),
  },
  { name: "roles", collection: "/iam/v1/roles", rest: () => ({ capabilities: ["groups.list"] }) },
  {
    name: "identity providers",
    collection: "/iam/v1/identityProviders",
    rest: ({ known }) => ({
      defaultRole: known.role("viewer"),
      oidc: { issuer: "https://i", clientId: "c", pkceEnabled: true },
    }),
  },
  { name: "repos", collection: "/registry/v1/repos", rest: () => ({}) },
];

const described = ({ name, collection, rest }: Kind): Scenario => ({
  name: `texts of ${name}`,
  organisation: false,
  calls: [
    place,
    post("one", inPlace(collection), (seen) => ({ name: "one", ...rest(seen) })),
    ...TEXTS.flatMap(([what, description]): Call[] => [
      post(what, inPlace(collection), (seen) => ({ name: "text", description, ...rest(seen) }), {
        shows: { description },
      }),
      put(what, madeBy(collection, "one"), (seen) => ({ name: "one", description, ...rest(seen) }), {
        shows: (seen) => ({ description, ...without(rest(seen), "clientSecret") }),
      }),
    ]),
    put(
      "unknown members of every kind",
      madeBy(collection, "one"),
      (seen) => `{"name":"one",${JSON.stringify(rest(seen)).slice(1, -1) || '"description":""'},${UNKNOWN}}`,
      { shows: { description: "" } },
    ),
    post(
      "unknown members of every kind",
      inPlace(collection),
      (seen) => `{"name":"two",${JSON.stringify(rest(seen)).slice(1, -1) || '"description":""'},${UNKNOWN}}`,
    ),
    get("all of them", at(`${collection}?uidp.children_of=`, idOf("place")), { items: "some" }),
  ],
});

export const textScenarios: readonly Scenario[] = KINDS.map(described);
