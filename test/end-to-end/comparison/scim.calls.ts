/** v1 calls on the SCIM tokens with which users are provisioned into an identity provider. */
import type { Json, JsonObject } from "../../../src/model/json.ts";
import { at, type Call, get, idOf, post, put, rootId, type Scenario, type Seen, small, without } from "./call.ts";
import { anew, FULL, OIDC, PROVIDERS, provider } from "./identity-providers.calls.ts";
import { inPlace, MISSING, madeBy, strangers } from "./words.ts";

const below = inPlace(PROVIDERS);
const one = madeBy(PROVIDERS, "one");
const listed = at(`${PROVIDERS}?uidp.children_of=`, idOf("place"));
const itself = at(`${PROVIDERS}?id=`, idOf("one"));

/** A verb on the provider `one`. */
const verb = (name: string): ((seen: Seen) => string) => madeBy(PROVIDERS, "one", `:${name}`);
const generate = verb("generateScimToken");
const regenerate = verb("regenerateScimToken");
const revoke = verb("revokeScimToken");
const enable = verb("setScimEnabled");
/** The etag in the answer of `call`. */
const etag = (call: string, extra: JsonObject = {}) => {
  return (seen: Seen): JsonObject => ({ etag: (seen.answer(call) as JsonObject)["etag"] as Json, ...extra });
};
const ofOne = (seen: Seen): JsonObject => ({ identityProviderId: seen.id("one") });

/** Two people that own the place by hand, without whom provisioning cannot be enabled. */
const owners: readonly Call[] = [1, 2].flatMap((number) => [
  post(`owner ${number}`, inPlace("/iam/v1/identities"), {
    name: `owner ${number}`,
    claimMatch: { issuer: "https://i", subject: `s${number}` },
  }),
  post(`owner ${number} of the root`, at("/iam/v1/rolebindings/", rootId), (seen) => ({
    identity: seen.id(`owner ${number}`),
    role: seen.known.role("owner"),
  })),
]);

export const scimScenarios: readonly Scenario[] = [
  small("SCIM tokens of an identity provider", [
    ...anew,
    post("regenerate before there is one", regenerate, { etag: "x" }, 404),
    post("until a time and for ever", generate, { expireTime: "2027-01-01T00:00:00Z", neverExpires: true }, 400),
    post("generate", generate, {}, { shows: ofOne }),
    get("its state", itself, { items: 1 }),
    get("its state in the list", listed, { items: 1 }),
    post("generate once more", generate, {}, 400, { code: 9 }),
    post("regenerate without an etag", regenerate, {}, 400),
    post(
      "regenerate until a time and for ever",
      regenerate,
      etag("generate", { expireTime: "2027-01-01T00:00:00Z", neverExpires: true }),
      400,
    ),
    post("regenerate", regenerate, etag("generate"), { shows: ofOne }),
    get("its state while both are good", itself, { items: 1 }),
    post("regenerate with an overlap", regenerate, etag("regenerate", { overlap: "7200s" }), {
      shows: { requestedOverlap: "7200s" },
    }),
    post("regenerate at once", regenerate, etag("regenerate with an overlap", { overlap: "0s" }), {
      shows: { requestedOverlap: "0s" },
    }),
    post("regenerate in the other spelling", regenerate, etag("regenerate at once", { never_expires: true })),
    get("its state for ever", itself, { items: 1 }),
    post(
      "regenerate until a time",
      regenerate,
      etag("regenerate in the other spelling", { expire_time: "2027-01-01T00:00:00+02:00" }),
      { shows: { expireTime: "2026-12-31T22:00:00Z" } },
    ),
    put("replaced, its tokens stay", one, provider("one", without(FULL, "clientSecret"))),
    post("revoke", revoke, {}, { shows: ofOne }),
    get("its state revoked", itself, { items: 1 }),
    post("revoke once more", revoke, {}),
    post("generate after that", generate, undefined, { shows: ofOne }),
  ]),
  small("SCIM tokens with an end", [
    ...anew,
    post("without a body", generate, undefined, { shows: ofOne }),
    post("two", below, provider("two", OIDC)),
    post(
      "until a time",
      madeBy(PROVIDERS, "two", ":generateScimToken"),
      { expireTime: "2026-06-01T00:00:00.5Z" },
      { shows: { expireTime: "2026-06-01T00:00:00.500Z" } },
    ),
    post("three", below, provider("three", OIDC)),
    post("for ever", madeBy(PROVIDERS, "three", ":generateScimToken"), { neverExpires: true }, 200, {
      shows: { expireTime: null },
    }),
    post("four", below, provider("four", OIDC)),
    post(
      "of another in the body",
      madeBy(PROVIDERS, "four", ":generateScimToken"),
      (seen) => ({ identityProviderId: seen.id("one"), neverExpires: false }),
      { shows: (seen) => ({ identityProviderId: seen.id("four") }) },
    ),
    post("five", below, provider("five", OIDC)),
    post("unknown members", madeBy(PROVIDERS, "five", ":generateScimToken"), { identityProviderUid: "x", colour: [] }),
    get("all of them", listed, { items: 5 }),
  ]),
  small("SCIM on and off", [
    ...anew,
    post("generate", generate, {}),
    post("on, without owners", enable, etag("generate", { enabled: true }), 400, { code: 9 }),
    ...owners,
    post("on, without an etag", enable, { enabled: true }, 400),
    post("on", enable, etag("generate", { enabled: true }), { shows: (seen) => ({ ...ofOne(seen), enabled: true }) }),
    get("it is on", itself, { items: 1, every: { scim: { enabled: true } } }),
    put("replaced, it stays on", one, provider("one", without(FULL, "clientSecret"))),
    post("revoke", revoke, {}, { shows: { enabled: true } }),
    post("off", enable, etag("revoke", { enabled: false }), { shows: (seen) => ({ ...ofOne(seen), enabled: false }) }),
    get("it is off", itself, { items: 1, every: { scim: { enabled: false } } }),
    post("off, left out", enable, etag("off"), { shows: { enabled: false } }),
  ]),
  small("SCIM verbs that are refused", [
    ...anew,
    ...[generate, regenerate, revoke, enable].flatMap((path, index) => {
      const which = ["generate", "regenerate", "revoke", "set enabled"][index] ?? "";
      const name = ["generateScimToken", "regenerateScimToken", "revokeScimToken", "setScimEnabled"][index] ?? "";
      return [
        post(`${which} with bad JSON`, path, "{", 400),
        post(`${which} with null`, path, null, 400),
        post(`${which} with an array`, path, [], 400),
        ...strangers((who, status, extra) => post(`${which} ${who}`, path, { etag: "x" }, status, extra)),
        post(`${which} where there is none`, `${PROVIDERS}/${MISSING}:${name}`, { etag: "x" }, 404),
      ];
    }),
    post("generate until no time", generate, { expireTime: "soon" }, 400),
    post("generate for ever, as a text", generate, { neverExpires: "true" }, 400),
    post("generate in both spellings", generate, { neverExpires: true, never_expires: true }, 400),
    post("regenerate with no duration", regenerate, { etag: "x", overlap: "1h" }, 400),
    post("regenerate with a number for one", regenerate, { etag: "x", overlap: 3600 }, 400),
    post("regenerate with a number for an etag", regenerate, { etag: 1 }, 400),
    post("set enabled, by a number", enable, { etag: "x", enabled: 1 }, 400),
    get("nothing was made", itself, { items: 1, every: { scim: null } }),
  ]),
];
