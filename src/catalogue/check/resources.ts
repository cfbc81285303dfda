/** Do the files of a catalogue fit together? */
import type { Filter, Join, NativeDomain, Operation, Resource, Row } from "../../model/resource.ts";
import { checkExamples, sentNames } from "./examples.ts";
import { checkEnum, checkEnvelope, checkShape, checkUnique, nestedRows, type Report } from "./rows.ts";

/** One file of a catalogue, as it was found. */
export interface CatalogueFile {
  readonly file: string;
  readonly resource: Resource;
}

/** Two paths are the same when only the names of their variables differ. */
function pathKey(domain: string, method: string, path: string): string {
  return `${method} /${domain}/v1/${path.replaceAll(/\{[^}=]*=/g, "{=")}`;
}

const METHODS = { list: "GET", get: "GET", create: "POST", update: "PUT", delete: "DELETE" } as const;

function operationPath(resource: Resource, operation: Operation): string {
  if ("path" in operation) return pathKey(resource.domain, operation.method, operation.path);
  const path = operation.kind === "list" ? resource.v1 : `${resource.v1}/{=**}`;
  return pathKey(resource.domain, METHODS[operation.kind], path);
}

/** `METHOD /domain/v1/template` of every operation that carryover knows, ten resources and the rest. */
export function allPaths(resources: readonly Resource[], natives: readonly NativeDomain[]): readonly string[] {
  return [
    ...resources.flatMap((resource) => resource.operations.map((operation) => operationPath(resource, operation))),
    ...natives.flatMap(({ domain, operations }) => operations.map(({ method, path }) => pathKey(domain, method, path))),
  ];
}

function checkFilters(filters: readonly Filter[], report: Report): void {
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

function checkJoin(join: Join, own: Resource, all: ReadonlyMap<string, Resource>, report: Report): void {
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

function checkJoins(joins: readonly Join[], own: Resource, all: ReadonlyMap<string, Resource>, report: Report): void {
  checkUnique(
    joins.map((join) => join.v1),
    report,
    "two joins fill this member; remove one",
  );
  for (const join of joins) checkJoin(join, own, all, report);
}

/** What the v2 path needs must be in the v1 path, and nothing of that may be lost. */
function checkCall({ path, v2 }: Operation & { kind: "call" }, report: Report): void {
  for (const [variable, inV1] of [
    ["{uid}", /\{[^}]*=\*\*\}/],
    ["{segment}", /\{[^}=]*(?:=\*)?\}/],
  ] as const) {
    if (v2.path.includes(variable) !== inV1.test(path)) {
      report(v2.path, `${variable} must stand in it exactly when ${path} has such a variable; correct one of them`);
    }
  }
}

function checkOperation(own: Resource, operation: Operation, all: ReadonlyMap<string, Resource>, report: Report): void {
  if (operation.kind === "native" || operation.kind === "delete") return;
  const joins = "joins" in operation ? (operation.joins ?? []) : [];
  checkShape(operation.answer, new Set(joins.map((join) => join.v1)), report);
  checkJoins(joins, own, all, report);
  for (const { v1, missing } of joins) {
    const row = operation.answer.rows.find((each) => each.v1 === v1);
    // One that falls back on the record's own member has it under that name.
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

/** The row of the dotted v1 path `path`; `[]` stands behind the name of a list. */
function rowAt(rows: readonly Row[], path: string): Row | undefined {
  const [head = "", ...rest] = path.split(".");
  const row = rows.find((each) => head === `${each.v1}${"list" in each && each.list === true ? "[]" : ""}`);
  return rest.length === 0 || row === undefined ? row : rowAt(nestedRows(row) ?? [], rest.join("."));
}

function checkVolatile({ operations, volatile = [] }: Resource, report: Report): void {
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

function checkResource({ file, resource }: CatalogueFile, all: ReadonlyMap<string, Resource>): readonly string[] {
  const faults = new Set<string>();
  if (file.replace(/\.[jt]s$/, "") !== resource.name) {
    faults.add(`${file}: its resource is called ${resource.name}; name the file like the resource`);
  }
  const operations: Report = (name, fault) => faults.add(`${file}: operation ${name}: ${fault}`);
  checkUnique(
    resource.operations.map(({ name }) => name),
    operations,
    "it is there twice; remove one",
  );
  for (const operation of resource.operations) {
    checkOperation(resource, operation, all, (row, fault) =>
      faults.add(`${file}: ${operation.name}: ${row}: ${fault}`),
    );
  }
  checkVolatile(resource, (path, fault) => faults.add(`${file}: ${path}: ${fault}`));
  checkExamples(resource, (row, fault) => faults.add(`${file}: ${row}: ${fault}`));
  return [...faults];
}

/** Every fault of a catalogue, each with its file, its row and a remedy; empty when there is none. */
export function faultsOf(files: readonly CatalogueFile[], natives: readonly NativeDomain[]): readonly string[] {
  const faults: string[] = [];
  const resources = files.map(({ resource }) => resource);
  const all = new Map(resources.map((resource) => [resource.name, resource]));
  const report: Report = (name, fault) => faults.push(`${name}: ${fault}`);
  if (files.length === 0) report("catalogue", "the folder holds no resource; add a file or correct the folder");
  checkUnique(
    resources.map(({ name }) => name),
    report,
    "two files describe this resource; remove one",
  );
  for (const version of ["v1", "v2"] as const) {
    checkUnique(
      resources.map((resource) => `/${resource.domain}/${version}/${resource[version]}`),
      report,
      "two resources have this collection; correct one",
    );
  }
  checkUnique(allPaths(resources, natives), report, "two operations have this path; remove one");
  return [...faults, ...files.flatMap((file) => checkResource(file, all))];
}
