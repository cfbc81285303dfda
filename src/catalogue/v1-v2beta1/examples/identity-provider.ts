/** Examples of what v1 and v2 send: identity providers. */
import type { JsonObject } from "../../../model/json.ts";
import type { Example } from "../../../model/resource.ts";
import { CREATED, ORG, ROLE, UPDATED } from "../../example-values.ts";

const PROVIDER = `${ORG}/7766554433221100`;

const full = {
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
};

/** Without what v2 leaves out. */
const bare = {
  issuer: "https://login.example.com",
  clientId: "client",
  clientSecret: "",
  additionalScopes: [],
  groupsClaim: "",
  correlationRule: "CORRELATION_RULE_UNSPECIFIED",
};

const shownOnce = { token: "shown once", endpointUrl: "https://scim.example.com" };
const before = { previousTokenExpireTime: CREATED, requestedOverlap: "0s" };

/** `body` and `shown` as v1 has them, `sent` and `told` as v2 does. */
function scim(
  operation: string,
  verb: string,
  { body, sent, told, shown }: Readonly<Record<"body" | "sent" | "told" | "shown", JsonObject>>,
): Example {
  const path = `identityProviders/${PROVIDER}:${verb}`;
  return {
    of: "exchange",
    operation,
    path,
    body,
    calls: [{ call: `POST ${path}`, body: sent, answer: told }],
    answer: shown,
  };
}

export default [
  {
    of: "answer",
    operation: "list",
    v2: { uid: PROVIDER, ...full, createTime: CREATED, updateTime: UPDATED },
    v1: { id: PROVIDER, ...full, createdAt: CREATED, updatedAt: UPDATED },
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
      oidc: { ...bare, pkceEnabled: false },
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
      oidc: { ...bare, pkceEnabled: true },
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
  scim("generate-scim-token", "generateScimToken", {
    body: { identityProviderId: ORG, expireTime: UPDATED, neverExpires: false },
    sent: { expireTime: UPDATED, neverExpires: false },
    told: { ...shownOnce, expireTime: UPDATED, identityProviderUid: PROVIDER, etag: "W/1" },
    shown: { ...shownOnce, expireTime: UPDATED, identityProviderId: PROVIDER, etag: "W/1" },
  }),
  // It never expires, so there is no time.
  scim("generate-scim-token", "generateScimToken", {
    body: { never_expires: true },
    sent: { neverExpires: true },
    told: { ...shownOnce, identityProviderUid: PROVIDER, etag: "W/1" },
    shown: { ...shownOnce, identityProviderId: PROVIDER, etag: "W/1", expireTime: null },
  }),
  scim("regenerate-scim-token", "regenerateScimToken", {
    body: { overlap: "0s", expireTime: UPDATED, etag: "W/1" },
    sent: { overlap: "0s", expireTime: UPDATED, etag: "W/1" },
    told: { ...shownOnce, expireTime: UPDATED, identityProviderUid: PROVIDER, etag: "W/2", ...before },
    shown: { ...shownOnce, expireTime: UPDATED, identityProviderId: PROVIDER, etag: "W/2", ...before },
  }),
  scim("revoke-scim-token", "revokeScimToken", {
    body: {},
    sent: {},
    told: { identityProviderUid: PROVIDER, etag: "W/3", enabled: true, revokeTime: UPDATED },
    shown: { identityProviderId: PROVIDER, etag: "W/3", enabled: true, revokeTime: UPDATED },
  }),
  scim("set-scim-enabled", "setScimEnabled", {
    body: { enabled: false, etag: "W/3" },
    sent: { enabled: false, etag: "W/3" },
    told: { identityProviderUid: PROVIDER, etag: "W/4" },
    shown: { identityProviderId: PROVIDER, etag: "W/4", enabled: false },
  }),
  { of: "filters", v1: `name=login&uidp.descendantsOf=${ORG}`, v2: `name=login&uidp.descendants_of=${ORG}` },
] as const satisfies readonly Example[];
