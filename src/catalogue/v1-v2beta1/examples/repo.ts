/** Examples of what v1 and v2 send: repos. */
import type { Example } from "../../../model/resource.ts";
import { CREATED, GROUP, ORG, ORG_GROUP_QUERY, REPO, UPDATED } from "../../example-values.ts";

const SOURCE = `${ORG}/0101010101010101`;

const DIGEST = "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae";

const README = "# nginx\n\nA web server.";

const LOOK_UP = `GET repos?uidp.children_of=${ORG_GROUP_QUERY}&name=nginx&page_size=200`;

const DENIED = { code: 7, message: "Permission denied", details: [] };

const writeReadme = { call: `PATCH repos/${REPO}/readme?updateMask=content` };

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

export default [
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
  // The name is free: the repo is created, and then its readme.
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
      { ...writeReadme, body: { content: README }, answer: { uid: REPO, content: README } },
    ],
    answer: { ...BARE_V1, readme: README },
  },
  // The name is taken: v1 updated that repo, unless the request forbids it.
  {
    of: "exchange",
    operation: "create",
    path: `repos/${GROUP}?preventExisting=false`,
    body: { name: "nginx", description: "d" },
    calls: [
      { call: LOOK_UP, answer: { repos: [BARE_V2] } },
      { call: `GET repos/${REPO}/readme`, answer: { uid: REPO, content: README } },
      { ...writeReadme, body: { content: "" }, answer: { uid: REPO } },
      {
        call: `PATCH repos/${REPO}?updateMask=description`,
        body: { description: "d" },
        answer: { ...BARE_V2, description: "d" },
      },
    ],
    answer: { ...BARE_V1, description: "d" },
  },
  // Values that a client merely sends back are not written: synced repos would refuse them. Omitted fields of a synced repo stay.
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
      { ...writeReadme, body: { content: "# New" }, answer: { uid: REPO, content: "# New" } },
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
      { ...writeReadme, body: { content: "# New" }, status: 403, answer: DENIED },
    ],
    status: 403,
    answer: DENIED,
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
] as const satisfies readonly Example[];
