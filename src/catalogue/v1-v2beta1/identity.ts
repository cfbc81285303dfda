/** Identities: v1 beside v2. */
import type { EnumTable, Resource, Row, Shape } from "../../model/resource.ts";
import { idFilter, recordTimes, uidpFilters } from "../common-fields.ts";

const servicePrincipal = {
  name: "service principal",
  unknown: "drop",
  values: [
    ["UNKNOWN", 0, "SERVICE_PRINCIPAL_UNSPECIFIED", 0],
    ["COSIGNED", 1, "SERVICE_PRINCIPAL_COSIGNED", 1],
    ["INGESTER", 2, "SERVICE_PRINCIPAL_INGESTER", 2],
    ["CATALOG_SYNCER", 3, "SERVICE_PRINCIPAL_CATALOG_SYNCER", 3],
    ["APKO_BUILDER", 4, "SERVICE_PRINCIPAL_APKO_BUILDER", 4],
    ["ENTITLEMENT_SYNCER", 5, "SERVICE_PRINCIPAL_ENTITLEMENT_SYNCER", 5],
    ["TENANT_SCANNER", 6, "SERVICE_PRINCIPAL_TENANT_SCANNER", 6],
    ["SEDIMENTOLOGY", 7, "SERVICE_PRINCIPAL_SEDIMENTOLOGY", 7],
    ["SKILLUP", 8, "SERVICE_PRINCIPAL_SKILLUP", 8],
    ["MATERIALIZER", 9, "SERVICE_PRINCIPAL_MATERIALIZER", 9],
    ["MICROFLOW", 10, "SERVICE_PRINCIPAL_MICROFLOW", 10],
    ["GUARDENER", 11, "SERVICE_PRINCIPAL_GUARDENER", 11],
    ["MICROVM", 12, "SERVICE_PRINCIPAL_MICROVM", 12],
    ["SKILLS", 13, "SERVICE_PRINCIPAL_SKILLS", 13],
  ],
} as const satisfies EnumTable;

/** Who may assume the identity: an exact text or a pattern, each a oneof. */
const claimMatch: readonly Row[] = [
  { v1: "issuer", v2: "issuer", kind: "string", presence: "explicit", oneof: "iss", zero: null },
  { v1: "issuerPattern", v2: "issuerPattern", kind: "string", presence: "explicit", oneof: "iss", zero: null },
  { v1: "subject", v2: "subject", kind: "string", presence: "explicit", oneof: "sub", zero: null },
  { v1: "subjectPattern", v2: "subjectPattern", kind: "string", presence: "explicit", oneof: "sub", zero: null },
  { v1: "audience", v2: "audience", kind: "string", presence: "explicit", oneof: "aud", zero: null },
  { v1: "audiencePattern", v2: "audiencePattern", kind: "string", presence: "explicit", oneof: "aud", zero: null },
  // Keys are names of claims.
  { v1: "claims", v2: "claims", kind: "map", of: "string", zero: {} },
  { v1: "claimPatterns", v2: "claimPatterns", kind: "map", of: "string", zero: {} },
];

const staticKeys: readonly Row[] = [
  { v1: "issuer", v2: "issuer", kind: "string", zero: "" },
  { v1: "subject", v2: "subject", kind: "string", zero: "" },
  // Text of a key set; opaque.
  { v1: "issuerKeys", v2: "issuerKeys", kind: "string", zero: "" },
  { v1: "expiration", v2: "expirationTime", kind: "timestamp", zero: null, echo: "normalised" },
  { v1: "audiences", v2: "audiences", kind: "string", list: true, zero: [] },
];

const awsIdentity: readonly Row[] = [
  { v1: "awsAccount", v2: "awsAccount", kind: "string", zero: "" },
  { v1: "arn", v2: "arn", kind: "string", presence: "explicit", oneof: "aws_arn", zero: null },
  { v1: "arnPattern", v2: "arnPattern", kind: "string", presence: "explicit", oneof: "aws_arn", zero: null },
  { v1: "userId", v2: "userId", kind: "string", presence: "explicit", oneof: "aws_user_id", zero: null },
  { v1: "userIdPattern", v2: "userIdPattern", kind: "string", presence: "explicit", oneof: "aws_user_id", zero: null },
];

/** v2 wants exactly one of the four, so a PUT names the one that it carries; without one v2's is left alone. */
const relationship = { presence: "explicit", oneof: "relationship", zero: null, mask: "when-present" } as const;

