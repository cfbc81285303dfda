/** Account associations: v1 beside v2. (Accounts elsewhere that belong to a group.) */
import type { EnumTable, Resource, Row, Shape } from "../../model/resource.ts";
import { nameFilter, specifiedTimes } from "../common-fields.ts";
import { CREATED, GROUP, ORG, UPDATED } from "../example-values.ts";

/** The vendor's own block: its JSON key is the vendor's name, in both versions. A literal of the wire. */
const OWN = "chainguard";

const accountType = {
  name: "account type",
  unknown: "drop",
  values: [
    ["UNKNOWN", 0, "ACCOUNT_PROVIDER_TYPE_UNSPECIFIED", 0],
    ["GOOGLE", 1, "ACCOUNT_PROVIDER_TYPE_GOOGLE", 1],
    ["AMAZON", 2, "ACCOUNT_PROVIDER_TYPE_AMAZON", 2],
    ["AZURE", 3, "ACCOUNT_PROVIDER_TYPE_AZURE", 3],
  ],
} as const satisfies EnumTable;

const checkState = {
  name: "check state",
  unknown: "drop",
  values: [
    ["UNKNOWN", 0, "CHECK_STATUS_UNSPECIFIED", 0],
    ["Ready", 1, "CHECK_STATUS_READY", 1],
    ["NotReady", 2, "CHECK_STATUS_NOT_READY", 2],
  ],
} as const satisfies EnumTable;

const installation: readonly Row[] = [
  { v1: "installationId", v2: "installationId", kind: "int64", zero: "0" },
  { v1: "name", v2: "name", kind: "string", zero: "" },
];

/** A block that a PUT leaves out is cleared. */
const association: Shape = {
  rows: [
    // The uid is the group's own uid: one record for each group. A body may name it; the path says which.
    { v1: "group", v2: "uid", kind: "string", access: "output" },
    // v2 wants one, v1 did not: a PUT without it cannot empty it, and leaves it alone.
    { v1: "name", v2: "name", kind: "string", zero: "", mask: "when-present", required: true },
    { v1: "description", v2: "description", kind: "string", zero: "" },
    {
      v1: "amazon",
      v2: "amazon",
      kind: "message",
      rows: [{ v1: "account", v2: "account", kind: "string", zero: "" }],
      zero: null,
    },
    {
      v1: "google",
      v2: "google",
      kind: "message",
      rows: [
        { v1: "projectId", v2: "projectId", kind: "string", zero: "" },
        { v1: "projectNumber", v2: "projectNumber", kind: "string", zero: "" },
      ],
      zero: null,
    },
    {
      v1: OWN,
      v2: OWN,
      kind: "message",
      // Keys are service principals in v1's spelling, stored as they are: data, never given v2's enum prefix.
      rows: [{ v1: "serviceBindings", v2: "serviceBindings", kind: "map", of: "string", zero: {} }],
      zero: null,
    },
    {
      v1: "azure",
      v2: "azure",
      kind: "message",
      rows: [
        { v1: "tenantId", v2: "tenantId", kind: "string", zero: "" },
        // Keys are names of components.
        { v1: "clientIds", v2: "clientIds", kind: "map", of: "string", zero: {} },
      ],
      zero: null,
    },
    {
      v1: "github",
      v2: "github",
      kind: "message",
      rows: [
        {
          v1: "appInstallations",
          v2: "appInstallations",
          kind: "map",
          // Ids of apps.
          keys: "int64",
          of: {
            rows: [
              { v1: "installations", v2: "installations", kind: "message", rows: installation, list: true, zero: [] },
            ],
          },
          zero: {},
        },
      ],
      zero: null,
    },
    ...specifiedTimes,
  ],
  v2Only: [],
};

const blocks = {
  amazon: { account: "123456789012" },
  google: { projectId: "example", projectNumber: "42" },
  [OWN]: { serviceBindings: { INGESTER: `${ORG}/aabbccddeeff0011`, uid: "x" } },
  azure: { tenantId: "tenant", clientIds: { createTime: "client" } },
  github: { appInstallations: { "9007199254740993": { installations: [{ installationId: "7", name: "docs" }] } } },
};

