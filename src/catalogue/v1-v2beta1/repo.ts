/** Repos: v1 beside v2. */
import type { EnumTable, Filter, Join, Operation, Resource, Row, Shape } from "../../model/resource.ts";
import { idFilter, nameFilter, specifiedCreatedAt, specifiedUpdatedAt, uidpFilters } from "../common-fields.ts";

/** The numbers differ: v1's 4 is not v2's 4. */
const catalogTier = {
  name: "catalog tier",
  unknown: "drop",
  values: [
    ["UNKNOWN", 0, "CATALOG_TIER_UNSPECIFIED", 0],
    ["APPLICATION", 4, "CATALOG_TIER_APPLICATION", 1],
    ["BASE", 5, "CATALOG_TIER_BASE", 2],
    ["FIPS", 6, "CATALOG_TIER_FIPS", 3],
    ["AI", 7, "CATALOG_TIER_AI", 4],
    ["DEVTOOLS", 8, "CATALOG_TIER_DEVTOOLS", 5],
    ["COMMERCIAL", 9, "CATALOG_TIER_COMMERCIAL", 6],
  ],
} as const satisfies EnumTable;

/**
 * For staff to write: a client that merely sends back what it read must not turn it into a write. What v2 alone sets
 * (`never`, and what is gone) is ignored as long as it is the stored value, and refused otherwise.
 */
const syncConfig: readonly Row[] = [
  { v1: "source", v2: "source", kind: "string", zero: "", mask: "when-changed" },
  { v1: "uniqueTags", v2: "uniqueTags", kind: "bool", zero: false, mask: "never" },
  { v1: "expiration", v2: "expirationTime", kind: "timestamp", zero: null, mask: "never" },
  { v1: "google", v2: "google", kind: "string", zero: "", mask: "when-changed" },
  { v1: "amazon", v2: "amazon", kind: "string", zero: "", mask: "when-changed" },
  { v1: "azure", v2: "azure", kind: "string", zero: "", mask: "when-changed" },
  // Gone in v2.
  { v1: "syncApks", v2: null, kind: "bool", zero: false },
  { v1: "apkoOverlay", v2: "apkoOverlay", kind: "string", zero: "", mask: "never" },
  { v1: "gracePeriod", v2: "gracePeriod", kind: "bool", zero: false, mask: "never" },
];

const user: readonly Row[] = [
  // The number of a user, not the uid of a record.
  { v1: "uid", v2: "uid", kind: "uint32", zero: 0 },
  { v1: "userName", v2: "username", kind: "string", zero: "" },
  // v1 could tell an absent one from 0 (the root group), v2 cannot: 0 is not made up where it may not have been sent.
  { v1: "gid", v2: "gid", kind: "uint32", presence: "explicit", absentZero: true, zero: null },
  // Spelled as before here, unlike in groups.
  { v1: "groupName", v2: "groupName", kind: "string", zero: "" },
  { v1: "shell", v2: "shell", kind: "string", zero: "" },
  { v1: "homeDir", v2: "homeDir", kind: "string", zero: "" },
];

const userGroup: readonly Row[] = [
  { v1: "gid", v2: "gid", kind: "uint32", zero: 0 },
  { v1: "groupName", v2: "groupname", kind: "string", zero: "" },
  { v1: "members", v2: "members", kind: "string", list: true, zero: [] },
];

const entry: readonly Row[] = [
  { v1: "name", v2: "name", kind: "string", zero: "" },
  { v1: "content", v2: "content", kind: "string", zero: "" },
];

const contents: readonly Row[] = [
  { v1: "packages", v2: "packages", kind: "string", list: true, zero: [] },
  { v1: "runtimeRepositories", v2: "runtimeRepositories", kind: "string", list: true, zero: [] },
  { v1: "runtimeKeyring", v2: "runtimeKeyring", kind: "message", rows: entry, list: true, zero: [] },
];

const accounts: readonly Row[] = [
  { v1: "groups", v2: "groups", kind: "message", rows: userGroup, list: true, zero: [] },
  { v1: "users", v2: "users", kind: "message", rows: user, list: true, zero: [] },
  { v1: "runAs", v2: "runAs", kind: "string", zero: "" },
];

const certificates: readonly Row[] = [
  { v1: "additional", v2: "additional", kind: "message", rows: entry, list: true, zero: [] },
  { v1: "providers", v2: "providers", kind: "string", list: true, zero: [] },
];

const customOverlay: readonly Row[] = [
  { v1: "contents", v2: "contents", kind: "message", rows: contents, zero: null },
  // Keys of both are names that the user chose.
  { v1: "environment", v2: "environment", kind: "map", of: "string", zero: {} },
  { v1: "annotations", v2: "annotations", kind: "map", of: "string", zero: {} },
  { v1: "accounts", v2: "accounts", kind: "message", rows: accounts, zero: null },
  { v1: "certificates", v2: "certificates", kind: "message", rows: certificates, zero: null },
];

/** Repos that are synced refuse to change it. */
function texts(name: string): Row {
  return { v1: name, v2: name, kind: "string", list: true, zero: [], mask: "unless-synced", echo: "normalised" };
}

