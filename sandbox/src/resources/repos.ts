/** Repos: their rules, v1 and v2, readmes and custom overlays included. */
import type { Caller, Context } from "../context.ts";
import { VENDOR_KEY } from "../data/vendor.ts";
import { keep, pick, times, type V1Face } from "../faces/v1.ts";
import { decodeBody, patchPaths, type V2Face } from "../faces/v2.ts";
import type { Call, Route } from "../gateway/route.ts";
import { type Json, type JsonObject, member } from "../json.ts";
import { alreadyExists, forbidden, invalid } from "../refusal.ts";
import type { StoredRecord } from "../store/collection.ts";
import { nameTest, type RecordTest } from "../store/select.ts";
import { encodeMessage } from "../wire/encode.ts";
import { V2 } from "../wire/schema.ts";
import { type Draft, type Resource, readable, updateRecord, type Write } from "./resource.ts";

/** Only staff has it. */
const INTERNAL = "the capability repo.internal.admin";
/** What the source decides on a repo that is synced. */
export const SYNCED_FIELDS = ["catalogTier", "bundles", "aliases", "activeTags"] as const;
/** Members of `sync_config` that a client sets, and those that only the platform does. */
const SYNC_CLIENT_FIELDS = ["source", "google", "amazon", "azure"] as const;
const SYNC_SERVER_FIELDS = ["uniqueTags", "expirationTime", "apkoOverlay", "gracePeriod"] as const;
/** A new sync setting lasts 14 days. */
const SYNC_MS = 14 * 86_400_000;
const RESERVED_VARIABLE = `${VENDOR_KEY.toUpperCase()}_`;
const RESERVED_ANNOTATIONS = [`dev.${VENDOR_KEY}.`, "org.opencontainers."] as const;

function same(a: Json | undefined, b: Json | undefined): boolean {
  return JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
}

/** `value` with zeros as absence, so that "not set" equals "set to nothing". */
function essence(value: Json | undefined): Json | undefined {
  return value === 0 || (Array.isArray(value) && value.length === 0) ? undefined : value;
}

/** The first field that a write changes and that `repo.internal.admin` guards; the readme is not among them. */
export function guardedChange(before: JsonObject, next: JsonObject): string | undefined {
  const fields = [...SYNCED_FIELDS, "sync_config"];
  return fields.find((key) => !same(guarded(key, before), guarded(key, next)));
}

function guarded(key: string, value: JsonObject): Json | undefined {
  const held = essence(member(value, key));
  if (key !== "sync_config" || held === undefined) return held;
  return SYNC_CLIENT_FIELDS.map((name) => member(held, name) ?? "");
}

function check(write: Write): Draft {
  const { before, next } = write;
  if ((member(next.value, "name") ?? "") === "") throw invalid("name", "a name is required");
  const synced = member(before?.value, "sync_config") !== undefined && member(next.value, "sync_config") !== undefined;
  for (const key of synced ? SYNCED_FIELDS : []) {
    if (!same(essence(member(next.value, key)), essence(member(before?.value, key)))) {
      throw invalid(key, "the source of a synced repo decides it");
    }
  }
  checkOverlay(next, before);
  checkRename("repos", write);
  return { ...next, value: { ...next.value, ...syncConfig(write) } };
}

/** The sync settings with what only the platform sets. */
function syncConfig({ context, before, next }: Write): JsonObject {
  const given = member(next.value, "sync_config") as JsonObject | undefined;
  if (given === undefined) return {};
  if ((member(given, "source") ?? "") === "") throw invalid("sync_config.source", "a source is required");
  const stored = member(before?.value, "sync_config");
  const out: JsonObject = { ...given };
  for (const key of SYNC_SERVER_FIELDS) {
    const kept = member(stored, key);
    if (kept === undefined) delete out[key];
    else out[key] = kept;
  }
  if (stored === undefined) {
    out["expirationTime"] = new Date(context.settings.clock().getTime() + SYNC_MS).toISOString();
  }
  return { sync_config: out };
}

function checkOverlay(next: Draft, before: StoredRecord | undefined): void {
  const overlay = member(next.value, "customOverlay");
  if (overlay === undefined) return;
  const changed = !same(overlay, member(before?.value, "customOverlay"));
  if (changed && member(next.extra, "assembly") === false) {
    throw invalid("customOverlay", "custom assembly is not enabled on this repo");
  }
  const keys = (name: string) => Object.keys((member(overlay, name) ?? {}) as JsonObject);
  if (keys("environment").some((key) => key.startsWith(RESERVED_VARIABLE))) {
    throw invalid("customOverlay.environment", "the prefix of a variable is reserved");
  }
  if (keys("annotations").some((key) => RESERVED_ANNOTATIONS.some((prefix) => key.startsWith(prefix)))) {
    throw invalid("customOverlay.annotations", "the prefix of an annotation is reserved");
  }
}

