/** Which differences does native also have against itself? */
import type { Compared, DifferenceClass } from "../model/comparison.ts";
import { type Detail, type Judged, type Place, summed } from "./differences.ts";

/** A record of a list that is there or not. */
const RECORD = "items[]";

/**
 * `compared` without what `control` explains: native's first answer against its second. A difference is noise when native
 * shows at least as many of the same class at the same path in the same record, and a record that is missing or extra when
 * it came or went between native's answers. Differences beyond what a result remembers are never explained: noise is what
 * was seen, not what is likely. The total stays.
 */
export function withoutNoise(compared: Judged, control: Judged): Compared {
  const found = detailOf(compared);
  const known = new Map(detailOf(control).places.map((place) => [nameOf(place), place.ids]));
  const moved = new Set([...movedIds(known, "missing"), ...movedIds(known, "extra")]);
  let noise = found.noise;
  const places = found.places.flatMap((place) => {
    const same = known.get(nameOf(place));
    const comes = moved.size > 0 && place.path === RECORD && (place.class === "missing" || place.class === "extra");
    if (same === undefined && !comes) return [place];
    const ids = new Map<string | undefined, number>();
    for (const [id, count] of place.ids) {
      const explained = comes && id !== undefined && moved.has(id) ? count : Math.min(count, same?.get(id) ?? 0);
      noise ||= explained > 0;
      if (count > explained) ids.set(id, count - explained);
    }
    return ids.size === 0 && place.beyond === 0 ? [] : [{ ...place, ids, examples: examplesOf(place, ids) }];
  });
  return summed({ places, noise, beyond: found.beyond }, compared.total);
}

type Ids = ReadonlyMap<string | undefined, number>;

function movedIds(known: ReadonlyMap<string, Ids>, of: DifferenceClass): readonly (string | undefined)[] {
  return [...(known.get(nameOf({ class: of, path: RECORD }))?.keys() ?? [])];
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
