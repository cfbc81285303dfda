/** Checks that the files of a catalogue fit together. Pure. */

import { isJsonObject, type Json, type JsonObject } from "../model/json.ts";
import { v1PathOf } from "../model/request.ts";
import {
  type EnumTable,
  type EnvelopeRow,
  type Example,
  type Examples,
  type Filter,
  isWritable,
  type Join,
  type NativeDomain,
  type Operation,
  type Resource,
  type Row,
  type Shape,
  v1Zero,
  type WritableRow,
} from "../model/resource.ts";
import { snakeCase } from "../model/text.ts";

export interface CatalogueFile {
  readonly file: string;
  readonly resource: Resource;
}

/** Reports what is wrong, at which row, and how to fix it. */
type ReportFault = (row: string, fault: string) => void;

/** Every fault of a catalogue, each with its file, its row and a remedy. */
export function faultsOf(
  files: readonly CatalogueFile[],
  natives: readonly NativeDomain[],
  examples: Examples,
): readonly string[] {
  const faults: string[] = [];
  const resources = files.map(({ resource }) => resource);
  const all = new Map(resources.map((resource) => [resource.name, resource]));
  const report: ReportFault = (name, fault) => faults.push(`${name}: ${fault}`);
  if (files.length === 0) report("catalogue", "the folder holds no resource; add a file or correct the folder");
  const names = resources.map(({ name }) => name);
  checkUnique(names, report, "two files describe this resource; remove one");
  for (const version of ["v1", "v2"] as const) {
    const collections = resources.map((resource) => `/${resource.domain}/${version}/${resource[version]}`);
    checkUnique(collections, report, "two resources have this collection; correct one");
  }
  checkUnique(allPaths(resources, natives), report, "two operations have this path; remove one");
  return [...faults, ...files.flatMap((file) => checkResource(file, all, examples.get(file.resource.name) ?? []))];
}

function checkResource(
  { file, resource }: CatalogueFile,
  all: ReadonlyMap<string, Resource>,
  examples: readonly Example[],
): readonly string[] {
  const faults = new Set<string>();
  const report: ReportFault = (at, fault) => faults.add(`${file}: ${at}: ${fault}`);
  if (file.replace(/\.[jt]s$/, "") !== resource.name) {
    faults.add(`${file}: its resource is called ${resource.name}; name the file like the resource`);
  }
  const names = resource.operations.map(({ name }) => name);
  checkUnique(names, (name, fault) => report(`operation ${name}`, fault), "it is there twice; remove one");
  for (const operation of resource.operations) {
    checkOperation(resource, operation, all, (row, fault) => report(`${operation.name}: ${row}`, fault));
  }
  checkVolatile(resource, report);
  checkExamples(resource, examples, report);
  return [...faults];
}

function checkOperation(
  own: Resource,
  operation: Operation,
  all: ReadonlyMap<string, Resource>,
  report: ReportFault,
): void {
  if (operation.kind === "native" || operation.kind === "delete") return;
  const joins = "joins" in operation ? (operation.joins ?? []) : [];
  checkShape(operation.answer, new Set(joins.map((join) => join.v1)), report);
  checkJoins(joins, own, all, report);
  for (const { v1, missing } of joins) {
    const row = operation.answer.rows.find((each) => each.v1 === v1);
    // With `missing: "own"` the row names the record's own member.
    if ((row?.v2 !== null && missing !== "own") || row?.access !== "output") {
      report(v1, 'a join fills it; give it a row with `v2: null` and `access: "output"`');
    }
  }
  if ("body" in operation && operation.body !== undefined) checkShape(operation.body, new Set(), report);
  if (operation.kind === "call") checkCall(operation, report);
  if (operation.kind !== "list" && "filters" in operation) checkFilters(operation.filters ?? [], report);
  if (operation.kind === "list") {
    checkFilters(operation.filters, report);
    checkEnvelope(operation.envelope ?? [], report);
    if ((operation.envelope === undefined) === (own.list === "paged")) {
      report("envelope", "a paged list has one, a drained list has none; add or remove it");
    }
  }
  if (operation.kind !== "list" && operation.kind !== "get") return;
  if (!operation.answer.rows.some((row) => row.v1 === own.key && row.v2 === "uid")) {
    report(own.key, "it is the key, and no row carries v2's `uid` under this name; add the row");
  }
}