const identity: Shape = {
  rows: [
    { v1: "id", v2: "uid", kind: "string", access: "output" },
    { v1: "name", v2: "name", kind: "string", zero: "" },
    { v1: "description", v2: "description", kind: "string", zero: "" },
    ...recordTimes,
    { v1: "lastSeen", v2: "lastSeenTime", kind: "timestamp", access: "output" },
    { v1: "claimMatch", v2: "claimMatch", kind: "message", rows: claimMatch, ...relationship },
    { v1: "static", v2: "staticKeys", kind: "message", rows: staticKeys, ...relationship },
    { v1: "servicePrincipal", v2: "servicePrincipal", kind: "enum", values: servicePrincipal, ...relationship },
    { v1: "awsIdentity", v2: "awsIdentity", kind: "message", rows: awsIdentity, ...relationship },
  ],
  // v1 cannot carry them: in a mask they would be erased.
  v2Only: ["email", "emailUnverified", "company"],
};

function question(v1: string, v2: string = v1): Row {
  return { v1, v2, from: [v2], kind: "string", zero: "" };
}

/** What v1 asked of a new user, and v2 keeps beside the name. */
const questions: readonly Row[] = [
  question("companyName", "company"),
  // Gone in v2: nothing keeps it.
  { v1: "providers", v2: null, kind: "string", list: true, zero: [] },
  question("product"),
  question("jobTitle"),
  question("utmCampaign"),
  question("utmContent"),
  question("utmMedium"),
  question("utmSource"),
  question("utmTerm"),
  question("latestFormSubmitUrl"),
  question("latestInternalReferringUrl"),
  // Handed on, and stored nowhere.
  { v1: "hubspotUtk", v2: "hubspotUtk", from: ["hubspotUtk"], kind: "string", zero: "", echo: "none" },
  { v1: "selfServe", v2: "selfServe", from: ["selfServe"], kind: "bool", zero: false },
];

/** What the caller says of itself. */
const metadata: Shape = {
  rows: [
    { v1: "onboardingQuestions", v2: null, kind: "message", rows: questions, zero: null },
    { v1: "name", v2: "name", kind: "string", access: "output" },
    { v1: "givenName", v2: "givenName", kind: "string", access: "output" },
    { v1: "familyName", v2: "familyName", kind: "string", access: "output" },
    // v1 has this spelling alone.
    { v1: "updatesOptIn", v1Proto: "updatesOptIn", v2: "updatesOptIn", kind: "bool", zero: false },
  ],
  v2Only: ["uid", ...questions.flatMap(({ v2 }) => (v2 === null ? [] : [v2]))],
};

export default {
  name: "identity",
  domain: "iam",
  v1: "identities",
  v2: "identities",
  items: "identities",
  key: "id",
  list: "drain",
  orderedByUid: true,
  // Moves with every login of the identity, without a write.
  volatile: ["lastSeen"],
  operations: [
    { kind: "list", name: "list", answer: identity, filters: [idFilter, ...uidpFilters] },
    { kind: "get", name: "get", answer: identity, extension: true },
    {
      kind: "create",
      name: "create",
      body: identity,
      answer: identity,
      docs: { differs: ["400 without a relationship (`claimMatch`, `static`, `awsIdentity` or `servicePrincipal`)"] },
    },
    { kind: "update", name: "update", body: identity, answer: identity },
    { kind: "delete", name: "delete" },
    // Another service's: an identity at the root, of which v2 has no like.
    { kind: "native", name: "create-root", method: "POST", path: "identities" },
    {
      kind: "composite",
      name: "lookup",
      method: "GET",
      path: "identities/lookup",
      by: "look-up",
      docs: {
        calls: "`GET identities:lookupIdentity`, and `GET` of the uid that it returns",
        differs: ["403 for an identity that the caller may not read; v1 showed it to everyone"],
      },
      v2: "identities:lookupIdentity",
      filters: [
        { v1: "issuer", use: "send", v2: "issuer", kind: "string" },
        { v1: "subject", use: "send", v2: "subject", kind: "string" },
      ],
      answer: identity,
    },
    // v1 took no mask, and so could not tell what was left out from what was empty: everything is named.
    {
      kind: "composite",
      name: "update-metadata",
      method: "PATCH",
      path: "identities/metadata",
      by: "update-wrapped",
      docs: { calls: "`PATCH identities:updateIdentityMetadata`, with the mask in the body" },
      v2: "identities:updateIdentityMetadata",
      wrap: "identityMetadata",
      body: metadata,
      answer: metadata,
    },
  ],
} satisfies Resource;
