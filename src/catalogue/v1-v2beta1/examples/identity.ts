/** Examples of what v1 and v2 send: identitys. */
import type { Example } from "../../../model/resource.ts";
import { CREATED, IDENTITY, invalid, notFound, ORG, ORG_GROUP_QUERY, UPDATED } from "../../example-values.ts";

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

const matched = {
  issuer: "https://token.example.com",
  subjectPattern: "^repo:example/.*$",
  audience: "platform",
  claims: { uid: "7", createTime: "never" },
  claimPatterns: { role: "^a" },
};
const patterns = { issuerPattern: "^https://", subject: "ci", audiencePattern: ".*", claims: { id: "7" } };
const awsIdentity = { awsAccount: "123456789012", arnPattern: "^arn:aws:", userId: "AIDA" };
const metadataUpdate = { of: "exchange", operation: "update-metadata", path: "identities/metadata" } as const;

export default [
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
      claimMatch: matched,
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
      claimMatch: matched,
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
    v2: { uid: IDENTITY, name: "lambda", description: "", awsIdentity },
    v1: { id: IDENTITY, name: "lambda", description: "", lastSeen: null, awsIdentity },
  },
  {
    of: "body",
    operation: "create",
    v1: { name: "ci", claimMatch: patterns },
    v2: { name: "ci", claimMatch: patterns },
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
  // v2 responds with the uid alone, even if no identity has it. A further call reads the record that v1 sent.
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
    ...metadataUpdate,
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
  // Omitted fields become empty.
  {
    ...metadataUpdate,
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
    ...metadataUpdate,
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
    ...metadataUpdate,
    body: { onboardingQuestions: { companyName: "?" } },
    calls: [
      {
        call: "PATCH identities:updateIdentityMetadata",
        body: { identityMetadata: { company: "?", ...blank, updatesOptIn: false }, updateMask: METADATA_MASK },
        status: 400,
        answer: invalid("identity_metadata.company", { field: "identityMetadata.company", description: "is no name" }),
      },
    ],
    status: 400,
    answer: invalid("onboardingQuestions.companyName", {
      field: "onboardingQuestions.companyName",
      description: "is no name",
    }),
  },
  // No identity has the uid that v2 sends: v1's "not found".
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
        answer: notFound("no such identity"),
      },
    ],
    status: 404,
    answer: notFound("no such identity"),
  },
  { of: "filters", v1: `uidp.descendants_of=${ORG}`, v2: `uidp.descendants_of=${ORG}` },
  { of: "filters", v1: `uidp.children_of=${ORG_GROUP_QUERY}`, v2: `uidp.children_of=${ORG_GROUP_QUERY}` },
  { of: "filters", v1: `uidp.ancestors_of=${ORG_GROUP_QUERY}`, v2: `uidp.ancestors_of=${ORG_GROUP_QUERY}` },
  { of: "filters", v1: "uidp.inRoot=true", v2: "uidp.in_root=true" },
  { of: "filters", v1: "uidp.ids=a1&uidp.ids=b2", v2: "uidp.ids=a1&uidp.ids=b2" },
] as const satisfies readonly Example[];
