/** Which v2 names does the catalogue know in a list, and which of them does a record hold? */
import { isJsonObject, type Json, type JsonObject, member } from "../model/json.ts";
import type { Row } from "../model/resource.ts";
import type { ListOperation } from "./first-pages.ts";

/** What was seen in the records of one list. Names are dotted from the top of the record. */
export interface Seen {
  readonly records: number;
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

/** What the catalogue knows of one message. */
interface Known {
  readonly members: ReadonlyMap<string, KnownMember>;
  /** Names that may be there without a row. */
  readonly others: ReadonlySet<string>;
}

interface KnownMember {
  readonly row: Row;
  readonly path: string;
  /** Names of the enum, all and those of its zero. */
  readonly names: ReadonlySet<string>;
  readonly zeroNames: ReadonlySet<string>;
  /** Of the message, or of each message in a map. */
  readonly inner: Known | undefined;
}

/** Looks at the records as the list of `operation` shows them. */
export function look(records: readonly JsonObject[], operation: ListOperation): Seen {
  const seen: Seen = {
    records: records.length,
    unknown: new Set(),
    unknownValues: new Set(),
    present: new Map(),
    possible: new Map(),
    zeros: new Set(),
  };
  const { rows, v2Only } = operation.answer;
  const known = knownOf(rows, [...v2Only, ...elsewhere(operation)], "");
  for (const record of records) walk(record, known, "", seen);
  return seen;
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

function knownOf(rows: readonly Row[], others: readonly string[], prefix: string): Known {
  const members = rows.flatMap((row) =>
    row.v2 === null ? [] : [[row.v2, memberOf(row, `${prefix}${row.v2}`)] as const],
  );
  return { members: new Map(members), others: new Set(others) };
}

function memberOf(row: Row, path: string): KnownMember {
  const values = row.kind === "enum" ? row.values.values : [];
  const names = values.flatMap(([, , v2, number]) => (v2 === null ? [] : [{ v2, number }]));
  return {
    row,
    path,
    names: new Set(names.map(({ v2 }) => v2)),
    zeroNames: new Set(names.flatMap(({ v2, number }) => (number === 0 ? [v2] : []))),
    inner: innerOf(row, path),
  };
}

function innerOf(row: Row, path: string): Known | undefined {
  if (row.kind === "message") return knownOf(row.rows, row.v2Only ?? [], `${path}.`);
  return row.kind === "map" && typeof row.of !== "string" ? knownOf(row.of.rows, [], `${path}.*.`) : undefined;
}

function walk(record: JsonObject, { members, others }: Known, prefix: string, seen: Seen): void {
  for (const name of Object.keys(record)) {
    if (!members.has(name) && !others.has(name)) seen.unknown.add(`${prefix}${name}`);
  }
  for (const [name, known] of members) {
    const value = member(record, name);
    count(seen.possible, known.path);
    if (value === undefined) continue;
    count(seen.present, known.path);
    if (isZero(known, value)) seen.zeros.add(known.path);
    inside(known, value, seen);
  }
}

function inside({ row, path, names, inner }: KnownMember, value: Json, seen: Seen): void {
  if (row.kind === "map") {
    if (inner === undefined || !isJsonObject(value)) return;
    for (const item of Object.values(value)) if (isJsonObject(item)) walk(item, inner, `${path}.*.`, seen);
    return;
  }
  const items = row.list === true && Array.isArray(value) ? value : [value];
  if (row.kind === "enum") {
    // Only what is spelt as a name is one: anything else could be data.
    for (const item of items) {
      if (typeof item !== "string" || names.has(item) || !/^[A-Z][A-Z0-9_]{0,79}$/.test(item)) continue;
      seen.unknownValues.add(`${path}: ${item}`);
    }
  } else if (inner !== undefined) {
    for (const item of items) if (isJsonObject(item)) walk(item, inner, `${path}.`, seen);
  }
}

/** Only rows whose zero v1 showed and v2 may leave out; messages and times are left out when unset by any platform. */
export function tellsZeros(row: Row): boolean {
  return row.presence !== "explicit" && row.oneof === undefined && !["message", "timestamp"].includes(row.kind);
}

function isZero({ row, zeroNames }: KnownMember, value: Json): boolean {
  if (!tellsZeros(row)) return false;
  if (Array.isArray(value)) return value.length === 0;
  if (isJsonObject(value)) return Object.keys(value).length === 0;
  if (row.kind === "enum") return typeof value === "string" && zeroNames.has(value);
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
