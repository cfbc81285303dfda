/** v1 calls on identities. */
import type { Json } from "../../../src/model/json.ts";
import { at, del, escapedId, get, idOf, leafId, post, put, rootId, type Scenario, scenario } from "./call.ts";
import { MISSING } from "./words.ts";

const IDENTITIES = "/iam/v1/identities";
const below = at(`${IDENTITIES}/`, leafId);
const one = at(`${IDENTITIES}/`, idOf("one"));
const listed = at(`${IDENTITIES}?uidp.children_of=`, leafId);
const CLAIM: Json = { issuer: "https://issuer.example.com", subject: "a subject" };
const STATIC: Json = {
  issuer: "https://static.example.com",
  subject: "robot",
  issuerKeys: '{"keys":[]}',
  expiration: "2026-03-20T10:11:12.345Z",
  audiences: ["one"],
};
const AWS: Json = { awsAccount: "123456789012", arn: "arn:aws:iam::123456789012:role/x", userId: "AID:x" };
/** Claim names that look like fields: they are a client's data and must not be renamed. */
const CLAIMS: Json = {
  id: "1",
  uid: "2",
  createdAt: "3",
  create_time: "4",
  static: "5",
  claimMatch: "6",
  "": "7",
  "a/b~c": "8",
};

const reading: readonly Scenario[] = [
  scenario("lists of identities", [
    get("everything: more than 200", IDENTITIES, { items: "over 200" }),
    get("as a viewer", IDENTITIES, { as: "viewer", items: "over 200" }),
    get("as an outsider", IDENTITIES, { as: "outsider" }),
    get("as somebody who may do nothing", IDENTITIES, { as: "powerless", items: 0 }),
    get("without a token", IDENTITIES, 401, { as: "anonymous" }),
    get("below the root", at(`${IDENTITIES}?uidp.descendants_of=`, rootId), { items: "some" }),
    get("in camel case", at(`${IDENTITIES}?uidp.descendantsOf=`, rootId), { items: "some" }),
    get("right below the root", at(`${IDENTITIES}?uidp.childrenOf=`, rootId)),
    get("in the root", `${IDENTITIES}?uidp.in_root=true`),
    get("an empty boolean", `${IDENTITIES}?uidp.in_root=`, 400),
    get("of a place that is not there", `${IDENTITIES}?uidp.children_of=${MISSING}`, { items: 0 }),
    get("empty filters", `${IDENTITIES}?id=&uidp.children_of=&uidp.descendants_of=`, { items: "some" }),
    get("by an id that is not there", `${IDENTITIES}?id=${MISSING}`, { items: 0 }),
    get("by two ids", `${IDENTITIES}?id=a&id=b`, 400),
    get("v1 has no filter by name", `${IDENTITIES}?name=no-such-name`, { items: "some" }),
    get("nor by relationship", `${IDENTITIES}?relationshipType=RELATIONSHIP_TYPE_STATIC_KEYS&page_size=1`, {
      items: "some",
    }),
  ]),
  scenario("identities of every relationship", [
    post(
      "one",
      below,
      { name: "one", description: "d", claimMatch: CLAIM },
      {
        shows: {
          name: "one",
          description: "d",
          claimMatch: { issuer: "https://issuer.example.com", subject: "a subject" },
        },
      },
    ),
    post(
      "by patterns and claims",
      below,
      {
        name: "patterns",
        claimMatch: {
          issuerPattern: "https://.*",
          subjectPattern: "a.*",
          audiencePattern: ".*",
          claims: CLAIMS,
          claimPatterns: CLAIMS,
        },
      },
      { shows: { claimMatch: { subjectPattern: "a.*", claims: CLAIMS, claimPatterns: CLAIMS } } },
    ),
    post("with an audience", below, {
      name: "audience",
      claimMatch: { issuer: "https://i", subject: "s", audience: "a" },
    }),
    post("of static keys", below, { name: "static", static: STATIC }, { shows: { static: { subject: "robot" } } }),
    post("of static keys in the other spelling", below, {
      name: "static2",
      static: { issuer: "https://i", subject: "s", issuer_keys: "{}", expiration: "2026-03-20T12:00:00+02:00" },
    }),
    post("a service", below, { name: "service", servicePrincipal: "INGESTER" }, 200, {
      shows: { servicePrincipal: "INGESTER" },
    }),
    post("a service by number", below, { name: "service", service_principal: 3 }, 200, {
      shows: { servicePrincipal: "CATALOG_SYNCER" },
    }),
    post("of a cloud account", below, { name: "aws", awsIdentity: AWS }, 200, {
      shows: { awsIdentity: { awsAccount: "123456789012" } },
    }),
    post("of a cloud account by patterns", below, {
      name: "aws2",
      aws_identity: { aws_account: "123456789012", arn_pattern: "arn:.*", user_id_pattern: ".*" },
    }),
    post("in the other spelling", below, { name: "snake", claim_match: { issuer: "https://i", subject_pattern: "s" } }),
    post(
      "and of a service that v1 does not know",
      below,
      { name: "only claims", claimMatch: CLAIM, servicePrincipal: "NOBODY" },
      400,
    ),
    post(
      "and of a service by v2's name",
      below,
      { name: "only claims", claimMatch: CLAIM, servicePrincipal: "SERVICE_PRINCIPAL_INGESTER" },
      400,
    ),
    post(
      "and by v2's name of static keys",
      below,
      { name: "only claims", claimMatch: CLAIM, staticKeys: STATIC },
      { shows: { claimMatch: { subject: "a subject" } } },
    ),
    get("all of them", listed, { items: 11 }),
    get("by id", at(`${IDENTITIES}?id=`, idOf("one")), { items: 1, every: { name: "one" } }),
    get("by id with %2F", at(`${IDENTITIES}?id=`, escapedId("one")), { items: 1 }),
    get("by id, of static keys", at(`${IDENTITIES}?id=`, idOf("of static keys")), { items: 1 }),
    get("by id, not for this caller", at(`${IDENTITIES}?id=`, idOf("one")), { as: "outsider", items: 0 }),
    get("by id and place", (seen) => `${IDENTITIES}?id=${seen.id("one")}&uidp.children_of=${seen.known.leaf}`, {
      items: 1,
    }),
    get(
      "by id and another place",
      (seen) => `${IDENTITIES}?id=${seen.id("one")}&uidp.children_of=${seen.known.parent}`,
      { items: 0 },
    ),
    get("by uids", (seen) => `${IDENTITIES}?uidp.ids=${seen.id("one")}&uidp.ids=${seen.id("a service")}`, { items: 2 }),
    get("those that are not theirs", listed, { as: "outsider", items: 0 }),
  ]),
];

