/** How v1 calls, fields, query parameters and enum values are named in v2, as Markdown. */
import type { EnumTable, Filter, Join, Operation, Resource, Row } from "../model/resource.ts";
import { replaceUnprintable } from "../model/text.ts";

/** Fields, query parameters and other differences of the operations of `resource` among `called`. */
export function resourceSection(resource: Resource, called: readonly CalledOperation[]): readonly string[] {
  const operations = called.filter((one) => one.resource === resource).map(({ operation }) => operation);
  const fields = renamedFields(operations);
  const queries = new Map<string, string>();
  for (const filter of operations.flatMap((one) => ("filters" in one ? (one.filters ?? []) : []))) {
    const v2 = changedQuery(filter);
    if (v2 !== undefined) queries.set(filter.v1, v2);
  }
  const notes = operations.flatMap((one) => (one.docs?.differs ?? []).map((text) => `- ${one.name}: ${text}`));
  const itemsDiffer = resource.items !== "items" && operations.some(({ kind }) => kind === "list");
  const lines = [
    ...(itemsDiffer ? [`A list answers with \`items\` in v1, with ${code(resource.items)} in v2.`, ""] : []),
    ...markdownTable(["field in v1", "in v2", "where"], fields.map(fieldRow)),
    ...markdownTable(
      ["query in v1", "in v2"],
      Array.from(queries, ([v1, v2]) => [code(v1), v2]),
    ),
    ...(notes.length === 0 ? [] : ["Otherwise than in v1:", "", ...notes, ""]),
  ];
  return lines.length === 0 ? [] : [`## ${resource.name}`, "", ...lines];
}

function fieldRow({ v1, v2, answers, requests, note }: RenamedField): readonly string[] {
  // `uid/..` is the parent of that uid.
  const pathText = (text: string) =>
    text.endsWith("/..") ? `the parent in ${code(text.slice(0, -"/..".length))}` : code(text);
  const path = v2.map(pathText).join(" or ");
  const where = [
    ...(answers.length === 0 ? [] : [`answers of ${answers.join(", ")}`]),
    ...(requests.length === 0 ? [] : [`requests of ${requests.join(", ")}`]),
  ];
  return [code(v1), [path, note].filter((text) => text !== "").join(": "), where.join("; ")];
}

/** Enum values that have other names in v2, once for all of `called`. */
export function enumSection(called: readonly CalledOperation[]): readonly string[] {
  const lines = renamedEnums(called.map(({ operation }) => operation)).flatMap(enumLines);
  return lines.length === 0 ? [] : ["## Names of values", "", ...lines];
}

/** Long enums follow one pattern, so a part is enough. */
const MOST_VALUES = 16;

function enumLines({ name, values }: EnumTable): readonly string[] {
  const differing = values.filter(([v1, , v2]) => v1 !== v2);
  const rows = differing
    .slice(0, MOST_VALUES)
    .map(([v1, , v2]) => [v1 === null ? "– (new)" : code(v1), v2 === null ? "– (none)" : code(v2)]);
  const more = differing.length - rows.length;
  return [
    ...markdownTable([`${name} in v1`, "in v2"], rows),
    ...(more > 0 ? [`And ${more} more, named alike.`, ""] : []),
  ];
}

/** A field with another name or another path in v2. */
interface RenamedField {
  /** Dotted. */
  readonly v1: string;
  /** Dotted; of several, the first that is not empty counts. None: v2 has no such field. */
  readonly v2: readonly string[];
  /** Names of the operations in whose responses, and in whose requests, this is so. */
  readonly answers: readonly string[];
  readonly requests: readonly string[];
  /** Markdown: anything else to know. */
  readonly note: string;
}

/** A field of one operation. */
type FieldDifference = Omit<RenamedField, "answers" | "requests">;