/** `METHOD /domain/v1/template` of every operation that carryover knows. */
export function allPaths(resources: readonly Resource[], natives: readonly NativeDomain[]): readonly string[] {
  return [
    ...resources.flatMap((resource) => resource.operations.map((operation) => operationPath(resource, operation))),
    ...natives.flatMap(({ domain, operations }) => operations.map(({ method, path }) => pathKey(domain, method, path))),
  ];
}

function operationPath(resource: Resource, operation: Operation): string {
  const { method, path } = v1PathOf(resource, operation);
  return pathKey(resource.domain, method, path);
}

/** Equal for paths that differ only in the names of their variables. */
function pathKey(domain: string, method: string, path: string): string {
  return `${method} /${domain}/v1/${path.replaceAll(/\{[^}=]*=/g, "{=")}`;
}

function checkFilters(filters: readonly Filter[], report: ReportFault): void {
  const v1 = filters.map((filter) => filter.v1);
  const v2 = filters.flatMap((filter) => (filter.use === "parent" ? [] : sentNames(filter)));
  checkUnique(v1, report, "two filters have this v1 name; remove one");
  checkUnique(v2, report, "two filters are sent under this v2 name; remove one");
  for (const filter of filters) if (filter.use === "enum") checkEnum(filter.values, `filter ${filter.v1}`, report);
  if (filters.filter((filter) => filter.use === "get").length > 1) {
    report("filters", "two of them turn the list into a Get; keep one");
  }
}

function memberNames(resource: Resource): ReadonlySet<string | null> {
  const get = resource.operations.find((operation) => operation.kind === "get");
  return new Set(get?.kind === "get" ? [...get.answer.rows.map((row) => row.v2), ...get.answer.v2Only] : []);
}

function checkJoin(join: Join, own: Resource, all: ReadonlyMap<string, Resource>, report: ReportFault): void {
  const at = `join ${join.v1}`;
  const other = all.get(join.resource);
  if (other === undefined) {
    report(at, `there is no resource ${join.resource}; correct the name or add its file`);
    return;
  }
  if (join.sub === undefined && join.take !== "record" && !memberNames(other).has(join.take.member)) {
    report(at, `${join.resource} has no v2 member ${join.take.member}; correct the name`);
  }
  const read = [join.by.split(".")[0] ?? "", ...(typeof join.missing === "object" ? [join.missing.reduced] : [])];
  for (const name of read) {
    if (!memberNames(own).has(name))
      report(at, `the record has no v2 member ${name}; correct it or add it to \`v2Only\``);
  }
}

function checkJoins(
  joins: readonly Join[],
  own: Resource,
  all: ReadonlyMap<string, Resource>,
  report: ReportFault,
): void {
  const names = joins.map((join) => join.v1);
  checkUnique(names, report, "two joins fill this member; remove one");
  for (const join of joins) checkJoin(join, own, all, report);
}

/** The variables of the v2 path must be those of the v1 path. */
function checkCall({ path, v2 }: Operation & { kind: "call" }, report: ReportFault): void {
  for (const [variable, inV1] of [
    ["{uid}", /\{[^}]*=\*\*\}/],
    ["{segment}", /\{[^}=]*(?:=\*)?\}/],
  ] as const) {
    if (v2.path.includes(variable) !== inV1.test(path)) {
      report(v2.path, `${variable} must stand in it exactly when ${path} has such a variable; correct one of them`);
    }
  }
}

/** The row at the dotted v1 path `path`; `[]` follows the name of a list. */
function rowAt(rows: readonly Row[], path: string): Row | undefined {
  const [head = "", ...rest] = path.split(".");
  const row = rows.find((each) => head === `${each.v1}${"list" in each && each.list === true ? "[]" : ""}`);
  return rest.length === 0 || row === undefined ? row : rowAt(nestedRows(row) ?? [], rest.join("."));
}