const refused: readonly Scenario[] = [
  scenario("identities that cannot be created", [
    post("without a name", below, { claimMatch: CLAIM }, 400, { field: "name" }),
    post("with a bad name", below, { name: "Bad/Name", claimMatch: CLAIM }, 400, { field: "name" }),
    post("of two relationships", below, { name: "x", claimMatch: CLAIM, servicePrincipal: "INGESTER" }, 400),
    post("of two issuers", below, { name: "x", claimMatch: { issuer: "i", issuerPattern: "i", subject: "s" } }, 400),
    post("with both spellings", below, { name: "x", claimMatch: CLAIM, claim_match: CLAIM }, 400),
    post("with both spellings within", below, { name: "x", static: { issuerKeys: "{}", issuer_keys: "{}" } }, 400),
    post(
      "with one name twice within",
      below,
      '{"name":"x","claimMatch":{"issuer":"i","issuer":"i","subject":"s"}}',
      400,
    ),
    post("with a relationship that is a text", below, { name: "x", claimMatch: "me" }, 400),
    post("with an issuer that is a number", below, { name: "x", claimMatch: { issuer: 1, subject: "s" } }, 400),
    post(
      "with claims that are no texts",
      below,
      { name: "x", claimMatch: { issuer: "i", subject: "s", claims: { a: 1 } } },
      400,
    ),
    post(
      "with a claim that is null",
      below,
      { name: "x", claimMatch: { issuer: "i", subject: "s", claims: { a: null } } },
      400,
    ),
    post(
      "with a time that is none",
      below,
      { name: "x", static: { issuer: "i", subject: "s", issuerKeys: "{}", expiration: "soon" } },
      400,
    ),
    post("with audiences that are a text", below, { name: "x", static: { audiences: "one" } }, 400),
    post("by null", below, null, 400),
    post("by an array", below, [], 400),
    post("by bad JSON", below, "{]", 400),
    post("by a viewer", below, { name: "x", claimMatch: CLAIM }, 403, { as: "viewer" }),
    post("by an outsider", below, { name: "x", claimMatch: CLAIM }, 403, { as: "outsider" }),
    post("without a token", below, { name: "x", claimMatch: CLAIM }, 401, { as: "anonymous" }),
    post("of a group that is not there", `${IDENTITIES}/${MISSING}`, { name: "x", claimMatch: CLAIM }, 404),
    get("none of them is there", listed, { items: 0 }),
  ]),
  scenario("identities that cannot be replaced or removed", [
    post("one", below, { name: "one", description: "d", claimMatch: CLAIM }),
    put("without a name", one, { claimMatch: CLAIM }, 400, { field: "name" }),
    put("with a bad name", one, { name: "NO", claimMatch: CLAIM }, 400, { field: "name" }),
    put("of two relationships", one, { name: "one", claimMatch: CLAIM, static: STATIC }, 400),
    put("by null", one, null, 400),
    put("with a text for a relationship", one, { name: "one", claimMatch: "x" }, 400),
    put("one that is not there", `${IDENTITIES}/${MISSING}`, { name: "x", claimMatch: CLAIM }, 404),
    put("by a viewer", one, { name: "x", claimMatch: CLAIM }, 403, { as: "viewer" }),
    put("by an outsider", one, { name: "x", claimMatch: CLAIM }, 403, { as: "outsider" }),
    del("by a viewer", one, 403, { as: "viewer" }),
    del("without a token", one, 401, { as: "anonymous" }),
    del("one that is not there", `${IDENTITIES}/${MISSING}`, 404),
    { name: "by another method", method: "PATCH", path: one, body: { name: "x" }, status: 501, code: 12 },
    { name: "head only", method: "HEAD", path: IDENTITIES, status: 501 },
    get("it is as it was", at(`${IDENTITIES}?id=`, idOf("one")), {
      items: 1,
      every: { name: "one", description: "d" },
    }),
    del("it", one, { shows: {} }),
    del("it once more", one, 404),
  ]),
];