/** Fields of `operations` that differ, each once, in the order of the catalogue. */
function renamedFields(operations: readonly Operation[]): readonly RenamedField[] {
  const all = new Map<string, FieldDifference & { readonly answers: string[]; readonly requests: string[] }>();
  const add = (side: "answers" | "requests", operation: string, list: readonly FieldDifference[]): void => {
    for (const field of list) {
      const key = JSON.stringify(field);
      const known = all.get(key) ?? { ...field, answers: [], requests: [] };
      known[side].push(operation);
      all.set(key, known);
    }
  };
  for (const operation of operations) {
    const { name, kind } = operation;
    const joins = new Map(("joins" in operation ? (operation.joins ?? []) : []).map((join) => [join.v1, join]));
    // The response of a summary is computed by carryover: its rows name no fields of v2.
    const isSummary = operation.kind === "composite" && operation.by === "summarise";
    if ("answer" in operation && !isSummary) add("answers", name, answered(operation.answer.rows, joins, TOP));
    if ("body" in operation) add("requests", name, sent(operation.body?.rows ?? [], TOP, kind === "create"));
  }
  return [...all.values()];
}

interface PathPrefix {
  readonly v1: string;
  readonly v2: string;
}
const TOP: PathPrefix = { v1: "", v2: "" };

function answered(rows: readonly Row[], joins: ReadonlyMap<string, Join>, prefix: PathPrefix): FieldDifference[] {
  return rows.flatMap((row) => {
    const v1 = `${prefix.v1}${row.v1}`;
    const join = joins.get(v1);
    if (join !== undefined) return [{ v1, v2: [], note: joined(join) }];
    const v2 = row.from ?? (row.v2 === null ? [] : [`${prefix.v2}${row.v2}`]);
    // The rows of a message that v2 lacks may lie in the message around it.
    const inner = answered(nested(row), NO_JOINS, innerPrefix(row, prefix));
    if (isFlat(row)) return inner;
    if (v2.length === 0) return [{ v1, v2, note: NOT_IN_V2 }];
    const differs = row.from === undefined ? row.v1 !== row.v2 : row.from.length !== 1 || row.from[0] !== row.v1;
    return [...(differs ? [{ v1, v2, note: "" }] : []), ...inner];
  });
}

function sent(rows: readonly Row[], prefix: PathPrefix, creates: boolean): FieldDifference[] {
  return rows.flatMap((row) => {
    if (row.access === "output") return [];
    const v1 = `${prefix.v1}${row.v1}`;
    const inner = sent(nested(row), innerPrefix(row, prefix), creates);
    if (isFlat(row)) return inner;
    if (row.v2 === null) return [{ v1, v2: [], note: NOT_IN_V2 }];
    const v2 = [`${prefix.v2}${row.v2}`];
    if (row.mask === "never") return [{ v1, v2, note: "v2 sets it: do not send it" }];
    const note = creates && row.required === true ? "v2 wants it" : "";
    return [...(row.v1 !== row.v2 || note !== "" ? [{ v1, v2, note }] : []), ...inner];
  });
}

const NOT_IN_V2 = "v2 has no such field";
const NO_JOINS: ReadonlyMap<string, Join> = new Map();

function joined({ resource, by, take, sub }: Join): string {
  if (sub !== undefined) return `a read of its own: \`${sub}\` of the ${resource} \`${by}\``;
  const what = take === "record" ? "a read of its own" : `\`${take.member}\`, in a read of its own`;
  return `${what}: the ${resource} \`${by}\``;
}

function nested(row: Row): readonly Row[] {
  if (row.kind === "message") return row.rows;
  return row.kind === "map" && typeof row.of === "object" ? row.of.rows : [];
}

function innerPrefix(row: Row, prefix: PathPrefix): PathPrefix {
  const list = row.kind === "map" ? ".*" : row.list === true ? "[]" : "";
  const v2 = isFlat(row) ? prefix.v2 : `${prefix.v2}${row.v2 ?? row.from?.[0] ?? ""}${list}.`;
  return { v1: `${prefix.v1}${row.v1}${list}.`, v2 };
}

function isFlat(row: Row): boolean {
  return (
    row.kind === "message" &&
    row.v2 === null &&
    row.from === undefined &&
    row.rows.some(({ v2, from }) => v2 !== null || from !== undefined)
  );
}

