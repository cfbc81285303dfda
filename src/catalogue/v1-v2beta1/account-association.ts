/** What does an account association look like in v1, and what in v2? (Accounts elsewhere that belong to a group.) */
import type { Resource, Row, Shape } from "../../model/resource.ts";
import { CREATED, GROUP, ORG, UPDATED } from "../shared/sample.ts";
import { recordTimes } from "../shared/times.ts";
import { nameFilter } from "../shared/uidp.ts";

/** The vendor's own block: its JSON key is the vendor's name, in both versions. A literal of the wire. */
const OWN = "chainguard";

const installation: readonly Row[] = [
  { v1: "installationId", v2: "installationId", kind: "int64", zero: "0" },
  { v1: "name", v2: "name", kind: "string", zero: "" },
];

/** A block that a PUT leaves out is cleared. */
const association: Shape = {
  rows: [
    // The uid is the group's own uid: one record for each group.
    { v1: "group", v2: "uid", kind: "string", access: "output" },
    { v1: "name", v2: "name", kind: "string", zero: "" },
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
          // Keys are decimal ids of apps.
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
    ...recordTimes,
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
    { kind: "native", name: "create", method: "POST", path: "account_associations/{group=**}" },
    { kind: "native", name: "update", method: "PUT", path: "account_associations/{group=**}" },
    { kind: "native", name: "delete", method: "DELETE", path: "account_associations/{group=**}" },
    { kind: "native", name: "check", method: "POST", path: "account_associations/{group=**}:check" },
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
    { of: "filters", v1: "name=accounts", v2: "name=accounts" },
  ],
} satisfies Resource;
