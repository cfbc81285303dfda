/** What are a resource's fields and enum values called in v2, where that is something else than in v1? */
import type { EnumTable, Join, Operation, Row } from "../../model/resource.ts";

/** One field with another name, or another place. */
export interface Renamed {
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
type Found = Omit<Renamed, "answers" | "requests">;

/** Fields of `operations` that differ, each once, in the order of the catalogue. */
export function renamedFields(operations: readonly Operation[]): readonly Renamed[] {
  const all = new Map<string, { readonly found: Found; readonly answers: string[]; readonly requests: string[] }>();
  const add = (side: "answers" | "requests", operation: string, list: readonly Found[]): void => {
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

interface Place {
  readonly v1: string;
  readonly v2: string;
}
const TOP: Place = { v1: "", v2: "" };

function answered(rows: readonly Row[], joins: ReadonlyMap<string, Join>, place: Place): Found[] {
  return rows.flatMap((row) => {
    const v1 = `${place.v1}${row.v1}`;
    const join = joins.get(v1);
    if (join !== undefined) return [{ v1, v2: [], note: joined(join) }];
    const v2 = row.from ?? (row.v2 === null ? [] : [`${place.v2}${row.v2}`]);
    // A message that v2 lacks may lie flat in the one around it; then its rows say where they are.
    const inner = answered(nested(row), NO_JOINS, innerPlace(row, place));
    if (isFlat(row)) return inner;
    const known = { v1, v2, note: v2.length === 0 ? GONE : "" };
    return [...(differs(row) ? [known] : []), ...(v2.length === 0 ? [] : inner)];
  });
}

function sent(rows: readonly Row[], place: Place, creates: boolean): Found[] {
  return rows.flatMap((row) => {
    if (row.access === "output") return [];
    const v1 = `${place.v1}${row.v1}`;
    const inner = sent(nested(row), innerPlace(row, place), creates);
    if (isFlat(row)) return inner;
    if (row.v2 === null) return [{ v1, v2: [], note: GONE }];
    const v2 = [`${place.v2}${row.v2}`];
    if (row.mask === "never") return [{ v1, v2, note: "v2 sets it: do not send it" }];
    const note = creates && row.required === true ? "v2 wants it" : "";
    return [...(row.v1 !== row.v2 || note !== "" ? [{ v1, v2, note }] : []), ...inner];
  });
}

const GONE = "v2 has no such field";
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

function innerPlace(row: Row, place: Place): Place {
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
