/** Which fields did requests and answers hold that the catalogue does not know? (Names only, never values.) */
import type { Exchange } from "../model/exchange.ts";
import { scrub } from "./scrub.ts";

/** How much is remembered; what comes later is only counted. */
export interface UnknownFieldsLimits {
  readonly resources: number;
  readonly names: number;
}

/** What was seen, for one resource and direction. */
export interface UnknownFieldsSeen {
  readonly resource: string;
  readonly direction: "request" | "response";
  /** Most frequent first; a field counts once a request. */
  readonly fields: readonly { readonly name: string; readonly count: number }[];
  /** The same for names that there was no room for, and for those of callers whom the platform did not know. */
  readonly others: number;
}

export interface UnknownFields {
  observe(exchange: Exchange): void;
  view(): readonly UnknownFieldsSeen[];
}

interface FieldCounts {
  readonly resource: string;
  readonly direction: "request" | "response";
  readonly counts: Map<string, number>;
  others: number;
}

/** A bounded record of names: memory is at most resources × 2 × names × 80 characters. */
export function createUnknownFields(limits: UnknownFieldsLimits = { resources: 100, names: 200 }): UnknownFields {
  const places = new Map<string, FieldCounts>();
  return {
    observe: (exchange) => {
      // Bodies are read before the platform says who asks: nobody may fill the room for names without a credential.
      const room = exchange.status === UNAUTHENTICATED ? 0 : limits.names;
      for (const { direction, name } of distinctFields(exchange)) {
        count(fieldCountsOf(places, exchange.resource, direction, limits.resources), shownName(name), room);
      }
    },
    view: () => [...places.values()].map(seen),
  };
}

function fieldCountsOf(
  places: Map<string, FieldCounts>,
  name: string,
  direction: FieldCounts["direction"],
  max: number,
): FieldCounts {
  const known = places.get(`${direction} ${name}`);
  if (known !== undefined) return known;
  const resource = places.size < max * 2 ? name : "other";
  const key = `${direction} ${resource}`;
  const place = places.get(key) ?? { resource, direction, counts: new Map(), others: 0 };
  places.set(key, place);
  return place;
}

const UNAUTHENTICATED = 401;

function count(place: FieldCounts, name: string, max: number): void {
  const before = place.counts.get(name);
  if (before === undefined && place.counts.size >= max) place.others++;
  else place.counts.set(name, (before ?? 0) + 1);
}

function seen({ resource, direction, counts, others }: FieldCounts): UnknownFieldsSeen {
  const fields = [...counts].map(([name, times]) => ({ name, count: times }));
  return { resource, direction, fields: fields.sort((a, b) => b.count - a.count), others };
}

/** Under which names are the unknown fields of a request counted and shown? */

type UnknownField = Exchange["unknownFields"][number];

/** Which element of a list it was. */
const INDEX = /\[\d+\]/g;
const MAX_SHOWN = 80;
/** So much of a name is looked at that no secret in the part that is shown is cut until nobody knows it for one. */
const MAX_READ = 200;
/** Whatever a terminal or a page could take for more than a letter: controls, marks of direction, halves of characters. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** Each unknown field of `exchange` once, without its place in lists; in the order in which they were met. */
export function distinctFields({ unknownFields }: Pick<Exchange, "unknownFields">): readonly UnknownField[] {
  if (unknownFields.length === 0) return unknownFields;
  const distinct = new Map<string, UnknownField>();
  for (const { direction, name } of unknownFields) {
    // What a body that is an array itself holds has nothing before its index.
    const plain = name.includes("[") ? name.replace(INDEX, "").replace(/^\./, "") : name;
    const key = `${direction} ${plain}`;
    distinct.set(key, { direction, name: plain });
  }
  return [...distinct.values()];
}

/** A name that somebody else gave, for operators: at most 80 characters, all of them printable, no secret. */
export function shownName(name: string): string {
  const plain = scrub(name.slice(0, MAX_READ)).replace(UNPRINTABLE, escaped);
  // Half a character at the end would be none.
  return plain.length > MAX_SHOWN ? `${plain.slice(0, MAX_SHOWN - 1).replace(/[\ud800-\udbff]$/, "")}…` : plain;
}

function escaped(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}
