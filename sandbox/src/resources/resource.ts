/** What a kind of record is, who sees its records, and how they are created, changed and deleted, in v1 and v2 alike. */
import { type Caller, type Context, mayRead, needWrite, now, readsAll } from "../context.ts";
import type { JsonObject } from "../json.ts";
import { alreadyExists, forbidden, invalid, notFound } from "../refusal.ts";
import { makeRecord, parentOf, type StoredRecord } from "../store/collection.ts";
import { type PlaceFilter, type RecordTest, type Selection, select } from "../store/select.ts";
import type { ResourceName } from "../store/store.ts";
import { normalMessage } from "../wire/encode.ts";
import { V2 } from "../wire/schema.ts";

/** What a write would store: members of the v2 message, and what v2 does not show. */
export interface Draft {
  readonly value: JsonObject;
  readonly extra: JsonObject;
}

/** A write about to happen. `before` is undefined for a new record. */
export interface Write {
  readonly context: Context;
  readonly caller: Caller;
  readonly parent: string;
  readonly before: StoredRecord | undefined;
  readonly next: Draft;
}

export interface Resource {
  readonly name: ResourceName;
  /** The v2 message, which is also the type that errors name. */
  readonly type: string;
  /** Where parents live; undefined: in groups. */
  readonly parents?: ResourceName;
  /** True when a record may be made at the root. */
  readonly rootless?: boolean;
  /** The times that this kind carries: not all have both. */
  readonly times: readonly ("createTime" | "updateTime")[];
  /** The uid of a new record, when it is not a fresh one below the parent. */
  readonly uidFor?: (parent: string) => string;
  /** A record that a new one would double: same name below the same parent, or the one record of a group. */
  readonly twin?: (context: Context, parent: string, value: JsonObject) => StoredRecord | undefined;
  /** What the server draws for a new record once nothing can fail any more: keys, codes. */
  readonly secrets?: (context: Context) => Draft;
  /** The rules of both faces: throws a refusal, or says what is really stored. */
  readonly check: (write: Write) => Draft;
  /** Throws when a record must stay; removes what goes with it. */
  readonly checkRemoval?: (context: Context, record: StoredRecord) => void;
  /** True when deleting what is not there succeeds. */
  readonly removalIsIdempotent?: boolean;
  /** The v2 record with its joined parts; without it the stored value is the record. */
  readonly joined?: (context: Context, record: StoredRecord) => JsonObject;
  /** True for records that everybody may read, whatever their grants. */
  readonly open?: (uid: string) => boolean;
}

// Lists: a caller sees the records that they may read.

/** The records that pass `place` and `tests` and that the caller may read. */
export function visible(
  context: Context,
  resource: Resource,
  caller: Caller,
  place: PlaceFilter,
  tests: readonly RecordTest[],
): Selection {
  const collection = context.store.collection(resource.name);
  if (readsAll(caller)) return select(collection, place, tests);
  const [only, ...others] = caller.grants;
  const unfiltered = !place.inRoot && place.ids.length === 0 && place.childrenOf + place.ancestorsOf === "";
  if (only && others.length === 0 && resource.open === undefined && unfiltered && place.descendantsOf === "") {
    return select(collection, { ...place, descendantsOf: only.scope }, tests);
  }
  const allowed = (record: StoredRecord) => mayRead(caller, record.uid) || resource.open?.(record.uid) === true;
  return select(collection, place, [...tests, allowed]);
}

// Creating, changing and deleting records.

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
