/**
 * In which ways can one word of a catalogue be wrong? One mutant changes one row, enum entry, filter or join.
 * Changes that cannot change what carryover does are not made; each rule says why.
 */
import type { Catalogue } from "../../src/catalogue.ts";
import type { Json } from "../../src/model/json.ts";
import type {
  EnumTable,
  EnumValue,
  Filter,
  Join,
  MaskClass,
  Operation,
  Resource,
  Row,
  Shape,
} from "../../src/model/resource.ts";

export interface Mutant {
  /** `group: list: name: v1 renamed`. */
  readonly name: string;
  /** Name of the resource in whose file it is. */
  readonly resource: string;
  /** The whole catalogue with this one change. */
  make(): Catalogue;
}

/** Path of property names and indexes from the top of the catalogue. */
type Place = readonly (string | number)[];
/** What is put at a place; `undefined` takes the property, or the element, away. */
interface Change {
  readonly what: string;
  readonly place: Place;
  readonly value: unknown;
}

/** Where a row stands, and what it is used for. */
interface Found<T> {
  readonly it: T;
  readonly place: Place;
  readonly label: string;
}
interface Use {
  /** Some operation reads it from a body. */
  readonly body: boolean;
  /** A full replace names it, alone and not as a part of a message. */
  readonly update: boolean;
  /** It is shown, and the rewriter shows it (not a function that knows what it makes). */
  readonly answer: boolean;
  /** It stands in a message inside a record, which may be empty (a joined record is not). */
  readonly nested: boolean;
  /** It stands in a message that v2 does not have, or is one: such a message is put together, and shown whole. */
  readonly made: boolean;
}

/** Every mutant of `catalogue`. Rows and tables that several shapes share are changed once, for all of them. */
export function* mutantsOf(catalogue: Catalogue): Generator<Mutant> {
  const uses = usesOf(catalogue);
  const seen = new Set<object>();
  for (const [index, resource] of catalogue.resources.entries()) {
    for (const { label, changes } of changesOf(resource, ["resources", index], uses, seen)) {
      for (const change of changes) {
        yield {
          name: `${resource.name}: ${label}: ${change.what}`,
          resource: resource.name,
          make: () => changed(catalogue, change),
        };
      }
    }
  }
}