const replacing: readonly Scenario[] = [
  scenario("replacing identities", [
    post("one", below, { name: "one", description: "d", claimMatch: { ...CLAIM, audience: "a", claims: CLAIMS } }),
    put("another description", one, {
      name: "one",
      description: "e",
      claimMatch: { ...CLAIM, audience: "a", claims: CLAIMS },
    }),
    put("left out, description and nested members are cleared", one, { name: "one", claimMatch: CLAIM }, 200, {
      shows: { description: "", claimMatch: { claims: {} } },
    }),
    put("a pattern for the subject", one, { name: "one", claimMatch: { issuer: "https://i", subjectPattern: ".*" } }),
    put("static keys for the claims", one, { name: "one", static: STATIC }, 200, {
      shows: { static: { subject: "robot" } },
    }),
    put(
      "left out, times and lists within are cleared",
      one,
      { name: "one", static: { issuer: "https://i", subject: "s", issuerKeys: "{}" } },
      { shows: { static: { audiences: [] } } },
    ),
    put("a service for the keys", one, { name: "one", servicePrincipal: "SKILLUP" }, 200, {
      shows: { servicePrincipal: "SKILLUP" },
    }),
    put("another service by number", one, { name: "one", servicePrincipal: 13 }, 200, {
      shows: { servicePrincipal: "SKILLS" },
    }),
    put("a cloud account for the service", one, { name: "one", awsIdentity: AWS }),
    put("claims for the account", one, { name: "one", description: "f", claimMatch: CLAIM }),
    get("it", at(`${IDENTITIES}?id=`, idOf("one")), { items: 1 }),
    put("what a read gave, times and all", one, (seen) => seen.item("it", "name", "one"), {
      shows: { description: "f" },
    }),
    put("other times do nothing", one, (seen) => ({
      ...seen.item("it", "name", "one"),
      createdAt: "2001-01-01T00:00:00Z",
    })),
    put("unknown members do nothing", one, { name: "one", claimMatch: CLAIM, company: "mine", email: "a@b", uid: "u" }),
    put("null members are left out", one, {
      name: "one",
      description: null,
      claimMatch: CLAIM,
      static: null,
      awsIdentity: null,
    }),
    put("explicit zeros", one, {
      name: "one",
      description: "",
      claimMatch: { ...CLAIM, claims: {}, claimPatterns: {} },
    }),
  ]),
  scenario("replacing an identity with a company, which v1 cannot see", [
    get(
      "it",
      at(`${IDENTITIES}?id=`, (seen) => seen.known.identityOfCompany()),
      { items: 1 },
    ),
    put("by what a read gave", at(`${IDENTITIES}/`, idOf("it")), (seen) => seen.item("it", "id", seen.id("it"))),
    put("another name", at(`${IDENTITIES}/`, idOf("it")), (seen) => ({
      ...seen.item("it", "id", seen.id("it")),
      name: "renamed",
    })),
    put("a company of v1's own invention", at(`${IDENTITIES}/`, idOf("it")), (seen) => {
      return { ...seen.item("it", "id", seen.id("it")), company: "mine" };
    }),
    put("another relationship", at(`${IDENTITIES}/`, idOf("it")), { name: "renamed", static: STATIC }),
  ]),
];

export const identityScenarios: readonly Scenario[] = [...reading, ...refused, ...replacing];
