/** What does an identity provider look like in v1, and what in v2? (A login service that a group trusts.) */
import type { EnumTable, Join, Resource, Row, Shape } from "../../model/resource.ts";
import { CREATED, ORG, ROLE, UPDATED } from "../shared/sample.ts";
import { recordTimes } from "../shared/times.ts";
import { idFilter, nameFilter, uidpFilters } from "../shared/uidp.ts";

const PROVIDER = `${ORG}/7766554433221100`;

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
    { v1: "defaultRole", v2: "defaultRole", kind: "string", zero: "" },
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
    ...recordTimes,
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
    { kind: "native", name: "create", method: "POST", path: "identityProviders/{parent_id=**}" },
    { kind: "native", name: "update", method: "PUT", path: "identityProviders/{id=**}" },
    { kind: "native", name: "delete", method: "DELETE", path: "identityProviders/{id=**}" },
    {
      kind: "native",
      name: "generate-scim-token",
      method: "POST",
      path: "identityProviders/{identity_provider_id=**}:generateScimToken",
    },
    {
      kind: "native",
      name: "regenerate-scim-token",
      method: "POST",
      path: "identityProviders/{identity_provider_id=**}:regenerateScimToken",
    },
    {
      kind: "native",
      name: "revoke-scim-token",
      method: "POST",
      path: "identityProviders/{identity_provider_id=**}:revokeScimToken",
    },
    {
      kind: "native",
      name: "set-scim-enabled",
      method: "POST",
      path: "identityProviders/{identity_provider_id=**}:setScimEnabled",
    },
  ],
  examples: [
    {
      of: "answer",
      operation: "list",
      v2: {
        uid: PROVIDER,
        name: "login",
        description: "of the company",
        defaultRole: ROLE,
        oidc: {
          issuer: "https://login.example.com",
          clientId: "client",
          clientSecret: "",
          additionalScopes: ["groups"],
          groupsClaim: "groups",
          correlationRule: "CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID",
          pkceEnabled: true,
        },
        scim: {
          enabled: true,
          endpointUrl: "https://scim.example.com",
          tokenExpireTime: UPDATED,
          previousTokenExpireTime: CREATED,
          credentialState: "CREDENTIAL_STATE_LIVE",
          etag: "W/7",
        },
        createTime: CREATED,
        updateTime: UPDATED,
      },
      v1: {
        id: PROVIDER,
        name: "login",
        description: "of the company",
        defaultRole: ROLE,
        oidc: {
          issuer: "https://login.example.com",
          clientId: "client",
          clientSecret: "",
          additionalScopes: ["groups"],
          groupsClaim: "groups",
          correlationRule: "CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID",
          pkceEnabled: true,
        },
        scim: {
          enabled: true,
          endpointUrl: "https://scim.example.com",
          tokenExpireTime: UPDATED,
          previousTokenExpireTime: CREATED,
          credentialState: "CREDENTIAL_STATE_LIVE",
          etag: "W/7",
        },
        createdAt: CREATED,
        updatedAt: UPDATED,
      },
    },
    {
      of: "answer",
      operation: "list",
      v2: { uid: PROVIDER, name: "login", oidc: { issuer: "https://login.example.com", clientId: "client" } },
      v1: {
        id: PROVIDER,
        name: "login",
        description: "",
        defaultRole: "",
        oidc: {
          issuer: "https://login.example.com",
          clientId: "client",
          clientSecret: "",
          additionalScopes: [],
          groupsClaim: "",
          correlationRule: "CORRELATION_RULE_UNSPECIFIED",
          pkceEnabled: false,
        },
        scim: null,
      },
    },
    { of: "filters", v1: `name=login&uidp.descendantsOf=${ORG}`, v2: `name=login&uidp.descendants_of=${ORG}` },
  ],
} satisfies Resource;
