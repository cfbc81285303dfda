/** Does v2's record hold what a create that was built, and not sent, says? */
import type { Difference } from "../model/comparison.ts";
import { isJsonObject, type Json, type JsonObject, member } from "../model/json.ts";
import type { Match } from "../model/match.ts";
import type { Row, WritableRow } from "../model/resource.ts";
import { isZero } from "../translate/same.ts";
import { type AskedField, findMismatches } from "../translate/update.ts";
import type { Caught } from "./catching.ts";
import { lostFields } from "./lost.ts";
import { parsedObject } from "./parsed.ts";
import type { Seen } from "./seen.ts";

/** What the record of a create shows. */
export interface Made {
  /** Members, by v1 names, that the record holds otherwise than the built body, or that the body lacks. */
  readonly differences: readonly Difference[];
  /** v1 members of a create's answer that a read never shows (a code that is told once): not to be compared. */
  readonly untold: ReadonlySet<string>;
}

const NOTHING: Made = { differences: [], untold: new Set() };

/**
 * `caught`: the POST of a create, answered with the record; `seen`: the create as native served it, decoded. Left out is what a Get of the resource is known to hold back (its
 * `v2Only`), where this record holds nothing there: no read shows it. Yields between its steps.
 */
export function* judgeMade(
  { resource, operation }: Match,
  { request, held }: Caught,
  seen: Seen,
): Generator<void, Made> {
  if (operation.kind !== "create" || request.method !== "POST") return NOTHING;
  const body = parsedObject(request.body) ?? {};
  yield;
  const record = parsedObject(held.body) ?? {};
  yield;
  const heldBack = heldBackByGet(resource);
  const isShown = (row: Row): boolean => !heldBack.has(row.v2) || isRead(row, record);
  const asked = operation.body.rows.filter(isShown).flatMap((row) => askedOf(row, body, { v1: "", v2: [] }));
  const patch = { body: "", asked, defaulted: [], leftAlone: [] };
  const mismatches = findMismatches(patch, record);
  yield;
  const sent = parsedObject(seen.request) ?? {};
  yield;
  const native = parsedObject(seen.answer.body) ?? {};
  yield;
  return {
    differences: [
      ...mismatches.map(({ v1 }) => differenceOf(v1, asked, record)),
      ...lostFields(sent, native, body, operation.body.rows),
    ],
    untold: new Set(operation.answer.rows.filter((row) => row.v2 !== null && !isShown(row)).map(({ v1 }) => v1)),
  };
}

/** A place where v2 holds something else than a write asked for; `raw` and `found`: JSON texts, where they are known. */
export function mismatch(v1: string, raw?: string, found?: Json): Difference {
  return {
    class: raw !== undefined && found === undefined ? "missing" : "value",
    path: v1,
    id: undefined,
    native: raw?.slice(0, MAX_TEXT),
    translated: found === undefined ? undefined : JSON.stringify(found).slice(0, MAX_TEXT),
  };
}
const MAX_TEXT = 200;

function differenceOf(v1: string, asked: readonly AskedField[], record: JsonObject): Difference {
  const field = asked.find((one) => one.v1 === v1);
  return mismatch(
    v1,
    field?.raw,
    field?.v2Path.reduce<Json | undefined>((at, name) => member(at, name), record),
  );
}

/** The members of the built body that `row` is about; those of a message one by one, since some of them are never read. */
function askedOf(row: Row, body: JsonObject, place: { v1: string; v2: readonly string[] }): AskedField[] {
  if (!isWritable(row) || row.v2 === null) return [];
  const value = member(body, row.v2);
  if (value === undefined) return [];
  const v1 = place.v1 === "" ? row.v1 : `${place.v1}.${row.v1}`;
  const v2Path = [...place.v2, row.v2];
  if (row.kind === "message" && row.list !== true && isJsonObject(value)) {
    return row.rows.flatMap((inner) => askedOf(inner, value, { v1, v2: v2Path }));
  }
  return [{ v1, v2Path, mask: { camelCase: "", snake_case: "" }, row, raw: JSON.stringify(value), yields: false }];
}

function isWritable(row: Row): row is Row & WritableRow {
  return row.access !== "output";
}

/** v2 names that a Get of the resource is known not to show. */
function heldBackByGet({ operations }: Match["resource"]): ReadonlySet<string | null> {
  const get = operations.find(({ kind }) => kind === "get");
  return new Set(get?.kind === "get" ? get.answer.v2Only : []);
}

/** The record says something there, or where the member is read from. */
function isRead(row: Row, record: JsonObject): boolean {
  const paths = [...(row.v2 === null ? [] : [row.v2]), ...(row.from ?? [])];
  return paths.some((path) => {
    const value = path.split(".").reduce<Json | undefined>((at, name) => member(at, name), record);
    return !isZero(value, row);
  });
}
