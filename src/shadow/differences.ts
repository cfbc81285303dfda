/** Differences as they are counted, kept and shown, and which of them native has against itself. */
import {
  type ComparedResponses,
  DIFFERENCE_CLASSES,
  type Difference,
  type DifferenceClass,
} from "../model/comparison.ts";
import type { ValueSpan } from "./json-values.ts";

/** Most differences that a result shows. */
export const MAX_DIFFERENCES = 20;
/** Longest text of a value, a path or an id that is kept. */
const MAX_TEXT = 200;
/** Most groups: paths come from outside where a member is unknown. */
const MAX_GROUPS = 1000;
/** Most records remembered in all, and most of them with the texts of both sides. */
const MAX_IDS = 50_000;
const MAX_EXAMPLES = 1000;
/** Most records of one group with their texts. */
const MAX_EXAMPLES_OF_GROUP = 50;

/** All differences of one class at one path. */
export interface DifferenceGroup {
  readonly class: DifferenceClass;
  readonly path: string;
  /** How many there are in each record, by its id; `undefined`: outside of records, or in one without an id. */
  readonly ids: Map<string | undefined, number>;
  /** How many more there are, in records that are not remembered. */
  beyond: number;
  /** The first difference of some of those records, at least of one. */
  readonly examples: Map<string | undefined, Difference>;
}

export interface DifferenceDetail {
  readonly groups: readonly DifferenceGroup[];
  /** True when volatile members differed as well. */
  readonly noise: boolean;
  /** Paths of those volatile members. */
  readonly volatile: ReadonlySet<string>;
  /** Classes of differences that no group holds, as there were too many. */
  readonly beyond: ReadonlySet<DifferenceClass>;
}

/** A result with all that `withoutNoise` and `withoutPassing` need; not to be kept for longer. */
export interface DetailedComparison extends ComparedResponses {
  readonly detail: DifferenceDetail;
}

/** Differences as they are found. */
export interface FoundDifferences {
  readonly groups: Map<string, DifferenceGroup>;
  total: number;
  /** True when volatile members differed. */
  noise: boolean;
  /** Their paths, which the catalogue names. */
  readonly volatile: Set<string>;
  ids: number;
  examples: number;
  /** Classes of what is beyond the most groups. */
  readonly beyond: Set<DifferenceClass>;
}

/** No differences. */
export const EQUAL: DetailedComparison = {
  result: "equal",
  total: 0,
  differences: [],
  detail: { groups: [], noise: false, volatile: new Set(), beyond: new Set() },
};

export function newFoundDifferences(): FoundDifferences {
  return { groups: new Map(), total: 0, noise: false, volatile: new Set(), ids: 0, examples: 0, beyond: new Set() };
}

/** Counts a member that changes by itself. */
export function addNoise(all: FoundDifferences, path: string): void {
  all.total++;
  all.noise = true;
  all.volatile.add(path);
}

/** What a difference shows: a value of a body, or a text of ours. */
export type DifferenceValue = ValueSpan | string | undefined;

/** Counts one difference. Values become text only where they may be shown. */
export function addDifference(
  all: FoundDifferences,
  difference: { class: DifferenceClass; path: string; id: string | undefined },
  native: DifferenceValue,
  translated: DifferenceValue,
): void {
  all.total++;
  const path = shortened(difference.path);
  const id = difference.id === undefined ? undefined : shortened(difference.id);
  const group = groupFor(all, difference.class, path);
  if (group === undefined) {
    all.beyond.add(difference.class);
    return;
  }
  const known = group.ids.get(id);
  if (known === undefined && all.ids >= MAX_IDS) {
    group.beyond++;
    return;
  }
  group.ids.set(id, (known ?? 0) + 1);
  if (known !== undefined) return;
  all.ids++;
  if (group.examples.size > 0 && (group.examples.size >= MAX_EXAMPLES_OF_GROUP || all.examples >= MAX_EXAMPLES)) {
    return;
  }
  all.examples++;
  group.examples.set(id, { class: difference.class, path, id, native: shown(native), translated: shown(translated) });
}

function groupFor(all: FoundDifferences, of: DifferenceClass, path: string): DifferenceGroup | undefined {
  const key = groupNameOf({ class: of, path });
  const known = all.groups.get(key);
  if (known !== undefined || all.groups.size >= MAX_GROUPS) return known;
  const group: DifferenceGroup = { class: of, path, ids: new Map(), beyond: 0, examples: new Map() };
  all.groups.set(key, group);
  return group;
}

function shown(value: DifferenceValue): string | undefined {
  if (value === undefined || typeof value === "string") return value === undefined ? undefined : shortened(value);
  // Four bytes for each character are more than enough.
  const end = Math.min(value.end, value.start + 4 * MAX_TEXT + 4);
  return shortened(value.text.bytes.toString("utf8", value.start, end));
}

