/**
 * Generates mutants of a catalogue: each changes one row, enum entry, filter, join or operation. Changes that cannot
 * change what carryover does are not made; each rule says why.
 */
import type { Catalogue } from "../../src/catalogue/catalogue.ts";
import type { EnumTable, Join, Resource, Row, Shape } from "../../src/model/resource.ts";
import type { Change, Found, Place } from "./change.ts";
import { entryChanges, filterChanges, joinChanges, operationChanges, resourceChanges } from "./other-changes.ts";
import { rowChanges } from "./row-changes.ts";
import { NOWHERE, shapesOf, type Use, usesOf } from "./uses.ts";

export interface Mutant {
  /** `group: list: name: v1 renamed`. */ readonly name: string;
  /** Name of the resource in whose file it is. */
  readonly resource: string;
  /** The whole catalogue with this one change. */
  make(): Catalogue;
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
  yield { label: "names", changes: resourceChanges({ it: resource, place: at, label: resource.name }) };
  for (const [index, operation] of resource.operations.entries()) {
    const place = [...at, "operations", index];
    const label = operation.name;
    // What is not translated is native v1's.
    if (operation.kind !== "native") yield { label, changes: operationChanges({ it: operation, place, label }) };
    for (const [name, shape] of shapesOf(operation)) {
      const joins = "joins" in operation ? (operation.joins ?? []) : [];
      yield* shapeChanges({ it: shape, place: [...place, name], label }, uses, seen, joins);
    }
    if ("filters" in operation) {
      for (const [i, it] of (operation.filters ?? []).entries()) {
        if (!fresh(it, seen)) continue;
        const found = { it, place: [...place, "filters", i], label: `${label}: filter ${it.v1}` };
        yield { label: found.label, changes: filterChanges(found, operation.kind !== "create") };
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

function fresh(it: object, seen: Set<object>): boolean {
  if (seen.has(it)) return false;
  seen.add(it);
  return true;
}

function* shapeChanges(
  found: Found<Shape>,
  uses: ReadonlyMap<object, Use>,
  seen: Set<object>,
  joins: readonly Join[],
): Generator<Group> {
  if (found.place.at(-1) === "envelope") {
    yield* rowsChanges({ ...found, it: found.it.rows }, uses, seen);
    return;
  }
  yield* rowsChanges({ ...found, it: found.it.rows, place: [...found.place, "rows"] }, uses, seen);
  if (found.place.at(-1) !== "answer" || !fresh(found.it, seen)) return;
  // What a row or a join reads is not handed on in any case.
  const read = new Set([...found.it.rows.flatMap((row) => readBy(row)), ...joins.flatMap((join) => joinedBy(join))]);
  const changes = found.it.v2Only.flatMap((name, index) =>
    read.has(name) ? [] : [{ what: `v2 only ${name}`, place: [...found.place, "v2Only", index], value: undefined }],
  );
  yield { label: found.label, changes };
}

/** The members of v2's record that a row looks at, but for its own. */
function readBy(row: Row): string[] {
  const inner = row.kind === "message" ? row.rows.flatMap((one) => readBy(one)) : [];
  return [...(row.from ?? []).map((path) => path.split(".")[0] ?? ""), ...inner];
}

function joinedBy({ by, missing }: Join): string[] {
  return [by.split(".")[0] ?? "", ...(typeof missing === "object" ? [missing.reduced] : [])];
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
    yield { label: found.label, changes: rowChanges(found, use, rows) };
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
