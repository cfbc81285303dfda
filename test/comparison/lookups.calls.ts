/** What do v1 clients ask to find out who they are and where they belong? */
import { at, type Call, get, idOf, post, type Scenario } from "./call.ts";
import { inPlace, MISSING, otherMethods, place } from "./words.ts";

const LOOKUP = "/iam/v1/identities/lookup";
const claims = (issuer: string, subject: string): string =>
  `${LOOKUP}?issuer=${encodeURIComponent(issuer)}&subject=${encodeURIComponent(subject)}`;
const identities = inPlace("/iam/v1/identities");
const created: readonly Call[] = [
  place,
  post("one", identities, { name: "one", description: "d", claimMatch: { issuer: "https://i", subject: "s" } }, 200),
  post("odd", identities, { name: "odd", claimMatch: { issuer: "https://i/?a=b&c", subject: "user|+ %/é" } }, 200),
  post("of keys", identities, { name: "keys", static: { issuer: "https://k", subject: "k", issuerKeys: "{}" } }, 200),
  post("of a pattern", identities, { name: "pattern", claimMatch: { issuer: "https://p", subjectPattern: ".*" } }, 200),
];

const identitiesByClaims: readonly Scenario[] = [
  {
    name: "identities by their claims",
    calls: [
      ...created,
      get("one", claims("https://i", "s"), 200, { shows: (seen) => ({ id: seen.id("one"), name: "one" }) }),
      get("one with what needs escapes", claims("https://i/?a=b&c", "user|+ %/é"), 200, {
        shows: (seen) => ({ id: seen.id("odd") }),
      }),
      get("one of the seed", ({ known }) => claims(known.claims.issuer, known.claims.subject), 200),
      get("one as a viewer", claims("https://i", "s"), 200, {
        as: "viewer",
        shows: (seen) => ({ id: seen.id("one") }),
      }),
      get("parameters in another order", `${LOOKUP}?subject=s&issuer=https://i`, 200, {
        shows: (seen) => ({ id: seen.id("one") }),
      }),
      get("unknown parameters do nothing", `${claims("https://i", "s")}&id=x&uid=y&name=z`, 200, {
        shows: (seen) => ({ id: seen.id("one") }),
      }),
      get("two subjects", `${LOOKUP}?issuer=https://i&subject=a&subject=b`, 400, { code: 3 }),
      get("without a token", claims("https://i", "s"), 401, { as: "anonymous", code: 16 }),
      get("with a forged token", claims("https://i", "s"), 401, { as: "forged", code: 16 }),
      ...otherMethods(LOOKUP, ["PATCH", "HEAD"]),
    ],
  },
  {
    name: "identities that nobody has",
    calls: [
      get("nobody", claims("https://i", "nobody"), 404, { code: 5 }),
      get("nobody of another issuer", claims("https://nobody", "s"), 404, { code: 5 }),
    ],
  },
];

const GROUPS = "/iam/v1/groups";
const DOMAIN: Call = post(
  "domain",
  `${GROUPS}/`,
  { name: "acme.example", description: "d", verified: true, kind: "ORG_KIND_CUSTOMER" },
  200,
  { as: "staff" },
);
const PERSON = { as: "person" } as const;
const request = at(`${GROUPS}/`, idOf("domain"), ":requestGroupAccess");

const groupsOfPeople: readonly Scenario[] = [
  {
    name: "the group of a person",
    calls: [
      get("before there is one", `${GROUPS}:lookupGroup`, 404, { ...PERSON, code: 5 }),
      get("eligible before there is one", `${GROUPS}:checkEligibility`, 200, PERSON),
      DOMAIN,
      get("it", `${GROUPS}:lookupGroup`, 200, {
        ...PERSON,
        shows: (seen) => ({
          group: { id: seen.id("domain"), name: "acme.example", verified: true, kind: "ORG_KIND_CUSTOMER" },
        }),
      }),
      get("of a workload", `${GROUPS}:lookupGroup`, 404, { code: 5 }),
      get("of somebody who may do nothing", `${GROUPS}:lookupGroup`, 404, { as: "powerless", code: 5 }),
      get("without a token", `${GROUPS}:lookupGroup`, 401, { as: "anonymous", code: 16 }),
      get("parameters do nothing", `${GROUPS}:lookupGroup?id=x&name=y`, 200, PERSON),
      get("eligible", `${GROUPS}:checkEligibility`, 200, PERSON),
      get("eligible as a workload", `${GROUPS}:checkEligibility`, 200),
      get("eligible as a viewer", `${GROUPS}:checkEligibility`, 200, { as: "viewer" }),
      get("eligible without a token", `${GROUPS}:checkEligibility`, 401, { as: "anonymous", code: 16 }),
      ...otherMethods(`${GROUPS}:lookupGroup`, ["PATCH", "HEAD"]),
    ],
  },
  {
    name: "asking for access to a group",
    calls: [
      DOMAIN,
      post(
        "of somebody else's domain",
        at(`${GROUPS}/`, (seen) => seen.known.elsewhere, ":requestGroupAccess"),
        {},
        404,
        {
          ...PERSON,
          code: 5,
        },
      ),
      post("of a group that is not there", `${GROUPS}/${MISSING}:requestGroupAccess`, {}, 404, { ...PERSON, code: 5 }),
      post("as a workload", request, {}, 404, { code: 5 }),
      post("without a token", request, {}, 401, { as: "anonymous", code: 16 }),
      post("with bad JSON", request, "{", 400, { ...PERSON, code: 3 }),
      post("with null", request, null, 400, { ...PERSON, code: 3 }),
      post("with an array", request, [], 400, { ...PERSON, code: 3 }),
      post("with unknown members", request, { groupUid: "x", colour: 1 }, 200, { ...PERSON, shows: {} }),
      post("once more", request, {}, 429, { ...PERSON, code: 8 }),
      post(
        "once more with %2F",
        at(`${GROUPS}/`, (seen) => encodeURIComponent(seen.id("domain")), ":requestGroupAccess"),
        {},
        429,
        { ...PERSON, code: 8 },
      ),
      post("once more without a body", request, undefined, 429, { ...PERSON, code: 8 }),
    ],
  },
  {
    name: "asking for access to a group without a body",
    calls: [DOMAIN, post("it", request, undefined, 200, { ...PERSON, shows: {} })],
  },
];

export const lookupScenarios: readonly Scenario[] = [...identitiesByClaims, ...groupsOfPeople];
