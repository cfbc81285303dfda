/** What would a stored record say, so that every field of a request that hangs on it is written? */
import type { Json, JsonObject } from "../model/json.ts";
import type { Row, Value } from "../model/resource.ts";
import { createBodyNotes, readBody, type V2Body } from "../translate/body.ts";
import { isSame, isZero } from "../translate/same.ts";
import { isCompared } from "../translate/update.ts";

export interface Differing {
  /** v2 members, to be laid over a record. */
  readonly record: JsonObject;
  /** Dotted v1 names of the fields in which it differs. */
  readonly fields: readonly string[];
  /** Whether the record is assumed to be synced; undefined where none of its kind is. */
  readonly synced: boolean | undefined;
}

/**
 * `bytes`: the v1 body. Another value for every field of class `when-changed` or `unless-synced` that it sends, and the same for all others:
 * some of them v2 never changes. The record is synced when the body speaks of its sync; `otherwise`: when it does not. Throws as
 * `readBody` does.
 */
export function differingFrom(bytes: Uint8Array, rows: readonly Row[], otherwise: boolean): Differing {
  const body = readBody(bytes, rows.map(stored), "drop", createBodyNotes());
  const { record, fields } = differing(body, "");
  const sync = rows.find((row) => row.access !== "output" && row.syncs === true);
  if (sync === undefined || sync.v2 === null) return { record, fields, synced: undefined };
  const synced = body.fields.has(sync.v1) !== otherwise;
  if (!synced) return { record: { ...clearable(rows, body), ...record, [sync.v2]: null }, fields, synced };
  return { record: { [sync.v2]: anotherValue(null, sync), ...record }, fields, synced };
}

/** Something in every field that a full replace clears when it is left out. */
function clearable(rows: readonly Row[], body: V2Body): JsonObject {
  const held = rows.flatMap((row) => {
    if (row.access === "output" || row.v2 === null || row.mask !== "unless-synced" || body.fields.has(row.v1))
      return [];
    return [[row.v2, anotherValue(null, row)]];
  });
  return Object.fromEntries(held);
}

/** A row as if v2 stored whatever is sent. */
function stored(row: Row): Row {
  if (row.access === "output") return row;
  const settable = row.mask === "never" ? ({ ...row, mask: "always" } as const) : row;
  if (settable.kind !== "message" || row.mask !== "members") return settable;
  return { ...settable, rows: settable.rows.map((each) => stored({ ...each, v2: each.v2 ?? each.v1 })) };
}

function differing(body: V2Body, prefix: string): Omit<Differing, "synced"> {
  const record: JsonObject = {};
  const fields: string[] = [];
  for (const { row, raw, nested } of body.fields.values()) {
    if (row.v2 === null || row.access === "output") continue;
    const at = `${prefix}${row.v1}`;
    if (row.mask === "members" && nested !== undefined) {
      const inner = differing(nested, `${at}.`);
      record[row.v2] = inner.record;
      fields.push(...inner.fields);
    } else if (isCompared(row)) {
      const sent = JSON.parse(raw) as Json;
      const other = anotherValue(sent, row);
      if (isSame(sent, other, row, false)) continue;
      record[row.v2] = other;
      if (row.kind !== "enum" || !isZero(sent, row)) fields.push(at);
    } else {
      record[row.v2] = JSON.parse(raw) as Json;
    }
  }
  return { record, fields };
}

/** A value of the same kind, and another one than `value`. */
function anotherValue(value: Json, as: Value): Json {
  if (as.kind === "map") return isZero(value, as) ? { stored: as.of === "int32" ? 1 : "stored" } : {};
  if (as.list === true) return isZero(value, as) ? [oneOf(as)] : [];
  switch (as.kind) {
    case "message":
      return isZero(value, as) ? { stored: true } : {};
    case "enum":
      return (
        as.values.values.find(
          ([v1, , v2]) => v1 !== null && v2 !== null && v2 !== value && !(isZero(value, as) && isZero(v2, as)),
        )?.[2] ?? null
      );
    case "bool":
      return value !== true;
    case "int32":
    case "uint32":
      return Number(value) === 1 ? 2 : 1;
    case "int64":
      return Number(value) === 1 ? "2" : "1";
    case "timestamp":
      return value === "2001-01-01T00:00:00Z" ? "2002-01-01T00:00:00Z" : "2001-01-01T00:00:00Z";
    case "duration":
      return value === "1s" ? "2s" : "1s";
    default:
      return value === "stored" ? "stored before" : "stored";
  }
}

function oneOf(as: Exclude<Value, { kind: "map" }>): Json {
  switch (as.kind) {
    case "message":
      return { stored: true };
    case "enum":
      return as.values.values.find(([v1, number, v2]) => v1 !== null && v2 !== null && number !== 0)?.[2] ?? null;
    case "bool":
      return true;
    case "int32":
    case "uint32":
      return 1;
    default:
      return "stored";
  }
}
