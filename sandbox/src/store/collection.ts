/** The records of one resource: uids, orders and indexes. A list of 100,000 costs as little per page as a list of ten. */
import { type JsonObject, member } from "../json.ts";
import { invalid } from "../refusal.ts";

/** Everything before the last slash; the empty string at the root. */
export function parentOf(uid: string): string {
  const cut = uid.lastIndexOf("/");
  return cut < 0 ? "" : uid.slice(0, cut);
}

/** The first segment: the root group. */
export function rootOf(uid: string): string {
  const cut = uid.indexOf("/");
  return cut < 0 ? uid : uid.slice(0, cut);
}

/** True when `uid` is `ancestor` or lies below it. The empty string is above everything. */
export function isWithin(uid: string, ancestor: string): boolean {
  return ancestor === "" || uid === ancestor || (uid.startsWith(ancestor) && uid[ancestor.length] === "/");
}

/** `uid` and every uid above it, from the root down. */
export function lineage(uid: string): readonly string[] {
  const segments = uid.split("/");
  return segments.map((_, index) => segments.slice(0, index + 1).join("/"));
}

// Orders of lists: `order_by`, with the names that storage gives to fields, such as `created_at`.

/** What can be put in order: the part of a record that an order looks at. */
export interface Sortable {
  readonly uid: string;
  readonly value: JsonObject;
}

/** A total order: ties are broken by ascending uid. */
export interface Order {
  /** Normal spelling, for tokens and caches. */
  readonly name: string;
  /** True for plain ascending uid, which the store keeps anyway. */
  readonly byUid: boolean;
  /** The text a record is sorted by. */
  readonly key: (record: Sortable) => string;
  readonly descending: boolean;
  readonly compare: (a: Sortable, b: Sortable) => number;
}

/** What `order_by` may name, and which field of v2 that is. */
const ORDER_FIELDS: ReadonlyMap<string, string> = new Map([
  ["uid", "uid"],
  ["id", "uid"],
  ["group", "uid"],
  ["name", "name"],
  ["created_at", "createTime"],
  ["updated_at", "updateTime"],
  ["deleted_at", "deleteTime"],
  ["aliases", "aliases"],
]);

/** Compares two positions of an order: sort text first, then uid. */
export function comparePositions(order: Order, keyA: string, uidA: string, keyB: string, uidB: string): number {
  if (keyA !== keyB) return keyA < keyB === order.descending ? 1 : -1;
  if (uidA === uidB) return 0;
  return uidA < uidB ? -1 : 1;
}

/** Reads `name`, `name asc` or `name desc`. Throws 400 for anything else. */
export function parseOrder(text: string): Order {
  const [field = "", direction = "asc", ...rest] = text.trim().split(/\s+/);
  const json = ORDER_FIELDS.get(field);
  if (json === undefined || rest.length > 0 || !["asc", "desc"].includes(direction)) {
    throw invalid("order_by", `cannot order by ${JSON.stringify(text)}`);
  }
  const descending = direction === "desc";
  const byUid = json === "uid" && !descending;
  const key = (record: Sortable) => sortText(record, json);
  const order: Order = {
    name: `${json} ${direction}`,
    byUid,
    key,
    descending,
    compare: (a, b) => comparePositions(order, key(a), a.uid, key(b), b.uid),
  };
  return order;
}

function sortText(record: Sortable, json: string): string {
  const value = member(record.value, json);
  return typeof value === "string" ? value : JSON.stringify(value ?? "");
}

// The collection itself.

/** The JSON of a record in one face, and the epoch of the store it was made in. */
export interface CachedText {
  readonly epoch: number;
  readonly text: string;
}

/** One record. Replaced, never changed; only its cached texts come and go. */
export interface StoredRecord {
  readonly uid: string;
  /** What v2 knows of it: the fields of the v2 message in normal form, joined parts left out. */
  readonly value: JsonObject;
  /** What v2 does not show: a readme, a secret, fields that only v1 has. */
  readonly extra: JsonObject;
  readonly cached: { v1: CachedText | undefined; v2: CachedText | undefined };
}

