/** How are the places where two answers differ counted, kept and shown? */
import {
  type ComparedResponses,
  DIFFERENCE_CLASSES,
  type Difference,
  type DifferenceClass,
} from "../model/comparison.ts";
import type { ValueSpan } from "./json-values.ts";

/** Most differences that a result shows. */
const MAX_SHOWN = 20;
/** Longest text of a value, a path or an id that is kept. */
const MAX_TEXT = 200;
/** Most pairs of class and path: paths come from outside where a member is unknown. */
const MAX_PLACES = 1000;
/** Most records remembered in all, and most of them with the texts of both sides. */
const MAX_IDS = 50_000;
const MAX_EXAMPLES = 1000;
/** Most records of one place with their texts. */
const MAX_EXAMPLES_OF_PLACE = 50;

/** All differences of one class at one path. */
export interface DifferenceGroup {
  readonly class: DifferenceClass;
  readonly path: string;
  /** How many there are in each record, by its id; `undefined`: what is in no record, or in one without an id. */
  readonly ids: Map<string | undefined, number>;
  /** How many more there are, in records that are not remembered. */
  beyond: number;
  /** The first difference of some of those records; of one at least. */
  readonly examples: Map<string | undefined, Difference>;
}

/** Everything that a result stands for. */
export interface DifferenceDetail {
  readonly places: readonly DifferenceGroup[];
  /** True when volatile members differed as well. */
  readonly noise: boolean;
  /** Classes of differences that no place holds: there were too many. */
  readonly beyond: ReadonlySet<DifferenceClass>;
}

/** What was compared, with what it takes to tell noise from it (`withoutNoise`); not to be kept for longer. */
export interface DetailedComparison extends ComparedResponses {
  readonly detail?: DifferenceDetail;
}

/** Differences as they are found. */
export interface FoundDifferences {
  readonly places: Map<string, DifferenceGroup>;
  total: number;
  /** How many of them were expected: volatile members. */
  noise: number;
  ids: number;
  examples: number;
  /** Classes of what is beyond the most places. */
  readonly beyond: Set<DifferenceClass>;
}

export function newFoundDifferences(): FoundDifferences {
  return { places: new Map(), total: 0, noise: 0, ids: 0, examples: 0, beyond: new Set() };
}

/** Counts a place where a member changed by itself. */
export function addNoise(tally: FoundDifferences): void {
  tally.total++;
  tally.noise++;
}

/** What a difference shows: a value of the text, or a text of ours. */
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
  if (place.examples.size > 0 && (place.examples.size >= MAX_EXAMPLES_OF_PLACE || tally.examples >= MAX_EXAMPLES)) {
    return;
  }
  tally.examples++;
  place.examples.set(id, { class: found.class, path, id, native: shown(native), translated: shown(translated) });
}

function groupFor(tally: FoundDifferences, of: DifferenceClass, path: string): DifferenceGroup | undefined {
  const key = `${of} ${path}`;
  const known = tally.places.get(key);
  if (known !== undefined || tally.places.size >= MAX_PLACES) return known;
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
  const detail: DifferenceDetail = { places: [...places.values()], noise: noise > 0, beyond };
  // Not enumerable: a copy of the result, kept as a sample or written as JSON, leaves the megabytes behind.
  return Object.defineProperty(summarise(detail, total), "detail", { value: detail });
}

/** What is to be said of `detail`. */
export function summarise({ places, noise, beyond }: DifferenceDetail, total: number): ComparedResponses {
  const classes = new Set([...places.map((place) => place.class), ...beyond]);
  const worst = DIFFERENCE_CLASSES.find((each) => classes.has(each));
  const ranked = [...places].sort((a, b) => rankOf(a) - rankOf(b));
  const differences = ranked.slice(0, MAX_SHOWN).flatMap((place) => [...place.examples.values()].slice(0, 1));
  return { result: worst ?? (noise ? "noise" : "equal"), total, differences };
}

function rankOf(place: DifferenceGroup): number {
  return DIFFERENCE_CLASSES.indexOf(place.class);
}

/** Which differences does native also have against itself? */

/** Where the records of a list are. */
const ITEMS = "items[";
/** A record itself is missing or extra, or its time of writing is another one. */
const WRITTEN = /^items\[\]$|^(?:items\[\]\.)?updatedAt$/;
/** What is no list is one record, or an error; a name that no id can be taken for. */
const SINGLE_RECORD = "whole";

/**
 * `compared` without what `control` explains: native's first answer against its second. A difference is noise when native
 * shows at least as many of the same class at the same path in the same record. A record that came or went, or that native
 * says was written between its answers, says nothing at all: it may have been written there and back. Differences beyond
 * what a result remembers are never explained: noise is what was seen, not what is likely. The total stays.
 */
export function withoutNoise(compared: DetailedComparison, control: DetailedComparison): ComparedResponses {
  const found = differenceDetailOf(compared);
  const known = new Map(differenceDetailOf(control).places.map((place) => [groupNameOf(place), place.ids]));
  const written = writtenIn(differenceDetailOf(control).places);
  // Writing changes no status, and makes no error of an answer.
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

/** The record that a difference is in; undefined where it is not known, or around the records of a list. */
function recordOf({ path }: Pick<DifferenceGroup, "path">, id: string | undefined): string | undefined {
  if (id !== undefined) return `id ${id}`;
  return path.startsWith(ITEMS) ? undefined : SINGLE_RECORD;
}

/** What was written between native's answers, as these say. What else changed in a record may always do so. */
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

/** Examples from the records that are left; the place alone when none of those had one. */
function examplesOf({ class: of, path, examples }: DifferenceGroup, ids: Ids): DifferenceGroup["examples"] {
  const left = [...examples].filter(([id]) => ids.has(id));
  if (left.length > 0) return new Map(left);
  const [id] = ids.keys();
  return new Map([[id, { class: of, path, id, native: undefined, translated: undefined }]]);
}

/** A result that came without its detail: one difference for each that it shows, the rest unknown. */
function differenceDetailOf({ detail, differences, total, result }: DetailedComparison): DifferenceDetail {
  if (detail !== undefined) return detail;
  const places = differences.map((difference): DifferenceGroup => {
    const { class: of, path, id } = difference;
    return { class: of, path, ids: new Map([[id, 1]]), beyond: 0, examples: new Map([[id, difference]]) };
  });
  const rest = total > differences.length && result !== "equal" && result !== "noise";
  return { places, noise: result === "noise", beyond: new Set(rest ? [result] : []) };
}
