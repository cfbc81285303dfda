/** Vulnerability advisories: v1 beside v2, which has no writes for them. */
import type { EnumTable, Filter, Resource, Row, Shape } from "../../model/resource.ts";
import { idFilter, recordTimes, uidpFilters } from "../common-fields.ts";

const reviewStatus = {
  name: "review status",
  unknown: "drop",
  values: [
    ["UNKNOWN", 0, "REVIEW_STATE_UNSPECIFIED", 0],
    ["PENDING", 1, "REVIEW_STATE_PENDING", 1],
    ["APPROVED", 2, "REVIEW_STATE_APPROVED", 2],
    ["REQUEST_CHANGES", 3, "REVIEW_STATE_REQUEST_CHANGES", 3],
    ["REJECTED", 4, "REVIEW_STATE_REJECTED", 4],
  ],
} as const satisfies EnumTable;

const falsePositiveType = {
  name: "false positive type",
  unknown: "drop",
  values: [
    ["UNSPECIFIED", 0, "TYPE_UNSPECIFIED", 0],
    ["VULNERABILITY_RECORD_ANALYSIS_CONTESTED", 1, "TYPE_VULNERABILITY_RECORD_ANALYSIS_CONTESTED", 1],
    ["COMPONENT_VULNERABILITY_MISMATCH", 2, "TYPE_COMPONENT_VULNERABILITY_MISMATCH", 2],
    ["VULNERABLE_CODE_VERSION_NOT_USED", 3, "TYPE_VULNERABLE_CODE_VERSION_NOT_USED", 3],
    ["VULNERABLE_CODE_NOT_INCLUDED_IN_PACKAGE", 4, "TYPE_VULNERABLE_CODE_NOT_INCLUDED_IN_PACKAGE", 4],
    ["VULNERABLE_CODE_NOT_IN_EXECUTION_PATH", 5, "TYPE_VULNERABLE_CODE_NOT_IN_EXECUTION_PATH", 5],
    [
      "VULNERABLE_CODE_CANNOT_BE_CONTROLLED_BY_ADVERSARY",
      6,
      "TYPE_VULNERABLE_CODE_CANNOT_BE_CONTROLLED_BY_ADVERSARY",
      6,
    ],
    ["INLINE_MITIGATIONS_EXIST", 7, "TYPE_INLINE_MITIGATIONS_EXIST", 7],
  ],
} as const satisfies EnumTable;

const eventTypeFilter = {
  name: "advisory event type filter",
  unknown: "drop",
  values: [
    ["EVENT_TYPE_FILTER_UNSPECIFIED", 0, "EVENT_TYPE_FILTER_UNSPECIFIED", 0],
    ["EVENT_TYPE_FILTER_DETECTION", 1, "EVENT_TYPE_FILTER_DETECTION", 1],
    ["EVENT_TYPE_FILTER_TRUE_POSITIVE_DETERMINATION", 2, "EVENT_TYPE_FILTER_TRUE_POSITIVE_DETERMINATION", 2],
    ["EVENT_TYPE_FILTER_FIXED", 3, "EVENT_TYPE_FILTER_FIXED", 3],
    ["EVENT_TYPE_FILTER_FALSE_POSITIVE_DETERMINATION", 4, "EVENT_TYPE_FILTER_FALSE_POSITIVE_DETERMINATION", 4],
    ["EVENT_TYPE_FILTER_ANALYSIS_NOT_PLANNED", 5, "EVENT_TYPE_FILTER_ANALYSIS_NOT_PLANNED", 5],
    ["EVENT_TYPE_FILTER_FIX_NOT_PLANNED", 6, "EVENT_TYPE_FILTER_FIX_NOT_PLANNED", 6],
    ["EVENT_TYPE_FILTER_PENDING_UPSTREAM_FIX", 7, "EVENT_TYPE_FILTER_PENDING_UPSTREAM_FIX", 7],
    ["EVENT_TYPE_FILTER_PATCHED", 8, "EVENT_TYPE_FILTER_PATCHED", 8],
    ["EVENT_TYPE_FILTER_COMPONENT_LOCATION_CHANGED", 9, null, -1],
  ],
} as const satisfies EnumTable;