/** The record called `name` directly below `parent`. */
export function findByName(
  context: Context,
  collection: "repos" | "tags",
  parent: string,
  name: Json | undefined,
): StoredRecord | undefined {
  const records = context.store.collection(collection);
  for (const uid of records.children(parent)) {
    const record = records.get(uid);
    if (record !== undefined && member(record.value, "name") === name) return record;
  }
  return undefined;
}

/** Throws 409 when an update gives a record the name of another one beside it. */
export function checkRename(collection: "repos" | "tags", { context, parent, before, next }: Write): void {
  const name = member(next.value, "name");
  if (before === undefined || name === member(before.value, "name")) return;
  const other = findByName(context, collection, parent, name);
  if (other !== undefined) throw alreadyExists(collection === "repos" ? "Repo" : "Tag", other.uid);
}

/** The tags of a repo go with it. */
function checkRemoval(context: Context, record: StoredRecord): void {
  const tags = context.store.collection("tags");
  for (const uid of [...tags.children(record.uid)]) tags.remove(uid);
}

export const repos: Resource = {
  name: "repos",
  type: "Repo",
  times: ["createTime", "updateTime"],
  twin: (context, parent, value) => findByName(context, "repos", parent, member(value, "name")),
  check,
  checkRemoval,
};

// v1: repos with their readmes.

/** v1 counts its tiers from 4 where v2 counts from 1. */
const TIER_SHIFT = 3;
const SAME = ["name", "description", "bundles", "aliases", "activeTags"] as const;
const SYNC_TO_V1: readonly (readonly [string, string])[] = [
  ["source", "source"],
  ["uniqueTags", "uniqueTags"],
  ["expirationTime", "expiration"],
  ["google", "google"],
  ["amazon", "amazon"],
  ["azure", "azure"],
  ["apkoOverlay", "apkoOverlay"],
  ["gracePeriod", "gracePeriod"],
];

function viewSync(record: StoredRecord): JsonObject {
  const sync = member(record.value, "sync_config");
  if (sync === undefined) return {};
  return { sync_config: { ...pick(sync, SYNC_TO_V1), ...keep(record.extra, ["syncApks"]) } };
}

function viewRepo(record: StoredRecord): JsonObject {
  const tier = Number(member(record.value, "catalogTier") ?? 0);
  const overlay = member(record.value, "customOverlay");
  return {
    id: record.uid,
    ...keep(record.value, [...SAME, "createTime"]),
    ...times(record.value),
    ...(tier === 0 ? {} : { catalogTier: tier + TIER_SHIFT }),
    readme: member(record.extra, "readme") ?? "",
    ...viewSync(record),
    ...(overlay === undefined ? {} : { customOverlay: overlayToV1(overlay) }),
  };
}

/**
 * A full replace. What only the platform sets is ignored. On a repo that stays synced, silence about what the source
 * decides is no request to change it.
 */
function readRepo(given: JsonObject, before: StoredRecord | undefined): Draft {
  const tier = Number(member(given, "catalogTier") ?? 0);
  const value: JsonObject = { ...keep(given, SAME), ...keep(before?.value, ["createTime"]) };
  if (tier > TIER_SHIFT) value["catalogTier"] = tier - TIER_SHIFT;
  const sync = member(given, "sync_config");
  if (sync !== undefined) value["sync_config"] = keep(sync, ["source", "google", "amazon", "azure"]);
  const overlay = member(given, "customOverlay");
  if (overlay !== undefined) value["customOverlay"] = overlayFromV1(overlay);
  if (sync !== undefined && member(before?.value, "sync_config") !== undefined) {
    for (const key of SYNCED_FIELDS) if (isSilent(value[key])) Object.assign(value, keep(before?.value, [key]));
  }
  return { value, extra: extraOf(given, before) };
}

function isSilent(value: Json | undefined): boolean {
  return value === undefined || (Array.isArray(value) && value.length === 0);
}

/** What v2 does not show: the readme, a setting that v2 no longer has, and what the platform alone knows. */
function extraOf(given: JsonObject, before: StoredRecord | undefined): JsonObject {
  const { readme: _readme, syncApks: _apks, ...rest } = before?.extra ?? {};
  const readme = member(given, "readme") ?? "";
  const apks = member(member(given, "sync_config"), "syncApks") === true;
  return { ...rest, ...(readme === "" ? {} : { readme }), ...(apks ? { syncApks: true } : {}) };
}

export const reposV1: V1Face = {
  resource: repos,
  domain: "registry",
  collection: "repos",
  operations: ["list", "create", "update", "delete"],
  filter: "RepoFilter",
  item: "Repo",
  view: viewRepo,
  tests: nameTest,
  key: "id",
  write: {
    message: "Repo",
    read: readRepo,
    answer: "Repo",
    view: viewRepo,
    upserts: { request: "CreateRepoRequest", refuse: "preventExisting" },
  },
};

