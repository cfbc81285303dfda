/** The edits that turn a v2 record into the v1 record of a shape. */

import type { EnumPlan, FinishObject, Insert, MemberPlan, ObjectPlan, ValuePlan } from "../json/plan.ts";
import { createValueRewriter } from "../json/rewrite.ts";
import { type JsonNode, nodeAt, parseTree, rawOf } from "../json/tree.ts";
import { Problem } from "../model/problem.ts";
import {
  type EnumTable,
  type Join,
  type Resource,
  type Row,
  type Shape,
  type Value,
  v1Zero,
} from "../model/resource.ts";
import { parentOf } from "../model/uid.ts";
import { misleadingNumbers } from "./enums.ts";
import type { TranslateOptions } from "./operation.ts";

/** Members in no row are handed on or dropped. Zeros are inserted where v2 may leave them out; of members that v2 lacks, always. */
export type ResponsePlanOptions = Pick<TranslateOptions, "unknownResponse" | "insertZeros">;

/** The edits for one record. `joined`: what was read for its joins. */
export function responsePlan(
  shape: Shape,
  options: ResponsePlanOptions,
  joins: readonly Join[] = [],
  joined?: JoinedValues,
): ObjectPlan {
  return objectPlan(shape.rows, shape.v2Only, "", options, joins, joined);
}

function objectPlan(
  rows: readonly Row[],
  v2Only: readonly string[],
  label: string,
  options: ResponsePlanOptions,
  joins: readonly Join[],
  joined: JoinedValues | undefined,
): ObjectPlan {
  const members = new Map<string, MemberPlan>();
  for (const name of v2Only) members.set(name, { drop: true });
  const insert: Insert[] = [];
  const reshaped: ReshapedRow[] = [];
  const readTwice = readByOthers(rows, joins);
  for (const row of rows) {
    const value = valuePlan(row, label === "" ? row.v1 : `${label}.${row.v1}`, options);
    const unclear = row.absentZero === true;
    const elsewhere = row.from !== undefined || hasDistantMembers(row) || (row.v2 !== null && readTwice.has(row.v2));
    // Only the record itself can read the rows of a message from outside of it.
    if (unclear || (label === "" && (elsewhere || joins.some((join) => join.v1 === row.v1)))) {
      reshaped.push({ row, value });
      continue;
    }
    if (row.v2 !== null) {
      members.set(row.v2, { ...(row.v2 === row.v1 ? {} : { rename: row.v1 }), ...(value === "copy" ? {} : { value }) });
    }
    const isLeftOut = options.insertZeros || row.v2 === null;
    const zero = isLeftOut && row.presence !== "explicit" ? v1ZeroText(row) : undefined;
    if (zero !== undefined) insert.push({ key: row.v1, value: zero });
  }
  const plan = { kind: "object", label, members, unknown: options.unknownResponse, insert } as const;
  if (reshaped.length === 0) return plan;
  const { captures, finish, emits } = reshape(reshaped, joins, joined);
  for (const name of captures) members.set(name, { capture: name });
  return { ...plan, finish, emits };
}

/** True for a message with a member that may lie elsewhere in the record (a role's uid beside a deleted role). */
function hasDistantMembers(row: Row): boolean {
  return row.kind === "message" && row.list !== true && row.rows.some(({ from }) => from !== undefined);
}

/** v2 members that v1 shows under more than one name, or that a join reads too. */
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

function valuePlan(value: Value, label: string, options: ResponsePlanOptions): ValuePlan {
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
  const numbers = new Map(misleadingNumbers(table).map((number) => [number, String(number)]));
  for (const [v1, , v2, v2Number] of table.values) {
    if (v1 === null || v2 === null) continue;
    names.set(v2, v1);
    // Below zero: v2 has no number for it.
    if (v2Number >= 0) numbers.set(v2Number, v1);
  }
  return { kind: "enum", names, numbers };
}

/** What v1 showed for an unset member, as JSON text. */
export function v1ZeroText(row: Row): string {
  const zero = v1Zero(row);
  return JSON.stringify(zero === undefined ? "" : zero);
}

/** The shape in which a resource's own list or Get shows a record. */
export function recordShape(resource: Resource): Shape {
  for (const operation of resource.operations) {
    if (operation.kind === "list" || operation.kind === "get") return operation.answer;
  }
  throw new Error(`${resource.name} has no shape to be joined in`);
}

/** What was read for the joins of a request: v1 JSON by v1 member, then by the uid of the other record. */
export type JoinedValues = ReadonlyMap<string, ReadonlyMap<string, Uint8Array>>;

/** A row that cannot be edited in place, with the edits of its value. */
interface ReshapedRow {
  readonly row: Row;
  readonly value: ValuePlan;
}

interface ReshapePlan {
  /** Top-level v2 members to be cut out. */
  readonly captures: ReadonlySet<string>;
  /** v1 members that `finish` emits. */
  readonly emits: readonly string[];
  readonly finish: FinishObject;
}

/** The top-level member of a path of `from`. */
export function rootOf(path: string): string {
  const end = path.search(/[./]/);
  return end < 0 ? path : path.slice(0, end);
}

/** Ends a path of `from` that reads the uid of the parent. */
const PARENT = "/..";

/** Some members of one record. */
export type MemberTrees = ReadonlyMap<string, JsonNode>;
/** Builds one v1 member; undefined when the record holds nothing for it. */
type MemberBuilder = (trees: MemberTrees) => Uint8Array | string | undefined;