/** v1's enum is a text in v2, with storage names; ascending goes without saying. aliases, updated_at, deleted_at are nowhere attested. */
const order = {
  name: "advisory order",
  unknown: "drop",
  values: [
    ["ORDER_BY_UNSPECIFIED", 0, null, -1],
    ["ID_ASC", 1, "uid", -1],
    ["ID_DESC", 2, "uid desc", -1],
    ["CREATED_AT_ASC", 3, "created_at", -1],
    ["CREATED_AT_DESC", 4, "created_at desc", -1],
    ["ALIASES_ASC", 5, "aliases", -1],
    ["ALIASES_DESC", 6, "aliases desc", -1],
    ["UPDATED_AT_ASC", 7, "updated_at", -1],
    ["UPDATED_AT_DESC", 8, "updated_at desc", -1],
    ["DELETED_AT_ASC", 9, "deleted_at", -1],
    ["DELETED_AT_DESC", 10, "deleted_at desc", -1],
  ],
} as const satisfies EnumTable;

const text = { kind: "string", access: "output" } as const;
const optionalText = { ...text, presence: "explicit" } as const;
/** A message that is one of several, or absent. */
const choice = { kind: "message", access: "output", presence: "explicit", oneof: "type" } as const;
const note: Row = { v1: "note", v2: "note", ...text };

const scan: readonly Row[] = [
  { v1: "scanner", v2: "scanner", ...text },
  { v1: "subpackageName", v2: "subpackage", ...text },
  { v1: "componentId", v2: "componentId", ...text },
  { v1: "componentName", v2: "component", ...text },
  { v1: "componentVersion", v2: "componentVersion", ...text },
  { v1: "componentType", v2: "componentType", ...text },
  { v1: "componentLocation", v2: "componentLocation", ...text },
  { v1: "artifactVersion", v2: "artifactVersion", ...text },
  { v1: "scannerVersion", v2: "scannerVersion", ...text },
  // A text, though it holds a time.
  { v1: "grypeDbBuilt", v2: "grypeDbBuilt", ...text },
  { v1: "grypeDbChecksum", v2: "grypeDbChecksum", ...text },
];

const detection: readonly Row[] = [
  {
    v1: "nvdapi",
    v2: "nvdapi",
    ...choice,
    rows: [
      { v1: "cpeSearched", v2: "cpeSearched", ...text },
      { v1: "cpeFound", v2: "cpeFound", ...text },
    ],
  },
  // Empty: that it is there is all it says.
  { v1: "manual", v2: "manual", ...choice, rows: [] },
  { v1: "scanv1", v2: "scanv1", ...choice, rows: scan },
];

/** v1's `componentLocationChanged` has no row: v2 sends such an event without a type. */
const event: readonly Row[] = [
  { v1: "id", v2: "uid", ...text },
  { v1: "timestamp", v2: "createTime", kind: "timestamp", access: "output" },
  { v1: "detection", v2: "detection", ...choice, rows: detection },
  {
    v1: "fixed",
    v2: "fixed",
    ...choice,
    rows: [
      { v1: "fixedVersion", v2: "fixedVersion", ...text },
      note,
      { v1: "scannerVersion", v2: "scannerVersion", ...text },
      { v1: "grypeDbBuilt", v2: "grypeDbBuilt", ...text },
      { v1: "grypeDbChecksum", v2: "grypeDbChecksum", ...text },
    ],
  },
  {
    v1: "falsePositiveDetermination",
    v2: "falsePositiveDetermination",
    ...choice,
    rows: [{ v1: "type", v2: "type", kind: "enum", values: falsePositiveType, access: "output" }, note],
  },
  { v1: "analysisNotPlanned", v2: "analysisNotPlanned", ...choice, rows: [note] },
  { v1: "fixNotPlanned", v2: "fixNotPlanned", ...choice, rows: [note] },
  { v1: "pendingUpstreamFix", v2: "pendingUpstreamFix", ...choice, rows: [note] },
  { v1: "truePositiveDetermination", v2: "truePositiveDetermination", ...choice, rows: [note] },
  {
    v1: "patched",
    v2: "patched",
    ...choice,
    rows: [{ v1: "patchedVersions", v2: "patchedVersions", kind: "string", list: true, access: "output" }, note],
  },
  { v1: "findings", v2: "findings", kind: "bytes", access: "output" },
  { v1: "author", v2: "author", ...text },
  { v1: "reviewer", v2: "reviewer", ...text },
  { v1: "status", v2: "reviewState", kind: "enum", values: reviewStatus, access: "output" },
  { v1: "issue", v2: "issue", ...optionalText },
];

