/** Which fields did requests and answers hold that the catalogue does not know? (Names only, never values.) */
import type { Exchange } from "../model/exchange.ts";
import { distinctFields, shownName } from "./field-names.ts";

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
      // Bodies are read before the platform says who asks: nobody may fill the room for names without a credential.
      const room = exchange.status === UNAUTHENTICATED ? 0 : limits.names;
      for (const { direction, name } of distinctFields(exchange)) {
        count(placeOf(places, exchange.resource, direction, limits.resources), shownName(name), room);
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

const UNAUTHENTICATED = 401;

function count(place: Place, name: string, max: number): void {
  const before = place.counts.get(name);
  if (before === undefined && place.counts.size >= max) place.others++;
  else place.counts.set(name, (before ?? 0) + 1);
}

function seen({ resource, direction, counts, others }: Place): UnknownFieldsSeen {
  const fields = [...counts].map(([name, times]) => ({ name, count: times }));
  return { resource, direction, fields: fields.sort((a, b) => b.count - a.count), others };
}