/** Builds v1 members that have another shape in v2, or lie in another record. */
function reshape(
  reshaped: readonly ReshapedRow[],
  joins: readonly Join[],
  joined: JoinedValues | undefined,
): ReshapePlan {
  const captures = new Set<string>();
  const builds = reshaped.map(({ row, value }): readonly [Row, MemberBuilder] => {
    for (const path of allPaths(row)) captures.add(rootOf(path));
    const join = joins.find((candidate) => candidate.v1 === row.v1);
    if (join === undefined) return [row, builder(row, value)];
    if (join.when !== undefined) captures.add(join.when);
    captures.add(rootOf(join.by));
    if (typeof join.missing === "object") captures.add(join.missing.reduced);
    return [row, joinBuilder(join, row, value, joined)];
  });
  const finish: FinishObject = (captured, emit) => {
    const trees = new Map<string, JsonNode>();
    for (const [name, raw] of captured) trees.set(name, parseTree(raw, { surrogates: "pass" }));
    for (const [row, build] of builds) {
      const shown = build(trees) ?? (row.presence === "explicit" ? undefined : v1ZeroText(row));
      if (shown !== undefined) emit(row.v1, shown);
    }
  };
  return { captures, emits: reshaped.map(({ row }) => row.v1), finish };
}

/** Every v2 path that a row, or a row of its message, is read from. */
function allPaths(row: Row): readonly string[] {
  const inner = row.kind === "message" ? row.rows.flatMap(({ from }) => from ?? []) : [];
  return [...pathsOf(row), ...inner];
}

function pathsOf(row: Row): readonly string[] {
  return row.from ?? (row.v2 === null ? [] : [row.v2]);
}

/** Zeros other than the empty string, which counts as absent anyway. */
const ZERO_TEXTS: ReadonlySet<string> = new Set(["0", '"0"', "false"]);

function isZeroText(raw: Uint8Array): boolean {
  return ZERO_TEXTS.has(Buffer.from(raw).toString("latin1"));
}

function builder(row: Row, value: ValuePlan): MemberBuilder {
  const rewrite = value === "copy" ? undefined : createValueRewriter(value);
  return (trees) => {
    const raw = firstValue(trees, pathsOf(row));
    if (raw !== undefined && row.absentZero === true && isZeroText(raw)) return undefined;
    if (raw === undefined) return row.kind === "message" ? rebuild(row, row.rows, trees) : undefined;
    return rewrite === undefined ? raw : rewrite(raw).bytes;
  };
}

/**
 * A message built from what the record holds elsewhere. Undefined when v2 left the message out and that is nothing but
 * zeros; a message that v2 does not have at all is always shown, since whether it was set is unknown.
 */
function rebuild(row: Row, rows: readonly Row[], trees: MemberTrees): string | undefined {
  let known = row.v2 === null && row.from === undefined;
  const members = rows.map((inner) => {
    const raw = inner.from === undefined ? undefined : firstValue(trees, inner.from);
    // Explicit zeros mean no more than absent members.
    if (raw !== undefined && !isZeroText(raw)) known = true;
    return `${JSON.stringify(inner.v1)}:${raw === undefined ? v1ZeroText(inner) : Buffer.from(raw).toString("utf8")}`;
  });
  return known ? `{${members.join(",")}}` : undefined;
}

/** The first value along `paths` that is present, not null and not an empty string. */
function firstValue(trees: MemberTrees, paths: readonly string[]): Uint8Array | undefined {
  for (const path of paths) {
    const ofParent = path.endsWith(PARENT);
    const node = atPath(trees, ofParent ? path.slice(0, -PARENT.length) : path);
    if (node === undefined || node.kind === "null" || (node.kind === "string" && node.value === "")) continue;
    if (!ofParent) return rawOf(node);
    const parent = node.kind === "string" ? parentOf(node.value) : "";
    if (parent !== "") return Buffer.from(JSON.stringify(parent));
  }
  return undefined;
}

export function atPath(trees: MemberTrees, path: string): JsonNode | undefined {
  const root = rootOf(path);
  return root === path ? trees.get(root) : nodeAt(trees.get(root), path.slice(root.length + 1));
}

/** A whole joined record is in its v1 form already; one member of it comes as v2 has it. */
function joinBuilder(join: Join, row: Row, value: ValuePlan, joined: JoinedValues | undefined): MemberBuilder {
  const rewrite = value === "copy" || join.take === "record" ? undefined : createValueRewriter(value);
  return (trees) => {
    const raw = fromJoin(join, trees, joined) ?? (join.missing === "own" ? firstValue(trees, pathsOf(row)) : undefined);
    return raw === undefined || rewrite === undefined ? raw : rewrite(raw).bytes;
  };
}

function fromJoin(join: Join, trees: MemberTrees, joined: JoinedValues | undefined): Uint8Array | undefined {
  if (join.when !== undefined && firstValue(trees, [join.when]) === undefined) return undefined;
  const by = atPath(trees, join.by);
  const uid = by?.kind === "string" ? by.value : "";
  const found = joined?.get(join.v1)?.get(uid);
  if (found !== undefined || uid === "") return found;
  if (join.missing === "error") {
    throw new Problem("DRAIN_INCOMPLETE", `the ${join.resource} ${JSON.stringify(uid)} of a record could not be read`, {
      options: [],
    });
  }
  return undefined;
}
