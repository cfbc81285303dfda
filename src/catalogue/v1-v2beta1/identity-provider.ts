/** Identity providers: v1 beside v2. (A login service that a group trusts.) */
import type { EnumTable, Join, Resource, Row, Shape } from "../../model/resource.ts";
import { idFilter, nameFilter, specifiedTimes, uidpFilters } from "../common-fields.ts";

const correlationRule = {
  name: "OIDC correlation rule",
  unknown: "drop",
  values: [
    ["CORRELATION_RULE_UNSPECIFIED", 0, "CORRELATION_RULE_UNSPECIFIED", 0],
    ["CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID", 1, "CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID", 1],
    ["CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID", 2, "CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID", 2],
  ],
} as const satisfies EnumTable;

const credentialState = {
  name: "SCIM credential state",
  unknown: "drop",
  values: [
    ["CREDENTIAL_STATE_UNSPECIFIED", 0, "CREDENTIAL_STATE_UNSPECIFIED", 0],
    ["CREDENTIAL_STATE_NOT_ISSUED", 1, "CREDENTIAL_STATE_NOT_ISSUED", 1],
    ["CREDENTIAL_STATE_LIVE", 2, "CREDENTIAL_STATE_LIVE", 2],
    ["CREDENTIAL_STATE_EXPIRED", 3, "CREDENTIAL_STATE_EXPIRED", 3],
    ["CREDENTIAL_STATE_REVOKED", 4, "CREDENTIAL_STATE_REVOKED", 4],
    ["CREDENTIAL_STATE_ROTATING", 5, "CREDENTIAL_STATE_ROTATING", 5],
  ],
} as const satisfies EnumTable;

const oidc: readonly Row[] = [
  { v1: "issuer", v2: "issuer", kind: "string", zero: "" },
  { v1: "clientId", v2: "clientId", kind: "string", zero: "" },
  // Reads never return it, so a client that sends back what it read has none; named empty it would be wiped.
  { v1: "clientSecret", v2: "clientSecret", kind: "string", zero: "", mask: "when-present", echo: "none" },
  {
    v1: "additionalScopes",
    v2: "additionalScopes",
    kind: "string",
    list: true,
    zero: [],
    echo: "normalised",
  },
  { v1: "groupsClaim", v2: "groupsClaim", kind: "string", zero: "" },
  // Fixed at creation. Named whenever it is given, so that the platform refuses a change instead of losing it.
  {
    v1: "correlationRule",
    v2: "correlationRule",
    kind: "enum",
    values: correlationRule,
    zero: "CORRELATION_RULE_UNSPECIFIED",
    mask: "when-present",
  },
  { v1: "pkceEnabled", v2: "pkceEnabled", kind: "bool", zero: false },
];

/** Status only. v2's list leaves out the times and the state of the credential, its Get has them. */
const scim: readonly Row[] = [
  { v1: "enabled", v2: "enabled", kind: "bool", access: "output" },
  { v1: "endpointUrl", v2: "endpointUrl", kind: "string", access: "output" },
  { v1: "tokenExpireTime", v2: "tokenExpireTime", kind: "timestamp", access: "output" },
  { v1: "previousTokenExpireTime", v2: "previousTokenExpireTime", kind: "timestamp", access: "output" },
  { v1: "credentialState", v2: "credentialState", kind: "enum", values: credentialState, access: "output" },
  { v1: "etag", v2: "etag", kind: "string", access: "output" },
];

const provider: Shape = {
  rows: [
    { v1: "id", v2: "uid", kind: "string", access: "output" },
    { v1: "name", v2: "name", kind: "string", zero: "" },
    { v1: "description", v2: "description", kind: "string", zero: "" },
    // v2 wants one, v1 did not: a PUT without it cannot empty it, and leaves it alone.
    { v1: "defaultRole", v2: "defaultRole", kind: "string", zero: "", mask: "when-present", required: true },
    {
      v1: "oidc",
      v2: "oidc",
      kind: "message",
      rows: oidc,
      presence: "explicit",
      oneof: "configuration",
      zero: null,
      mask: "members",
    },
    { v1: "scim", v2: "scim", kind: "message", rows: scim, access: "output" },
    ...specifiedTimes,
  ],
  v2Only: [],
};

