/** v1 calls that write repos. */
import type { Json, JsonObject } from "../../../src/model/json.ts";
import { TIERS } from "../../fixtures/repo.ts";
import {
  at,
  del,
  get,
  idOf,
  many,
  post,
  put,
  repoId,
  rootId,
  type Scenario,
  type Seen,
  scenario,
  syncedRepoId,
  without,
} from "./call.ts";
import {
  alone,
  atPlace,
  badBodies,
  inPlace,
  MISSING,
  madeBy,
  numbered,
  OWN_KEYS,
  otherMethods,
  strangers,
} from "./words.ts";

const REPOS = "/registry/v1/repos";
const here = inPlace(REPOS);
const one = madeBy(REPOS, "one");
const listed = at(`${REPOS}?uidp.children_of=`, idOf("place"));
const itself = at(`${REPOS}?id=`, idOf("one"));
const README = '# one\n\n"quotes", \\, <b>&amp;</b>, \u2028 \u{1f600}\r\n{"uid":"not a field"}\n';
/** Names look like fields of other messages: `uid` is a number here, `groupName` is spelled in two ways. */
const OVERLAY: JsonObject = {
  contents: {
    packages: ["curl", "jq=1.7", "curl"],
    runtimeRepositories: ["https://packages.example.com"],
    runtimeKeyring: [{ name: "id", content: "uid" }],
  },
  environment: without(OWN_KEYS, ""),
  annotations: without(OWN_KEYS, ""),
  accounts: {
    groups: [
      { gid: 65532, groupName: "nonroot", members: ["nonroot", "uid"] },
      { gid: 0, groupName: "root", members: [] },
    ],
    users: [
      { uid: 65532, userName: "nonroot", gid: 65532, groupName: "nonroot", shell: "/bin/sh", homeDir: "/home" },
      { uid: 0, userName: "root", groupName: "", shell: "", homeDir: "" },
    ],
    runAs: "65532",
  },
  certificates: { additional: [{ name: "ca", content: "-----BEGIN" }], providers: ["system"] },
};
const FULL: JsonObject = {
  name: "one",
  description: "d",
  catalogTier: "FIPS",
  bundles: ["base", "fips"],
  aliases: ["first", "uno"],
  activeTags: ["latest", "1.2"],
  readme: README,
  customOverlay: OVERLAY,
};
const BARE: JsonObject = {
  description: "",
  catalogTier: "UNKNOWN",
  bundles: [],
  aliases: [],
  activeTags: [],
  sync_config: null,
  customOverlay: null,
};
/** Readmes need more than the admin of an organisation may do. */
const STAFF = { as: "staff" } as const;

