/** v1 calls on role bindings in batches. */
import type { Json, JsonObject } from "../../../src/model/json.ts";
import { at, type Call, escapedId, get, idOf, post, type Scenario, type Seen } from "./call.ts";
import { atPlace, inPlace, MISSING, otherMethods, strangers } from "./words.ts";

const BATCH = "/iam/v1/rolebindings/batch";
const here = inPlace(BATCH);
const listed = at("/iam/v1/rolebindings?uidp.children_of=", idOf("place"));

const person = (number: number): Call =>
  post(`person ${number}`, inPlace("/iam/v1/identities"), {
    name: `person ${number}`,
    claimMatch: { issuer: "https://i", subject: `s${number}` },
  });
const people: readonly Call[] = [1, 2, 3].map(person);
const binding = (seen: Seen, number: number, role = "viewer"): JsonObject => ({
  identity: seen.id(`person ${number}`),
  role: seen.known.role(role),
});
const batch = (name: string, body: Call["body"], extra: Partial<Call> = {}): Call => post(name, here, body, extra);

export const batchScenarios: readonly Scenario[] = [
  atPlace("role bindings by the batch", [
    ...people,
    batch("of one", (seen) => [binding(seen, 1)]),
    batch("of two", (seen) => [binding(seen, 2), binding(seen, 3, "editor")]),
    batch("of 25", (seen) => Array.from({ length: 25 }, (_, index) => binding(seen, (index % 3) + 1, "owner"))),
    batch("of one kind twice", (seen) => [binding(seen, 1), binding(seen, 1)]),
    batch("of another group in the body", (seen) => [{ ...binding(seen, 1), group: seen.known.root }]),
    batch("members of the server do nothing", (seen) => [{ ...binding(seen, 1), id: "mine", createdAt: "t" }]),
    batch("unknown members do nothing", (seen) => [{ ...binding(seen, 1), identityUid: "x", roleUid: "y", a: [] }]),
    batch("null members are left out", (seen) => [{ ...binding(seen, 1), group: null, id: null }]),
    post("with %2F", at(`${BATCH}/`, escapedId("place")), (seen) => [binding(seen, 1)]),
    post(
      "with spaces around it",
      here,
      (seen) => ` \r\n[\t${JSON.stringify(binding(seen, 1))} ,\n${JSON.stringify(binding(seen, 2))}] `,
    ),
    get("all of them", listed, { items: 37 }),
  ]),
  atPlace("the answer of a batch is in its order", [
    ...people,
    batch("three", (seen) => [binding(seen, 3), binding(seen, 1, "owner"), binding(seen, 2, "editor")]),
    get("all of them", listed, { items: 3 }),
  ]),
  atPlace("batches that are refused as a whole", [
    ...people,
    post("an object", here, (seen) => binding(seen, 1), 400),
    post("a wrapper", here, (seen) => ({ roleBindings: [binding(seen, 1)] }), 400),
    post("null", here, null, 400),
    post("a text", here, '"x"', 400),
    post("bad JSON", here, (seen) => `[${JSON.stringify(binding(seen, 1))}`, 400),
    post("a trailing comma", here, (seen) => `[${JSON.stringify(binding(seen, 1))},]`, 400),
    ...bad("null in it", null),
    ...bad("a text in it", "x"),
    ...bad("an array in it", []),
    ...bad("a number for an identity in it", { identity: 1, role: "x" }),
    ...bad("an object for a role in it", { identity: "x", role: {} }),
    post(
      "one name twice in it",
      here,
      (seen) => `[${JSON.stringify(binding(seen, 1))},{"identity":"a","identity":"b","role":"c"}]`,
      400,
    ),
    post("one without a role", here, (seen) => [binding(seen, 1), { identity: seen.id("person 2") }], 400),
    post("one without an identity", here, (seen) => [binding(seen, 1), { role: seen.known.role("viewer") }], 400),
    post("one of nothing", here, (seen) => [binding(seen, 1), {}], 400),
    post(
      "one of a role that is not there",
      here,
      (seen) => [binding(seen, 1), { ...binding(seen, 2), role: MISSING }],
      404,
    ),
    post(
      "one of an identity that is not there",
      here,
      (seen) => [binding(seen, 1), { ...binding(seen, 2), identity: MISSING }],
      404,
    ),
    post("of a group that is not there", `${BATCH}/${MISSING}`, (seen) => [binding(seen, 1)], 404),
    ...strangers((name, status, extra) => post(name, here, (seen) => [binding(seen, 1)], status, extra)),
    ...otherMethods(here, ["PATCH", "HEAD"]),
    get("none of them is there", listed, { items: 0 }),
  ]),
];

/** A batch whose second element is no binding. */
function bad(name: string, element: Json): readonly Call[] {
  return [post(name, here, (seen) => [binding(seen, 1), element], 400)];
}
