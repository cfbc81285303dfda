/** Which rules do repos follow? (Field map 2.11 and section 6.) */

import type { Context } from "../context.ts";
import { VENDOR_KEY } from "../data/vendor.ts";
import { type Json, type JsonObject, member } from "../json.ts";
import { alreadyExists, invalid } from "../refusal.ts";
import type { StoredRecord } from "../store/collection.ts";
import type { Draft, Resource, Write } from "./resource.ts";

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

/** The first field that a write changes and that `repo.internal.admin` guards (field map 4.B); the readme is not among them. */
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