function changed(catalogue: Catalogue, { place, value }: Change): Catalogue {
  // One clone keeps shared rows shared: what changes in one place changes in all.
  const copy = structuredClone(catalogue) as Catalogue;
  const parent = place.slice(0, -1).reduce<unknown>((at, name) => (at as Record<string | number, unknown>)[name], copy);
  const last = place.at(-1) as string | number;
  const now = (parent as Record<string | number, unknown>)[last];
  if (isRecord(value) && isRecord(now)) {
    for (const name of Object.keys(now)) delete now[name];
    Object.assign(now, value);
  } else if (value !== undefined) (parent as Record<string | number, unknown>)[last] = value;
  else if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else delete (parent as Record<string | number, unknown>)[last];
  return copy;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

interface Group {
  readonly label: string;
  readonly changes: readonly Change[];
}

function* changesOf(
  resource: Resource,
  at: Place,
  uses: ReadonlyMap<object, Use>,
  seen: Set<object>,
): Generator<Group> {
  for (const [index, operation] of resource.operations.entries()) {
    const place = [...at, "operations", index];
    const label = operation.name;
    for (const [name, shape] of shapesOf(operation)) {
      yield* shapeChanges({ it: shape, place: [...place, name], label }, uses, seen);
    }
    if ("filters" in operation) {
      for (const [i, it] of (operation.filters ?? []).entries()) {
        if (!fresh(it, seen)) continue;
        const found = { it, place: [...place, "filters", i], label: `${label}: filter ${it.v1}` };
        yield { label: found.label, changes: filterChanges(found) };
        if (it.use === "enum")
          yield* tableChanges({ ...found, it: it.values, place: [...found.place, "values"] }, uses, seen);
      }
    }
    if ("joins" in operation) {
      for (const [i, it] of (operation.joins ?? []).entries()) {
        if (!fresh(it, seen)) continue;
        const found = { it, place: [...place, "joins", i], label: `${label}: join ${it.v1}` };
        yield { label: found.label, changes: joinChanges(found) };
      }
    }
  }
}

/** An enum of a filter: sent, never shown. */
const NOWHERE: Use = { body: false, update: false, answer: false, nested: false, made: false };

function fresh(it: object, seen: Set<object>): boolean {
  if (seen.has(it)) return false;
  seen.add(it);
  return true;
}

function shapesOf(operation: Operation): readonly (readonly [string, Shape])[] {
  const found: (readonly [string, Shape])[] = [];
  if ("answer" in operation) found.push(["answer", operation.answer]);
  if ("body" in operation && operation.body !== undefined) found.push(["body", operation.body]);
  if ("envelope" in operation) found.push(["envelope", { rows: operation.envelope ?? [], v2Only: [] }]);
  return found;
}

function* shapeChanges(found: Found<Shape>, uses: ReadonlyMap<object, Use>, seen: Set<object>): Generator<Group> {
  if (found.place.at(-1) === "envelope") {
    yield* rowsChanges({ ...found, it: found.it.rows }, uses, seen);
    return;
  }
  yield* rowsChanges({ ...found, it: found.it.rows, place: [...found.place, "rows"] }, uses, seen);
}

function* rowsChanges(
  { it: rows, place, label }: Found<readonly Row[]>,
  uses: ReadonlyMap<object, Use>,
  seen: Set<object>,
): Generator<Group> {
  for (const [index, row] of rows.entries()) {
    if (!fresh(row, seen)) continue;
    const found = { it: row, place: [...place, index], label: `${label}: ${row.v1}` };
    const use = uses.get(row) ?? NOWHERE;
    yield { label: found.label, changes: rowChanges(found, use) };
    if (row.kind === "enum") {
      yield* tableChanges({ it: row.values, place: [...found.place, "values"], label: found.label }, uses, seen);
    }
    if (row.kind === "message") {
      yield* rowsChanges({ it: row.rows, place: [...found.place, "rows"], label: found.label }, uses, seen);
    }
    if (row.kind === "map" && typeof row.of === "object") {
      yield* rowsChanges({ it: row.of.rows, place: [...found.place, "of", "rows"], label: found.label }, uses, seen);
    }
  }
}

function rowChanges({ it: row, place }: Found<Row>, use: Use): Change[] {
  const changes: Change[] = [{ what: "v1 renamed", place: [...place, "v1"], value: `${row.v1}Other` }];
  // What is neither shown nor sent on (the path's own uid in a body) is read, and its v2 name is not.
  if (row.v2 !== null && (use.answer || row.access !== "output"))
    changes.push({ what: "v2 renamed", place: [...place, "v2"], value: `${row.v2}Other` });
  // Where it is read from is for answers.
  if (row.from !== undefined && use.answer)
    changes.push({ what: "read from elsewhere", place: [...place, "from"], value: ["nowhere"] });
  changes.push(...kindChanges(row, place, use), ...presenceChanges(row, place, use));
  if (row.access !== "output" && use.update) changes.push(...maskChanges(row, place), ...zeroChanges(row, place));
  return changes;
}

/** A record always has its uid: nothing stands in for it, whatever it would be. */
function alwaysThere(row: Row, use: Use): boolean {
  return row.v2 === "uid" && row.access === "output" && !use.nested;
}

/** The kind decides on the zero of what is not shown, and on what a body may hold. */
function kindChanges(row: Row, place: Place, use: Use): Change[] {
  const other = OTHER_KIND[row.kind];
  const kind = { what: `kind ${other}`, place, value: { ...withoutKind(row), kind: other } };
  const { list, ...rest } = row as Row & { list?: true };
  const many = { what: list ? "no list" : "a list", place, value: list ? rest : { ...rest, list: true } };
  const hasList = row.kind !== "map" && row.presence !== "explicit";
  if (use.body) return hasList ? [kind, many] : [kind];
  if (!use.answer || alwaysThere(row, use)) return [];
  const changes = [];
  if (!isCopied(row)) changes.push(kind);
  if (hasList) changes.push(many);
  return changes;
}

/**
 * Shown as v2 sent it, whatever its kind, and never made up: an optional scalar, a list of scalars (its zero is `[]`, whatever is
 * in it), an optional message of which no member is known.
 */
function isCopied(row: Row): boolean {
  if (row.kind === "enum" || row.kind === "map") return false;
  if (row.kind === "message") return row.presence === "explicit" && row.rows.length === 0;
  return row.presence === "explicit" || row.list === true;
}

const OTHER_KIND: Readonly<Record<Row["kind"], string>> = {
  string: "bool",
  bool: "string",
  int32: "string",
  uint32: "string",
  int64: "int32",
  timestamp: "string",
  duration: "string",
  bytes: "int64",
  enum: "string",
  message: "string",
  map: "string",
};

function withoutKind(row: Row): object {
  const { kind: _kind, ...rest } = row;
  const { values: _values, rows: _rows, v2Only: _v2Only, of: _of, ...plain } = rest as Record<string, unknown>;
  return plain;
}

/** Presence is for the zeros of answers, and of full replaces: a body that is sent on as it is has none of either. */
function presenceChanges(row: Row, place: Place, use: Use): Change[] {
  if (!use.update && (!use.answer || use.made)) return [];
  if (alwaysThere(row, use)) return [];
  if (row.presence !== "explicit") return [{ what: "optional", place: [...place, "presence"], value: "explicit" }];
  return [{ what: "always shown", place: [...place, "presence"], value: undefined }];
}

const MASKS: readonly MaskClass[] = ["always", "when-present", "when-changed", "never"];

function maskChanges(row: Row & { mask?: MaskClass }, place: Place): Change[] {
  if (row.v2 === null) return [];
  const own = row.mask ?? "always";
  return MASKS.filter((mask) => mask !== own).map((mask) => ({
    what: `mask ${mask}`,
    place: [...place, "mask"],
    value: mask,
  }));
}

/** Only a row that a full replace clears when it is left out has a use for its zero. */
function zeroChanges(row: Row & { zero?: Json; mask?: MaskClass }, place: Place): Change[] {
  if ((row.mask ?? "always") !== "always" || row.v2 === null) return [];
  const other = otherZero(row);
  return other === undefined ? [] : [{ what: "other zero", place: [...place, "zero"], value: other }];
}

function otherZero(row: Row): Json | undefined {
  if (row.kind === "map") return { key: "value" };
  if (row.kind === "enum") {
    const name = row.values.values.find(([v1, number, v2]) => v1 !== null && v2 !== null && number !== 0)?.[0];
    return name == null ? undefined : row.list ? [name] : name;
  }
  if (row.kind === "message") return undefined;
  const one = {
    string: "x",
    bool: true,
    int32: 1,
    uint32: 1,
    int64: "1",
    timestamp: "2020-01-01T00:00:00Z",
    duration: "1s",
    bytes: "eA==",
  }[row.kind];
  return row.list ? [one] : one;
}

function* tableChanges(
  { it: table, place, label }: Found<EnumTable>,
  uses: ReadonlyMap<object, Use>,
  seen: Set<object>,
): Generator<Group> {
  if (!fresh(table, seen)) return;
  const changes: Change[] = [];
  for (const [index, entry] of table.values.entries()) {
    changes.push(...entryChanges(entry, [...place, "values", index], uses.get(table) ?? NOWHERE));
  }
  yield { label: `${label}: ${table.name}`, changes };
}

/**
 * Without a name in one of the versions it is as unknown there as a name that nobody gave it; a filter's zero means no filter and
 * is not sent. v1 only takes numbers, and v2's are only read.
 */
function entryChanges([v1, v1Number, v2, v2Number]: EnumValue, place: Place, { body, answer }: Use): Change[] {
  const put = (what: string, value: EnumValue): Change => ({ what: `${v1} ${what}`, place, value });
  if (v1 === null || v2 === null) return [];
  const changes: Change[] = [put("v1 renamed", [`${v1}_OTHER`, v1Number, v2, v2Number])];
  if (body || answer || v1Number !== 0) changes.push(put("v2 renamed", [v1, v1Number, `${v2}_OTHER`, v2Number]));
  if (!answer || body) if (v1Number >= 0) changes.push(put("v1 number", [v1, v1Number + 1000, v2, v2Number]));
  if (answer && v2Number >= 0) changes.push(put("v2 number", [v1, v1Number, v2, v2Number + 1000]));
  return changes;
}

function filterChanges({ it: filter, place }: Found<Filter>): Change[] {
  const changes: Change[] = [
    { what: "v1 renamed", place: [...place, "v1"], value: `${filter.v1}_other` },
    { what: "taken away", place, value: undefined },
  ];
  if ("v2" in filter) changes.push({ what: "v2 renamed", place: [...place, "v2"], value: `${filter.v2}_other` });
  if (filter.use === "inverted")
    changes.push({ what: "not inverted", place, value: { v1: filter.v1, use: "send", v2: filter.v2, kind: "bool" } });
  return changes;
}

function joinChanges({ it: join, place }: Found<Join>): Change[] {
  return [
    { what: "by another uid", place: [...place, "by"], value: `${join.by}Other` },
    { what: "taken away", place, value: undefined },
  ];
}

/** What each row and each enum of the catalogue is used for. */
function usesOf({ resources }: Catalogue): ReadonlyMap<object, Use> {
  const uses = new Map<object, Use>();
  const add = (it: object, { body, update, answer, nested, made }: Use): void => {
    const known = uses.get(it) ?? NOWHERE;
    uses.set(it, {
      body: known.body || body,
      update: known.update || update,
      answer: known.answer || answer,
      nested: known.nested || nested,
      made: known.made || made,
    });
  };
  const addRows = (rows: readonly Row[], given: Use, joins: readonly Join[] = []): void => {
    for (const row of rows) {
      const use = { ...given, update: given.update && isSent(row), made: given.made || isMade(row) };
      add(row, use);
      if (row.kind === "enum") add(row.values, { ...use, body: use.body && isSent(row) });
      const nested = use.nested || (use.answer && !joins.some(({ v1 }) => v1 === row.v1));
      if (row.kind === "message") addRows(row.rows, { ...insideOf(row, use), nested });
      if (row.kind === "map" && typeof row.of === "object") addRows(row.of.rows, { ...use, nested, update: false });
    }
  };
  for (const { operations } of resources) {
    for (const operation of operations) {
      for (const [name, { rows }] of shapesOf(operation)) {
        addRows(rows, useOf(operation, name), "joins" in operation ? operation.joins : []);
      }
      if ("filters" in operation) {
        for (const filter of operation.filters ?? []) if (filter.use === "enum") add(filter.values, NOWHERE);
      }
    }
  }
  return uses;
}

/** What the server sets is dropped from bodies, but for its type. */
function isSent(row: Row): boolean {
  return row.access !== "output" && row.mask !== "never";
}

function isMade(row: Row): boolean {
  return row.kind === "message" && row.v2 === null;
}

/** A mask names the rows of a message one by one, or the message whole. */
function insideOf(row: Row, use: Use): Use {
  return { ...use, update: use.update && row.access !== "output" && row.mask === "members" };
}

/** A summary is made by the function that counts, member by member: of its rows only the names are read. */
function useOf(operation: Operation, shape: string): Use {
  const made = "by" in operation && operation.by === "summarise";
  if (shape !== "body") return { ...NOWHERE, answer: !made };
  return { ...NOWHERE, body: true, update: operation.kind === "update" };
}
