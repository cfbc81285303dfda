/** How are the places where two answers differ counted, kept and shown? */
import { type Compared, DIFFERENCE_CLASSES, type Difference, type DifferenceClass } from "../model/comparison.ts";
import type { Span } from "./compare-text.ts";

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
export interface Place {
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
export interface Detail {
  readonly places: readonly Place[];
  /** True when volatile members differed as well. */
  readonly noise: boolean;
  /** Classes of differences that no place holds: there were too many. */
  readonly beyond: ReadonlySet<DifferenceClass>;
}

/** What was compared, with what it takes to tell noise from it (`withoutNoise`); not to be kept for longer. */
export interface Judged extends Compared {
  readonly detail?: Detail;
}

/** Differences as they are found. */
export interface Tally {
  readonly places: Map<string, Place>;
  total: number;
  /** How many of them were expected: volatile members. */
  noise: number;
  ids: number;
  examples: number;
  /** Classes of what is beyond the most places. */
  readonly beyond: Set<DifferenceClass>;
}

export function newTally(): Tally {
  return { places: new Map(), total: 0, noise: 0, ids: 0, examples: 0, beyond: new Set() };
}

/** Counts a place where a member changed by itself. */
export function addNoise(tally: Tally): void {
  tally.total++;
  tally.noise++;
}

/** What a difference shows: a value of the text, or a text of ours. */
export type Shown = Span | string | undefined;

/** Counts one difference. Values become text only where they may be shown. */
export function addDifference(
  tally: Tally,
  found: { class: DifferenceClass; path: string; id: string | undefined },
  native: Shown,
  translated: Shown,
): void {
  tally.total++;
  const path = shortened(found.path);
  const id = found.id === undefined ? undefined : shortened(found.id);
  const place = placeOf(tally, found.class, path);
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

function placeOf(tally: Tally, of: DifferenceClass, path: string): Place | undefined {
  const key = `${of} ${path}`;
  const known = tally.places.get(key);
  if (known !== undefined || tally.places.size >= MAX_PLACES) return known;
  const place: Place = { class: of, path, ids: new Map(), beyond: 0, examples: new Map() };
  tally.places.set(key, place);
  return place;
}

function shown(value: Shown): string | undefined {
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
export function judged({ places, noise, beyond, total }: Tally): Judged {
  const detail: Detail = { places: [...places.values()], noise: noise > 0, beyond };
  // Not enumerable: a copy of the result, kept as a sample or written as JSON, leaves the megabytes behind.
  return Object.defineProperty(summed(detail, total), "detail", { value: detail });
}

/** What is to be said of `detail`. */
export function summed({ places, noise, beyond }: Detail, total: number): Compared {
  const classes = new Set([...places.map((place) => place.class), ...beyond]);
  const worst = DIFFERENCE_CLASSES.find((each) => classes.has(each));
  const ranked = [...places].sort((a, b) => rankOf(a) - rankOf(b));
  const differences = ranked.slice(0, MAX_SHOWN).flatMap((place) => [...place.examples.values()].slice(0, 1));
  return { result: worst ?? (noise ? "noise" : "equal"), total, differences };
}

function rankOf(place: Place): number {
  return DIFFERENCE_CLASSES.indexOf(place.class);
}