function checkVolatile({ operations, volatile = [] }: Resource, report: ReportFault): void {
  checkUnique(volatile, report, "it is declared volatile twice; remove one");
  for (const path of volatile) {
    const row = operations
      .flatMap((operation) => [
        ...("answer" in operation ? [operation.answer.rows] : []),
        ...(operation.kind === "list" ? [operation.envelope ?? []] : []),
      ])
      .map((rows) => rowAt(rows, path))
      .find((found) => found !== undefined);
    if (row === undefined) report(path, "it is declared volatile, and no answer has such a row; correct the path");
    else if (nestedRows(row) !== undefined || row.kind === "map" || ("list" in row && row.list === true)) {
      report(path, "it is declared volatile and holds more than one value; name the member that changes");
    }
  }
}

/** The rows of the message or messages that `row` holds; undefined for any other type. */
export function nestedRows(row: Row): readonly Row[] | undefined {
  if (row.kind === "message") return row.rows;
  return row.kind === "map" && typeof row.of === "object" ? row.of.rows : undefined;
}

/** The v1 zero that `row` must declare. Null: unset. */
export function zeroOf(row: Row): Json | undefined {
  return row.presence === "explicit" ? null : v1Zero(row);
}

/** Reports every name that appears twice. */
function checkUnique(names: readonly string[], report: ReportFault, fault: string): void {
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) report(name, fault);
    seen.add(name);
  }
}

function checkWrite(row: Row & WritableRow, at: string, report: ReportFault): void {
  const zero = zeroOf(row);
  if (JSON.stringify(row.zero) !== JSON.stringify(zero)) {
    report(at, `its zero is ${JSON.stringify(row.zero)}; for this kind and presence write ${JSON.stringify(zero)}`);
  }
  const sent = row.v2 !== null && row.mask !== "never";
  if (row.v2 === null && row.mask !== undefined && row.mask !== "never") {
    report(at, "dead mask: v2 has no such member; remove `mask`");
  }
  if (!sent && row.echo !== undefined) report(at, "dead echo: the member is never sent; remove `echo`");
  if (row.mask === "members" && (row.kind !== "message" || row.list === true)) {
    report(at, "`members` needs one message; use another mask class");
  }
}

function checkRow(row: Row, at: string, joined: ReadonlySet<string>, report: ReportFault): void {
  if (row.oneof !== undefined && row.presence !== "explicit") {
    report(at, 'a member of a oneof is absent when unset; add `presence: "explicit"`');
  }
  if (row.from?.length === 0) report(at, "dead `from`: it names no path; remove it or name one");
  if (isWritable(row)) checkWrite(row, at, report);
  else if (row.v2 === null && row.from === undefined && !joined.has(at)) {
    report(at, "dead row: nothing fills it and nothing sends it; name `v2`, `from` or a join, or remove it");
  }
  if (row.kind === "enum") checkEnum(row.values, at, report);
  // The rows that a join fills are checked with the other resource.
  if (!joined.has(at)) checkNested(row, at, joined, report);
}

function checkNested(row: Row, at: string, joined: ReadonlySet<string>, report: ReportFault): void {
  const nested = nestedRows(row);
  if (nested === undefined) return;
  checkNames(nested, row.kind === "message" ? (row.v2Only ?? []) : [], `${at}.`, report);
  for (const inner of nested) {
    const path = `${at}.${inner.v1}`;
    checkRow(inner, path, joined, report);
    const named = isWritable(inner) && inner.mask !== undefined && inner.mask !== "never";
    if (named && !(isWritable(row) && row.mask === "members")) {
      report(
        path,
        'dead mask: the message around it is named as a whole; remove it or give that one `mask: "members"`',
      );
    }
  }
}

function checkNames(rows: readonly Row[], v2Only: readonly string[], prefix: string, report: ReportFault): void {
  const v1 = rows.map((row) => row.v1);
  const v2 = rows.flatMap((row) => (row.v2 === null ? [] : [row.v2]));
  const prefixed: ReportFault = (row, fault) => report(`${prefix}${row}`, fault);
  checkUnique(v1, prefixed, "two rows have this v1 name; remove one");
  checkUnique(v2, prefixed, "two rows have this v2 name; read the second through `from`");
  const deadV2Only = "dead `v2Only`: a row carries this member, or it is there twice; remove it there";
  checkUnique([...new Set(v2), ...v2Only], prefixed, deadV2Only);
}

