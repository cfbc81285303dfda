/** Selects the records of a list by their place in the hierarchy and by other filters. */
import { type JsonObject, member } from "../json.ts";
import { type Collection, isWithin, lineage, lowerBound, parentOf, type StoredRecord } from "./collection.ts";

/** True for a record that a list means. */
export type RecordTest = (record: StoredRecord) => boolean;

/** `uids[from..to)` in ascending order, of which those count that pass `test` (all, when there is none). */
export interface Selection {
  readonly uids: readonly string[];
  readonly from: number;
  readonly to: number;
  readonly test: RecordTest | undefined;
}

/** The five ways to filter by place; an empty text is no filter, an empty one of `ids` is the uid of no record. */
export interface PlaceFilter {
  readonly ancestorsOf: string;
  readonly descendantsOf: string;
  readonly childrenOf: string;
  readonly inRoot: boolean;
  readonly ids: readonly string[];
}

/** The `uidp` member of a decoded list request. */
export function placeFilter(request: JsonObject): PlaceFilter {
  const uidp = member(request, "uidp");
  const text = (key: string) => String(member(uidp, key) ?? "");
  const ids = member(uidp, "ids");
  return {
    ancestorsOf: text("ancestorsOf"),
    descendantsOf: text("descendantsOf"),
    childrenOf: text("childrenOf"),
    inRoot: member(uidp, "inRoot") === true,
    ids: Array.isArray(ids) ? ids.map(String) : [],
  };
}

/** The exact-name filter: an empty name is no filter. */
export function nameTest(request: JsonObject): readonly RecordTest[] {
  const name = member(request, "name") ?? "";
  return name === "" ? [] : [(record) => member(record.value, "name") === name];
}

/** The records of `collection` that pass `place` and `tests`; the narrowest index is used, the rest is tested. */
export function select(collection: Collection, place: PlaceFilter, tests: readonly RecordTest[]): Selection {
  const base = narrowest(collection, place);
  const all = [...placeTests(place, base.kind), ...base.tests, ...tests];
  const test = all.length === 0 ? undefined : (record: StoredRecord) => all.every((one) => one(record));
  return { uids: base.uids, from: base.from, to: base.to, test };
}

type IndexKind = "ids" | "children" | "ancestors" | "root" | "range";

interface Base {
  readonly kind: IndexKind;
  readonly uids: readonly string[];
  readonly from: number;
  readonly to: number;
  readonly tests: readonly RecordTest[];
}

function whole(kind: IndexKind, uids: readonly string[]): Base {
  return { kind, uids, from: 0, to: uids.length, tests: [] };
}

function narrowest(collection: Collection, place: PlaceFilter): Base {
  const existing = (uids: readonly string[]) => [...new Set(uids)].filter((uid) => collection.get(uid)).sort();
  if (place.ids.length > 0) return whole("ids", existing(place.ids));
  if (place.childrenOf !== "") return whole("children", collection.children(place.childrenOf));
  if (place.ancestorsOf !== "") return whole("ancestors", existing(lineage(place.ancestorsOf)));
  if (place.inRoot) return whole("root", collection.children(""));
  return subtree(collection.uids(), place.descendantsOf);
}

/** The part of `sorted` that holds `root` and what is below it: one range, unless odd uids sort in between. */
function subtree(sorted: readonly string[], root: string): Base {
  if (root === "") return whole("range", sorted);
  const from = lowerBound(sorted, root);
  const below = lowerBound(sorted, `${root}/`);
  const to = lowerBound(sorted, `${root}0`);
  const self = sorted[from] === root ? 1 : 0;
  // `0` follows `/` in the order of bytes; `-` and `.` precede it, so `root-x` may lie between root and root/...
  const tests = below === from + self ? [] : [(record: StoredRecord) => isWithin(record.uid, root)];
  return { kind: "range", uids: sorted, from, to, tests };
}

function placeTests(place: PlaceFilter, used: IndexKind): readonly RecordTest[] {
  const tests: RecordTest[] = [];
  if (place.childrenOf !== "" && used !== "children") tests.push((r) => parentOf(r.uid) === place.childrenOf);
  if (place.inRoot && used !== "root") tests.push((r) => parentOf(r.uid) === "");
  if (place.descendantsOf !== "" && used !== "range") tests.push((r) => isWithin(r.uid, place.descendantsOf));
  if (place.ancestorsOf !== "" && used !== "ancestors") tests.push((r) => isWithin(place.ancestorsOf, r.uid));
  return tests;
}
