/** Repos and tags of the seeded organisation. */
import type { JsonObject } from "../json.ts";
import type { StoredRecord } from "../store/collection.ts";
import { AWKWARD_TEXTS, type Builder } from "./build.ts";
import type { SeededGroups } from "./groups.ts";

const IMAGES = ["nginx", "node", "python", "jdk", "go", "postgres", "redis", "kafka", "static", "busybox"] as const;
const BUNDLES = ["application", "base", "featured", "fips", "commercial"] as const;

/** An overlay with every key that a careless rename would break. */
const OVERLAY: JsonObject = {
  contents: {
    packages: ["curl", "ca-certificates"],
    runtimeRepositories: ["https://packages.example.com"],
    runtimeKeyring: [{ name: "key.rsa.pub", content: "-----BEGIN PUBLIC KEY-----\nid\n" }],
  },
  environment: { id: "1", uid: "2", createdAt: "3", PATH: "/bin" },
  annotations: { "com.example/id": "x", uid: "y" },
  accounts: {
    runAs: "app",
    users: [
      { username: "app", uid: 65532, gid: 65532, groupName: "app", shell: "/bin/sh", homeDir: "/home/app" },
      { username: "root" },
    ],
    groups: [{ groupname: "app", gid: 65532, members: ["app", "root"] }, { groupname: "empty" }],
  },
  certificates: { additional: [{ name: "ca.pem", content: "-----BEGIN CERTIFICATE-----" }], providers: ["mozilla"] },
};

function repo(build: Builder, groups: SeededGroups, index: number, beyondV2: boolean): StoredRecord {
  const parent = index % 4 === 0 ? groups.root : (groups.teams[index % groups.teams.length] ?? groups.root);
  const name = `${build.random.pick(IMAGES)}-${index}`;
  const value: JsonObject = { uid: build.uid(parent), name, ...build.times() };
  // Every tenth is at its zeros: a name and nothing else.
  if (index % 10 === 9) return build.record(value);
  value["description"] = build.random.chance(0.5) ? build.random.pick(AWKWARD_TEXTS) : `image ${index}`;
  value["catalogTier"] = 1 + (index % 6);
  value["bundles"] = [build.random.pick(BUNDLES)];
  if (index % 3 === 0) value["aliases"] = [`${name}-alias`, "latest"];
  if (index % 5 === 0) value["activeTags"] = ["latest", "1.2"];
  const extra: JsonObject = {};
  if (index % 3 !== 2) extra["readme"] = `# ${name}\n\nRead me: "quotes", \\, ünïcode 🚀\r\n`;
  if (index % 6 === 1) {
    value["sync_config"] = sync(build, index);
    if (beyondV2 && index % 12 === 1) extra["syncApks"] = true;
    extra["assembly"] = index % 12 === 1;
  }
  if (index % 25 === 2) value["customOverlay"] = OVERLAY;
  return build.record(value, extra);
}

function sync(build: Builder, index: number): JsonObject {
  const source = { source: build.uid(build.random.hex(40)), expirationTime: "2027-03-04T05:06:07.008Z" };
  if (index % 12 === 1) return { ...source, uniqueTags: true, amazon: build.random.hex(16), apkoOverlay: "{}" };
  return { ...source, gracePeriod: true };
}

/** 250 repos and 600 tags, special tags among them; the first repo has many tags. `beyondV2`: some have what v2 has no word for. */
export function seedRegistry(build: Builder, groups: SeededGroups, beyondV2: boolean) {
  const repos = Array.from({ length: 250 }, (_, index) => repo(build, groups, index, beyondV2));
  const tags = Array.from({ length: 600 }, (_, index) => {
    const parent = repos[index < 100 ? 0 : index % repos.length]?.uid ?? "";
    const value: JsonObject = { uid: build.uid(parent), name: tagName(build, index), updateTime: build.time() };
    if (index % 50 !== 49) value["digest"] = `sha256:${build.random.hex(64)}`;
    if (index % 9 === 0) value["deprecated"] = true;
    if (index % 4 === 0) value["bundles"] = [build.random.pick(BUNDLES)];
    return build.record(value);
  });
  return { repos, tags };
}