/** Makes a record that nobody has written out yet. */
export function makeRecord(value: JsonObject, extra: JsonObject = {}): StoredRecord {
  return { uid: String(value["uid"]), value, extra, cached: { v1: undefined, v2: undefined } };
}

export interface Collection {
  get(uid: string): StoredRecord | undefined;
  /** Inserts or replaces. */
  put(record: StoredRecord): void;
  remove(uid: string): boolean;
  /** Inserts many at once, much faster than one by one. */
  load(records: readonly StoredRecord[]): void;
  /** All uids, ascending. Not to be kept across writes. */
  uids(): readonly string[];
  /** The uids directly under `parent` (the empty string: at the root), ascending. */
  children(parent: string): readonly string[];
  /** All records, ascending by uid: the same array until the next write. */
  all(): readonly StoredRecord[];
  /** All uids in another order, sorted once per version. */
  ordered(order: Order): readonly string[];
  /** Grows with every write. */
  version(): number;
}

/** The first index in the ascending `sorted` whose text is not below `key`. */
export function lowerBound(sorted: readonly string[], key: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? "") < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

function insertSorted(sorted: string[], uid: string): void {
  sorted.splice(lowerBound(sorted, uid), 0, uid);
}

function removeSorted(sorted: string[], uid: string): void {
  const at = lowerBound(sorted, uid);
  if (sorted[at] === uid) sorted.splice(at, 1);
}

/** All uids in order, and the same below each parent. */
interface UidIndex {
  readonly sorted: readonly string[];
  children(parent: string): readonly string[];
  add(uid: string): void;
  remove(uid: string): void;
  addMany(uids: readonly string[]): void;
}

function createUidIndex(): UidIndex {
  const sorted: string[] = [];
  const byParent = new Map<string, string[]>();
  function childList(parent: string): string[] {
    const found = byParent.get(parent) ?? [];
    byParent.set(parent, found);
    return found;
  }
  return {
    sorted,
    children: (parent) => byParent.get(parent) ?? [],
    add(uid) {
      insertSorted(sorted, uid);
      insertSorted(childList(parentOf(uid)), uid);
    },
    remove(uid) {
      removeSorted(sorted, uid);
      removeSorted(childList(parentOf(uid)), uid);
    },
    addMany(uids) {
      for (const uid of uids) {
        sorted.push(uid);
        childList(parentOf(uid)).push(uid);
      }
      sorted.sort();
      for (const list of byParent.values()) list.sort();
    },
  };
}

/** An empty collection. */
export function createCollection(): Collection {
  const records = new Map<string, StoredRecord>();
  const index = createUidIndex();
  const orders = new Map<string, { version: number; uids: readonly string[] }>();
  let version = 0;
  let listed: { version: number; records: readonly StoredRecord[] } = { version, records: [] };
  return {
    get: (uid) => records.get(uid),
    put(record) {
      version++;
      if (!records.has(record.uid)) index.add(record.uid);
      records.set(record.uid, record);
    },
    remove(uid) {
      if (!records.delete(uid)) return false;
      version++;
      index.remove(uid);
      return true;
    },
    load(added) {
      version++;
      const fresh = added.map((record) => record.uid).filter((uid) => !records.has(uid));
      for (const record of added) records.set(record.uid, record);
      index.addMany(fresh);
    },
    uids: () => index.sorted,
    children: (parent) => index.children(parent),
    all() {
      if (listed.version !== version)
        listed = { version, records: index.sorted.flatMap((uid) => records.get(uid) ?? []) };
      return listed.records;
    },
    ordered(order) {
      if (order.byUid) return index.sorted;
      const known = orders.get(order.name);
      if (known?.version === version) return known.uids;
      const uids = [...records.values()].sort(order.compare).map((record) => record.uid);
      orders.set(order.name, { version, uids });
      return uids;
    },
    version: () => version,
  };
}
