/**
 * docs/coverage.md: how every v1 operation is served, what is lost, and what takes more than one call. The page begins with what carryover does
 * not do, and so does the README.
 */

import type { Catalogue } from "../../src/catalogue/catalogue.ts";
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

type Known = Pick<Catalogue, "resources" | "natives" | "version">;

/** `docs/coverage.md`. `missed`: what docs/trust.md says of missed goals. */
export function coveragePage({ resources, natives, version }: Known, missed: string): string {
  const domains = countDomains(resources, natives);
  return [
    ...HEAD,
    ...translatedSection(domains, extensionsOf(resources)),
    ...GUESSED,
    ...updatesSection(resources),
    "## Missed goals",
    "",
    missed,
    "",
    ...resources.flatMap((resource) => resourceSection(resource, version)),
    "## Served by native v1",
    "",
    "carryover sends these operations to `upstream.v1.url`. Without that URL, or with `fallback: refuse`, the response is 501 with the operation's name.",
    "",
    "| operation | v1 | v2 |",
    "|---|---|---|",
    ...resources.flatMap((resource) =>
      resource.operations.filter(isNative).flatMap((each) => (each.extension ? [] : [nativeRow(resource, each)])),
    ),
    ...natives.flatMap(({ domain, operations }) =>
      operations.map(
        ({ resource, name, method, path, inV2 }) =>
          `| ${resource} ${name} | \`${method} /${domain}/v1/${path}\` | ${inV2 ? "has it; not translated" : NOT_IN_V2} |`,
      ),
    ),
    "",
  ].join("\n");
}

/** What the README says first. `missed` as above. */
export function readmeLimits({ resources, natives }: Known, missed: string): string {
  const domains = countDomains(resources, natives);
  const { translated, all, inV2, onlyV1 } = sumOf(domains);
  const some = domains.filter((domain) => domain.translated > 0);
  const kept = keptFields(resources);
  const fields = kept.reduce((sum, { leftOut }) => sum + leftOut.length, 0);
  const example = kept.find(({ resource }) => resource === "group");
  return [
    `- carryover translates ${translated} of v1's ${all} operations: ${some.map((one) => `${one.translated} of ${one.all} in ${one.domain}`).join(", ")}. Native v1 serves the other ${inV2 + onlyV1}: v2 lacks ${onlyV1} of them, and ${inV2} are not translated ([coverage](docs/coverage.md)).`,
    `- A \`PUT\` leaves ${fields} fields of ${kept.length} resources as they are when a client leaves them out, such as ${names(example?.leftOut.slice(0, 1) ?? [])} of a group ([all of them](docs/coverage.md#what-a-put-leaves-alone)).`,
    "",
    missed,
  ].join("\n");
}

/** How many v1 operations of a domain there are: translated, not translated though v2 has them, and those that v2 lacks. */
interface DomainCount {
  readonly domain: string;
  readonly all: number;
  readonly translated: number;
  readonly inV2: number;
  readonly onlyV1: number;
}

function countDomains(resources: readonly Resource[], natives: readonly NativeDomain[]): readonly DomainCount[] {
  const domains = new Set([...resources, ...natives].map(({ domain }) => domain));
  return [...domains].map((domain) => {
    const own = resources.filter((resource) => resource.domain === domain).flatMap(({ operations }) => operations);
    const known = own.filter((operation) => !("extension" in operation && operation.extension === true));
    const others = natives.filter((native) => native.domain === domain).flatMap(({ operations }) => operations);
    const translated = known.filter((operation) => !isNative(operation)).length;
    const inV2 = others.filter((operation) => operation.inV2).length;
    const all = known.length + others.length;
    return { domain, all, translated, inV2, onlyV1: all - translated - inV2 };
  });
}

function sumOf(domains: readonly DomainCount[]): Omit<DomainCount, "domain"> {
  const sum = (key: "all" | "translated" | "inV2" | "onlyV1") =>
    domains.reduce((total, domain) => total + domain[key], 0);
  return { all: sum("all"), translated: sum("translated"), inV2: sum("inV2"), onlyV1: sum("onlyV1") };
}

/** Translated Gets by id, which v1 did not have. */
function extensionsOf(resources: readonly Resource[]): number {
  return resources.flatMap(({ operations }) => operations.filter((each) => each.kind === "get" && each.extension))
    .length;
}

