/** Which repos and tags show every form that they can have? */
import type { JsonObject } from "../json.ts";
import type { StoredRecord } from "../store/collection.ts";
import type { Builder } from "./build.ts";
import type { SeededGroups } from "./groups.ts";

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
