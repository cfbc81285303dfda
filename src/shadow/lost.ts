/** What did native store of a create that the built call does not say? */
import { isDeepStrictEqual } from "node:util";
import type { Difference } from "../model/comparison.ts";
import { isJsonObject, type Json, type JsonObject } from "../model/json.ts";
import type { Row } from "../model/resource.ts";
import { snakeCase } from "../translate/names.ts";
import { isZero } from "../translate/same.ts";

/**
 * Members that the client sent, that native answered with as they were sent, and that `built` (v2's body) lacks: v2 would not
 * have them. Only for creates: an update may send back what is stored anyway. What the path says need not be in a body.
 */
export function lostFields(sent: Json, native: Json, built: JsonObject, rows: readonly Row[]): Difference[] {
  if (!isJsonObject(sent) || !isJsonObject(native)) return [];
  return Object.entries(sent).flatMap(([name, value]) => {
    const row = rows.find(({ v1, v1Proto }) => [v1, v1Proto ?? v1, snakeCase(v1)].includes(name));
    const [v1, v2] = [row?.v1 ?? name, row?.v2 ?? name];
    const isSaid = Object.hasOwn(built, v2) || (row?.v2 === null && row.from !== undefined);
    const isStored = Object.hasOwn(native, v1) && isDeepStrictEqual(native[v1], value);
    if (isSaid || !isStored || isZero(value, row)) return [];
    const text = JSON.stringify(value).slice(0, MAX_TEXT);
    return [{ class: "missing", path: v1, id: undefined, native: text, translated: undefined }];
  });
}

/** As in `Difference`. */
const MAX_TEXT = 200;