const creating: readonly Scenario[] = [
  atPlace("creating repos", [
    post("one", here, FULL, { ...STAFF, shows: FULL }),
    get("it", itself, { items: 1, every: FULL }),
    post("of a name only", here, { name: "two" }, { shows: { ...BARE, name: "two", readme: "" } }),
    post("without a readme", here, { ...without(FULL, "readme"), name: "three" }, 200, {
      shows: { ...FULL, name: "three", readme: "" },
    }),
    post("with an empty readme", here, { name: "four", readme: "" }, { shows: { readme: "" } }),
    post("with a readme only", here, { name: "five", readme: "# five" }, { ...STAFF, shows: { readme: "# five" } }),
    ...TIERS.flatMap(([tier, number]) => [
      post(`of the tier ${tier}`, here, { name: `tier ${tier}`, catalogTier: tier }, { shows: { catalogTier: tier } }),
      post(`of the tier ${number}`, here, { name: `tier ${number}`, catalog_tier: number }, 200, {
        shows: { catalogTier: tier },
      }),
    ]),
    post("of a tier that nobody knows", here, { name: "no tier", catalogTier: "GOLD" }, 200, {
      shows: { catalogTier: "UNKNOWN" },
    }),
    post("of v2's name of a tier", here, { name: "v2 tier", catalogTier: "CATALOG_TIER_BASE" }, 200, {
      shows: { catalogTier: "UNKNOWN" },
    }),
    post(
      "in the other spelling",
      here,
      {
        name: "snake",
        custom_overlay: {
          contents: { runtime_repositories: ["r"], runtime_keyring: [{ name: "n", content: "c" }] },
          accounts: {
            users: [{ uid: 1, user_name: "u", gid: 2, group_name: "g", home_dir: "/" }],
            groups: [{ gid: 3, group_name: "g" }],
            run_as: "u",
          },
        },
        active_tags: ["latest"],
      },
      {
        shows: {
          activeTags: ["latest"],
          customOverlay: {
            contents: { packages: [], runtimeRepositories: ["r"], runtimeKeyring: [{ name: "n", content: "c" }] },
            accounts: {
              users: [{ uid: 1, userName: "u", gid: 2, groupName: "g", shell: "", homeDir: "/" }],
              groups: [{ gid: 3, groupName: "g", members: [] }],
              runAs: "u",
            },
          },
        },
      },
    ),
    post(
      "with v2's spelling of accounts, which does nothing",
      here,
      { name: "v2 names", customOverlay: { accounts: { users: [{ username: "u", userName: "v" }] } } },
      {
        shows: {
          customOverlay: { accounts: { users: [{ uid: 0, userName: "v", groupName: "", shell: "", homeDir: "" }] } },
        },
      },
    ),
    post(
      "with empty blocks",
      here,
      { name: "empty", customOverlay: {} },
      {
        shows: {
          customOverlay: { contents: null, environment: {}, annotations: {}, accounts: null, certificates: null },
        },
      },
    ),
    post(
      "with empty blocks within",
      here,
      { name: "empty2", customOverlay: { contents: {}, accounts: {}, certificates: {} } },
      {
        shows: {
          customOverlay: { contents: { packages: [] }, accounts: { users: [] }, certificates: { providers: [] } },
        },
      },
    ),
    post("members of the server do nothing", here, {
      name: "server",
      id: "mine",
      createTime: "2001-01-01T00:00:00Z",
      createdAt: "2001-01-01T00:00:00Z",
      uid: "x",
    }),
    post(
      "null members are left out",
      here,
      {
        name: "nulls",
        ...nulls("description", "bundles", "readme", "sync_config", "customOverlay", "catalogTier", "aliases"),
      },
      { shows: { ...BARE, readme: "" } },
    ),
    post("unknown members do nothing", here, { name: "unknown", colour: 1, customOverlay: { colour: [] } }),
    post("a member of the wrong spelling does nothing", here, { name: "sync", syncConfig: { source: "x" } }, 200, {
      shows: { sync_config: null },
    }),
    get("all of them", listed, { items: 29 }),
    get("as an outsider", listed, { as: "outsider", items: 0 }),
  ]),
  atPlace("repos that cannot be created", [
    ...badBodies((name, body, status) => post(name, here, body, status), "name"),
    post("without a name", here, { description: "d" }, 400, { field: "name" }),
    post("with an empty name", here, { name: "" }, 400, { field: "name" }),
    post("with a truth for a tier", here, { name: "x", catalogTier: true }, 400),
    post("with a text for a list", here, { name: "x", bundles: "base" }, 400),
    post("with a number for a readme", here, { name: "x", readme: 1 }, 400),
    post("with a list for a map", here, { name: "x", customOverlay: { environment: [] } }, 400),
    post("with a number in a map", here, { name: "x", customOverlay: { environment: { a: 1 } } }, 400),
    post("with a negative user", here, overlaid({ users: [{ uid: -1, userName: "u" }] }), 400),
    post("with half a user", here, overlaid({ users: [{ uid: 1.5, userName: "u" }] }), 400),
    post("with too great a user", here, overlaid({ users: [{ uid: 4294967296, userName: "u" }] }), 400),
    post("with a text for a message", here, { name: "x", sync_config: "s" }, 400),
    post("with both spellings", here, { name: "x", catalogTier: 4, catalog_tier: 4 }, 400),
    post("with both spellings within", here, overlaid({ runAs: "a", run_as: "b" }), 400),
    post("with a reserved variable", here, { name: "x", customOverlay: { environment: { CHAINGUARD_A: "b" } } }, 400),
    post(
      "with a reserved annotation",
      here,
      { name: "x", customOverlay: { annotations: { "org.opencontainers.a": "b" } } },
      400,
    ),
    post("below a group that is not there", `${REPOS}/${MISSING}`, { name: "x" }, 404),
    ...strangers((name, status, extra) => post(name, here, { name: "x" }, status, extra)),
    get("none of them is there", listed, { items: 0 }),
  ]),
  atPlace("creating repos that are there", [
    post("one", here, without(FULL, "readme")),
    post("the same again changes it", here, { ...without(FULL, "readme"), description: "e", bundles: ["ai"] }, 200, {
      shows: (seen) => ({ ...FULL, readme: "", id: seen.id("one"), description: "e", bundles: ["ai"] }),
    }),
    post("everything again", here, FULL, { ...STAFF, shows: FULL }),
    post(
      "when it is not prevented",
      at(`${REPOS}/`, idOf("place"), "?preventExisting=false"),
      { ...FULL, description: "f" },
      { shows: { description: "f" } },
    ),
    post("another, prevented", at(`${REPOS}/`, idOf("place"), "?preventExisting=true"), { name: "two" }),
    post("of a name that begins alike", here, { name: "on" }),
    post("with an empty truth", at(`${REPOS}/`, idOf("place"), "?preventExisting="), { name: "x" }, 400),
    post("with no truth", at(`${REPOS}/`, idOf("place"), "?preventExisting=maybe"), { name: "x" }, 400),
    post(
      "with a truth twice",
      at(`${REPOS}/`, idOf("place"), "?preventExisting=true&preventExisting=true"),
      { name: "x" },
      400,
    ),
    post("one in the root", at(`${REPOS}/`, rootId), { name: "one" }, { shows: { ...BARE, name: "one" } }),
    post("one by a viewer", here, { name: "one" }, 403, { as: "viewer" }),
    post("one by an outsider", here, { name: "one" }, 403, { as: "outsider" }),
    get("they are there", listed, { items: 3 }),
  ]),
];