function translatedSection(domains: readonly DomainCount[], extensions: number): readonly string[] {
  const { translated, all, inV2, onlyV1 } = sumOf(domains);
  return [
    `${translated} of ${all} v1 operations are translated; ${extensions} Gets by id are extensions. [Native v1 serves](#served-by-native-v1) the other ${inV2 + onlyV1}: v2 lacks ${onlyV1} of them, and ${inV2} exist in v2 but are not translated. v1 cannot be switched off while clients call those.`,
    "",
    `Over gRPC the same ${translated} operations are translated, each by the rpc whose HTTP rule names it ([grpc.md](grpc.md)). v1 has no rpc for the extensions.`,
    "",
    "| domain | v1 operations | translated | in v2, not translated | not in v2 |",
    "|---|---|---|---|---|",
    ...domains.map((one) => `| ${one.domain} | ${one.all} | ${one.translated} | ${one.inV2} | ${one.onlyV1} |`),
    `| all | ${all} | ${translated} | ${inV2} | ${onlyV1} |`,
    "",
  ];
}

/** Fields that an update of this resource does not change: when the client leaves them out, and whatever it sends. */
interface KeptFields {
  readonly resource: string;
  readonly leftOut: readonly string[];
  /** Left out of a synced record. */
  readonly synced: readonly string[];
  readonly always: readonly string[];
}

function keptFields(resources: readonly Resource[]): readonly KeptFields[] {
  return resources.flatMap(({ name, operations }) =>
    operations.flatMap((operation) => {
      // A tag is created anew; v1 kept what was left out of it, too.
      if (operation.kind !== "update" || operation.by === "replace-by-create") return [];
      const { rows } = operation.body;
      const leftOut = pathsWhere(rows, staysWhenLeftOut);
      const synced = pathsWhere(rows, staysWhenSynced);
      const always = pathsWhere(rows, (row) => row.access !== "output" && row.mask === "never");
      return [...leftOut, ...synced, ...always].length === 0 ? [] : [{ resource: name, leftOut, synced, always }];
    }),
  );
}

function updatesSection(resources: readonly Resource[]): readonly string[] {
  return [
    "## What a PUT leaves alone",
    "",
    "A v1 `PUT` replaced the whole record. These fields keep their values all the same. If a field that the client leaves out has a value, the response names it in `carryover-mismatch`. [updates.md](updates.md) says why.",
    "",
    "| resource | stays when left out | stays when left out of a record with a `sync_config` | stays always, because v2 sets it |",
    "|---|---|---|---|",
    ...keptFields(resources).map(
      ({ resource, leftOut, synced, always }) =>
        `| ${[resource, names(leftOut), names(synced), names(always)].join(" | ")} |`,
    ),
    "",
  ];
}

const GUESSED = [
  "*guessed* means that the meaning of some v1 members is not documented. Native v1, if configured, serves such an operation in every mode, unless `fallback` is `refuse` or a rule names the operation. Without native v1 carryover translates it.",
  "",
];

const HEAD = ["# Coverage", "", "`npm run docs` generates this page from the catalogue.", ""];

const NOT_IN_V2 = "no such operation";

type Native = Operation & { readonly kind: "native" };
type Served = Exclude<Operation, Native>;

function isNative(operation: Operation): operation is Native {
  return operation.kind === "native";
}

function nativeRow({ name, domain }: Resource, operation: Native): string {
  return `| ${name} ${operation.name} | \`${operation.method} /${domain}/v1/${operation.path}\` | ${NOT_IN_V2} |`;
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
  const alone = pathsWhere(rows, staysWhenLeftOut);
  if (kind === "update" && alone.length > 0) found.push(`keeps its value when left out: ${names(alone)}`);
  const synced = pathsWhere(rows, staysWhenSynced);
  if (kind === "update" && synced.length > 0)
    found.push(`keeps its value when left out of a synced record: ${names(synced)}`);
  for (const row of allRows(rows)) {
    if (row.kind !== "enum" || !isInput(row)) continue;
    const lacking = row.values.values.flatMap(([v1, , v2]) => (v1 !== null && v2 === null ? [v1] : []));
    if (lacking.length > 0) found.push(`400 because v2 has no such value: \`${row.v1}\` ${names(lacking)}`);
  }
  return found;
}

function staysWhenLeftOut(row: Row): boolean {
  return row.access !== "output" && row.syncs !== true && leftAlone(row.mask);
}

function staysWhenSynced(row: Row): boolean {
  return row.access !== "output" && row.mask === "unless-synced";
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
