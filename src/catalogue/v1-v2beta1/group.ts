/** Groups: v1 beside v2. */
import type { EnumTable, Resource, Shape } from "../../model/resource.ts";
import { idFilter, nameFilter, shownOnly, specifiedTimes, uidpFilters } from "../common-fields.ts";
import { CREATED, GROUP, ORG, UPDATED } from "../example-values.ts";

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

const full = {
  v2: {
    uid: GROUP,
    name: "platform team",
    description: "keeps the lights on",
    resourceLimits: { clusters: 3, id: 1, repositories: 250 },
    verified: true,
    kind: "ORG_KIND_CUSTOMER",
    status: "ORG_STATUS_READY",
    createTime: CREATED,
    updateTime: UPDATED,
  },
  v1: {
    id: GROUP,
    name: "platform team",
    description: "keeps the lights on",
    resourceLimits: { clusters: 3, id: 1, repositories: 250 },
    verified: true,
    kind: "ORG_KIND_CUSTOMER",
    status: "ORG_STATUS_READY",
    createdAt: CREATED,
    updatedAt: UPDATED,
  },
};

/** The three cases in which no group is found look the same, in both versions. */
const nowhere = {
  code: 5,
  message: "no group to join",
  details: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "NOT_FOUND", domain: "iam.example.com" }],
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
  examples: [
    { of: "answer", operation: "list", ...full },
    // A platform that leaves zeros out; no time is made up.
    {
      of: "answer",
      operation: "list",
      v2: { uid: ORG, name: "example.com" },
      v1: {
        id: ORG,
        name: "example.com",
        description: "",
        resourceLimits: {},
        verified: false,
        kind: "ORG_KIND_UNSPECIFIED",
        status: "ORG_STATUS_UNSPECIFIED",
      },
    },
    // The minimal shape: an empty object for the limits, no kind and no status.
    {
      of: "answer",
      operation: "create",
      v2: {
        uid: GROUP,
        name: "docs",
        description: "",
        resourceLimits: {},
        verified: false,
        createTime: CREATED,
        updateTime: CREATED,
      },
      v1: {
        id: GROUP,
        name: "docs",
        description: "",
        resourceLimits: {},
        verified: false,
        kind: "ORG_KIND_UNSPECIFIED",
        status: "ORG_STATUS_UNSPECIFIED",
        createdAt: CREATED,
        updatedAt: CREATED,
      },
    },
    {
      of: "body",
      operation: "create",
      v1: { name: "docs", description: "writes", verified: true, kind: "ORG_KIND_STARTER" },
      v2: { name: "docs", description: "writes", verified: true, kind: "ORG_KIND_STARTER" },
    },
    // What the server sets is not sent; an enum may be its v1 number; null is absent.
    {
      of: "body",
      operation: "create",
      v1: {
        id: GROUP,
        name: "docs",
        description: null,
        resourceLimits: { clusters: 1 },
        kind: 2,
        status: "ORG_STATUS_READY",
        createdAt: CREATED,
      },
      v2: { name: "docs", kind: "ORG_KIND_CUSTOMER" },
    },
    // What is left out becomes zero, but for the fields of the staff.
    { of: "update", v1: { name: "docs" }, mask: ["name", "description"], v2: { name: "docs", description: "" } },
    {
      of: "update",
      v1: {
        id: GROUP,
        name: "docs",
        description: "writes",
        resourceLimits: { clusters: 9 },
        verified: false,
        kind: "ORG_KIND_CUSTOMER",
        status: "ORG_STATUS_READY",
      },
      stored: { uid: GROUP, name: "docs", verified: true, kind: "ORG_KIND_CUSTOMER" },
      mask: ["name", "description", "verified"],
      v2: { name: "docs", description: "writes", verified: false },
    },
    {
      of: "update",
      v1: { name: "docs", description: "", verified: true, kind: "ORG_KIND_DEV" },
      stored: { uid: GROUP, name: "docs", verified: true, kind: "ORG_KIND_STARTER" },
      mask: ["name", "description", "kind"],
      v2: { name: "docs", description: "", kind: "ORG_KIND_DEV" },
    },
    // Zero of the kind means that the client did not say.
    {
      of: "update",
      v1: { name: "docs", description: "", kind: "ORG_KIND_UNSPECIFIED" },
      stored: { uid: GROUP, name: "docs", kind: "ORG_KIND_STARTER" },
      mask: ["name", "description"],
      v2: { name: "docs", description: "" },
    },
    {
      of: "filters",
      v1: `uidp.descendants_of=${ORG}&name=docs`,
      v2: `uidp.descendants_of=${ORG}&name=docs`,
    },
    { of: "filters", v1: `uidp.childrenOf=${ORG}&name=`, v2: `uidp.children_of=${ORG}` },
    {
      of: "exchange",
      operation: "check-eligibility",
      path: "groups:checkEligibility",
      calls: [{ call: "GET groups:checkEligibility", answer: {} }],
      answer: { eligible: false },
    },
    {
      of: "exchange",
      operation: "check-eligibility",
      path: "groups:checkEligibility",
      calls: [{ call: "GET groups:checkEligibility", answer: { eligible: true } }],
      answer: { eligible: true },
    },
    {
      of: "exchange",
      operation: "lookup-group",
      path: "groups:lookupGroup",
      calls: [{ call: "GET groups:lookupGroup", answer: { group: full.v2 } }],
      answer: { group: full.v1 },
    },
    // A platform that leaves zeros out.
    {
      of: "exchange",
      operation: "lookup-group",
      path: "groups:lookupGroup",
      calls: [{ call: "GET groups:lookupGroup", answer: { group: { uid: ORG, name: "example.com" } } }],
      answer: {
        group: {
          id: ORG,
          name: "example.com",
          description: "",
          resourceLimits: {},
          verified: false,
          kind: "ORG_KIND_UNSPECIFIED",
          status: "ORG_STATUS_UNSPECIFIED",
        },
      },
    },
    {
      of: "exchange",
      operation: "lookup-group",
      path: "groups:lookupGroup",
      calls: [{ call: "GET groups:lookupGroup", status: 404, answer: nowhere }],
      status: 404,
      answer: nowhere,
    },
    {
      of: "exchange",
      operation: "request-group-access",
      path: `groups/${ORG}:requestGroupAccess`,
      body: {},
      calls: [{ call: `POST groups/${ORG}:requestGroupAccess`, body: {}, answer: {} }],
      answer: {},
    },
    // Another group in the body than in the path.
    {
      of: "exchange",
      operation: "request-group-access",
      path: `groups/${ORG}:requestGroupAccess`,
      body: { groupId: GROUP },
      calls: [{ call: `POST groups/${ORG}:requestGroupAccess`, body: {}, answer: {} }],
      answer: {},
    },
  ],
} satisfies Resource;
