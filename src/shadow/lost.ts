/** What did native store of a create that the built call does not say? */
import { isDeepStrictEqual } from "node:util";
import { shortened } from "../cutover/differences.ts";
import type { Difference } from "../model/comparison.ts";
import { isJsonObject, type Json, type JsonObject } from "../model/json.ts";
import type { Row } from "../model/resource.ts";
import { snakeCase } from "../translate/names.ts";
import { isZero } from "../translate/same.ts";

/**
 * Members that the client sent, that native answered with as they were sent, and that `built` (v2's body) lacks: v2 would not
 * have them. Only for creates: an update may send back what is stored anyway. What the path says need not be in a body.
 * Rows are looked at once, however many members there are; names are shortened as in all differences.
 */
export function lostFields(sent: Json, native: Json, built: JsonObject, rows: readonly Row[]): Difference[] {
  if (!isJsonObject(sent) || !isJsonObject(native)) return [];
  const spellings = spellingsOf(rows);
  return Object.entries(sent).flatMap(([name, value]) => {
    const row = spellings.get(name);
    const [v1, v2] = [row?.v1 ?? name, row?.v2 ?? name];
    // First what costs nothing: most members that no row knows are not in native's answer either.
    if (!Object.hasOwn(native, v1) || Object.hasOwn(built, v2) || (row?.v2 === null && row.from !== undefined))
      return [];
    if (isZero(value, row) || !isDeepStrictEqual(native[v1], value)) return [];
    const text = shortened(JSON.stringify(value));
    return [{ class: "missing", path: shortened(v1), id: undefined, native: text, translated: undefined }];
  });
}

/** Each row by every name that v1 takes for it; the first of two rows counts. */
export function spellingsOf(rows: readonly Row[]): ReadonlyMap<string, Row> {
  const spellings = new Map<string, Row>();
  for (const row of rows) {
    const { v1, v1Proto = v1 } = row;
    for (const name of [v1, v1Proto, snakeCase(v1)]) if (!spellings.has(name)) spellings.set(name, row);
  }
  return spellings;
}
