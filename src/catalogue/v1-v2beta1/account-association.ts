/** Account associations: v1 beside v2. (Accounts elsewhere that belong to a group.) */
import type { EnumTable, Resource, Row, Shape } from "../../model/resource.ts";
import { nameFilter, specifiedTimes } from "../common-fields.ts";

/** The vendor's own block: its JSON key is the vendor's name, in both versions. A literal of the wire. */
export const OWN = "chainguard";

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
} satisfies Resource;