const advisory: Shape = {
  rows: [
    { v1: "id", v2: "uid", ...text },
    { v1: "artifactType", v2: "artifactType", ...text },
    { v1: "artifactName", v2: "artifactName", ...text },
    { v1: "artifactArchitecture", v2: "artifactArchitecture", ...text },
    // v1 could tell an absent component from an empty one, v2 cannot.
    { v1: "componentName", v2: "componentName", ...optionalText, absentZero: true },
    { v1: "componentLocation", v2: "componentLocation", ...optionalText, absentZero: true },
    { v1: "componentType", v2: "componentType", ...optionalText, absentZero: true },
    ...recordTimes,
    { v1: "deletedAt", v2: "deleteTime", kind: "timestamp", access: "output", presence: "explicit" },
    { v1: "aliases", v2: "aliases", kind: "string", list: true, access: "output" },
    { v1: "events", v2: "events", kind: "message", rows: event, list: true, access: "output" },
    { v1: "advisoryId", v2: "advisoryId", ...text },
    { v1: "author", v2: "author", ...text },
    { v1: "legacyAdvisoryID", v2: "legacyAdvisoryId", ...optionalText },
  ],
  v2Only: ["severities"],
};

/** Given several times, a filter means any of the values. */
function anyOf(v1: string, v2: string, member?: string): Filter {
  const filter = { v1, use: "send", v2, kind: "string", repeated: true } as const;
  return member === undefined ? filter : { ...filter, local: { member } };
}

const filters: readonly Filter[] = [
  idFilter,
  ...uidpFilters,
  anyOf("advisory_ids", "advisory_ids", "advisoryId"),
  anyOf("legacy_advisory_ids", "legacy_advisory_ids", "legacyAdvisoryId"),
  anyOf("artifact_type", "artifact_types", "artifactType"),
  anyOf("artifact_name", "artifact_names", "artifactName"),
  anyOf("artifact_architecture", "artifact_architectures", "artifactArchitecture"),
  anyOf("component_name", "component_names", "componentName"),
  anyOf("component_type", "component_types", "componentType"),
  anyOf("component_location", "component_locations", "componentLocation"),
  anyOf("aliases", "aliases"),
  anyOf("event_author", "event_authors"),
  anyOf("event_reviewer", "event_reviewers"),
  anyOf("exclude_event_author", "exclude_event_authors"),
  { v1: "origin", use: "send", v2: "origin", kind: "string" },
  { v1: "event_statuses", use: "enum", v2: "event_review_states", values: reviewStatus, repeated: true },
  { v1: "event_types", use: "enum", v2: "event_types", values: eventTypeFilter, repeated: true },
  { v1: "latest_event_type", use: "enum", v2: "latest_event_type", values: eventTypeFilter },
  { v1: "order_by", use: "enum", v2: "order_by", values: order },
  { v1: "page_size", use: "page-size", v2: "page_size" },
  { v1: "page_token", use: "page-token", v2: "page_token" },
];

export default {
  name: "advisory",
  domain: "vulnerabilities",
  v1: "advisories",
  v2: "advisories",
  items: "advisories",
  key: "id",
  list: "paged",
  orderedByUid: true,
  // Each version's own, and opaque; that there is one, or none, is compared.
  volatile: ["nextPageToken"],
  operations: [
    {
      kind: "list",
      name: "list",
      answer: advisory,
      filters,
      envelope: [
        // The group that was asked for; v2 does not repeat it.
        {
          v1: "id",
          v2: null,
          kind: "string",
          access: "output",
          fromQuery: ["uidp.children_of", "uidp.descendants_of"],
        },
        { v1: "nextPageToken", v2: "nextPageToken", kind: "string", access: "output" },
        { v1: "totalCount", v2: "totalCount", kind: "int64", access: "output", presence: "explicit" },
      ],
    },
    { kind: "get", name: "get", answer: advisory, extension: true },
    { kind: "native", name: "create", method: "POST", path: "advisories" },
    { kind: "native", name: "update", method: "PUT", path: "advisories/{id=**}" },
    { kind: "native", name: "delete", method: "DELETE", path: "advisories/{id=**}" },
    {
      kind: "composite",
      name: "list-events",
      method: "GET",
      path: "advisories/{parent_id=**}/events",
      by: "list-member",
      docs: {
        calls: "`GET` of the advisory, which contains its events",
        differs: ["an event about a moved component has no kind"],
      },
      answer: {
        rows: [
          { v1: "parentId", v2: "uid", ...text },
          { v1: "items", v2: "events", kind: "message", rows: event, list: true, access: "output" },
        ],
        v2Only: [],
      },
    },
    { kind: "native", name: "create-event", method: "POST", path: "advisories/{parent_id=**}/events" },
  ],
} satisfies Resource;
