/** Identities: v1 beside v2. */
import type { EnumTable, Resource, Row, Shape } from "../../model/resource.ts";
import { idFilter, recordTimes, uidpFilters } from "../common-fields.ts";
import { CREATED, IDENTITY, ORG, ORG_GROUP_QUERY, UPDATED } from "../example-values.ts";

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

const identity: Shape = {
  rows: [
    { v1: "id", v2: "uid", kind: "string", access: "output" },
    { v1: "name", v2: "name", kind: "string", zero: "" },
    { v1: "description", v2: "description", kind: "string", zero: "" },
    ...recordTimes,
    { v1: "lastSeen", v2: "lastSeenTime", kind: "timestamp", access: "output" },
    // v2 wants exactly one of the four, so a PUT names the one that it carries; without one v2's is left alone.
    {
      v1: "claimMatch",
      v2: "claimMatch",
      kind: "message",
      rows: claimMatch,
      presence: "explicit",
      oneof: "relationship",
      zero: null,
      mask: "when-present",
    },
    {
      v1: "static",
      v2: "staticKeys",
      kind: "message",
      rows: staticKeys,
      presence: "explicit",
      oneof: "relationship",
      zero: null,
      mask: "when-present",
    },
    {
      v1: "servicePrincipal",
      v2: "servicePrincipal",
      kind: "enum",
      values: servicePrincipal,
      presence: "explicit",
      oneof: "relationship",
      zero: null,
      mask: "when-present",
    },
    {
      v1: "awsIdentity",
      v2: "awsIdentity",
      kind: "message",
      rows: awsIdentity,
      presence: "explicit",
      oneof: "relationship",
      zero: null,
      mask: "when-present",
    },
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

/** In the order of the rows. */
const METADATA_MASK =
  "company,product,jobTitle,utmCampaign,utmContent,utmMedium,utmSource,utmTerm,latestFormSubmitUrl," +
  "latestInternalReferringUrl,hubspotUtk,selfServe,updatesOptIn";

/** A caller with all fields set. */
const profile = {
  product: "images",
  jobTitle: "engineer",
  utmCampaign: "spring",
  utmContent: "banner",
  utmMedium: "mail",
  utmSource: "news",
  utmTerm: "secure",
  latestFormSubmitUrl: "https://example.com/form",
  latestInternalReferringUrl: "https://example.com/before",
  hubspotUtk: "tracker",
  selfServe: true,
};

/** A caller without any field set. */
const blank = {
  product: "",
  jobTitle: "",
  utmCampaign: "",
  utmContent: "",
  utmMedium: "",
  utmSource: "",
  utmTerm: "",
  latestFormSubmitUrl: "",
  latestInternalReferringUrl: "",
  hubspotUtk: "",
  selfServe: false,
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
  examples: [
    {
      of: "answer",
      operation: "list",
      v2: {
        uid: IDENTITY,
        name: "ci",
        description: "builds",
        createTime: CREATED,
        updateTime: UPDATED,
        lastSeenTime: CREATED,
        claimMatch: {
          issuer: "https://token.example.com",
          subjectPattern: "^repo:example/.*$",
          audience: "platform",
          claims: { uid: "7", createTime: "never" },
          claimPatterns: { role: "^a" },
        },
        email: "ci@example.com",
        emailUnverified: "ci@example.com",
        company: "Example",
      },
      v1: {
        id: IDENTITY,
        name: "ci",
        description: "builds",
        createdAt: CREATED,
        updatedAt: UPDATED,
        lastSeen: CREATED,
        claimMatch: {
          issuer: "https://token.example.com",
          subjectPattern: "^repo:example/.*$",
          audience: "platform",
          claims: { uid: "7", createTime: "never" },
          claimPatterns: { role: "^a" },
        },
      },
    },
    {
      of: "answer",
      operation: "list",
      v2: {
        uid: IDENTITY,
        name: "robot",
        staticKeys: {
          issuer: "https://keys.example.com",
          subject: "robot",
          issuerKeys: '{"keys":[]}',
          expirationTime: UPDATED,
          audiences: ["platform"],
        },
      },
      v1: {
        id: IDENTITY,
        name: "robot",
        description: "",
        lastSeen: null,
        static: {
          issuer: "https://keys.example.com",
          subject: "robot",
          issuerKeys: '{"keys":[]}',
          expiration: UPDATED,
          audiences: ["platform"],
        },
      },
    },
    // What v2 leaves out becomes its zero, inside a message as well (null of a time); members of a oneof do not.
    {
      of: "answer",
      operation: "list",
      v2: {
        uid: IDENTITY,
        name: "robot",
        description: "",
        staticKeys: { issuer: "https://keys.example.com", subject: "robot" },
      },
      v1: {
        id: IDENTITY,
        name: "robot",
        description: "",
        lastSeen: null,
        static: {
          issuer: "https://keys.example.com",
          subject: "robot",
          issuerKeys: "",
          expiration: null,
          audiences: [],
        },
      },
    },
    {
      of: "answer",
      operation: "list",
      v2: { uid: IDENTITY, name: "ingest", description: "", servicePrincipal: "SERVICE_PRINCIPAL_INGESTER" },
      v1: { id: IDENTITY, name: "ingest", description: "", lastSeen: null, servicePrincipal: "INGESTER" },
    },
    {
      of: "answer",
      operation: "list",
      v2: {
        uid: IDENTITY,
        name: "lambda",
        description: "",
        awsIdentity: { awsAccount: "123456789012", arnPattern: "^arn:aws:", userId: "AIDA" },
      },
      v1: {
        id: IDENTITY,
        name: "lambda",
        description: "",
        lastSeen: null,
        awsIdentity: { awsAccount: "123456789012", arnPattern: "^arn:aws:", userId: "AIDA" },
      },
    },
    {
      of: "body",
      operation: "create",
      v1: {
        name: "ci",
        claimMatch: { issuerPattern: "^https://", subject: "ci", audiencePattern: ".*", claims: { id: "7" } },
      },
      v2: {
        name: "ci",
        claimMatch: { issuerPattern: "^https://", subject: "ci", audiencePattern: ".*", claims: { id: "7" } },
      },
    },
    {
      of: "body",
      operation: "create",
      v1: {
        name: "robot",
        description: "",
        lastSeen: CREATED,
        static: { issuer: "https://keys.example.com", subject: "robot", issuerKeys: "{}", expiration: UPDATED },
      },
      v2: {
        name: "robot",
        description: "",
        staticKeys: { issuer: "https://keys.example.com", subject: "robot", issuerKeys: "{}", expirationTime: UPDATED },
      },
    },
    {
      of: "body",
      operation: "create",
      v1: { name: "lambda", awsIdentity: { awsAccount: "123456789012", arn: "arn:aws:iam::1", userIdPattern: ".*" } },
      v2: { name: "lambda", awsIdentity: { awsAccount: "123456789012", arn: "arn:aws:iam::1", userIdPattern: ".*" } },
    },
    {
      of: "update",
      v1: { name: "ci", claimMatch: { issuer: "https://token.example.com", subject: "ci" } },
      mask: ["name", "description", "claimMatch"],
      v2: { name: "ci", description: "", claimMatch: { issuer: "https://token.example.com", subject: "ci" } },
    },
    // An enum by its v1 number.
    {
      of: "update",
      v1: { name: "ingest", description: "x", servicePrincipal: 2 },
      mask: ["name", "description", "servicePrincipal"],
      v2: { name: "ingest", description: "x", servicePrincipal: "SERVICE_PRINCIPAL_INGESTER" },
    },
    { of: "update", v1: { name: "ci" }, mask: ["name", "description"], v2: { name: "ci", description: "" } },
    // v2 answers the uid alone, also that of nobody; what v1 said of it is read.
    {
      of: "exchange",
      operation: "lookup",
      path: "identities/lookup?issuer=https%3A%2F%2Ftoken.example.com&subject=ci",
      calls: [
        {
          call: "GET identities:lookupIdentity?issuer=https%3A%2F%2Ftoken.example.com&subject=ci",
          answer: { uid: IDENTITY },
        },
        {
          call: `GET identities/${IDENTITY}`,
          answer: { uid: IDENTITY, name: "ci", claimMatch: { issuer: "https://token.example.com", subject: "ci" } },
        },
      ],
      answer: {
        id: IDENTITY,
        name: "ci",
        description: "",
        lastSeen: null,
        claimMatch: { issuer: "https://token.example.com", subject: "ci", claims: {}, claimPatterns: {} },
      },
    },
    {
      of: "exchange",
      operation: "update-metadata",
      path: "identities/metadata",
      body: {
        onboardingQuestions: { companyName: "Example", providers: ["aws"], ...profile },
        name: "of the login token",
        updatesOptIn: true,
      },
      calls: [
        {
          call: "PATCH identities:updateIdentityMetadata",
          body: {
            identityMetadata: { company: "Example", ...profile, updatesOptIn: true },
            updateMask: METADATA_MASK,
          },
          answer: {
            uid: IDENTITY,
            name: "Ada L",
            givenName: "Ada",
            familyName: "L",
            company: "Example",
            ...profile,
            hubspotUtk: "",
            updatesOptIn: true,
          },
        },
      ],
      answer: {
        name: "Ada L",
        givenName: "Ada",
        familyName: "L",
        onboardingQuestions: { companyName: "Example", providers: [], ...profile, hubspotUtk: "" },
        updatesOptIn: true,
      },
    },
    // What is left out becomes empty.
    {
      of: "exchange",
      operation: "update-metadata",
      path: "identities/metadata",
      body: { updatesOptIn: true },
      calls: [
        {
          call: "PATCH identities:updateIdentityMetadata",
          body: { identityMetadata: { company: "", ...blank, updatesOptIn: true }, updateMask: METADATA_MASK },
          answer: { uid: IDENTITY, company: "", ...blank, updatesOptIn: true },
        },
      ],
      answer: {
        name: "",
        givenName: "",
        familyName: "",
        onboardingQuestions: { companyName: "", providers: [], ...blank },
        updatesOptIn: true,
      },
    },
    {
      of: "exchange",
      operation: "update-metadata",
      path: "identities/metadata",
      body: { onboardingQuestions: { companyName: "Example" } },
      calls: [
        {
          call: "PATCH identities:updateIdentityMetadata",
          body: { identityMetadata: { company: "Example", ...blank, updatesOptIn: false }, updateMask: METADATA_MASK },
          answer: { uid: IDENTITY, company: "Example" },
        },
      ],
      answer: {
        name: "",
        givenName: "",
        familyName: "",
        onboardingQuestions: { companyName: "Example", providers: [], ...blank },
        updatesOptIn: false,
      },
    },
    // Its errors name what v1 has.
    {
      of: "exchange",
      operation: "update-metadata",
      path: "identities/metadata",
      body: { onboardingQuestions: { companyName: "?" } },
      calls: [
        {
          call: "PATCH identities:updateIdentityMetadata",
          body: { identityMetadata: { company: "?", ...blank, updatesOptIn: false }, updateMask: METADATA_MASK },
          status: 400,
          answer: {
            code: 3,
            message: "Invalid argument: identity_metadata.company: is no name",
            details: [
              {
                "@type": "type.googleapis.com/google.rpc.BadRequest",
                fieldViolations: [{ field: "identityMetadata.company", description: "is no name" }],
              },
            ],
          },
        },
      ],
      status: 400,
      answer: {
        code: 3,
        message: "Invalid argument: onboardingQuestions.companyName: is no name",
        details: [
          {
            "@type": "type.googleapis.com/google.rpc.BadRequest",
            fieldViolations: [{ field: "onboardingQuestions.companyName", description: "is no name" }],
          },
        ],
      },
    },
    // Nobody has the uid that v2 gives: v1's "not found".
    {
      of: "exchange",
      operation: "lookup",
      path: "identities/lookup?subject=nobody&issuer=https://token.example.com",
      calls: [
        {
          call: "GET identities:lookupIdentity?issuer=https%3A%2F%2Ftoken.example.com&subject=nobody",
          answer: { uid: IDENTITY },
        },
        {
          call: `GET identities/${IDENTITY}`,
          status: 404,
          answer: {
            code: 5,
            message: "no such identity",
            details: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "NOT_FOUND" }],
          },
        },
      ],
      status: 404,
      answer: {
        code: 5,
        message: "no such identity",
        details: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "NOT_FOUND" }],
      },
    },
    { of: "filters", v1: `uidp.descendants_of=${ORG}`, v2: `uidp.descendants_of=${ORG}` },
    { of: "filters", v1: `uidp.children_of=${ORG_GROUP_QUERY}`, v2: `uidp.children_of=${ORG_GROUP_QUERY}` },
    { of: "filters", v1: `uidp.ancestors_of=${ORG_GROUP_QUERY}`, v2: `uidp.ancestors_of=${ORG_GROUP_QUERY}` },
    { of: "filters", v1: "uidp.inRoot=true", v2: "uidp.in_root=true" },
    { of: "filters", v1: "uidp.ids=a1&uidp.ids=b2", v2: "uidp.ids=a1&uidp.ids=b2" },
  ],
} satisfies Resource;