// v1: custom overlays, of which three keys have another spelling.

const OVERLAY_SAME = ["contents", "environment", "annotations", "certificates"] as const;
const USER = ["uid", "groupName", "shell", "homeDir"] as const;
const GROUP = ["gid", "members"] as const;

function list(value: Json | undefined, key: string): readonly Json[] {
  const items = member(value, key);
  return Array.isArray(items) ? items : [];
}

function renamed(source: Json, from: string, to: string): JsonObject {
  const value = member(source, from) ?? "";
  return value === "" ? {} : { [to]: value };
}

/** Stored to v1. A group id of zero is not shown: the store cannot tell it from none. */
export function overlayToV1(overlay: Json): JsonObject {
  const accounts = member(overlay, "accounts");
  if (accounts === undefined) return keep(overlay, OVERLAY_SAME);
  const users = list(accounts, "users").map((user) => {
    const gid = Number(member(user, "gid") ?? 0);
    return { ...keep(user, USER), ...renamed(user, "username", "userName"), ...(gid === 0 ? {} : { gid }) };
  });
  const groups = list(accounts, "groups").map((group) => {
    return { ...keep(group, GROUP), ...renamed(group, "groupname", "groupName") };
  });
  return { ...keep(overlay, OVERLAY_SAME), accounts: { ...keep(accounts, ["runAs"]), users, groups } };
}

/** v1 to stored. */
export function overlayFromV1(overlay: Json): JsonObject {
  const accounts = member(overlay, "accounts");
  if (accounts === undefined) return keep(overlay, OVERLAY_SAME);
  const users = list(accounts, "users").map((user) => {
    return { ...keep(user, [...USER, "gid"]), ...renamed(user, "userName", "username") };
  });
  const groups = list(accounts, "groups").map((group) => {
    return { ...keep(group, GROUP), ...renamed(group, "groupName", "groupname") };
  });
  return { ...keep(overlay, OVERLAY_SAME), accounts: { ...keep(accounts, ["runAs"]), users, groups } };
}

// v2: repos, and readmes apart.

/** The name has presence here: an empty one is a filter for the empty name. */
function tests(request: JsonObject): readonly RecordTest[] {
  const name = member(request, "name");
  return name === undefined ? [] : [(record) => (member(record.value, "name") ?? "") === name];
}

/** Throws when the caller may not change a field that this update changes (`repoGuard`). */
function guard(next: JsonObject, before: StoredRecord | undefined, { settings }: Context, caller: Caller): void {
  if (before === undefined || caller.staff || settings.repoGuard === "readme") return;
  const changed = guardedChange(before.value, next);
  if (changed === undefined) return;
  if (settings.repoGuard === "forbid") throw forbidden(INTERNAL);
  const path = V2.message("Repo").byKey.get(changed)?.proto;
  throw invalid("update_mask", `${JSON.stringify(path)} takes ${INTERNAL}`);
}

export const reposV2: V2Face = {
  resource: repos,
  domain: "registry",
  collection: "repos",
  operations: ["list", "get", "create", "update", "delete"],
  listRequest: "ListReposRequest",
  order: "uid",
  tests,
  demand: guard,
};

function readmeText(context: Context, record: StoredRecord): string {
  const readme = { uid: record.uid, content: member(record.extra, "readme") ?? "" };
  return encodeMessage(V2, V2.message("RepoReadme"), readme, { omitZeros: context.settings.omitZeros });
}

/** `GET` and `PATCH repos/{uid}/readme`. Writing it takes an internal capability: it is for staff. */
export function readmeRoutes(context: Context): readonly Route[] {
  const at = {
    domain: "registry",
    version: context.settings.version,
    collection: "repos",
    shape: "suffix" as const,
    word: "readme",
  };
  const read = (call: Call) => (caller: Caller) => readmeText(context, readable(context, repos, caller, call.tail));
  const write = (call: Call): ReturnType<Route["prepare"]> => {
    const message = V2.message("RepoReadme");
    const { given, node } = decodeBody(message, call.body);
    const paths = patchPaths(context, message, node, call.query);
    return (caller) => {
      if (!caller.staff) throw forbidden(INTERNAL);
      const named = paths().some((path) => path[0]?.json === "content");
      const record = updateRecord(context, repos, caller, call.tail, (before) => {
        const { readme: old, ...rest } = before.extra;
        const content = named ? (member(given, "content") ?? "") : (old ?? "");
        return { value: before.value, extra: content === "" ? rest : { ...rest, readme: content } };
      });
      return readmeText(context, record);
    };
  };
  return [
    { ...at, method: "GET", prepare: read },
    { ...at, method: "PATCH", prepare: write },
  ];
}
