/** docs/coverage.md: how every v1 operation is served, what is lost, and what takes more than one call. */

import { nestedRows } from "../../src/catalogue/check.ts";
import {
  type Filter,
  type Join,
  type NativeDomain,
  type Operation,
  type Resource,
  type Row,
  type Shape,
  unpublishedPaths,
} from "../../src/model/resource.ts";
import { plural } from "./openapi.ts";

/** `docs/coverage.md`. `version`: v2's version segment. */
export function coveragePage(
  resources: readonly Resource[],
  natives: readonly NativeDomain[],
  version: string,
): string {
  const served = resources.flatMap(({ operations }) => operations.filter((operation) => !isNative(operation)));
  const known = served.filter((operation) => operation.kind !== "get" || !operation.extension).length;
  const others =
    natives.reduce((sum, { operations }) => sum + operations.length, 0) +
    resources.reduce(
      (sum, { operations }) => sum + operations.filter((each) => isNative(each) && each.extension !== true).length,
      0,
    );
  return [
    ...HEAD,
    `${known} of ${known + others} v1 operations are translated; ${served.length - known} Gets by id are extensions.`,
    "",
    ...GUESSED,
    ...resources.flatMap((resource) => resourceSection(resource, version)),
    "## Served by native v1",
    "",
    "carryover sends these operations to `upstream.v1.url`. Without that URL, or with `fallback: refuse`, the response is 501 with the operation's name.",
    "",
    "| operation | v1 |",
    "|---|---|",
    ...resources.flatMap((resource) =>
      resource.operations.filter(isNative).flatMap((each) => (each.extension ? [] : [nativeRow(resource, each)])),
    ),
    ...natives.flatMap(({ domain, operations }) =>
      operations.map(
        ({ resource, name, method, path }) => `| ${resource} ${name} | \`${method} /${domain}/v1/${path}\` |`,
      ),
    ),
    "",
  ].join("\n");
}

const GUESSED = [
  "*guessed* means that the meaning of some v1 members is not documented. Native v1, if configured, serves such an operation in every mode, unless `fallback` is `refuse` or a rule names the operation. Without native v1 carryover translates it.",
  "",
];

const HEAD = ["# Coverage", "", "`npm run docs` generates this page from the catalogue.", ""];

type Native = Operation & { readonly kind: "native" };
type Served = Exclude<Operation, Native>;

function isNative(operation: Operation): operation is Native {
  return operation.kind === "native";
}

function nativeRow({ name, domain }: Resource, operation: Native): string {
  return `| ${name} ${operation.name} | \`${operation.method} /${domain}/v1/${operation.path}\` |`;
}

function resourceSection(resource: Resource, version: string): readonly string[] {
  const rows = resource.operations.flatMap((operation) => {
    if (isNative(operation)) return [];
    const name = operation.guessed === true ? `${operation.name} (*guessed*)` : operation.name;
    const words = [name, `\`${v1Of(resource, operation)}\``, v2Of(resource, operation, version)];
    return [`| ${[...words, costs(operation).join("; "), losses(operation).join("; ")].join(" | ")} |`];
  });
  return [
    `## ${resource.name}`,
    "",
    "| operation | v1 | v2 | extra calls | what is lost or different |",
    "|---|---|---|---|---|",
    ...rows,
    "",
    ...volatileLines(resource),
    ...timesLines(resource),
  ];
}

/** What comparisons take for noise. */
function volatileLines({ volatile = [] }: Resource): readonly string[] {
  if (volatile.length === 0) return [];
  return [
    `${names(volatile)} may change with every read: comparisons check that it is present, but not its value.`,
    "",
  ];
}

/** What answers show only because the specification says so. */
function timesLines({ operations }: Resource): readonly string[] {
  const paths = operations.flatMap(unpublishedPaths).map((path) => path.replace(/^items\[\]\./, ""));
  if (paths.length === 0) return [];
  return [`\`v1.recordTimes: published\` leaves out ${names([...new Set(paths)])}.`, ""];
}

const METHODS = { list: "GET", get: "GET", create: "POST", update: "PUT", delete: "DELETE" } as const;
const V2_METHODS = { ...METHODS, update: "PATCH" } as const;

function v1Of({ domain, v1 }: Resource, operation: Served): string {
  if ("path" in operation) return `${operation.method} /${domain}/v1/${operation.path}`;
  const path = operation.kind === "list" ? v1 : `${v1}/{${operation.kind === "create" ? "parent" : "id"}=**}`;
  return `${METHODS[operation.kind]} /${domain}/v1/${path}`;
}

function v2Of({ domain, v2 }: Resource, operation: Served, version: string): string {
  if ("docs" in operation && operation.docs?.calls !== undefined) return operation.docs.calls;
  const base = `/${domain}/${version}`;
  if (operation.kind === "call") return `\`${operation.v2.method} ${base}/${operation.v2.path}\``;
  if (operation.kind === "composite") return operation.v2 === undefined ? operation.by : `\`${base}/${operation.v2}\``;
  const path = operation.kind === "list" ? v2 : `${v2}/{${operation.kind === "create" ? "parent" : "uid"}=**}`;
  return `\`${V2_METHODS[operation.kind]} ${base}/${path}\``;
}

