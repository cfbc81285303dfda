/** Examples of what v1 and v2 send: account associations. */
import type { JsonObject } from "../../../model/json.ts";
import type { Example } from "../../../model/resource.ts";
import { CREATED, GROUP, ORG, UPDATED } from "../../example-values.ts";
import { OWN } from "../account-association.ts";

const blocks = {
  amazon: { account: "123456789012" },
  google: { projectId: "example", projectNumber: "42" },
  [OWN]: { serviceBindings: { INGESTER: `${ORG}/aabbccddeeff0011`, uid: "x" } },
  azure: { tenantId: "tenant", clientIds: { createTime: "client" } },
  github: { appInstallations: { "9007199254740993": { installations: [{ installationId: "7", name: "docs" }] } } },
};

const numbered = {
  azure: { tenantId: "tenant", clientIds: { tenant_id: "data" } },
  github: { appInstallations: { 7: { installations: [{ installationId: 9007199254740991, name: "docs" }] } } },
};

function checked(body: JsonObject, providerType: string, told: JsonObject, answer: JsonObject): Example {
  const call = `POST accountAssociations/${GROUP}:checkAccountAssociation`;
  return {
    of: "exchange",
    operation: "check",
    path: `account_associations/${GROUP}:check`,
    body,
    calls: [{ call, body: { providerType }, answer: told }],
    answer,
  };
}

export default [
  {
    of: "answer",
    operation: "list",
    v2: { uid: GROUP, name: "accounts", description: "all", ...blocks, createTime: CREATED, updateTime: UPDATED },
    v1: { group: GROUP, name: "accounts", description: "all", ...blocks, createdAt: CREATED, updatedAt: UPDATED },
  },
  {
    of: "answer",
    operation: "list",
    v2: { uid: GROUP, name: "accounts", amazon: { account: "123456789012" }, google: null, azure: {} },
    v1: {
      group: GROUP,
      name: "accounts",
      description: "",
      amazon: { account: "123456789012" },
      google: null,
      [OWN]: null,
      azure: { tenantId: "", clientIds: {} },
      github: null,
    },
  },
  // The path says which group.
  {
    of: "body",
    operation: "create",
    v1: { group: ORG, name: "accounts", description: "all", ...blocks },
    v2: { name: "accounts", description: "all", ...blocks },
  },
  {
    of: "body",
    operation: "create",
    v1: { name: "accounts", ...numbered },
    v2: { name: "accounts", ...numbered },
  },
  {
    of: "update",
    v1: { group: GROUP, name: "accounts", description: "all", ...blocks },
    mask: ["name", "description", ...Object.keys(blocks)],
    v2: { name: "accounts", description: "all", ...blocks },
  },
  // Omitted fields are cleared, except the name, which must not be empty in v2.
  {
    of: "update",
    v1: { amazon: { account: "123456789012" } },
    mask: ["description", "amazon", "google", OWN, "azure", "github"],
    v2: {
      description: "",
      amazon: { account: "123456789012" },
      google: null,
      [OWN]: null,
      azure: null,
      github: null,
    },
  },
  checked(
    { group: ORG, accountType: "AMAZON" },
    "ACCOUNT_PROVIDER_TYPE_AMAZON",
    { status: "CHECK_STATUS_NOT_READY", reason: "Forbidden", message: "no access" },
    { ready: "NotReady", reason: "Forbidden", message: "no access" },
  ),
  // By number, and in the other spelling.
  checked(
    { account_type: 1 },
    "ACCOUNT_PROVIDER_TYPE_GOOGLE",
    { status: "CHECK_STATUS_READY" },
    { ready: "Ready", reason: "", message: "" },
  ),
  checked(
    { accountType: 3 },
    "ACCOUNT_PROVIDER_TYPE_AZURE",
    { reason: "", message: "" },
    { ready: "UNKNOWN", reason: "", message: "" },
  ),
  { of: "filters", v1: "name=accounts", v2: "name=accounts" },
] as const satisfies readonly Example[];