/** Enums with differing names that `operations` return, accept or filter by; each once. */
function renamedEnums(operations: readonly Operation[]): readonly EnumTable[] {
  const tables = operations.flatMap((operation) => [
    ...("answer" in operation ? enumsIn(operation.answer.rows) : []),
    ...("body" in operation ? enumsIn(operation.body?.rows ?? []) : []),
    ...("filters" in operation ? (operation.filters ?? []) : []).flatMap((one) =>
      one.use === "enum" ? [one.values] : [],
    ),
  ]);
  return [...new Set(tables)].filter(({ values }) => values.some(([v1, , v2]) => v1 !== v2));
}

function enumsIn(rows: readonly Row[]): EnumTable[] {
  return rows.flatMap((row) => (row.kind === "enum" ? [row.values] : enumsIn(nested(row))));
}

/** Markdown for the v2 form of a query parameter; undefined if it stays as it is. */
function changedQuery(filter: Filter): string | undefined {
  switch (filter.use) {
    case "get":
      return "a Get of that uid; 404 where v1 gave an empty list";
    case "parent":
      return "`uidp.children_of`; for `/` it is `uidp.in_root=true`";
    case "inverted":
      return `${code(filter.v2)} with the opposite value; send it also where v1's was left out`;
    case "enum":
      return `${code(filter.v2)} with v2's names (below)`;
    case "send":
    case "page-size":
    case "page-token":
      return filter.v1 === filter.v2 ? undefined : code(filter.v2);
    default:
      return filter satisfies never;
  }
}

/** An operation of the catalogue that a client calls. */
export interface CalledOperation {
  readonly resource: Resource;
  readonly operation: Operation;
}

const METHODS = { list: "GET", get: "GET", create: "POST", update: "PUT", delete: "DELETE" } as const;
const V2_METHODS = { ...METHODS, update: "PATCH" } as const;

/** `PUT /iam/v1/groups/{id}`. */
export function v1Call({ resource: { domain, v1 }, operation }: CalledOperation): string {
  const base = `/${domain}/v1`;
  if ("path" in operation) return `${operation.method} ${base}/${plainTemplate(operation.path)}`;
  return `${METHODS[operation.kind]} ${base}/${v1}${uidSuffix(operation.kind, "id")}`;
}

/** Markdown; undefined when v2 lacks it. `version`: v2's version segment. */
export function v2Call({ resource: { domain, v2 }, operation }: CalledOperation, version: string): string | undefined {
  if (operation.kind === "native") return undefined;
  const base = `/${domain}/${version}`;
  // The catalogue leaves the domain out of calls in the resource's own domain.
  if (operation.docs?.calls !== undefined) return operation.docs.calls.replace(VERB, `\`$1 ${base}/$2\``);
  if (operation.kind === "call") return `\`${operation.v2.method} ${base}/${operation.v2.path}\``;
  if (operation.kind === "composite") return `\`${base}/${operation.v2 ?? v2}\``;
  return `\`${V2_METHODS[operation.kind]} ${base}/${v2}${uidSuffix(operation.kind, "uid")}\``;
}

const VERB = /`(GET|POST|PATCH|DELETE) ([A-Za-z][^`\s]*)`/g;

function uidSuffix(kind: keyof typeof METHODS, id: string): string {
  if (kind === "list") return "";
  return kind === "create" ? "/{parent}" : `/{${id}}`;
}

/** `repos/{id=**}` → `repos/{id}`. */
function plainTemplate(path: string): string {
  return path.replace(/=\*+\}/g, "}");
}

/** Foreign text as code; a backquote, which would end it, is shown as an apostrophe. */
export function code(text: string): string {
  return `\`${replaceUnprintable(text).replaceAll("`", "'")}\``;
}

/** A table with a head; nothing if it has no rows. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  if (rows.length === 0) return [];
  return [markdownRow(head), markdownRow(head.map(() => "---")), ...rows.map(markdownRow), ""];
}

/** A bar would end the cell, even in code. */
function markdownRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

/** A code block in `language`, and an empty line. */
export function block(language: string, text: string): readonly string[] {
  return [`\`\`\`${language}`, ...text.split("\n"), "```", ""];
}

/** Texts as code, separated by commas. */
export function codes(texts: readonly string[]): string {
  return texts.map(code).join(", ");
}
