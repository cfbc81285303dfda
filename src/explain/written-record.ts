/** What does a record say, once what was sent is stored in it? */
import { isJsonObject, type JsonObject } from "../model/json.ts";
import type { Match } from "../model/match.ts";
import { camelCase } from "../translate/names.ts";

/** `top` laid over `base`, members of objects one by one. */
export function over(base: JsonObject, top: JsonObject): JsonObject {
  return laidOver(base, top, () => false, "");
}

/** `record` behind a PATCH: a member that `mask` lists is replaced whole, others member by member. */
export function patched(record: JsonObject, sent: JsonObject, mask: string): JsonObject {
  const listed = new Set(mask.split(",").map(camelCase));
  return laidOver(record, sent, (path) => listed.has(camelCase(path)), "");
}

function laidOver(base: JsonObject, top: JsonObject, isWhole: (path: string) => boolean, prefix: string): JsonObject {
  const merged: JsonObject = { ...base };
  for (const [key, value] of Object.entries(top)) {
    const below = merged[key];
    const path = prefix + key;
    const inside = isJsonObject(below) && isJsonObject(value) && Object.keys(value).length > 0 && !isWhole(path);
    merged[key] = inside ? laidOver(below, value, isWhole, `${path}.`) : value;
  }
  return merged;
}

/** The uid that was sent is the one inside the object that it leads to as well (`roleUid` and `role.uid`). */
export function agreeing(record: JsonObject, sent: JsonObject, match: Match): JsonObject {
  const { operation } = match;
  const rows = "body" in operation && operation.body !== undefined ? operation.body.rows : [];
  const merged: JsonObject = { ...record };
  for (const { v2, from } of rows) {
    const value = v2 === null ? undefined : sent[v2];
    if (value === undefined) continue;
    for (const path of from ?? []) {
      const [name = "", inner, ...deeper] = path.split(".");
      const held = merged[name];
      if (inner !== undefined && deeper.length === 0 && isJsonObject(held)) merged[name] = { ...held, [inner]: value };
    }
  }
  return merged;
}
