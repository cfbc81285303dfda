/** What does a repo look like in v1, and what in v2? (Specification section 2: Repo.) */
import type { EnumTable, Resource, Row, Shape } from "../../model/resource.ts";
import { CREATED, ORG, ORG_GROUP_QUERY, REPO, UPDATED } from "../shared/sample.ts";
import { updatedAt } from "../shared/times.ts";
import { idFilter, nameFilter, uidpFilters } from "../shared/uidp.ts";

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

/** For staff to write: a client that merely sends back what it read must not turn it into a write. */
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
  // v1 could tell an absent one from 0, v2 cannot.
  { v1: "gid", v2: "gid", kind: "uint32", presence: "explicit", zero: null },
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

/**
 * v1 showed a `readme` as well. In v2 it is a sub-resource of its own, which this version does not read. So it has no row:
 * absent is honest, while an empty text would make the next full replace of a v1 client erase it.
 */
const repo: Shape = {
  rows: [
    { v1: "id", v2: "uid", kind: "string", access: "output" },
    { v1: "name", v2: "name", kind: "string", zero: "", mask: "when-changed" },
    // Repos that are synced refuse to change these, so only a real change is named.
    {
      v1: "catalogTier",
      v2: "catalogTier",
      kind: "enum",
      values: catalogTier,
      zero: "UNKNOWN",
      mask: "when-changed",
    },
    {
      v1: "bundles",
      v2: "bundles",
      kind: "string",
      list: true,
      zero: [],
      mask: "when-changed",
      echo: "normalised",
    },
    // Spelled like this in the JSON of both versions; its members are camelCase.
    { v1: "sync_config", v2: "sync_config", kind: "message", rows: syncConfig, zero: null, mask: "members" },
    {
      v1: "customOverlay",
      v2: "customOverlay",
      kind: "message",
      rows: customOverlay,
      zero: null,
      mask: "when-changed",
    },
    {
      v1: "aliases",
      v2: "aliases",
      kind: "string",
      list: true,
      zero: [],
      mask: "when-changed",
      echo: "normalised",
    },
    // v1's own word for it was v2's already; it stays, beside the one that all records have.
    { v1: "createTime", v2: "createTime", kind: "timestamp", access: "output" },
    { v1: "createdAt", v2: null, from: ["createTime"], kind: "timestamp", access: "output", presence: "explicit" },
    {
      v1: "activeTags",
      v2: "activeTags",
      kind: "string",
      list: true,
      zero: [],
      mask: "when-changed",
      echo: "normalised",
    },
    { v1: "description", v2: "description", kind: "string", zero: "" },
    updatedAt,
  ],
  v2Only: [],
};

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
    { kind: "list", name: "list", answer: repo, filters: [idFilter, nameFilter, ...uidpFilters] },
    { kind: "get", name: "get", answer: repo, extension: true },
    { kind: "native", name: "create", method: "POST", path: "repos/{parent_id=**}" },
    { kind: "native", name: "update", method: "PUT", path: "repos/{id=**}" },
    { kind: "native", name: "delete", method: "DELETE", path: "repos/{id=**}" },
    { kind: "native", name: "create-deployment", method: "POST", path: "repos/{parent_id=**}/deployment" },
    { kind: "native", name: "get-deployment", method: "GET", path: "repos/{repo_id=**}/deployment" },
    { kind: "native", name: "update-deployment", method: "PUT", path: "repos/{repo_id=**}/deployment" },
    { kind: "native", name: "add-chart", method: "POST", path: "repos/{parent_id=**}:addChart" },
    {
      kind: "native",
      name: "list-chart-image-bindings",
      method: "GET",
      path: "repos/{repo_id=**}/chart-image-bindings",
    },
    {
      kind: "native",
      name: "get-raw-sbom",
      method: "GET",
      path: "repos/{repo_id=**}/digest/{digest=*}/rawsbom",
    },
    {
      kind: "native",
      name: "list-architectures",
      method: "GET",
      path: "repos/{repo_id=**}/digests/{digest=*}/architectures",
    },
    { kind: "native", name: "get-chart", method: "GET", path: "repos/{repo_id=**}/digests/{digest=*}/chart" },
    { kind: "native", name: "get-helm", method: "GET", path: "repos/{repo_id=**}/digests/{digest=*}/helm" },
    {
      kind: "native",
      name: "get-image-config",
      method: "GET",
      path: "repos/{repo_id=**}/digests/{digest=*}/imageconfig",
    },
    { kind: "native", name: "get-sbom", method: "GET", path: "repos/{repo_id=**}/digests/{digest=*}/sbom" },
    { kind: "native", name: "get-size", method: "GET", path: "repos/{repo_id=**}/digests/{digest=*}/size" },
    {
      kind: "native",
      name: "get-vuln-report",
      method: "GET",
      path: "repos/{repo_id=**}/digests/{digest=*}/vulnreport",
    },
    // Spelled like this on the wire.
    { kind: "native", name: "get-manifest-metadata", method: "GET", path: "repos/{repo_id=**}/manifestmetdata" },
    { kind: "native", name: "check-policies", method: "POST", path: "repos/{repo_id=**}:checkPolicies" },
    { kind: "native", name: "get-sync-status", method: "GET", path: "repos/{repo_id=**}:syncstatus" },
    { kind: "native", name: "get-update-status", method: "GET", path: "repos/{repo_id=**}:updatestatus" },
  ],
  examples: [
    {
      of: "answer",
      operation: "list",
      v2: {
        uid: REPO,
        name: "nginx",
        catalogTier: "CATALOG_TIER_AI",
        bundles: ["base"],
        sync_config: {
          source: `${ORG}/0101010101010101`,
          uniqueTags: true,
          expirationTime: UPDATED,
          google: "g",
          amazon: "a",
          azure: "z",
          apkoOverlay: "o",
          gracePeriod: true,
        },
        customOverlay: {
          contents: {
            packages: ["curl"],
            runtimeRepositories: ["https://apk.example.com"],
            runtimeKeyring: [{ name: "key", content: "text" }],
          },
          environment: { uid: "1", userName: "x" },
          annotations: { createTime: "y" },
          accounts: {
            groups: [{ gid: 10, groupname: "web", members: ["nginx"] }],
            users: [{ uid: 0, username: "nginx", gid: 10, groupName: "web", shell: "/bin/sh", homeDir: "/" }],
            runAs: "nginx",
          },
          certificates: { additional: [{ name: "ca", content: "pem" }], providers: ["p"] },
        },
        aliases: ["nginx-x"],
        createTime: CREATED,
        updateTime: UPDATED,
        activeTags: ["latest"],
        description: "web server",
      },
      v1: {
        id: REPO,
        name: "nginx",
        catalogTier: "AI",
        bundles: ["base"],
        sync_config: {
          source: `${ORG}/0101010101010101`,
          uniqueTags: true,
          expiration: UPDATED,
          google: "g",
          amazon: "a",
          azure: "z",
          syncApks: false,
          apkoOverlay: "o",
          gracePeriod: true,
        },
        customOverlay: {
          contents: {
            packages: ["curl"],
            runtimeRepositories: ["https://apk.example.com"],
            runtimeKeyring: [{ name: "key", content: "text" }],
          },
          environment: { uid: "1", userName: "x" },
          annotations: { createTime: "y" },
          accounts: {
            groups: [{ gid: 10, groupName: "web", members: ["nginx"] }],
            users: [{ uid: 0, userName: "nginx", gid: 10, groupName: "web", shell: "/bin/sh", homeDir: "/" }],
            runAs: "nginx",
          },
          certificates: { additional: [{ name: "ca", content: "pem" }], providers: ["p"] },
        },
        aliases: ["nginx-x"],
        createTime: CREATED,
        createdAt: CREATED,
        activeTags: ["latest"],
        description: "web server",
        updatedAt: UPDATED,
      },
    },
    // The shape of the specification: uid, name and createTime.
    {
      of: "answer",
      operation: "list",
      v2: { uid: REPO, name: "nginx", createTime: CREATED },
      v1: {
        id: REPO,
        name: "nginx",
        catalogTier: "UNKNOWN",
        bundles: [],
        sync_config: null,
        customOverlay: null,
        aliases: [],
        createTime: CREATED,
        createdAt: CREATED,
        activeTags: [],
        description: "",
      },
    },
    {
      of: "filters",
      v1: `name=nginx&uidp.childrenOf=${ORG_GROUP_QUERY}`,
      v2: `name=nginx&uidp.children_of=${ORG_GROUP_QUERY}`,
    },
    { of: "filters", v1: "name=", v2: "" },
  ],
} satisfies Resource;
