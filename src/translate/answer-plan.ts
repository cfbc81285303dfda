/** Which edits turn a v2 record into the v1 record of a shape? (Design: the rewriter, fields in answers.) */
import type { EnumPlan, Insert, MemberPlan, ObjectPlan, ValuePlan } from "../json/plan.ts";
import type { EnumTable, Join, Row, Shape, Value } from "../model/resource.ts";
import { type Joined, type Reshaped, reshape, rootOf } from "./reshape.ts";

export interface AnswerOptions {
  /** Members in no row: handed on or left out; counted both ways. */
  readonly unknown: "pass" | "drop";
  /** Whether v2 may leave zero values out, so that they are inserted. Those of members that v2 lacks always are. */
  readonly insertZeros: boolean;
}

/** The edits for one record of `shape`. `joined` holds what was read for its joins. */
export function answerPlan(
  shape: Shape,
  options: AnswerOptions,
  joins: readonly Join[] = [],
  joined?: Joined,
): ObjectPlan {
  return objectPlan(shape.rows, shape.v2Only, "", options, joins, joined);
}

function objectPlan(
  rows: readonly Row[],
  v2Only: readonly string[],
  label: string,
  options: AnswerOptions,
  joins: readonly Join[],
  joined: Joined | undefined,
): ObjectPlan {
  const members = new Map<string, MemberPlan>();
  for (const name of v2Only) members.set(name, { drop: true });
  const insert: Insert[] = [];
  const reshaped: Reshaped[] = [];
  const readTwice = readByOthers(rows, joins);
  for (const row of rows) {
    const value = valuePlan(row, label === "" ? row.v1 : `${label}.${row.v1}`, options);
    // Rows of a message that are read from outside it are the business of the record, not of the message.
    const unclear = row.absentZero === true;
    const elsewhere = row.from !== undefined || hasDistantMembers(row) || (row.v2 !== null && readTwice.has(row.v2));
    if (unclear || (label === "" && (elsewhere || joins.some((join) => join.v1 === row.v1)))) {
      reshaped.push({ row, value });
      continue;
    }
    if (row.v2 !== null) {
      members.set(row.v2, { ...(row.v2 === row.v1 ? {} : { rename: row.v1 }), ...(value === "copy" ? {} : { value }) });
    }
    // A member that v2 does not have cannot come from there, whatever its habits.
    const isLeftOut = options.insertZeros || row.v2 === null;
    const zero = isLeftOut && row.presence !== "explicit" ? zeroText(row) : undefined;
    if (zero !== undefined) insert.push({ key: row.v1, value: zero });
  }
  const plan = { kind: "object", label, members, unknown: options.unknown, insert } as const;
  if (reshaped.length === 0) return plan;
  const { captures, finish, emits } = reshape(reshaped, joins, joined, zeroText);
  for (const name of captures) members.set(name, { capture: name });
  return { ...plan, finish, emits };
}

/** True for a message of which a member may lie elsewhere in the record (a role's uid beside a role that is gone). */
function hasDistantMembers(row: Row): boolean {
  return row.kind === "message" && row.list !== true && row.rows.some(({ from }) => from !== undefined);
}

/** v2 members that v1 shows under more than one name, or that a join looks at too. */
function readByOthers(rows: readonly Row[], joins: readonly Join[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const twice = new Set<string>(joins.map(({ by }) => rootOf(by)));
  for (const { v2, from } of rows) {
    for (const name of from?.map(rootOf) ?? (v2 === null ? [] : [v2])) {
      if (seen.has(name)) twice.add(name);
      seen.add(name);
    }
  }
  return twice;
}

function valuePlan(value: Value, label: string, options: AnswerOptions): ValuePlan {
  if (value.kind === "enum") return enumPlan(value.values);
  if (value.kind === "message") {
    const plan = objectPlan(value.rows, value.v2Only ?? [], label, options, [], undefined);
    return value.list === true ? { kind: "array", items: plan } : plan;
  }
  if (value.kind === "map" && typeof value.of !== "string") {
    return { kind: "map", values: objectPlan(value.of.rows, [], label, options, [], undefined) };
  }
  return "copy";
}

function enumPlan(table: EnumTable): EnumPlan {
  const names = new Map<string, string>();
  const numbers = new Map<number, string>();
  for (const [v1, , v2, v2Number] of table.values) {
    if (v1 === null || v2 === null) continue;
    names.set(v2, v1);
    // Below zero: v2 has no number for it.
    if (v2Number >= 0) numbers.set(v2Number, v1);
  }
  return { kind: "enum", names, numbers };
}

/** What v1 showed for an unset member, as JSON text: of messages, and so of times, that is null. No value is ever made up. */
export function zeroText(row: Row): string {
  if (row.kind === "map") return "{}";
  if (row.list === true) return "[]";
  switch (row.kind) {
    case "string":
    case "bytes":
      return '""';
    case "bool":
      return "false";
    case "int32":
    case "uint32":
      return "0";
    case "int64":
      return '"0"';
    case "enum":
      return JSON.stringify(row.values.values.find(([v1, number]) => v1 !== null && number === 0)?.[0] ?? "");
    case "message":
    case "timestamp":
    case "duration":
      return "null";
    default:
      return row satisfies never;
  }
}