const replacing: readonly Scenario[] = [
  atPlace("replacing repos", [
    post("one", here, FULL, STAFF),
    get("it", itself, { items: 1 }),
    put("what a read gave", one, alone("it"), { shows: (seen) => without(alone("it")(seen), "updatedAt") }),
    put("another description", one, { ...FULL, description: "e" }, { shows: { ...FULL, description: "e" } }),
    put("without a description", one, without(FULL, "description"), { shows: { description: "" } }),
    ...TIERS.slice(1).map(([tier, number]) =>
      put(`the tier ${number}`, one, { ...FULL, catalogTier: number }, { shows: { catalogTier: tier } }),
    ),
    put("no bundles", one, { ...FULL, bundles: [] }, { shows: { bundles: [] } }),
    put("no aliases", one, { ...FULL, aliases: [] }, { shows: { aliases: [] } }),
    put("no active tags", one, { ...FULL, activeTags: [] }, { shows: { activeTags: [] } }),
    put("everything again", one, FULL, { shows: FULL }),
    put("other bundles", one, { ...FULL, bundles: ["ai", "ai"] }, { shows: { bundles: ["ai", "ai"] } }),
    ...Object.keys(OVERLAY).map((part) =>
      put(
        `without the overlay's ${part}`,
        one,
        { ...FULL, customOverlay: without(OVERLAY, part) },
        {
          shows: {
            customOverlay: {
              ...without(OVERLAY, part),
              [part]: part === "environment" || part === "annotations" ? {} : null,
            },
          },
        },
      ),
    ),
    put("with an empty overlay", one, { ...FULL, customOverlay: {} }),
    put("another user", one, { ...FULL, ...overlaid({ users: [{ uid: 7, userName: "u", gid: 9 }] }), name: "one" }),
    put("a user without a group", one, { ...FULL, ...overlaid({ users: [{ uid: 7, userName: "u" }] }), name: "one" }),
    put("another name", one, { ...FULL, name: "uno" }, { shows: { name: "uno" } }),
    put("unknown members do nothing", one, { ...FULL, colour: 1, syncConfig: {}, catalog: "x" }),
    put("members of the server do nothing", one, { ...FULL, id: "x", createTime: "2001-01-01T00:00:00Z" }),
    put("nothing but its name", one, { name: "one" }, { ...STAFF, shows: { ...BARE, name: "one" } }),
  ]),
  atPlace("replacing readmes", [
    post("one", here, { name: "one", description: "d" }),
    put("there is none yet", one, { name: "one", description: "d", readme: "" }, { shows: { readme: "" } }),
    put("a readme", one, { name: "one", description: "d", readme: README }, { ...STAFF, shows: { readme: README } }),
    get("it", itself, { items: 1, every: { readme: README } }),
    put("the same by somebody who may not write it", one, { name: "one", description: "e", readme: README }, 200, {
      shows: { readme: README, description: "e" },
    }),
    put("another", one, { name: "one", description: "f", readme: "# other" }, 200, {
      ...STAFF,
      shows: { readme: "# other", description: "f" },
    }),
    put("a long one", one, { name: "one", readme: "line\n".repeat(5000) }, STAFF),
    get("it as it is now", itself, { items: 1 }),
  ]),
  atPlace("replacing the sync settings of repos", [
    post("source", here, { name: "source" }),
    post("another source", here, { name: "another source" }),
    post("one", here, synced({}), { shows: (seen) => ({ sync_config: { source: seen.id("source") } }) }),
    get("it", itself, { items: 1 }),
    put("what a read gave", one, alone("it"), { shows: (seen) => without(alone("it")(seen), "updatedAt") }),
    put("to other places", one, changed({ google: "g", amazon: "a", azure: "z" }), {
      shows: { sync_config: { google: "g", amazon: "a", azure: "z" } },
    }),
    put("to one place", one, changed({ google: "g", amazon: "", azure: "" }), {
      shows: { sync_config: { google: "g", amazon: "", azure: "" } },
    }),
    put("of another source", one, (seen) => changed({ source: seen.id("another source") })(seen), {
      shows: (seen) => ({ sync_config: { source: seen.id("another source") } }),
    }),
    put("another description", one, (seen) => ({ ...alone("it")(seen), description: "synced" }), {
      shows: { description: "synced" },
    }),
    get("it as it is now", itself, { items: 1 }),
  ]),
  atPlace("repos that cannot be replaced or removed", [
    post("one", here, without(FULL, "readme")),
    ...badBodies((name, body, status) => put(name, one, body, status), "name"),
    put("with a text for a list", one, { ...FULL, aliases: "a" }, 400),
    put("with a truth for a tier", one, { ...FULL, catalogTier: false }, 400),
    put("one that is not there", `${REPOS}/${MISSING}`, { name: "x" }, 404),
    ...strangers((name, status, extra) => put(name, one, without(FULL, "readme"), status, extra)),
    ...otherMethods(one, ["PATCH", "HEAD"]),
    get("it is as it was", itself, { items: 1, every: { ...FULL, readme: "" } }),
    ...strangers((name, status, extra) => del(name, one, status, extra)),
    post("a tag", madeBy("/registry/v1/tags", "one"), { name: "latest", digest: `sha256:${"0".repeat(64)}` }),
    del("its tag", madeBy("/registry/v1/tags", "a tag")),
    del("it", one, { shows: {} }),
    del("it once more", one, 404),
    del("one that was never there", `${REPOS}/${MISSING}`, 404),
    get("it is gone", itself, { items: 0 }),
    put("what is gone", one, without(FULL, "readme"), 404),
  ]),
  scenario("repos of the organisation, read and written back", [
    get("all", at(`${REPOS}?uidp.children_of=`, rootId), { items: "some" }),
    get("a repo", at(`${REPOS}?id=`, repoId), { items: 1 }),
    put("a repo", madeBy(REPOS, "a repo"), alone("a repo"), {
      shows: (seen) => without(alone("a repo")(seen), "updatedAt"),
    }),
    put("its description", madeBy(REPOS, "a repo"), (seen) => ({ ...alone("a repo")(seen), description: "new" }), {
      shows: (seen) => ({ ...without(alone("a repo")(seen), "updatedAt"), description: "new" }),
    }),
    get("a synced repo", at(`${REPOS}?id=`, syncedRepoId), { items: 1 }),
    put("a synced repo", madeBy(REPOS, "a synced repo"), alone("a synced repo"), {
      shows: (seen) => without(alone("a synced repo")(seen), "updatedAt"),
    }),
    put(
      "its places",
      madeBy(REPOS, "a synced repo"),
      (seen) => {
        const record = alone("a synced repo")(seen);
        return { ...record, sync_config: { ...(record["sync_config"] as JsonObject), google: "elsewhere" } };
      },
      { shows: { sync_config: { google: "elsewhere" } } },
    ),
    many("each of the root", 12, (index) =>
      put(`number ${index}`, (seen) => `${REPOS}/${numbered(index)(seen)["id"]}`, numbered(index)),
    ),
    get("all as they are now", at(`${REPOS}?uidp.children_of=`, rootId), { items: "some" }),
  ]),
];