export default {
  name: "account-association",
  domain: "iam",
  v1: "account_associations",
  v2: "accountAssociations",
  items: "accountAssociations",
  key: "group",
  list: "drain",
  // Ordered by group, which is the uid.
  orderedByUid: true,
  operations: [
    { kind: "list", name: "list", answer: association, filters: [{ v1: "group", use: "get" }, nameFilter] },
    { kind: "get", name: "get", answer: association, extension: true },
    { kind: "create", name: "create", body: association, answer: association },
    { kind: "update", name: "update", body: association, answer: association },
    { kind: "delete", name: "delete" },
    {
      kind: "call",
      name: "check",
      method: "POST",
      path: "account_associations/{group=**}:check",
      v2: { method: "POST", path: "accountAssociations/{uid}:checkAccountAssociation" },
      body: {
        rows: [
          { v1: "group", v2: "uid", kind: "string", access: "output" },
          { v1: "accountType", v2: "providerType", kind: "enum", values: accountType, zero: "UNKNOWN" },
        ],
        v2Only: [],
      },
      answer: {
        rows: [
          { v1: "ready", v2: "status", kind: "enum", values: checkState, access: "output" },
          { v1: "reason", v2: "reason", kind: "string", access: "output" },
          { v1: "message", v2: "message", kind: "string", access: "output" },
        ],
        v2Only: [],
      },
    },
  ],
  examples: [
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
      v1: {
        name: "accounts",
        azure: { tenantId: "tenant", clientIds: { tenant_id: "data" } },
        github: { appInstallations: { 7: { installations: [{ installationId: 9007199254740991, name: "docs" }] } } },
      },
      v2: {
        name: "accounts",
        azure: { tenantId: "tenant", clientIds: { tenant_id: "data" } },
        github: { appInstallations: { 7: { installations: [{ installationId: 9007199254740991, name: "docs" }] } } },
      },
    },
    {
      of: "update",
      v1: { group: GROUP, name: "accounts", description: "all", ...blocks },
      mask: ["name", "description", ...Object.keys(blocks)],
      v2: { name: "accounts", description: "all", ...blocks },
    },
    // What is left out is cleared, but for the name, which v2 does not let be empty.
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
    {
      of: "exchange",
      operation: "check",
      path: `account_associations/${GROUP}:check`,
      body: { group: ORG, accountType: "AMAZON" },
      calls: [
        {
          call: `POST accountAssociations/${GROUP}:checkAccountAssociation`,
          body: { providerType: "ACCOUNT_PROVIDER_TYPE_AMAZON" },
          answer: { status: "CHECK_STATUS_NOT_READY", reason: "Forbidden", message: "no access" },
        },
      ],
      answer: { ready: "NotReady", reason: "Forbidden", message: "no access" },
    },
    // By number, and in the other spelling.
    {
      of: "exchange",
      operation: "check",
      path: `account_associations/${GROUP}:check`,
      body: { account_type: 1 },
      calls: [
        {
          call: `POST accountAssociations/${GROUP}:checkAccountAssociation`,
          body: { providerType: "ACCOUNT_PROVIDER_TYPE_GOOGLE" },
          answer: { status: "CHECK_STATUS_READY" },
        },
      ],
      answer: { ready: "Ready", reason: "", message: "" },
    },
    {
      of: "exchange",
      operation: "check",
      path: `account_associations/${GROUP}:check`,
      body: { accountType: 3 },
      calls: [
        {
          call: `POST accountAssociations/${GROUP}:checkAccountAssociation`,
          body: { providerType: "ACCOUNT_PROVIDER_TYPE_AZURE" },
          answer: { reason: "", message: "" },
        },
      ],
      answer: { ready: "UNKNOWN", reason: "", message: "" },
    },
    { of: "filters", v1: "name=accounts", v2: "name=accounts" },
  ],
} satisfies Resource;
