/** v1 calls on identity providers. */
import type { Json, JsonObject } from "../../../src/model/json.ts";
import {
  at,
  type Call,
  del,
  get,
  idOf,
  post,
  put,
  type Scenario,
  type Seen,
  scenario,
  small,
  without,
} from "./call.ts";
import { alone, atPlace, badBodies, inPlace, MISSING, madeBy, otherMethods, place, strangers } from "./words.ts";

export const PROVIDERS = "/iam/v1/identityProviders";
const below = inPlace(PROVIDERS);
const one = madeBy(PROVIDERS, "one");
const listed = at(`${PROVIDERS}?uidp.children_of=`, idOf("place"));
const itself = at(`${PROVIDERS}?id=`, idOf("one"));
export const OIDC: JsonObject = { issuer: "https://issuer.example.com", clientId: "client", clientSecret: "s3cret" };
export const FULL: JsonObject = {
  ...OIDC,
  additionalScopes: ["email", "groups"],
  groupsClaim: "groups",
  correlationRule: "CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID",
  pkceEnabled: true,
};
const NO_SECRET = without(OIDC, "clientSecret");

/** A provider's members, with the built-in role `viewer` and what else is given. */
export const provider =
  (name: string, oidc: Json, extra: JsonObject = {}) =>
  (seen: Seen): JsonObject => ({ name, defaultRole: seen.known.role("viewer"), oidc, ...extra });

/** A place, and in it `one`. */
export const anew: readonly Call[] = [place, post("one", below, provider("one", FULL, { description: "d" }))];

const creating: readonly Scenario[] = [
  atPlace("creating identity providers", [
    post("one: its secret is never shown", below, provider("one", FULL, { description: "d" }), {
      shows: ({ known }) => ({
        name: "one",
        description: "d",
        defaultRole: known.role("viewer"),
        oidc: { ...FULL, clientSecret: "" },
        scim: null,
      }),
    }),
    post("with a secret only", below, provider("two", OIDC), {
      shows: {
        description: "",
        oidc: {
          ...OIDC,
          clientSecret: "",
          additionalScopes: [],
          groupsClaim: "",
          correlationRule: "CORRELATION_RULE_UNSPECIFIED",
          pkceEnabled: false,
        },
      },
    }),
    post("without a secret", below, provider("three", { ...NO_SECRET, pkceEnabled: true }), {
      shows: { oidc: { pkceEnabled: true } },
    }),
    post(
      "in the other spelling",
      below,
      (seen) => ({
        name: "four",
        default_role: seen.known.role("editor"),
        oidc: {
          issuer: "https://i",
          client_id: "c",
          client_secret: "s",
          additional_scopes: ["a"],
          groups_claim: "g",
          correlation_rule: "CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID",
          pkce_enabled: true,
        },
      }),
      {
        shows: {
          oidc: {
            clientId: "c",
            additionalScopes: ["a"],
            groupsClaim: "g",
            correlationRule: "CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID",
            pkceEnabled: true,
          },
        },
      },
    ),
    post("with a rule by its number", below, provider("five", { ...OIDC, correlationRule: 2 }), {
      shows: { oidc: { correlationRule: "CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID" } },
    }),
    post("with the rule zero", below, provider("six", { ...OIDC, correlationRule: 0 })),
    post("with a rule that nobody knows", below, provider("seven", { ...OIDC, correlationRule: "BY_CHANCE" }), {
      shows: { oidc: { correlationRule: "CORRELATION_RULE_UNSPECIFIED" } },
    }),
    post(
      "members of the server do nothing",
      below,
      provider("eight", OIDC, {
        id: "mine",
        createdAt: "2001-01-01T00:00:00Z",
        createTime: "t",
        scim: { enabled: true, endpointUrl: "https://mine", etag: "e" },
      }),
      { shows: { scim: null } },
    ),
    post(
      "null members are left out",
      below,
      provider("nine", { ...OIDC, groupsClaim: null, additionalScopes: null }, { description: null, scim: null }),
    ),
    post(
      "explicit zeros",
      below,
      provider("ten", { ...OIDC, additionalScopes: [], groupsClaim: "", pkceEnabled: false }, { description: "" }),
    ),
    get("all of them", listed, { items: 10 }),
    get("one by id", at(`${PROVIDERS}?id=`, idOf("one: its secret is never shown")), { items: 1 }),
  ]),
  atPlace("identity providers that cannot be created", [
    ...badBodies((name, body, status) => post(name, below, body, status), "name"),
    post("without a name", below, (seen) => without(provider("x", OIDC)(seen), "name"), 400, { field: "name" }),
    post("with both spellings", below, (seen) => ({ ...provider("x", OIDC)(seen), default_role: "x" }), 400),
    post("with both spellings within", below, provider("x", { ...OIDC, client_id: "c" }), 400),
    post("with a text for a message", below, provider("x", "oidc"), 400),
    post("with a list for a message", below, provider("x", [OIDC]), 400),
    post("with a text for a list", below, provider("x", { ...OIDC, additionalScopes: "email" }), 400),
    post("with a number in a list", below, provider("x", { ...OIDC, additionalScopes: [1] }), 400),
    post("with a text for a truth", below, provider("x", { ...OIDC, pkceEnabled: "true" }), 400),
    post("with a truth for a rule", below, provider("x", { ...OIDC, correlationRule: true }), 400),
    post("with a list for a role", below, (seen) => ({ ...provider("x", OIDC)(seen), defaultRole: [] }), 400),
    post("below a group that is not there", `${PROVIDERS}/${MISSING}`, provider("x", OIDC), 404),
    ...strangers((name, status, extra) => post(name, below, provider("x", OIDC), status, extra)),
    get("none of them is there", listed, { items: 0 }),
  ]),
];