/** At most 200 characters; a longer text ends in `…`, and never in half a character. */
export function shortened(text: string): string {
  if (text.length <= MAX_TEXT) return text;
  const cut = text.slice(0, MAX_TEXT - 1);
  return `${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

/** The result of everything that was counted. */
export function comparisonOfDifferences({
  groups,
  noise,
  volatile,
  beyond,
  total,
}: FoundDifferences): DetailedComparison {
  return withDetail({ groups: [...groups.values()], noise, volatile, beyond }, total);
}

function withDetail(detail: DifferenceDetail, total: number): DetailedComparison {
  // Not enumerable: a copy of the result, kept as a sample or written as JSON, leaves the megabytes out.
  return Object.defineProperty({ ...summarise(detail, total), detail }, "detail", { enumerable: false });
}

function summarise({ groups, noise, beyond }: DifferenceDetail, total: number): ComparedResponses {
  const classes = new Set([...groups.map((group) => group.class), ...beyond]);
  const worst = DIFFERENCE_CLASSES.find((each) => classes.has(each));
  const ranked = [...groups].sort((a, b) => rankOf(a) - rankOf(b));
  const differences = ranked.slice(0, MAX_DIFFERENCES).flatMap((group) => [...group.examples.values()].slice(0, 1));
  return { result: worst ?? (noise ? "noise" : "equal"), total, differences };
}

function rankOf(group: DifferenceGroup): number {
  return DIFFERENCE_CLASSES.indexOf(group.class);
}

/** Where the records of a list are. */
const ITEMS = "items[";
const RECORDS = "items[]";
/** A record itself is missing or extra, or its time of writing is another one. */
const WRITTEN = /^items\[\]$|^(?:items\[\]\.)?updatedAt$/;
/** Stands for the one record, or the error, that a response without a list is; it is no id. */
const SINGLE_RECORD = "whole";

/**
 * `compared` without the noise that `control` shows, which compares native's first response with its second. A difference is
 * noise when native has at least as many of the same class at the same path in the same record against itself. All differences
 * of a record are noise when it appeared, disappeared or was written between native's responses. Differences that are counted
 * but not remembered are never noise. The total stays. `mayBeWritten` false: the responses are those of writes, each of which has a
 * time of its own.
 */
export function withoutNoise(
  compared: DetailedComparison,
  control: DetailedComparison,
  mayBeWritten = true,
): DetailedComparison {
  const found = compared.detail;
  const known = new Map(control.detail.groups.map((group) => [groupNameOf(group), group.ids]));
  const written = mayBeWritten ? writtenIn(control.detail.groups) : new Set<string | undefined>();
  // A write does not explain another status or an error.
  const isWritten = (group: DifferenceGroup, id: string | undefined): boolean =>
    group.class !== "status" && group.class !== "error" && written.has(recordOf(group, id));
  let noise = found.noise;
  const groups = found.groups.flatMap((group) => {
    const same = known.get(groupNameOf(group));
    if (same === undefined && written.size === 0) return [group];
    const ids = new Map<string | undefined, number>();
    for (const [id, count] of group.ids) {
      const explained = isWritten(group, id) ? count : Math.min(count, same?.get(id) ?? 0);
      noise ||= explained > 0;
      if (count > explained) ids.set(id, count - explained);
    }
    return ids.size === 0 && group.beyond === 0 ? [] : [{ ...group, ids, examples: examplesOf(group, ids) }];
  });
  return withDetail({ ...found, groups, noise }, compared.total);
}

function isExtraRecord(group: Pick<DifferenceGroup, "class" | "path">): boolean {
  return group.class === "extra" && group.path === RECORDS;
}

/** True when the translated list has records that native's has not. */
export function hasExtraRecords({ detail }: DetailedComparison): boolean {
  return detail.groups.some(isExtraRecord);
}

/**
 * `compared` without extra records that `later` has no longer, which compares the same response of native's with a later translated one:
 * they were created and deleted meanwhile. A later response that is an error, or differs in more than is remembered, explains nothing.
 */
export function withoutPassing(compared: DetailedComparison, later: DetailedComparison): DetailedComparison {
  const { groups, noise } = compared.detail;
  const still = later.detail.groups.find(isExtraRecord);
  const failed = later.detail.groups.some((group) => group.class === "status" || group.class === "error");
  if (failed || later.detail.beyond.size > 0 || (still?.beyond ?? 0) > 0) return compared;
  const left = groups.flatMap((group) => {
    if (!isExtraRecord(group)) return [group];
    const ids = new Map<string | undefined, number>();
    for (const [id, count] of group.ids) {
      const remaining = Math.min(count, still?.ids.get(id) ?? 0);
      if (remaining > 0) ids.set(id, remaining);
    }
    return ids.size === 0 && group.beyond === 0 ? [] : [{ ...group, ids, examples: examplesOf(group, ids) }];
  });
  return withDetail({ ...compared.detail, groups: left, noise: noise || left.length < groups.length }, compared.total);
}

type Ids = ReadonlyMap<string | undefined, number>;

/** The record that a difference is in; undefined where that is not known, or outside of the records of a list. */
function recordOf({ path }: Pick<DifferenceGroup, "path">, id: string | undefined): string | undefined {
  if (id !== undefined) return `id ${id}`;
  return path.startsWith(ITEMS) ? undefined : SINGLE_RECORD;
}

/** The records that were written between native's responses. Other changes in a record may be there each time. */
function writtenIn(groups: readonly DifferenceGroup[]): ReadonlySet<string | undefined> {
  const written = new Set<string | undefined>();
  for (const group of groups) {
    if (!WRITTEN.test(group.path)) continue;
    for (const id of group.ids.keys()) written.add(recordOf(group, id));
  }
  written.delete(undefined);
  return written;
}

function groupNameOf(group: Pick<DifferenceGroup, "class" | "path">): string {
  return `${group.class} ${group.path}`;
}

/** Examples from the records that are left; one without values when none of those had one. */
function examplesOf({ class: of, path, examples }: DifferenceGroup, ids: Ids): DifferenceGroup["examples"] {
  const left = [...examples].filter(([id]) => ids.has(id));
  if (left.length > 0) return new Map(left);
  const [id] = ids.keys();
  return new Map([[id, { class: of, path, id, native: undefined, translated: undefined }]]);
}
