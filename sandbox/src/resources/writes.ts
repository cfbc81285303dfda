/** How is a record created, changed and deleted, whichever face asks? */
import { type Caller, mayRead, needWrite } from "../auth/caller.ts";
import { type Context, now } from "../context.ts";
import { alreadyExists, forbidden, invalid, notFound } from "../refusal.ts";
import { makeRecord, type StoredRecord } from "../store/collection.ts";
import { parentOf } from "../store/uid.ts";
import { normalMessage } from "../wire/encode.ts";
import { V2 } from "../wire/schemas.ts";
import type { Draft, Resource } from "./resource.ts";

/** What would be stored below `parent`. Throws whatever `createRecord` would throw; changes nothing. */
export function checkCreation(
  context: Context,
  resource: Resource,
  caller: Caller,
  parent: string,
  next: Draft,
): Draft {
  if (parent === "" && resource.rootless !== true) throw invalid("parent", "a parent is required");
  needWrite(caller, parent);
  if (parent !== "" && context.store.collection(resource.parents ?? "groups").get(parent) === undefined) {
    throw notFound(resource.parents === "repos" ? "Repo" : "Group", parent);
  }
  const checked = resource.check({ context, caller, parent, before: undefined, next });
  const twin = resource.twin?.(context, parent, next.value);
  if (twin !== undefined) throw alreadyExists(resource.type, twin.uid);
  return checked;
}

/** Creates a record below `parent`. The counter of uids advances only when it is stored. */
export function createRecord(
  context: Context,
  resource: Resource,
  caller: Caller,
  parent: string,
  next: Draft,
): StoredRecord {
  const checked = checkCreation(context, resource, caller, parent, next);
  const uid = resource.uidFor?.(parent) ?? context.store.nextUid(parent);
  const times = Object.fromEntries(resource.times.map((key) => [key, now(context)]));
  const drawn = resource.secrets?.(context) ?? { value: {}, extra: {} };
  return store(context, resource, {
    value: { ...checked.value, ...drawn.value, uid, ...times },
    extra: { ...checked.extra, ...drawn.extra },
  });
}

/** Puts `change(record)` in the place of the record `uid`. Throws 403 out of scope, 404 when there is none. */
export function updateRecord(
  context: Context,
  resource: Resource,
  caller: Caller,
  uid: string,
  change: (record: StoredRecord) => Draft,
): StoredRecord {
  const before = writable(context, resource, caller, uid);
  const checked = resource.check({ context, caller, parent: parentOf(uid), before, next: change(before) });
  const times = resource.times.includes("updateTime") ? { updateTime: now(context) } : {};
  return store(context, resource, { value: { ...checked.value, uid, ...times }, extra: checked.extra });
}

/** Deletes the record `uid`. */
export function removeRecord(context: Context, resource: Resource, caller: Caller, uid: string): void {
  if (resource.removalIsIdempotent && context.store.collection(resource.name).get(uid) === undefined) {
    needWrite(caller, uid);
    return;
  }
  const record = writable(context, resource, caller, uid);
  resource.checkRemoval?.(context, record);
  context.store.collection(resource.name).remove(uid);
}

/** The record `uid` for reading. Throws 403 out of scope, 404 when there is none. */
export function readable(context: Context, resource: Resource, caller: Caller, uid: string): StoredRecord {
  if (uid === "") throw invalid("uid", "a uid is required");
  if (!mayRead(caller, uid) && resource.open?.(uid) !== true) throw forbidden();
  const record = context.store.collection(resource.name).get(uid);
  if (record === undefined) throw notFound(resource.type, uid);
  return record;
}

function writable(context: Context, resource: Resource, caller: Caller, uid: string): StoredRecord {
  if (uid === "") throw invalid("uid", "a uid is required");
  needWrite(caller, uid);
  return readable(context, resource, caller, uid);
}

function store(context: Context, resource: Resource, draft: Draft): StoredRecord {
  const record = makeRecord(normalMessage(V2, V2.message(resource.type), draft.value), draft.extra);
  context.store.collection(resource.name).put(record);
  return record;
}
