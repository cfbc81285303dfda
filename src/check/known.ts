/** Which v2 names does the catalogue know in a list, and which of them does a record hold? */
import { isJsonObject, type Json, type JsonObject, member } from "../model/json.ts";
import type { EnumTable, Row } from "../model/resource.ts";
import type { ListOperation } from "./first-pages.ts";

/** What was seen in the records of one list. Names are dotted from the top of the record. */
export interface Seen {
  records: number;
  /** Members in no row. */
  readonly unknown: Set<string>;
  /** `field: NAME` for enum names in no table. */
  readonly unknownValues: Set<string>;
  /** How many times each row's member was there, and how many times its message was. */
  readonly present: Map<string, number>;
  readonly possible: Map<string, number>;
  /** Rows that held a zero value. */
  readonly zeros: Set<string>;
}

/** A row and where its member stands, dotted from the top of the record. */
interface RowFacts {
  readonly row: Row;
  readonly path: string;
}

/** Before the first record. */
export function nothingSeen(): Seen {
  return {
    records: 0,
    unknown: new Set(),
    unknownValues: new Set(),
    present: new Map(),
    possible: new Map(),
    zeros: new Set(),
  };
}

/** Looks at one record as the list of `operation` shows it. */
export function look(record: JsonObject, operation: ListOperation, seen: Seen): void {
  seen.records++;
  walk(record, operation.answer.rows, new Set([...operation.answer.v2Only, ...elsewhere(operation)]), "", seen);
}

/** Top-level members that are read by `from` of some row, or by a join. */
function elsewhere({ answer, joins = [] }: ListOperation): readonly string[] {
  const paths = joins.flatMap(({ by, when, missing }) => [
    by,
    ...(when === undefined ? [] : [when]),
    ...(typeof missing === "object" ? [missing.reduced] : []),
  ]);
  return [...fromOf(answer.rows), ...paths].map((path) => path.split(".")[0] ?? path);
}

function fromOf(rows: readonly Row[]): readonly string[] {
  return rows.flatMap((row) => [...(row.from ?? []), ...(row.kind === "message" ? fromOf(row.rows) : [])]);
}

function walk(record: JsonObject, rows: readonly Row[], others: ReadonlySet<string>, prefix: string, seen: Seen): void {
  const byName = new Map(rows.flatMap((row) => (row.v2 === null ? [] : [[row.v2, row] as const])));
  for (const name of Object.keys(record)) {
    if (!byName.has(name) && !others.has(name)) seen.unknown.add(`${prefix}${name}`);
  }
  for (const [name, row] of byName) {
    const path = `${prefix}${name}`;
    const value = member(record, name);
    count(seen.possible, path);
    if (value === undefined) continue;
    count(seen.present, path);
    if (isZero(row, value)) seen.zeros.add(path);
    inside(row, value, path, seen);
  }
}

function inside(row: Row, value: Json, path: string, seen: Seen): void {
  const items = row.kind !== "map" && row.list === true && Array.isArray(value) ? value : [value];
  if (row.kind === "enum") {
    for (const item of items) enumName(row.values, item, path, seen);
  } else if (row.kind === "message") {
    for (const item of items) if (isJsonObject(item)) walk(item, row.rows, new Set(row.v2Only), `${path}.`, seen);
  } else if (row.kind === "map" && typeof row.of !== "string" && isJsonObject(value)) {
    for (const item of Object.values(value)) {
      if (isJsonObject(item)) walk(item, row.of.rows, new Set(), `${path}.*.`, seen);
    }
  }
}

/** Only what is spelt as a name is one: anything else could be data. */
function enumName(table: EnumTable, value: Json, path: string, seen: Seen): void {
  if (typeof value !== "string" || !/^[A-Z][A-Z0-9_]{0,79}$/.test(value)) return;
  if (!table.values.some(([, , v2]) => v2 === value)) seen.unknownValues.add(`${path}: ${value}`);
}

/** Only rows whose zero v1 showed and v2 may leave out; messages and times are left out when unset by any platform. */
export function tellsZeros(row: Row): boolean {
  return row.presence !== "explicit" && row.oneof === undefined && !["message", "timestamp"].includes(row.kind);
}

function isZero(row: Row, value: Json): boolean {
  if (!tellsZeros(row)) return false;
  if (Array.isArray(value)) return value.length === 0;
  if (isJsonObject(value)) return Object.keys(value).length === 0;
  if (row.kind === "enum") return row.values.values.some(([, , v2, number]) => number === 0 && v2 === value);
  return value === "" || value === false || value === 0 || value === "0";
}

/** Every row that v2 has a member for, with its dotted path. */
export function rowsOf(rows: readonly Row[], prefix = ""): readonly RowFacts[] {
  return rows.flatMap((row) => {
    if (row.v2 === null) return [];
    const path = `${prefix}${row.v2}`;
    const below =
      row.kind === "message" ? row.rows : row.kind === "map" && typeof row.of !== "string" ? row.of.rows : [];
    return [{ row, path }, ...rowsOf(below, row.kind === "map" ? `${path}.*.` : `${path}.`)];
  });
}

function count(counts: Map<string, number>, path: string): void {
  counts.set(path, (counts.get(path) ?? 0) + 1);
}
