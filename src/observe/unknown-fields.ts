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
  /** Most frequent first. */
  readonly fields: readonly { readonly name: string; readonly count: number }[];
  /** Fields met under names that there was no room for. */
  readonly others: number;
}

export interface UnknownFields {
  observe(exchange: Exchange): void;
  view(): readonly UnknownFieldsSeen[];
}

interface Place {
  readonly resource: string;
  readonly direction: "request" | "response";
  readonly counts: Map<string, number>;
  others: number;
}

/** A bounded record of names: memory is at most resources × 2 × names × 80 characters. */
export function createUnknownFields(limits: UnknownFieldsLimits = { resources: 100, names: 200 }): UnknownFields {
  const places = new Map<string, Place>();
  return {
    observe: (exchange) => {
      for (const { direction, name } of exchange.unknownFields) {
        count(placeOf(places, exchange.resource, direction, limits.resources), name, limits.names);
      }
    },
    view: () => [...places.values()].map(seen),
  };
}

function placeOf(places: Map<string, Place>, name: string, direction: Place["direction"], max: number): Place {
  const known = places.get(`${direction} ${name}`);
  if (known !== undefined) return known;
  const resource = places.size < max * 2 ? name : "other";
  const key = `${direction} ${resource}`;
  const place = places.get(key) ?? { resource, direction, counts: new Map(), others: 0 };
  places.set(key, place);
  return place;
}

function count(place: Place, given: string, max: number): void {
  const name = scrub(given.slice(0, 80));
  const before = place.counts.get(name);
  if (before === undefined && place.counts.size >= max) place.others++;
  else place.counts.set(name, (before ?? 0) + 1);
}

function seen({ resource, direction, counts, others }: Place): UnknownFieldsSeen {
  const fields = [...counts].map(([name, times]) => ({ name, count: times }));
  return { resource, direction, fields: fields.sort((a, b) => b.count - a.count), others };
}
