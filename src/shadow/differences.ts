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
  readonly places: readonly DifferenceGroup[];
  /** True when volatile members differed as well. */
  readonly noise: boolean;
  /** Classes of differences that no group holds, as there were too many. */
  readonly beyond: ReadonlySet<DifferenceClass>;
}

/** A result with all that `withoutNoise` needs; not to be kept for longer. */
export interface DetailedComparison extends ComparedResponses {
  readonly detail: DifferenceDetail;
}

/** Differences as they are found. */
export interface FoundDifferences {
  readonly places: Map<string, DifferenceGroup>;
  total: number;
  /** True when volatile members differed. */
  noise: boolean;
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
  detail: { places: [], noise: false, beyond: new Set() },
};

export function newFoundDifferences(): FoundDifferences {
  return { places: new Map(), total: 0, noise: false, ids: 0, examples: 0, beyond: new Set() };
}

/** Counts a member that changes by itself. */
export function addNoise(tally: FoundDifferences): void {
  tally.total++;
  tally.noise = true;
}

/** What a difference shows: a value of a body, or a text of ours. */
export type DifferenceValue = ValueSpan | string | undefined;

/** Counts one difference. Values become text only where they may be shown. */
export function addDifference(
  tally: FoundDifferences,
  found: { class: DifferenceClass; path: string; id: string | undefined },
  native: DifferenceValue,
  translated: DifferenceValue,
): void {
  tally.total++;
  const path = shortened(found.path);
  const id = found.id === undefined ? undefined : shortened(found.id);
  const place = groupFor(tally, found.class, path);
  if (place === undefined) {
    tally.beyond.add(found.class);
    return;
  }
  const known = place.ids.get(id);
  if (known === undefined && tally.ids >= MAX_IDS) {
    place.beyond++;
    return;
  }
  place.ids.set(id, (known ?? 0) + 1);
  if (known !== undefined) return;
  tally.ids++;
  if (place.examples.size > 0 && (place.examples.size >= MAX_EXAMPLES_OF_GROUP || tally.examples >= MAX_EXAMPLES)) {
    return;
  }
  tally.examples++;
  place.examples.set(id, { class: found.class, path, id, native: shown(native), translated: shown(translated) });
}

function groupFor(tally: FoundDifferences, of: DifferenceClass, path: string): DifferenceGroup | undefined {
  const key = groupNameOf({ class: of, path });
  const known = tally.places.get(key);
  if (known !== undefined || tally.places.size >= MAX_GROUPS) return known;
  const place: DifferenceGroup = { class: of, path, ids: new Map(), beyond: 0, examples: new Map() };
  tally.places.set(key, place);
  return place;
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
export function comparisonOfDifferences({ places, noise, beyond, total }: FoundDifferences): DetailedComparison {
  const detail: DifferenceDetail = { places: [...places.values()], noise, beyond };
  // Not enumerable: a copy of the result, kept as a sample or written as JSON, leaves the megabytes behind.
  return Object.defineProperty({ ...summarise(detail, total), detail }, "detail", { enumerable: false });
}

function summarise({ places, noise, beyond }: DifferenceDetail, total: number): ComparedResponses {
  const classes = new Set([...places.map((place) => place.class), ...beyond]);
  const worst = DIFFERENCE_CLASSES.find((each) => classes.has(each));
  const ranked = [...places].sort((a, b) => rankOf(a) - rankOf(b));
  const differences = ranked.slice(0, MAX_DIFFERENCES).flatMap((place) => [...place.examples.values()].slice(0, 1));
  return { result: worst ?? (noise ? "noise" : "equal"), total, differences };
}

function rankOf(place: DifferenceGroup): number {
  return DIFFERENCE_CLASSES.indexOf(place.class);
}

/** Where the records of a list are. */
const ITEMS = "items[";
/** A record itself is missing or extra, or its time of writing is another one. */
const WRITTEN = /^items\[\]$|^(?:items\[\]\.)?updatedAt$/;
/** Stands for the one record, or the error, that a response without a list is; it is no id. */
const SINGLE_RECORD = "whole";

/**
 * `compared` without the noise that `control` shows, which compares native's first response with its second. A difference is
 * noise when native has at least as many of the same class at the same path in the same record against itself. All differences
 * of a record are noise when it appeared, disappeared or was written between native's responses. Differences that are counted
 * but not remembered are never noise. The total stays.
 */
export function withoutNoise(compared: DetailedComparison, control: DetailedComparison): ComparedResponses {
  const found = compared.detail;
  const known = new Map(control.detail.places.map((place) => [groupNameOf(place), place.ids]));
  const written = writtenIn(control.detail.places);
  // A write does not explain another status or an error.
  const isWritten = (place: DifferenceGroup, id: string | undefined): boolean =>
    place.class !== "status" && place.class !== "error" && written.has(recordOf(place, id));
  let noise = found.noise;
  const places = found.places.flatMap((place) => {
    const same = known.get(groupNameOf(place));
    if (same === undefined && written.size === 0) return [place];
    const ids = new Map<string | undefined, number>();
    for (const [id, count] of place.ids) {
      const explained = isWritten(place, id) ? count : Math.min(count, same?.get(id) ?? 0);
      noise ||= explained > 0;
      if (count > explained) ids.set(id, count - explained);
    }
    return ids.size === 0 && place.beyond === 0 ? [] : [{ ...place, ids, examples: examplesOf(place, ids) }];
  });
  return summarise({ places, noise, beyond: found.beyond }, compared.total);
}

type Ids = ReadonlyMap<string | undefined, number>;

/** The record that a difference is in; undefined where that is not known, or outside of the records of a list. */
function recordOf({ path }: Pick<DifferenceGroup, "path">, id: string | undefined): string | undefined {
  if (id !== undefined) return `id ${id}`;
  return path.startsWith(ITEMS) ? undefined : SINGLE_RECORD;
}

/** The records that were written between native's responses. Other changes in a record may be there each time. */
function writtenIn(places: readonly DifferenceGroup[]): ReadonlySet<string | undefined> {
  const written = new Set<string | undefined>();
  for (const place of places) {
    if (!WRITTEN.test(place.path)) continue;
    for (const id of place.ids.keys()) written.add(recordOf(place, id));
  }
  written.delete(undefined);
  return written;
}

function groupNameOf(place: Pick<DifferenceGroup, "class" | "path">): string {
  return `${place.class} ${place.path}`;
}

/** Examples from the records that are left; one without values when none of those had one. */
function examplesOf({ class: of, path, examples }: DifferenceGroup, ids: Ids): DifferenceGroup["examples"] {
  const left = [...examples].filter(([id]) => ids.has(id));
  if (left.length > 0) return new Map(left);
  const [id] = ids.keys();
  return new Map([[id, { class: of, path, id, native: undefined, translated: undefined }]]);
}
