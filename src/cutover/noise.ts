/** Which differences does native also have against itself? */
import type { Compared } from "../model/comparison.ts";
import { type Detail, type Judged, type Place, summed } from "./differences.ts";

/** Where the records of a list are. */
const ITEMS = "items[";
/** A record itself is missing or extra, or its time of writing is another one. */
const WRITTEN = /^items\[\]$|^(?:items\[\]\.)?updatedAt$/;
/** What is no list is one record, or an error; a name that no id can be taken for. */
const WHOLE = "whole";

/**
 * `compared` without what `control` explains: native's first answer against its second. A difference is noise when native
 * shows at least as many of the same class at the same path in the same record. A record that came or went, or that native
 * says was written between its answers, says nothing at all: it may have been written there and back. Differences beyond
 * what a result remembers are never explained: noise is what was seen, not what is likely. The total stays.
 */
export function withoutNoise(compared: Judged, control: Judged): Compared {
  const found = detailOf(compared);
  const known = new Map(detailOf(control).places.map((place) => [nameOf(place), place.ids]));
  const written = writtenIn(detailOf(control).places);
  // Writing changes no status, and makes no error of an answer.
  const isWritten = (place: Place, id: string | undefined): boolean =>
    place.class !== "status" && place.class !== "error" && written.has(recordOf(place, id));
  let noise = found.noise;
  const places = found.places.flatMap((place) => {
    const same = known.get(nameOf(place));
    if (same === undefined && written.size === 0) return [place];
    const ids = new Map<string | undefined, number>();
    for (const [id, count] of place.ids) {
      const explained = isWritten(place, id) ? count : Math.min(count, same?.get(id) ?? 0);
      noise ||= explained > 0;
      if (count > explained) ids.set(id, count - explained);
    }
    return ids.size === 0 && place.beyond === 0 ? [] : [{ ...place, ids, examples: examplesOf(place, ids) }];
  });
  return summed({ places, noise, beyond: found.beyond }, compared.total);
}

type Ids = ReadonlyMap<string | undefined, number>;

/** The record that a difference is in; undefined where it is not known, or around the records of a list. */
function recordOf({ path }: Pick<Place, "path">, id: string | undefined): string | undefined {
  if (id !== undefined) return `id ${id}`;
  return path.startsWith(ITEMS) ? undefined : WHOLE;
}

/** What was written between native's answers, as these say. What else changed in a record may always do so. */
function writtenIn(places: readonly Place[]): ReadonlySet<string | undefined> {
  const written = new Set<string | undefined>();
  for (const place of places) {
    if (!WRITTEN.test(place.path)) continue;
    for (const id of place.ids.keys()) written.add(recordOf(place, id));
  }
  written.delete(undefined);
  return written;
}

function nameOf(place: Pick<Place, "class" | "path">): string {
  return `${place.class} ${place.path}`;
}

/** Examples from the records that are left; the place alone when none of those had one. */
function examplesOf({ class: of, path, examples }: Place, ids: Ids): Place["examples"] {
  const left = [...examples].filter(([id]) => ids.has(id));
  if (left.length > 0) return new Map(left);
  const [id] = ids.keys();
  return new Map([[id, { class: of, path, id, native: undefined, translated: undefined }]]);
}

/** A result that came without its detail: one difference for each that it shows, the rest unknown. */
function detailOf({ detail, differences, total, result }: Judged): Detail {
  if (detail !== undefined) return detail;
  const places = differences.map((difference): Place => {
    const { class: of, path, id } = difference;
    return { class: of, path, ids: new Map([[id, 1]]), beyond: 0, examples: new Map([[id, difference]]) };
  });
  const rest = total > differences.length && result !== "equal" && result !== "noise";
  return { places, noise: result === "noise", beyond: new Set(rest ? [result] : []) };
}