function pathsRead(rows: readonly Row[], prefix: string): readonly (readonly [row: string, path: string])[] {
  return rows.flatMap((row) => [
    ...(row.from ?? []).map((path) => [`${prefix}${row.v1}`, path] as const),
    ...pathsRead(nestedRows(row) ?? [], `${prefix}${row.v1}.`),
  ]);
}

/** `joined`: v1 names of members that joins fill. */
function checkShape(shape: Shape, joined: ReadonlySet<string>, report: ReportFault): void {
  checkNames(shape.rows, shape.v2Only, "", report);
  for (const row of shape.rows) checkRow(row, row.v1, joined, report);
  const known = new Set([...shape.v2Only, ...shape.rows.map((row) => row.v2)]);
  const own = shape.rows.filter((row) => !joined.has(row.v1));
  for (const [row, path] of pathsRead(own, "")) {
    const head = path.split(/[./]/)[0] ?? "";
    if (!known.has(head)) report(row, `\`from\` reads ${head}, which would reach v1 as well; add it to \`v2Only\``);
  }
}

function checkEnvelope(rows: readonly EnvelopeRow[], report: ReportFault): void {
  const repeated = new Set(rows.filter((row) => row.fromQuery !== undefined).map((row) => row.v1));
  checkNames(rows, [], "envelope.", report);
  for (const row of rows) checkRow(row, row.v1, repeated, (name, fault) => report(`envelope.${name}`, fault));
}

/** Both directions must be functions. */
function checkEnum(table: EnumTable, at: string, report: ReportFault): void {
  const fault = (name: string | number, what: string): void => report(at, `enum ${table.name}: ${name} ${what}`);
  const once: ReportFault = (name) => fault(name, "is there twice; a value is one value in the other version");
  const names = (side: 0 | 2): string[] => table.values.flatMap((value) => value[side] ?? []);
  const numbers = (side: 1 | 3): string[] =>
    table.values.map((value) => value[side]).flatMap((n) => (n < 0 ? [] : `${n}`));
  for (const list of [names(0), names(2), numbers(1), numbers(3)]) checkUnique(list, once, "");
  for (const [v1, v1Number, v2, v2Number] of table.values) {
    if (v1 === null && v2 === null) fault(v1Number, "has no name in either version; remove it");
    if (v1 === null && v1Number >= 0) fault(v2 ?? "", "has a v1 number without a v1 name; write -1");
    if (v2 === null && v2Number >= 0) fault(v1 ?? "", "has a v2 number without a v2 name; write -1");
  }
}

type ApiVersion = "v1" | "v2";

function objectsIn(value: Json | undefined, row: Row): readonly JsonObject[] {
  const values =
    row.kind === "map" && isJsonObject(value) ? Object.values(value) : Array.isArray(value) ? value : [value];
  return values.filter(isJsonObject);
}

/** Reports keys of `record` that are in no row (and, for v2, not in `v2Only`). */
function checkKeys(record: JsonObject, shape: Shape, side: ApiVersion, at: string, report: ReportFault): void {
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

function checkMask(mask: readonly string[], shape: Shape, at: string, report: ReportFault): void {
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

/** The v2 parameter names that `filter` can send. */
function sentNames(filter: Filter): readonly string[] {
  if (filter.use === "parent") return ["uidp.in_root", "uidp.children_of"];
  return filter.use === "get" ? [] : [filter.v2];
}

function checkQuery(
  query: string,
  known: ReadonlySet<string>,
  side: ApiVersion,
  at: string,
  report: ReportFault,
): void {
  for (const name of new URLSearchParams(query).keys()) {
    if (!known.has(side === "v1" ? snakeCase(name) : name)) {
      report(at, `the example has the parameter ${name}, which no filter has; correct the name or add the filter`);
    }
  }
}

function checkExample(resource: Resource, example: Example, at: string, report: ReportFault): void {
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

function checkExamples(resource: Resource, examples: readonly Example[], report: ReportFault): void {
  if (examples.length === 0) report("examples", "there are none; add an answer for each shape");
  for (const [index, example] of examples.entries()) {
    checkExample(resource, example, `examples[${index}] (${example.of})`, report);
  }
}
