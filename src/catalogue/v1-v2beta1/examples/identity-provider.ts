/** Examples of what v1 and v2 send: identity providers. */
import type { Example } from "../../../model/resource.ts";
import { CREATED, ORG, ROLE, UPDATED } from "../../example-values.ts";

const PROVIDER = `${ORG}/7766554433221100`;

const ENDPOINT = "https://scim.example.com";

export default [
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
  {
    of: "answer",
    operation: "create",
    v2: {
      uid: PROVIDER,
      name: "login",
      description: "",
      defaultRole: ROLE,
      oidc: { issuer: "https://login.example.com", clientId: "client", pkceEnabled: true },
      scim: null,
      createTime: CREATED,
      updateTime: CREATED,
    },
    v1: {
      id: PROVIDER,
      name: "login",
      description: "",
      defaultRole: ROLE,
      oidc: {
        issuer: "https://login.example.com",
        clientId: "client",
        clientSecret: "",
        additionalScopes: [],
        groupsClaim: "",
        correlationRule: "CORRELATION_RULE_UNSPECIFIED",
        pkceEnabled: true,
      },
      scim: null,
      createdAt: CREATED,
      updatedAt: CREATED,
    },
  },
  // What only the platform sets is not sent.
  {
    of: "body",
    operation: "create",
    v1: {
      id: PROVIDER,
      name: "login",
      defaultRole: ROLE,
      oidc: {
        issuer: "https://login.example.com",
        clientId: "client",
        clientSecret: "hush",
        correlationRule: 2,
      },
      scim: { enabled: true },
    },
    v2: {
      name: "login",
      defaultRole: ROLE,
      oidc: {
        issuer: "https://login.example.com",
        clientId: "client",
        clientSecret: "hush",
        correlationRule: "CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID",
      },
    },
  },
  // A client sends back the record that it read, without the secret, which is never shown. The mask names the rule, so that v2 refuses a change of it.
  {
    of: "update",
    v1: {
      id: PROVIDER,
      name: "login",
      description: "",
      defaultRole: ROLE,
      oidc: {
        issuer: "https://login.example.com",
        clientId: "client",
        clientSecret: "",
        additionalScopes: ["groups"],
        groupsClaim: "",
        correlationRule: "CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID",
        pkceEnabled: false,
      },
      scim: null,
    },
    mask: [
      "name",
      "description",
      "defaultRole",
      "oidc.issuer",
      "oidc.clientId",
      "oidc.additionalScopes",
      "oidc.groupsClaim",
      "oidc.correlationRule",
      "oidc.pkceEnabled",
    ],
    v2: {
      name: "login",
      description: "",
      defaultRole: ROLE,
      oidc: {
        issuer: "https://login.example.com",
        clientId: "client",
        additionalScopes: ["groups"],
        groupsClaim: "",
        correlationRule: "CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID",
        pkceEnabled: false,
      },
    },
  },
  // A new secret, no rule, no default role.
  {
    of: "update",
    v1: { name: "login", oidc: { issuer: "https://login.example.com", clientId: "client", clientSecret: "hush" } },
    mask: [
      "name",
      "description",
      "oidc.issuer",
      "oidc.clientId",
      "oidc.clientSecret",
      "oidc.additionalScopes",
      "oidc.groupsClaim",
      "oidc.pkceEnabled",
    ],
    v2: {
      name: "login",
      description: "",
      oidc: {
        issuer: "https://login.example.com",
        clientId: "client",
        clientSecret: "hush",
        additionalScopes: [],
        groupsClaim: "",
        pkceEnabled: false,
      },
    },
  },
  // v2 wants one configuration, so a PUT without any leaves it alone.
  {
    of: "update",
    v1: { name: "login", oidc: null },
    mask: ["name", "description"],
    v2: { name: "login", description: "" },
  },
  {
    of: "exchange",
    operation: "generate-scim-token",
    path: `identityProviders/${PROVIDER}:generateScimToken`,
    body: { identityProviderId: ORG, expireTime: UPDATED, neverExpires: false },
    calls: [
      {
        call: `POST identityProviders/${PROVIDER}:generateScimToken`,
        body: { expireTime: UPDATED, neverExpires: false },
        answer: {
          token: "shown once",
          endpointUrl: ENDPOINT,
          expireTime: UPDATED,
          identityProviderUid: PROVIDER,
          etag: "W/1",
        },
      },
    ],
    answer: {
      token: "shown once",
      endpointUrl: ENDPOINT,
      expireTime: UPDATED,
      identityProviderId: PROVIDER,
      etag: "W/1",
    },
  },
  // It never expires, so there is no time.
  {
    of: "exchange",
    operation: "generate-scim-token",
    path: `identityProviders/${PROVIDER}:generateScimToken`,
    body: { never_expires: true },
    calls: [
      {
        call: `POST identityProviders/${PROVIDER}:generateScimToken`,
        body: { neverExpires: true },
        answer: { token: "shown once", endpointUrl: ENDPOINT, identityProviderUid: PROVIDER, etag: "W/1" },
      },
    ],
    answer: {
      token: "shown once",
      endpointUrl: ENDPOINT,
      identityProviderId: PROVIDER,
      etag: "W/1",
      expireTime: null,
    },
  },
  {
    of: "exchange",
    operation: "regenerate-scim-token",
    path: `identityProviders/${PROVIDER}:regenerateScimToken`,
    body: { overlap: "0s", expireTime: UPDATED, etag: "W/1" },
    calls: [
      {
        call: `POST identityProviders/${PROVIDER}:regenerateScimToken`,
        body: { overlap: "0s", expireTime: UPDATED, etag: "W/1" },
        answer: {
          token: "shown once",
          endpointUrl: ENDPOINT,
          expireTime: UPDATED,
          identityProviderUid: PROVIDER,
          etag: "W/2",
          previousTokenExpireTime: CREATED,
          requestedOverlap: "0s",
        },
      },
    ],
    answer: {
      token: "shown once",
      endpointUrl: ENDPOINT,
      expireTime: UPDATED,
      identityProviderId: PROVIDER,
      etag: "W/2",
      previousTokenExpireTime: CREATED,
      requestedOverlap: "0s",
    },
  },
  {
    of: "exchange",
    operation: "revoke-scim-token",
    path: `identityProviders/${PROVIDER}:revokeScimToken`,
    body: {},
    calls: [
      {
        call: `POST identityProviders/${PROVIDER}:revokeScimToken`,
        body: {},
        answer: { identityProviderUid: PROVIDER, etag: "W/3", enabled: true, revokeTime: UPDATED },
      },
    ],
    answer: { identityProviderId: PROVIDER, etag: "W/3", enabled: true, revokeTime: UPDATED },
  },
  {
    of: "exchange",
    operation: "set-scim-enabled",
    path: `identityProviders/${PROVIDER}:setScimEnabled`,
    body: { enabled: false, etag: "W/3" },
    calls: [
      {
        call: `POST identityProviders/${PROVIDER}:setScimEnabled`,
        body: { enabled: false, etag: "W/3" },
        answer: { identityProviderUid: PROVIDER, etag: "W/4" },
      },
    ],
    answer: { identityProviderId: PROVIDER, etag: "W/4", enabled: false },
  },
  { of: "filters", v1: `name=login&uidp.descendantsOf=${ORG}`, v2: `name=login&uidp.descendants_of=${ORG}` },
] as const satisfies readonly Example[];