function tagName(build: Builder, index: number): string {
  const version = `${1 + (index % 9)}.${index}`;
  if (index % 10 === 3) return `sha256-${build.random.hex(64)}.sig`;
  if (index % 10 === 5) return `${version}-202511${10 + (index % 20)}`;
  if (index % 10 === 7) return `${version}.0-r${index % 4}`;
  return index % 10 === 0 ? `latest-${index}` : version;
}

// Repos and tags of every form.

/** Keys that are a customer's own, and the names of fields elsewhere. */
const AWKWARD_KEYS = {
  id: "1",
  uid: "2",
  createdAt: "3",
  createTime: "4",
  updateTime: "5",
  userName: "6",
  username: "7",
  groupname: "8",
  sync_config: "9",
  expiration: "",
};

/** With and without group ids, as root, and up to the largest ids that both versions can say. */
const ACCOUNTS: JsonObject = {
  runAs: "65532",
  users: [
    { username: "largest", uid: 2_147_483_647, gid: 2_147_483_647, groupName: "g", shell: "/bin/sh", homeDir: "/h" },
    { username: "no-group", uid: 1000 },
    { username: "root" },
    { username: "grouped", uid: 1, gid: 1 },
  ],
  groups: [{ groupname: "largest", gid: 2_147_483_647, members: ["largest", "root"] }, { groupname: "root" }],
};

/** Everything that a repo and its sync settings can say, on both sides of the two versions. */
function fullRepo(build: Builder, groups: SeededGroups, beyondV2: boolean): StoredRecord {
  const sync = {
    source: build.uid(build.random.hex(40)),
    uniqueTags: true,
    expirationTime: "2027-09-10T11:12:13.014Z",
    google: "google-uid",
    amazon: "amazon-uid",
    azure: "azure-uid",
    apkoOverlay: '{"id":"uid"}',
    gracePeriod: true,
  };
  const overlay = {
    contents: { packages: ["id"], runtimeRepositories: ["uid"], runtimeKeyring: [{ name: "id", content: "uid" }] },
    environment: AWKWARD_KEYS,
    annotations: AWKWARD_KEYS,
    accounts: ACCOUNTS,
    certificates: { additional: [{ name: "id", content: "uid" }], providers: ["id"] },
  };
  const value = {
    uid: build.uid(groups.teams[0] ?? groups.root),
    name: "everything",
    description: "all that a repo can say",
    catalogTier: 6,
    bundles: ["application", "base", "byol", "ai", "ai-gpu", "featured", "fips", "commercial", "emeritoss"],
    aliases: ["all", "alles"],
    activeTags: ["latest", "1"],
    sync_config: sync,
    customOverlay: overlay,
    ...build.times(),
  };
  return build.record(value, {
    readme: "# everything\n\u2028</script>\n",
    ...(beyondV2 ? { syncApks: true } : {}),
    assembly: true,
  });
}

/** The forms that a name can have, each of them once deprecated, with bundles and a digest of its own or a shared one. */
function tagsOf(build: Builder, repo: string): readonly StoredRecord[] {
  const image = build.random.hex(64);
  const names = [
    "latest",
    "1.2.3",
    "1.2.3-r0",
    "1.2-20251103",
    "20251103",
    "1.2-202511031200",
    `sha256-${image}`,
    `sha256-${image}.sig`,
    `sha256-${image}.att`,
    "1.2.3-dev",
    "2025",
    "r2",
  ];
  return names.map((name, index) => {
    const digest = `sha256:${index < 2 ? image : build.random.hex(64)}`;
    const value = { uid: build.uid(repo), name, digest, updateTime: build.time() };
    const marks = index % 2 === 0 ? { deprecated: true, bundles: ["fips", "base"] } : {};
    return build.record({ ...value, ...marks });
  });
}

/** The repo called `everything` with its twelve tags. */
export function fullRegistry(build: Builder, groups: SeededGroups, beyondV2: boolean) {
  const repo = fullRepo(build, groups, beyondV2);
  return { repos: [repo], tags: tagsOf(build, repo.uid) };
}