const members: readonly Row[] = [
  { v1: "id", v2: "uid", kind: "string", access: "output" },
  { v1: "name", v2: "name", kind: "string", zero: "", mask: "when-changed" },
  { v1: "catalogTier", v2: "catalogTier", kind: "enum", values: catalogTier, zero: "UNKNOWN", mask: "unless-synced" },
  texts("bundles"),
  // Spelled like this in the JSON of both versions; its members are camelCase.
  {
    v1: "sync_config",
    v2: "sync_config",
    kind: "message",
    rows: syncConfig,
    zero: null,
    mask: "members",
    syncs: true,
  },
  {
    v1: "customOverlay",
    v2: "customOverlay",
    kind: "message",
    rows: customOverlay,
    zero: null,
    mask: "unless-synced",
  },
  texts("aliases"),
  // v1's own word for it was v2's already; it stays, beside the one that all records have.
  { v1: "createTime", v2: "createTime", kind: "timestamp", access: "output" },
  { ...specifiedCreatedAt, v2: null, from: ["createTime"] },
  texts("activeTags"),
  { v1: "description", v2: "description", kind: "string", zero: "" },
  specifiedUpdatedAt,
];

/**
 * In v2 the text is a sub-resource of its own. One that is missing or not to be read shows as empty, which does no harm
 * when a client sends it back: an empty text is never written.
 */
const readme: Join = {
  v1: "readme",
  resource: "repo",
  sub: "readme",
  by: "uid",
  take: { member: "content" },
  missing: "zero",
};
const repo: Shape = {
  rows: [...members, { v1: "readme", v2: null, kind: "string", access: "output" }],
  v2Only: [],
};
const body: Shape = { rows: [...members, { v1: "readme", v2: null, kind: "string", zero: "" }], v2Only: [] };

/** v1 updated the repo of that name that was there already, unless this said otherwise. */
const preventExisting: Filter = { v1: "prevent_existing", use: "send", v2: "prevent_existing", kind: "bool" };

/** Both are of one image, by its digest. */
const architectures: Shape = {
  rows: [{ v1: "archs", v2: "architectures", kind: "string", list: true, access: "output" }],
  v2Only: [],
};
const size: Shape = {
  rows: [
    { v1: "size", v2: "size", kind: "int64", access: "output" },
    { v1: "arch", v2: "architecture", kind: "string", access: "output" },
  ],
  v2Only: [],
};

/** What native v1 alone shows of a repo. */
function read(name: string, path: string): Operation {
  return { kind: "native", name, method: "GET", path: `repos/{repo_id=**}${path}` };
}

export default {
  name: "repo",
  domain: "registry",
  v1: "repos",
  v2: "repos",
  items: "repos",
  key: "id",
  list: "drain",
  orderedByUid: true,
  operations: [
    { kind: "list", name: "list", answer: repo, filters: [idFilter, nameFilter, ...uidpFilters], joins: [readme] },
    { kind: "get", name: "get", answer: repo, extension: true, joins: [readme] },
    {
      kind: "create",
      name: "create",
      body,
      answer: repo,
      filters: [preventExisting],
      joins: [readme],
      by: "create-or-replace",
      docs: {
        calls: "the list by name below the parent; then `POST`, or the calls of an update",
        differs: [
          "a separate call writes the readme, which requires another capability; if it fails, the repo exists (`carryover-partial: repo`)",
          "400 when `sync_config` members that v2 sets are not zero",
        ],
      },
    },
    {
      kind: "update",
      name: "update",
      body,
      answer: repo,
      joins: [readme],
      by: "replace-with-sub",
      docs: {
        calls: "`GET` and `PATCH` of the repo, `GET` and `PATCH` of its `readme`, each only if needed",
        differs: [
          "the readme requires another capability, and is written first (`carryover-partial: readme`)",
          "a field that is left out stays if the platform refuses to clear it, and `carryover-mismatch` names it",
          "400 when `sync_config` members that v2 sets differ from the stored ones",
        ],
      },
    },
    { kind: "delete", name: "delete" },
    // Paths of v2 alone. Known, so that nobody takes them for the repo `{id}/readme`.
    { kind: "native", name: "get-readme", method: "GET", path: "repos/{id=**}/readme", extension: true },
    { kind: "native", name: "update-readme", method: "PUT", path: "repos/{id=**}/readme", extension: true },
    { kind: "native", name: "create-deployment", method: "POST", path: "repos/{parent_id=**}/deployment" },
    read("get-deployment", "/deployment"),
    { kind: "native", name: "update-deployment", method: "PUT", path: "repos/{repo_id=**}/deployment" },
    { kind: "native", name: "add-chart", method: "POST", path: "repos/{parent_id=**}:addChart" },
    read("list-chart-image-bindings", "/chart-image-bindings"),
    read("get-raw-sbom", "/digest/{digest=*}/rawsbom"),
    {
      kind: "call",
      name: "list-architectures",
      method: "GET",
      path: "repos/{repo_id=**}/digests/{digest=*}/architectures",
      v2: { method: "GET", path: "repos/{uid}/digests/{segment}/architectures" },
      answer: architectures,
    },
    read("get-chart", "/digests/{digest=*}/chart"),
    read("get-helm", "/digests/{digest=*}/helm"),
    read("get-image-config", "/digests/{digest=*}/imageconfig"),
    read("get-sbom", "/digests/{digest=*}/sbom"),
    {
      kind: "call",
      name: "get-size",
      method: "GET",
      path: "repos/{repo_id=**}/digests/{digest=*}/size",
      v2: { method: "GET", path: "repos/{uid}/digests/{segment}/size" },
      filters: [{ v1: "arch", use: "send", v2: "architecture", kind: "string" }],
      answer: size,
      docs: {
        differs: ["without `arch` v2 returns the size for amd64; v1 did not document which architecture it used"],
      },
    },
    read("get-vuln-report", "/digests/{digest=*}/vulnreport"),
    // Spelled like this on the wire.
    read("get-manifest-metadata", "/manifestmetdata"),
    { kind: "native", name: "check-policies", method: "POST", path: "repos/{repo_id=**}:checkPolicies" },
    read("get-sync-status", ":syncstatus"),
    read("get-update-status", ":updatestatus"),
  ],
} satisfies Resource;