const replacingByLittle: readonly Scenario[] = [
  atPlace("replacing repos by one of no name", [
    post("one", here, { name: "one", description: "d" }),
    put("with an empty name", one, { name: "", description: "e" }, 400, { field: "name" }),
    get("it as it was", itself, { items: 1, every: { name: "one", description: "d" } }),
  ]),
  atPlace("creating repos that are there, where that is prevented", [
    post("one", here, without(FULL, "readme")),
    post("not when that is prevented", at(`${REPOS}/`, idOf("place"), "?preventExisting=true"), FULL, 409, { code: 6 }),
    post(
      "not when that is prevented, in the other spelling",
      at(`${REPOS}/`, idOf("place"), "?prevent_existing=true"),
      FULL,
      409,
      { code: 6 },
    ),
  ]),
  atPlace("replacing a tier by none, and aliases by the same in another order", [
    post("one", here, FULL, STAFF),
    put("the tier UNKNOWN", one, { ...FULL, catalogTier: "UNKNOWN" }, { shows: { catalogTier: "UNKNOWN" } }),
    put("the aliases in another order", one, { ...FULL, aliases: ["uno", "first"] }, 200, {
      shows: { aliases: ["uno", "first"] },
    }),
    put("the tier 0", one, { ...FULL, catalogTier: 0 }, { shows: { catalogTier: "UNKNOWN" } }),
  ]),
];

/** What a read of `it` gave, with other sync settings. */
function changed(settings: JsonObject): (seen: Seen) => JsonObject {
  return (seen) => {
    const record = alone("it")(seen);
    return { ...record, sync_config: { ...(record["sync_config"] as JsonObject), ...settings } };
  };
}

/** A repo that is synced from `source`. */
function synced(settings: JsonObject): (seen: Seen) => JsonObject {
  return (seen) => ({ name: "one", description: "d", sync_config: { source: seen.id("source"), ...settings } });
}

function overlaid(accounts: Json): JsonObject {
  return { name: "x", customOverlay: { accounts } };
}

function nulls(...names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, null]));
}

export const writingRepos: readonly Scenario[] = [...creating, ...replacing, ...replacingByLittle];
