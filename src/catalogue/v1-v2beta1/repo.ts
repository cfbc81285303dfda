/** Repos: v1 beside v2. */
import type { EnumTable, Filter, Join, Resource, Row, Shape } from "../../model/resource.ts";
import { idFilter, nameFilter, specifiedCreatedAt, specifiedUpdatedAt, uidpFilters } from "../common-fields.ts";
import { CREATED, GROUP, ORG, ORG_GROUP_QUERY, REPO, UPDATED } from "../example-values.ts";

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

const members: readonly Row[] = [
  { v1: "id", v2: "uid", kind: "string", access: "output" },
  { v1: "name", v2: "name", kind: "string", zero: "", mask: "when-changed" },
  // Repos that are synced refuse to change these.
  {
    v1: "catalogTier",
    v2: "catalogTier",
    kind: "enum",
    values: catalogTier,
    zero: "UNKNOWN",
    mask: "unless-synced",
  },
  {
    v1: "bundles",
    v2: "bundles",
    kind: "string",
    list: true,
    zero: [],
    mask: "unless-synced",
    echo: "normalised",
  },
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
  {
    v1: "aliases",
    v2: "aliases",
    kind: "string",
    list: true,
    zero: [],
    mask: "unless-synced",
    echo: "normalised",
  },
  // v1's own word for it was v2's already; it stays, beside the one that all records have.
  { v1: "createTime", v2: "createTime", kind: "timestamp", access: "output" },
  { ...specifiedCreatedAt, v2: null, from: ["createTime"] },
  {
    v1: "activeTags",
    v2: "activeTags",
    kind: "string",
    list: true,
    zero: [],
    mask: "unless-synced",
    echo: "normalised",
  },
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

const SOURCE = `${ORG}/0101010101010101`;
const DIGEST = "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae";
const README = "# nginx\n\nA web server.";
const LOOK_UP = `GET repos?uidp.children_of=${ORG_GROUP_QUERY}&name=nginx&page_size=200`;
/** The minimal shape: uid, name and createTime. */
const BARE_V2 = { uid: REPO, name: "nginx", createTime: CREATED };
const BARE_V1 = {
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
  readme: "",
};
const OVERLAY_REST = {
  contents: {
    packages: ["curl"],
    runtimeRepositories: ["https://apk.example.com"],
    runtimeKeyring: [{ name: "key", content: "text" }],
  },
  environment: { uid: "1", userName: "x", groupName: "y" },
  annotations: { createTime: "y", id: "z" },
  certificates: { additional: [{ name: "ca", content: "pem" }], providers: ["p"] },
};
const OVERLAY_V2 = {
  ...OVERLAY_REST,
  accounts: {
    groups: [{ gid: 10, groupname: "web", members: ["nginx"] }],
    users: [{ uid: 65532, username: "nginx", gid: 10, groupName: "web", shell: "/bin/sh", homeDir: "/" }],
    runAs: "nginx",
  },
};
const OVERLAY_V1 = {
  ...OVERLAY_REST,
  accounts: {
    groups: [{ gid: 10, groupName: "web", members: ["nginx"] }],
    users: [{ uid: 65532, userName: "nginx", gid: 10, groupName: "web", shell: "/bin/sh", homeDir: "/" }],
    runAs: "nginx",
  },
};
const FULL_V2 = {
  uid: REPO,
  name: "nginx",
  catalogTier: "CATALOG_TIER_AI",
  bundles: ["base"],
  sync_config: {
    source: SOURCE,
    uniqueTags: true,
    expirationTime: UPDATED,
    google: "g",
    amazon: "a",
    azure: "z",
    apkoOverlay: "o",
    gracePeriod: true,
  },
  customOverlay: OVERLAY_V2,
  aliases: ["nginx-x"],
  createTime: CREATED,
  updateTime: UPDATED,
  activeTags: ["latest"],
  description: "web server",
};
const FULL_V1 = {
  id: REPO,
  name: "nginx",
  catalogTier: "AI",
  bundles: ["base"],
  sync_config: {
    source: SOURCE,
    uniqueTags: true,
    expiration: UPDATED,
    google: "g",
    amazon: "a",
    azure: "z",
    syncApks: false,
    apkoOverlay: "o",
    gracePeriod: true,
  },
  customOverlay: OVERLAY_V1,
  aliases: ["nginx-x"],
  createTime: CREATED,
  createdAt: CREATED,
  activeTags: ["latest"],
  description: "web server",
  updatedAt: UPDATED,
  readme: README,
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
      kind: "call",
      name: "list-architectures",
      method: "GET",
      path: "repos/{repo_id=**}/digests/{digest=*}/architectures",
      v2: { method: "GET", path: "repos/{uid}/digests/{segment}/architectures" },
      answer: architectures,
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
    // The readme of each repo is a call of its own.
    {
      of: "exchange",
      operation: "list",
      path: "repos",
      calls: [
        { call: "GET repos?page_size=200", answer: { repos: [FULL_V2] } },
        { call: `GET repos/${REPO}/readme`, answer: { uid: REPO, content: README } },
      ],
      answer: { items: [FULL_V1] },
    },
    // One that is missing, or not to be read, is empty.
    {
      of: "exchange",
      operation: "get",
      path: `repos/${REPO}`,
      calls: [
        { call: `GET repos/${REPO}`, answer: BARE_V2 },
        {
          call: `GET repos/${REPO}/readme`,
          status: 403,
          answer: {
            code: 7,
            message: "Permission denied",
            details: [
              { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "PERMISSION_DENIED", domain: "registry" },
            ],
          },
        },
      ],
      answer: BARE_V1,
    },
    // Group 0 of a user may be none at all: v2 cannot tell, and v1 clients must not be told that it is the root group.
    {
      of: "exchange",
      operation: "get",
      path: `repos/${REPO}`,
      calls: [
        {
          call: `GET repos/${REPO}`,
          answer: { ...BARE_V2, customOverlay: { accounts: { users: [{ uid: 0, username: "root", gid: 0 }] } } },
        },
        { call: `GET repos/${REPO}/readme`, answer: { uid: REPO } },
      ],
      answer: {
        ...BARE_V1,
        customOverlay: {
          contents: null,
          environment: {},
          annotations: {},
          accounts: {
            groups: [],
            users: [{ uid: 0, userName: "root", groupName: "", shell: "", homeDir: "" }],
            runAs: "",
          },
          certificates: null,
        },
      },
    },
    // Nobody has the name: it is made, and then its readme.
    {
      of: "exchange",
      operation: "create",
      path: `repos/${GROUP}`,
      // The tier by v1's number.
      body: { name: "nginx", catalogTier: 4, customOverlay: OVERLAY_V1, readme: README },
      calls: [
        { call: LOOK_UP, answer: { repos: [] } },
        {
          call: `POST repos/${GROUP}`,
          body: { name: "nginx", catalogTier: "CATALOG_TIER_APPLICATION", customOverlay: OVERLAY_V2 },
          answer: BARE_V2,
        },
        {
          call: `PATCH repos/${REPO}/readme?updateMask=content`,
          body: { content: README },
          answer: { uid: REPO, content: README },
        },
      ],
      answer: { ...BARE_V1, readme: README },
    },
    // Somebody has it: v1 updated that one, unless told otherwise.
    {
      of: "exchange",
      operation: "create",
      path: `repos/${GROUP}?preventExisting=false`,
      body: { name: "nginx", description: "d" },
      calls: [
        { call: LOOK_UP, answer: { repos: [BARE_V2] } },
        { call: `GET repos/${REPO}/readme`, answer: { uid: REPO, content: README } },
        {
          call: `PATCH repos/${REPO}/readme?updateMask=content`,
          body: { content: "" },
          answer: { uid: REPO },
        },
        {
          call: `PATCH repos/${REPO}?updateMask=description`,
          body: { description: "d" },
          answer: { ...BARE_V2, description: "d" },
        },
      ],
      answer: { ...BARE_V1, description: "d" },
    },
    // What a client merely sends back is not written: repos that are synced would refuse it. What it leaves out of one stays.
    {
      of: "update",
      v1: { name: "nginx", catalogTier: "AI", bundles: ["base"], sync_config: { source: SOURCE }, description: "new" },
      stored: FULL_V2,
      mask: ["description"],
      v2: { description: "new" },
    },
    // Without its settings the sync is removed.
    {
      of: "update",
      v1: { name: "nginx", catalogTier: "BASE", activeTags: [], description: "" },
      stored: FULL_V2,
      mask: ["catalogTier", "sync_config", "activeTags", "description"],
      v2: { catalogTier: "CATALOG_TIER_BASE", sync_config: null, activeTags: [], description: "" },
    },
    // A repo that is not synced is replaced in full.
    {
      of: "update",
      v1: { name: "nginx", bundles: ["fips"] },
      stored: { ...FULL_V2, sync_config: null },
      mask: ["catalogTier", "bundles", "customOverlay", "aliases", "activeTags", "description"],
      v2: {
        catalogTier: "CATALOG_TIER_UNSPECIFIED",
        bundles: ["fips"],
        customOverlay: null,
        aliases: [],
        activeTags: [],
        description: "",
      },
    },
    // A whole record sent back with another source and another readme: what v2 alone sets is the stored one, and ignored.
    {
      of: "exchange",
      operation: "update",
      path: `repos/${REPO}`,
      body: { ...FULL_V1, sync_config: { ...FULL_V1.sync_config, source: ORG }, readme: "# New" },
      calls: [
        { call: `GET repos/${REPO}`, answer: FULL_V2 },
        { call: `GET repos/${REPO}/readme`, answer: { uid: REPO, content: README } },
        {
          call: `PATCH repos/${REPO}/readme?updateMask=content`,
          body: { content: "# New" },
          answer: { uid: REPO, content: "# New" },
        },
        {
          call: `PATCH repos/${REPO}?updateMask=sync_config.source,description`,
          body: { sync_config: { source: ORG }, description: "web server" },
          answer: { ...FULL_V2, sync_config: { ...FULL_V2.sync_config, source: ORG } },
        },
      ],
      answer: { ...FULL_V1, sync_config: { ...FULL_V1.sync_config, source: ORG }, readme: "# New" },
    },
    // The readme needs the further capability: without it nothing is written at all.
    {
      of: "exchange",
      operation: "update",
      path: `repos/${REPO}`,
      body: { name: "nginx", description: "d", readme: "# New" },
      calls: [
        { call: `GET repos/${REPO}`, answer: BARE_V2 },
        { call: `GET repos/${REPO}/readme`, answer: { uid: REPO, content: README } },
        {
          call: `PATCH repos/${REPO}/readme?updateMask=content`,
          body: { content: "# New" },
          status: 403,
          answer: { code: 7, message: "Permission denied", details: [] },
        },
      ],
      status: 403,
      answer: { code: 7, message: "Permission denied", details: [] },
    },
    {
      of: "exchange",
      operation: "list-architectures",
      path: `repos/${REPO}/digests/${DIGEST}/architectures`,
      calls: [
        { call: `GET repos/${REPO}/digests/${DIGEST}/architectures`, answer: { architectures: ["amd64", "arm64"] } },
      ],
      answer: { archs: ["amd64", "arm64"] },
    },
    {
      of: "exchange",
      operation: "get-size",
      path: `repos/${REPO}/digests/${DIGEST}/size?arch=arm64`,
      calls: [
        {
          call: `GET repos/${REPO}/digests/${DIGEST}/size?architecture=arm64`,
          answer: { size: "9007199254740993", architecture: "arm64" },
        },
      ],
      answer: { size: "9007199254740993", arch: "arm64" },
    },
    {
      of: "filters",
      v1: `name=nginx&uidp.childrenOf=${ORG_GROUP_QUERY}`,
      v2: `name=nginx&uidp.children_of=${ORG_GROUP_QUERY}`,
    },
    { of: "filters", v1: "name=", v2: "" },
  ],
} satisfies Resource;