const replacing: readonly Scenario[] = [
  small("replacing identity providers", [
    ...anew,
    put(
      "another description, the secret left out",
      one,
      provider("one", without(FULL, "clientSecret"), { description: "e" }),
      { shows: { description: "e", oidc: { additionalScopes: ["email", "groups"], clientSecret: "" } } },
    ),
    put("another secret", one, provider("one", { ...FULL, clientSecret: "new" }, { description: "e" }), {
      shows: { oidc: { clientSecret: "" } },
    }),
    put("an empty secret is none", one, provider("one", { ...FULL, clientSecret: "" }, { description: "e" })),
    put("what is left out is cleared", one, provider("one", NO_SECRET), {
      shows: { description: "", oidc: { additionalScopes: [], groupsClaim: "", pkceEnabled: false } },
    }),
    put("the rule is left out, or zero: it stays", one, provider("one", { ...NO_SECRET, correlationRule: 0 }), {
      shows: { oidc: { correlationRule: "CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID" } },
    }),
    put("the same rule", one, provider("one", without(FULL, "clientSecret"))),
    put("the same rule by its number", one, provider("one", { ...NO_SECRET, correlationRule: 1 })),
    put("a rule that nobody knows is none", one, provider("one", { ...NO_SECRET, correlationRule: "X" })),
    put("another rule", one, provider("one", { ...FULL, correlationRule: 2 }), 400),
    put(
      "another role",
      one,
      (seen) => ({ ...provider("one", NO_SECRET)(seen), defaultRole: seen.known.role("owner") }),
      { shows: ({ known }) => ({ defaultRole: known.role("owner") }) },
    ),
    put("another issuer and client", one, provider("one", { issuer: "https://other", clientId: "other" }), {
      shows: { oidc: { issuer: "https://other", clientId: "other" } },
    }),
    put("another name", one, provider("uno", FULL, { description: "d" }), { shows: { name: "uno" } }),
    get("it", itself, { items: 1, every: { name: "uno" } }),
    put("what a read gave", one, alone("it"), { shows: (seen) => without(alone("it")(seen), "updatedAt") }),
    put(
      "what a read gave, with another scope",
      one,
      (seen) => ({
        ...alone("it")(seen),
        oidc: { ...(alone("it")(seen)["oidc"] as JsonObject), additionalScopes: ["one", "two", "one"] },
      }),
      { shows: { oidc: { additionalScopes: ["one", "two", "one"] } } },
    ),
    put("unknown members do nothing", one, provider("uno", { ...NO_SECRET, colour: 1 }, { uid: "u", a: [] })),
    put(
      "members of the server do nothing",
      one,
      provider("uno", NO_SECRET, { id: "x", updatedAt: "2001-01-01T00:00:00Z", scim: { enabled: true } }),
      { shows: { scim: null } },
    ),
    put(
      "in the other spelling",
      one,
      (seen) => ({
        name: "uno",
        default_role: seen.known.role("viewer"),
        oidc: { issuer: "https://i", client_id: "c", client_secret: "s", additional_scopes: ["a"], groups_claim: "g" },
      }),
      { shows: { oidc: { clientId: "c", additionalScopes: ["a"], groupsClaim: "g" } } },
    ),
    get("it as it is now", itself, { items: 1 }),
  ]),
  small("identity providers that cannot be replaced", [
    ...anew,
    ...badBodies((name, body, status) => put(name, one, body, status), "name"),
    put("without a name", one, (seen) => without(provider("x", NO_SECRET)(seen), "name"), 400, { field: "name" }),
    put("with a number for a secret", one, provider("one", { ...OIDC, clientSecret: 1 }), 400),
    put("one that is not there", `${PROVIDERS}/${MISSING}`, provider("x", OIDC), 404),
    ...strangers((name, status, extra) => put(name, one, provider("x", OIDC), status, extra)),
    ...otherMethods(one, ["PATCH", "HEAD"]),
    get("it is as it was", itself, { items: 1, every: { name: "one", description: "d" } }),
    ...strangers((name, status, extra) => del(name, one, status, extra)),
    del("it", one, { shows: {} }),
    del("it once more", one, 404),
    get("it is gone", itself, { items: 0 }),
  ]),
  scenario("identity providers of the organisation, read and written back", [
    get("all", PROVIDERS, { items: "some" }),
    get("okta", `${PROVIDERS}?name=okta`, { items: 1 }),
    get("entra", `${PROVIDERS}?name=entra`, { items: 1, every: { scim: { enabled: true } } }),
    put("okta", madeBy(PROVIDERS, "okta"), alone("okta")),
    put("entra", madeBy(PROVIDERS, "entra"), alone("entra")),
    get("okta by id", at(`${PROVIDERS}?id=`, idOf("okta")), {
      items: 1,
      every: (seen) => without(alone("okta")(seen), "updatedAt"),
    }),
    get("entra by id", at(`${PROVIDERS}?id=`, idOf("entra")), {
      items: 1,
      every: (seen) => without(alone("entra")(seen), "updatedAt"),
    }),
  ]),
];

export const identityProviderScenarios: readonly Scenario[] = [...creating, ...replacing];
