/** Do the examples of a resource speak of nothing but its rows? */

import type { Example } from "../../model/example.ts";
import { isJsonObject, type Json, type JsonObject } from "../../model/json.ts";
import type { Filter, Resource, Row, Shape } from "../../model/resource.ts";
import { nestedRows, type Report } from "./rows.ts";

type Side = "v1" | "v2";

function objectsIn(value: Json | undefined, row: Row): readonly JsonObject[] {
  const values =
    row.kind === "map" && isJsonObject(value) ? Object.values(value) : Array.isArray(value) ? value : [value];
  return values.filter(isJsonObject);
}

/** Reports keys of `record` that are in no row (and, for v2, not in `v2Only`). */
function checkKeys(record: JsonObject, shape: Shape, side: Side, at: string, report: Report): void {
  for (const [key, value] of Object.entries(record)) {
    const row = shape.rows.find((each) => each[side] === key);
    if (row === undefined) {
      if (side === "v2" && shape.v2Only.includes(key)) continue;
      report(at, `the example has ${key}, which no row has as its ${side} name; correct the name or add the row`);
      continue;
    }
    const rows = nestedRows(row);
    if (rows === undefined) continue;
    const nested = { rows, v2Only: row.kind === "message" ? (row.v2Only ?? []) : [] };
    for (const inner of objectsIn(value, row)) checkKeys(inner, nested, side, `${at}: ${key}`, report);
  }
}

function checkMask(mask: readonly string[], shape: Shape, at: string, report: Report): void {
  for (const path of mask) {
    let rows: readonly Row[] | undefined = shape.rows;
    for (const name of path.split(".")) {
      const row: Row | undefined = rows?.find((each) => each.v2 === name);
      if (row === undefined) report(at, `the mask names ${path}, which no row has as its v2 name; correct it`);
      rows = row === undefined ? undefined : nestedRows(row);
      if (rows === undefined) break;
    }
  }
}

function snake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The v2 parameter names that `filter` can send. */
export function sentNames(filter: Filter): readonly string[] {
  if (filter.use === "parent") return ["uidp.in_root", "uidp.children_of"];
  return filter.use === "get" ? [] : [filter.v2];
}

function checkQuery(query: string, known: ReadonlySet<string>, side: Side, at: string, report: Report): void {
  for (const name of new URLSearchParams(query).keys()) {
    if (!known.has(side === "v1" ? snake(name) : name)) {
      report(at, `the example has the parameter ${name}, which no filter has; correct the name or add the filter`);
    }
  }
}

function checkExample(resource: Resource, example: Example, at: string, report: Report): void {
  const name = "operation" in example ? example.operation : example.of;
  const operation = resource.operations.find((each) => each.name === (name === "filters" ? "list" : name));
  if (operation === undefined || operation.kind === "native" || operation.kind === "delete") {
    report(at, `there is no translated operation ${name}; add it or remove the example`);
    return;
  }
  if (example.of === "filters") {
    const filters = operation.kind === "list" ? operation.filters : [];
    checkQuery(example.v1, new Set(filters.map((filter) => filter.v1)), "v1", at, report);
    checkQuery(example.v2, new Set(filters.flatMap(sentNames)), "v2", at, report);
    return;
  }
  if (example.of === "exchange") return;
  const shape = (example.of !== "answer" && "body" in operation ? operation.body : undefined) ?? operation.answer;
  checkKeys(example.v1, shape, "v1", at, report);
  checkKeys(example.v2, shape, "v2", at, report);
  if (example.of === "update") checkMask(example.mask, shape, at, report);
}

/** Reports what is wrong with the examples of `resource`. */
export function checkExamples(resource: Resource, report: Report): void {
  if (resource.examples.length === 0) report("examples", "there are none; add an answer for each shape");
  for (const [index, example] of resource.examples.entries()) {
    checkExample(resource, example, `examples[${index}] (${example.of})`, report);
  }
}
