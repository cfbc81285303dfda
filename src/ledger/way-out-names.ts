/** Which names change in the calls of one client? */
import type { EnumTable, Filter, Join, Operation, Resource, Row } from "../model/resource.ts";

/** Fields, query parameters and what else differs, of the operations of `resource` that are `called`. */
export function resourceSection(resource: Resource, called: readonly CalledOperation[]): readonly string[] {
  const operations = called.filter((one) => one.resource === resource).map(({ operation }) => operation);
  const fields = renamedFields(operations);
  const queries = operations.flatMap((one) => ("filters" in one ? changedQueries(one.filters ?? []) : []));
  const notes = operations.flatMap((one) => (one.docs?.differs ?? []).map((text) => `- ${one.name}: ${text}`));
  const lists = operations.some(({ kind }) => kind === "list");
  const key =
    lists && resource.items !== "items"
      ? `A list answers with \`items\` in v1, with ${code(resource.items)} in v2.`
      : "";
  const rest = [
    ...(key === "" ? [] : [key, ""]),
    ...markdownTable(["field in v1", "in v2", "where"], fields.map(fieldRow)),
    ...markdownTable(
      ["query in v1", "in v2"],
      [...new Map(queries)].map(([v1, v2]) => [code(v1), v2]),
    ),
    ...(notes.length === 0 ? [] : ["Otherwise than in v1:", "", ...notes, ""]),
  ];
  return rest.length === 0 ? [] : [`## ${resource.name}`, "", ...rest];
}

function fieldRow({ v1, v2, answers, requests, note }: RenamedField): readonly string[] {
  const place = v2.map(placeWords).join(" or ");
  const where = [
    ...(answers.length === 0 ? [] : [`answers of ${answers.join(", ")}`]),
    ...(requests.length === 0 ? [] : [`requests of ${requests.join(", ")}`]),
  ];
  return [code(v1), [place, note].filter((text) => text !== "").join(": "), where.join("; ")];
}

/** `uid/..` is the parent of that uid. */
function placeWords(path: string): string {
  return path.endsWith("/..") ? `the parent in ${code(path.slice(0, -"/..".length))}` : code(path);
}

/** Values with other names, once for all that is `called`. */
export function enumSection(called: readonly CalledOperation[]): readonly string[] {
  const lines = renamedEnums(called.map(({ operation }) => operation)).flatMap(enumLines);
  return lines.length === 0 ? [] : ["## Names of values", "", ...lines];
}

/** Long ones are shown in part: they follow one pattern. */
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

/** What are a resource's fields and enum values called in v2, where that is something else than in v1? */

/** One field with another name, or another place. */
export interface RenamedField {
  /** Dotted. */
  readonly v1: string;
  /** Dotted; several are read in turn, the first that is not empty counts. None: v2 has no such field. */
  readonly v2: readonly string[];
  /** Names of the operations in whose answers, and in whose requests, it is so. */
  readonly answers: readonly string[];
  readonly requests: readonly string[];
  /** Markdown: what else there is to know. */
  readonly note: string;
}

/** A field of one operation. */
type FieldDifference = Omit<RenamedField, "answers" | "requests">;

/** Fields of `operations` that differ, each once, in the order of the catalogue. */
export function renamedFields(operations: readonly Operation[]): readonly RenamedField[] {
  const all = new Map<
    string,
    { readonly found: FieldDifference; readonly answers: string[]; readonly requests: string[] }
  >();
  const add = (side: "answers" | "requests", operation: string, list: readonly FieldDifference[]): void => {
    for (const found of list) {
      const key = JSON.stringify(found);
      const known = all.get(key) ?? { found, answers: [], requests: [] };
      known[side].push(operation);
      all.set(key, known);
    }
  };
  for (const operation of operations) {
    const { name, kind } = operation;
    const joins = new Map(("joins" in operation ? (operation.joins ?? []) : []).map((join) => [join.v1, join]));
    if ("answer" in operation && !isMadeUp(operation))
      add("answers", name, answered(operation.answer.rows, joins, TOP));
    if ("body" in operation) add("requests", name, sent(operation.body?.rows ?? [], TOP, kind === "create"));
  }
  return [...all.values()].map(({ found, answers, requests }) => ({ ...found, answers, requests }));
}

