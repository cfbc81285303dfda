/** Groups: v1 beside v2. */
import type { EnumTable, Resource, Shape } from "../../model/resource.ts";
import { idFilter, nameFilter, shownOnly, specifiedTimes, uidpFilters } from "../common-fields.ts";

const kind = {
  name: "organization kind",
  unknown: "drop",
  values: [
    ["ORG_KIND_UNSPECIFIED", 0, "ORG_KIND_UNSPECIFIED", 0],
    ["ORG_KIND_STARTER", 1, "ORG_KIND_STARTER", 1],
    ["ORG_KIND_CUSTOMER", 2, "ORG_KIND_CUSTOMER", 2],
    ["ORG_KIND_DEV", 3, "ORG_KIND_DEV", 3],
    ["ORG_KIND_INFRA", 4, "ORG_KIND_INFRA", 4],
    ["ORG_KIND_AWS_MARKETPLACE", 5, "ORG_KIND_AWS_MARKETPLACE", 5],
  ],
} as const satisfies EnumTable;

const status = {
  name: "organization status",
  unknown: "drop",
  values: [
    ["ORG_STATUS_UNSPECIFIED", 0, "ORG_STATUS_UNSPECIFIED", 0],
    ["ORG_STATUS_INITIALIZING", 1, "ORG_STATUS_INITIALIZING", 1],
    ["ORG_STATUS_READY", 2, "ORG_STATUS_READY", 2],
    ["ORG_STATUS_SUSPENDED", 3, "ORG_STATUS_SUSPENDED", 3],
  ],
} as const satisfies EnumTable;

/** Also what a role binding shows of its group. */
export const group: Shape = {
  rows: [
    { v1: "id", v2: "uid", kind: "string", access: "output" },
    { v1: "name", v2: "name", kind: "string", zero: "" },
    { v1: "description", v2: "description", kind: "string", zero: "" },
    // Keys are names of resource types. A v1 client that read a group sends them back.
    { v1: "resourceLimits", v2: "resourceLimits", kind: "map", of: "int32", zero: {}, mask: "never" },
    // Staff only, in both versions: a PUT that merely leaves it out must not switch it off.
    { v1: "verified", v2: "verified", kind: "bool", zero: false, mask: "when-changed" },
    // v2 refuses it on subgroups, which inherit it.
    {
      v1: "kind",
      v2: "kind",
      kind: "enum",
      values: kind,
      zero: "ORG_KIND_UNSPECIFIED",
      mask: "when-changed",
      zeroUnsaid: true,
    },
    { v1: "status", v2: "status", kind: "enum", values: status, zero: "ORG_STATUS_UNSPECIFIED", mask: "never" },
    ...specifiedTimes,
  ],
  v2Only: [],
};

/** The root group of the caller's mail domain. */
const found: Shape = {
  rows: [{ v1: "group", v2: "group", kind: "message", rows: shownOnly(group.rows), access: "output" }],
  v2Only: [],
};

export default {
  name: "group",
  domain: "iam",
  v1: "groups",
  v2: "groups",
  items: "groups",
  key: "id",
  list: "drain",
  orderedByUid: true,
  operations: [
    { kind: "list", name: "list", answer: group, filters: [idFilter, nameFilter, ...uidpFilters] },
    { kind: "get", name: "get", answer: group, extension: true },
    { kind: "create", name: "create", body: group, answer: group, emptyParent: true },
    { kind: "update", name: "update", body: group, answer: group },
    { kind: "delete", name: "delete" },
    {
      kind: "call",
      name: "request-group-access",
      method: "POST",
      path: "groups/{group_id=**}:requestGroupAccess",
      v2: { method: "POST", path: "groups/{uid}:requestGroupAccess" },
      // The path says which group, whatever the body says.
      body: { rows: [{ v1: "groupId", v2: "groupUid", kind: "string", access: "output" }], v2Only: [] },
      answer: { rows: [], v2Only: [] },
    },
    {
      kind: "call",
      name: "check-eligibility",
      method: "GET",
      path: "groups:checkEligibility",
      v2: { method: "GET", path: "groups:checkEligibility" },
      answer: { rows: [{ v1: "eligible", v2: "eligible", kind: "bool", access: "output" }], v2Only: [] },
    },
    {
      kind: "call",
      name: "lookup-group",
      method: "GET",
      path: "groups:lookupGroup",
      v2: { method: "GET", path: "groups:lookupGroup" },
      answer: found,
    },
  ],
} satisfies Resource;
