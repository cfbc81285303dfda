/** v1 calls that look up identities, and the caller's own identity and groups. */
import { at, type Call, elsewhereId, escapedId, get, idOf, post, type Scenario, scenario } from "./call.ts";
import { inPlace, MISSING, otherMethods, place } from "./words.ts";

const LOOKUP = "/iam/v1/identities/lookup";
const claims = (issuer: string, subject: string): string =>
  `${LOOKUP}?issuer=${encodeURIComponent(issuer)}&subject=${encodeURIComponent(subject)}`;
const identities = inPlace("/iam/v1/identities");
const created: readonly Call[] = [
  place,
  post("one", identities, { name: "one", description: "d", claimMatch: { issuer: "https://i", subject: "s" } }),
  post("odd", identities, { name: "odd", claimMatch: { issuer: "https://i/?a=b&c", subject: "user|+ %/é" } }),
  post("of keys", identities, { name: "keys", static: { issuer: "https://k", subject: "k", issuerKeys: "{}" } }),
  post("of a pattern", identities, { name: "pattern", claimMatch: { issuer: "https://p", subjectPattern: ".*" } }),
];

const identitiesByClaims: readonly Scenario[] = [
  scenario("identities by their claims", [
    ...created,
    get("one", claims("https://i", "s"), { shows: (seen) => ({ id: seen.id("one"), name: "one" }) }),
    get("one with what needs escapes", claims("https://i/?a=b&c", "user|+ %/é"), {
      shows: (seen) => ({ id: seen.id("odd") }),
    }),
    get("one of the seed", ({ known }) => claims(known.claims.issuer, known.claims.subject)),
    get("one as a viewer", claims("https://i", "s"), { as: "viewer", shows: (seen) => ({ id: seen.id("one") }) }),
    get("parameters in another order", `${LOOKUP}?subject=s&issuer=https://i`, {
      shows: (seen) => ({ id: seen.id("one") }),
    }),
    get("unknown parameters do nothing", `${claims("https://i", "s")}&id=x&uid=y&name=z`, {
      shows: (seen) => ({ id: seen.id("one") }),
    }),
    get("two subjects", `${LOOKUP}?issuer=https://i&subject=a&subject=b`, 400),
    get("without a token", claims("https://i", "s"), 401, { as: "anonymous" }),
    get("with a forged token", claims("https://i", "s"), 401, { as: "forged" }),
    ...otherMethods(LOOKUP, ["PATCH", "HEAD"]),
  ]),
  scenario("identities that nobody has", [
    get("nobody", claims("https://i", "nobody"), 404),
    get("nobody of another issuer", claims("https://nobody", "s"), 404),
  ]),
];

const GROUPS = "/iam/v1/groups";
const DOMAIN: Call = post(
  "domain",
  `${GROUPS}/`,
  { name: "acme.example", description: "d", verified: true, kind: "ORG_KIND_CUSTOMER" },
  { as: "staff" },
);
const PERSON = { as: "person" } as const;
const request = at(`${GROUPS}/`, idOf("domain"), ":requestGroupAccess");

const groupsOfPeople: readonly Scenario[] = [
  scenario("the group of a person", [
    get("before there is one", `${GROUPS}:lookupGroup`, 404, { ...PERSON }),
    get("eligible before there is one", `${GROUPS}:checkEligibility`, PERSON),
    DOMAIN,
    get("it", `${GROUPS}:lookupGroup`, {
      ...PERSON,
      shows: (seen) => ({
        group: { id: seen.id("domain"), name: "acme.example", verified: true, kind: "ORG_KIND_CUSTOMER" },
      }),
    }),
    get("of a workload", `${GROUPS}:lookupGroup`, 404),
    get("of somebody who may do nothing", `${GROUPS}:lookupGroup`, 404, { as: "powerless" }),
    get("without a token", `${GROUPS}:lookupGroup`, 401, { as: "anonymous" }),
    get("parameters do nothing", `${GROUPS}:lookupGroup?id=x&name=y`, PERSON),
    get("eligible", `${GROUPS}:checkEligibility`, PERSON),
    get("eligible as a workload", `${GROUPS}:checkEligibility`),
    get("eligible as a viewer", `${GROUPS}:checkEligibility`, { as: "viewer" }),
    get("eligible without a token", `${GROUPS}:checkEligibility`, 401, { as: "anonymous" }),
    ...otherMethods(`${GROUPS}:lookupGroup`, ["PATCH", "HEAD"]),
  ]),
  scenario("asking for access to a group", [
    DOMAIN,
    post("of somebody else's domain", at(`${GROUPS}/`, elsewhereId, ":requestGroupAccess"), {}, 404, { ...PERSON }),
    post("of a group that is not there", `${GROUPS}/${MISSING}:requestGroupAccess`, {}, 404, { ...PERSON }),
    post("as a workload", request, {}, 404),
    post("without a token", request, {}, 401, { as: "anonymous" }),
    post("with bad JSON", request, "{", 400, { ...PERSON }),
    post("with null", request, null, 400, { ...PERSON }),
    post("with an array", request, [], 400, { ...PERSON }),
    post("with unknown members", request, { groupUid: "x", colour: 1 }, { ...PERSON, shows: {} }),
    post("once more", request, {}, 429, { ...PERSON }),
    post("once more with %2F", at(`${GROUPS}/`, escapedId("domain"), ":requestGroupAccess"), {}, 429, { ...PERSON }),
    post("once more without a body", request, undefined, 429, { ...PERSON }),
  ]),
  scenario("asking for access to a group without a body", [
    DOMAIN,
    post("it", request, undefined, { ...PERSON, shows: {} }),
  ]),
];

export const lookupScenarios: readonly Scenario[] = [...identitiesByClaims, ...groupsOfPeople];
