/** In which order does a list come? (Specification section 4: `order_by`; storage names such as `created_at`.) */
import { type JsonObject, member } from "../json.ts";
import { invalid } from "../refusal.ts";

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