/** What takes more than one call. */
function costs(operation: Served): readonly string[] {
  if (operation.kind === "delete") return [];
  const found: string[] = [];
  if (operation.kind === "list") {
    found.push(operation.envelope === undefined ? "one call per 200 records" : "");
    found.push(...operation.filters.filter(({ use }) => use === "get").map(({ v1 }) => `\`${v1}\`: one Get instead`));
  }
  if ("joins" in operation) found.push(...(operation.joins ?? []).map(joinWords));
  if (operation.kind === "update") {
    const first = pathsWhere(operation.body.rows, (row) => row.access !== "output" && row.mask === "when-changed");
    const always = pathsWhere(operation.body.rows, (row) => row.access !== "output" && row.mask === "unless-synced");
    if (always.length > 0) found.push("one read before the write");
    else if (first.length > 0) found.push(`one read before the write if the client sends ${names(first)}`);
  }
  return found.filter((text) => text !== "");
}

function joinWords({ v1, resource, read, sub }: Join): string {
  if (sub !== undefined) return `\`${v1}\`: one Get of \`${sub}\` per record`;
  return `\`${v1}\`: ${read === "get" ? `one Get per distinct ${resource}` : `one call per 200 distinct ${plural(resource)}`}`;
}

/** What v2 cannot say, or says otherwise. */
function losses(operation: Served): readonly string[] {
  const told = "docs" in operation ? (operation.docs?.differs ?? []) : [];
  if (operation.kind === "delete") return told;
  const found: string[] = [];
  if (operation.kind === "get" && operation.extension) found.push("v1 had no such Get");
  const body = "body" in operation ? operation.body : undefined;
  if (body !== undefined) {
    // A create or an update of several calls may write it elsewhere, or refuse it: its own words say which.
    if (operation.kind === "composite" || !("by" in operation)) found.push(...droppedFields(body));
    found.push(...bodyLosses(body, operation.kind));
  }
  const shown = pathsWhere(operation.answer.rows, (row) => isInput(row) && row.from === undefined && isGone(row));
  if (shown.length > 0) found.push(`always shown empty: ${names(shown)}`);
  if ("filters" in operation) found.push(...(operation.filters ?? []).flatMap(filterLosses));
  return [...found, ...told];
}

function droppedFields({ rows }: Shape): readonly string[] {
  const found: string[] = [];
  const gone = pathsWhere(rows, (row) => isInput(row) && isGone(row));
  if (gone.length > 0) found.push(`dropped because v2 has no such field: ${names(gone)}`);
  const serverSet = pathsWhere(rows, (row) => row.access !== "output" && row.mask === "never");
  if (serverSet.length > 0) found.push(`dropped because v2 sets it: ${names(serverSet)}`);
  return found;
}

function bodyLosses({ rows }: Shape, kind: Served["kind"]): readonly string[] {
  const found: string[] = [];
  const wanted = pathsWhere(rows, (row) => row.access !== "output" && row.required === true);
  if (kind === "create" && wanted.length > 0) found.push(`400 without ${names(wanted)}`);
  const alone = pathsWhere(rows, (row) => row.access !== "output" && row.syncs !== true && leftAlone(row.mask));
  if (kind === "update" && alone.length > 0) found.push(`keeps its value when left out: ${names(alone)}`);
  const synced = pathsWhere(rows, (row) => row.access !== "output" && row.mask === "unless-synced");
  if (kind === "update" && synced.length > 0)
    found.push(`keeps its value when left out of a synced record: ${names(synced)}`);
  for (const row of allRows(rows)) {
    if (row.kind !== "enum" || !isInput(row)) continue;
    const lacking = row.values.values.flatMap(([v1, , v2]) => (v1 !== null && v2 === null ? [v1] : []));
    if (lacking.length > 0) found.push(`400 because v2 has no such value: \`${row.v1}\` ${names(lacking)}`);
  }
  return found;
}

function leftAlone(mask: string | undefined): boolean {
  return mask === "when-present" || mask === "when-changed" || mask === "members";
}

function isInput(row: Row): boolean {
  return row.access !== "output";
}

function filterLosses(filter: Filter): readonly string[] {
  if (filter.use !== "enum") return [];
  // The zero is no filter: there is nothing to be asked.
  const lacking = filter.values.values.flatMap(([v1, number, v2]) =>
    v1 !== null && v2 === null && number !== 0 ? [v1] : [],
  );
  return lacking.length === 0 ? [] : [`400 because v2 has no such filter value: \`${filter.v1}\` ${names(lacking)}`];
}

function names(list: readonly string[]): string {
  return list.map((name) => `\`${name}\``).join(", ");
}

function* allRows(rows: readonly Row[]): Generator<Row> {
  for (const row of rows) {
    yield row;
    yield* allRows(nestedRows(row) ?? []);
  }
}

/** True for a row that v2 has no place for. A message without a v2 name may be flattened: then its rows say where they go. */
function isGone(row: Row): boolean {
  return (
    row.v2 === null && !(row.kind === "message" && row.rows.some(({ v2, from }) => v2 !== null || from !== undefined))
  );
}

/** Dotted v1 paths of the rows that pass; what lies in one of them is not named again. */
function pathsWhere(rows: readonly Row[], test: (row: Row) => boolean, prefix = ""): readonly string[] {
  return rows.flatMap((row) => {
    const path = `${prefix}${row.v1}`;
    return test(row) ? [path] : pathsWhere(nestedRows(row) ?? [], test, `${path}.`);
  });
}