/** Its answer is carryover's own sum: its rows name no fields of v2. */
function isMadeUp(operation: Operation): boolean {
  return operation.kind === "composite" && operation.by === "summarise";
}

interface PathPrefix {
  readonly v1: string;
  readonly v2: string;
}
const TOP: PathPrefix = { v1: "", v2: "" };

function answered(rows: readonly Row[], joins: ReadonlyMap<string, Join>, place: PathPrefix): FieldDifference[] {
  return rows.flatMap((row) => {
    const v1 = `${place.v1}${row.v1}`;
    const join = joins.get(v1);
    if (join !== undefined) return [{ v1, v2: [], note: joined(join) }];
    const v2 = row.from ?? (row.v2 === null ? [] : [`${place.v2}${row.v2}`]);
    // A message that v2 lacks may lie flat in the one around it; then its rows say where they are.
    const inner = answered(nested(row), NO_JOINS, innerPrefix(row, place));
    if (isFlat(row)) return inner;
    const known = { v1, v2, note: v2.length === 0 ? NOT_IN_V2 : "" };
    return [...(differs(row) ? [known] : []), ...(v2.length === 0 ? [] : inner)];
  });
}

function sent(rows: readonly Row[], place: PathPrefix, creates: boolean): FieldDifference[] {
  return rows.flatMap((row) => {
    if (row.access === "output") return [];
    const v1 = `${place.v1}${row.v1}`;
    const inner = sent(nested(row), innerPrefix(row, place), creates);
    if (isFlat(row)) return inner;
    if (row.v2 === null) return [{ v1, v2: [], note: NOT_IN_V2 }];
    const v2 = [`${place.v2}${row.v2}`];
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

function innerPrefix(row: Row, place: PathPrefix): PathPrefix {
  const list = row.kind === "map" ? ".*" : row.list === true ? "[]" : "";
  const v2 = isFlat(row) ? place.v2 : `${place.v2}${row.v2 ?? row.from?.[0] ?? ""}${list}.`;
  return { v1: `${place.v1}${row.v1}${list}.`, v2 };
}

function isFlat(row: Row): boolean {
  return (
    row.kind === "message" &&
    row.v2 === null &&
    row.from === undefined &&
    row.rows.some(({ v2, from }) => v2 !== null || from !== undefined)
  );
}

function differs(row: Row): boolean {
  return row.from === undefined ? row.v1 !== row.v2 : row.from.length !== 1 || row.from[0] !== row.v1;
}

/** Enums whose names differ that `operations` show, take or filter by; each once. */
export function renamedEnums(operations: readonly Operation[]): readonly EnumTable[] {
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

/** What becomes of a list's query parameters in v2? */

/** v1's parameter, and Markdown for v2's; nothing for those that stay as they are. */
export function changedQueries(filters: readonly Filter[]): readonly (readonly [v1: string, v2: string])[] {
  return filters.flatMap((filter) => {
    const v2 = changedQuery(filter);
    return v2 === undefined ? [] : [[filter.v1, v2] as const];
  });
}

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

/** Which v2 call takes the place of a v1 call? (Said by method and path; `docs/coverage.md` says it for all.) */

/** An operation that a client calls, as the catalogue has it. */
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
  // The catalogue names verbs of the resource's own domain without it.
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

/** How do texts of strangers stand in Markdown so that they are only text? */

/** `text` as code, whatever it holds; a backquote, which would end it, is shown as an apostrophe. */
export function code(text: string): string {
  return `\`${text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "�").replaceAll("`", "'")}\``;
}

/** A table with a head; nothing when it has no rows. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  if (rows.length === 0) return [];
  return [markdownRow(head), markdownRow(head.map(() => "---")), ...rows.map(markdownRow), ""];
}

/** Also in code a bar would end the cell. */
function markdownRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

/** `text` set apart as code in `language`, with an empty line behind it. */
export function block(language: string, text: string): readonly string[] {
  return [`\`\`\`${language}`, ...text.split("\n"), "```", ""];
}

/** Each one as code, with commas. */
export function codes(texts: readonly string[]): string {
  return texts.map(code).join(", ");
}