/** v1's lists had the state of the credential: each provider that has any is read once more. */
const joins: readonly Join[] = [
  {
    v1: "scim",
    resource: "identity-provider",
    by: "uid",
    when: "scim",
    read: "get",
    take: { member: "scim" },
    missing: "own",
  },
];

/** In a request it is never sent: the path says which provider, whatever the body says. */
const ofProvider: Row = { v1: "identityProviderId", v2: "identityProviderUid", kind: "string", access: "output" };
const etag: Row = { v1: "etag", v2: "etag", kind: "string", access: "output" };
const enabled: Row = { v1: "enabled", v2: "enabled", kind: "bool", access: "output" };

/** How long a token is to be good. */
const lifetime: readonly Row[] = [
  { v1: "expireTime", v2: "expireTime", kind: "timestamp", zero: null },
  { v1: "neverExpires", v2: "neverExpires", kind: "bool", zero: false },
];

/** What shows a token, once. */
const token: readonly Row[] = [
  { v1: "token", v2: "token", kind: "string", access: "output" },
  { v1: "endpointUrl", v2: "endpointUrl", kind: "string", access: "output" },
  { v1: "expireTime", v2: "expireTime", kind: "timestamp", access: "output" },
  ofProvider,
  etag,
];

function scimCall(name: string, verb: string) {
  const path = `identityProviders/{identity_provider_id=**}:${verb}`;
  const v2 = { method: "POST", path: `identityProviders/{uid}:${verb}` } as const;
  return { kind: "call", name, method: "POST", path, v2 } as const;
}

export default {
  name: "identity-provider",
  domain: "iam",
  v1: "identityProviders",
  v2: "identityProviders",
  items: "identityProviders",
  key: "id",
  list: "drain",
  orderedByUid: true,
  operations: [
    { kind: "list", name: "list", answer: provider, joins, filters: [idFilter, nameFilter, ...uidpFilters] },
    { kind: "get", name: "get", answer: provider, extension: true },
    { kind: "create", name: "create", body: provider, answer: provider },
    { kind: "update", name: "update", body: provider, answer: provider },
    { kind: "delete", name: "delete" },
    {
      ...scimCall("generate-scim-token", "generateScimToken"),
      body: { rows: [ofProvider, ...lifetime], v2Only: [] },
      answer: { rows: token, v2Only: [] },
    },
    {
      ...scimCall("regenerate-scim-token", "regenerateScimToken"),
      body: {
        rows: [
          ofProvider,
          // Left out it is an hour, zero is none: sent exactly when it came.
          { v1: "overlap", v2: "overlap", kind: "duration", zero: null },
          ...lifetime,
          { v1: "etag", v2: "etag", kind: "string", zero: "" },
        ],
        v2Only: [],
      },
      answer: {
        rows: [
          ...token,
          { v1: "previousTokenExpireTime", v2: "previousTokenExpireTime", kind: "timestamp", access: "output" },
          { v1: "requestedOverlap", v2: "requestedOverlap", kind: "duration", access: "output" },
        ],
        v2Only: [],
      },
    },
    {
      ...scimCall("revoke-scim-token", "revokeScimToken"),
      body: { rows: [ofProvider], v2Only: [] },
      answer: {
        rows: [ofProvider, etag, enabled, { v1: "revokeTime", v2: "revokeTime", kind: "timestamp", access: "output" }],
        v2Only: [],
      },
    },
    {
      ...scimCall("set-scim-enabled", "setScimEnabled"),
      body: {
        rows: [
          ofProvider,
          { v1: "enabled", v2: "enabled", kind: "bool", zero: false },
          { v1: "etag", v2: "etag", kind: "string", zero: "" },
        ],
        v2Only: [],
      },
      answer: { rows: [ofProvider, enabled, etag], v2Only: [] },
    },
  ],
} satisfies Resource;
