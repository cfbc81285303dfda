/** How are v1 members built that have another shape in v2, or lie in another record? (Design: the rewriter, joined records.) */
import type { Finish, ValuePlan } from "../json/plan.ts";
import { createValueRewriter } from "../json/rewrite.ts";
import { type Node, parseTree, rawOf } from "../json/tree.ts";
import { Problem } from "../model/problem.ts";
import type { Join, Row } from "../model/resource.ts";
import { parentOf } from "../model/uid.ts";
import { nodeAt } from "./node.ts";

/** What was read for the joins of a request: by v1 member, then by uid of the other record, v1 JSON. */
export type Joined = ReadonlyMap<string, ReadonlyMap<string, Uint8Array>>;

/** A row that cannot be edited in place, with the edits of its value. */
export interface Reshaped {
  readonly row: Row;
  readonly value: ValuePlan;
}

export interface Reshape {
  /** Top-level v2 members to be cut out. */
  readonly captures: ReadonlySet<string>;
  /** v1 members that `finish` emits. */
  readonly emits: readonly string[];
  readonly finish: Finish;
}

/** Top-level name of a path of `from`. */
export function rootOf(path: string): string {
  const end = path.search(/[./]/);
  return end < 0 ? path : path.slice(0, end);
}

/** Ends a path of `from`: not the uid there, but its parent's. */
const PARENT = "/..";

/** The members of one record, as far as they were cut out. */
type Trees = ReadonlyMap<string, Node>;
/** Builds one v1 member; undefined when the record holds nothing for it. */
type Build = (trees: Trees) => Uint8Array | string | undefined;

/** `zeroOf`: JSON text of a row's zero. */
export function reshape(
  reshaped: readonly Reshaped[],
  joins: readonly Join[],
  joined: Joined | undefined,
  zeroOf: (row: Row) => string,
): Reshape {
  const captures = new Set<string>();
  const builds = reshaped.map(({ row, value }): readonly [Row, Build] => {
    for (const path of allPaths(row)) captures.add(rootOf(path));
    const join = joins.find((candidate) => candidate.v1 === row.v1);
    if (join === undefined) return [row, builder(row, value, zeroOf)];
    if (join.when !== undefined) captures.add(join.when);
    captures.add(rootOf(join.by));
    if (typeof join.missing === "object") captures.add(join.missing.reduced);
    return [row, joinBuilder(join, row, value, joined)];
  });
  const finish: Finish = (captured, emit) => {
    const trees = new Map<string, Node>();
    for (const [name, raw] of captured) trees.set(name, parseTree(raw, { surrogates: "pass" }));
    for (const [row, build] of builds) {
      const shown = build(trees) ?? (row.presence === "explicit" ? undefined : zeroOf(row));
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

/** Zeros other than the empty string, which counts as not there anyway. */
const ZEROS: ReadonlySet<string> = new Set(["0", '"0"', "false"]);

function isZeroText(raw: Uint8Array): boolean {
  return ZEROS.has(Buffer.from(raw).toString("latin1"));
}

function builder(row: Row, value: ValuePlan, zeroOf: (row: Row) => string): Build {
  const rewrite = value === "copy" ? undefined : createValueRewriter(value);
  return (trees) => {
    const raw = pick(trees, pathsOf(row));
    if (raw !== undefined && row.absentZero === true && isZeroText(raw)) return undefined;
    if (raw === undefined) return row.kind === "message" ? rebuild(row, row.rows, trees, zeroOf) : undefined;
    return rewrite === undefined ? raw : rewrite(raw).bytes;
  };
}

/**
 * A message from what the record says of it elsewhere. One that v2 left out is undefined when that is nothing but zeros;
 * one that v2 does not have at all is always there: nobody can tell whether it was set.
 */
function rebuild(row: Row, rows: readonly Row[], trees: Trees, zeroOf: (row: Row) => string): string | undefined {
  let known = row.v2 === null && row.from === undefined;
  const members = rows.flatMap((row) => {
    const raw = row.from === undefined ? undefined : pick(trees, row.from);
    // A platform that writes zeros says no more with them than one that leaves them out.
    if (raw !== undefined && !isZeroText(raw)) known = true;
    const text = raw === undefined ? zeroOf(row) : Buffer.from(raw).toString("utf8");
    return text === undefined ? [] : [`${JSON.stringify(row.v1)}:${text}`];
  });
  return known ? `{${members.join(",")}}` : undefined;
}

/** The first value along `paths` that is there, not null and not an empty string. */
function pick(trees: Trees, paths: readonly string[]): Uint8Array | undefined {
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

function atPath(trees: Trees, path: string): Node | undefined {
  const root = rootOf(path);
  return root === path ? trees.get(root) : nodeAt(trees.get(root), path.slice(root.length + 1));
}

/** A whole record comes in its v1 form; one member of it as v2 has it. */
function joinBuilder(join: Join, row: Row, value: ValuePlan, joined: Joined | undefined): Build {
  const rewrite = value === "copy" || join.take === "record" ? undefined : createValueRewriter(value);
  return (trees) => {
    const raw = fromJoin(join, trees, joined) ?? (join.missing === "own" ? pick(trees, pathsOf(row)) : undefined);
    return raw === undefined || rewrite === undefined ? raw : rewrite(raw).bytes;
  };
}

function fromJoin(join: Join, trees: Trees, joined: Joined | undefined): Uint8Array | undefined {
  if (join.when !== undefined && pick(trees, [join.when]) === undefined) return undefined;
  const by = atPath(trees, join.by);
  const uid = by?.kind === "string" ? by.value : "";
  const found = joined?.get(join.v1)?.get(uid);
  if (found !== undefined || uid === "") return found;
  if (join.missing === "error") {
    throw new Problem("DRAIN_INCOMPLETE", `the ${join.resource} ${JSON.stringify(uid)} of a record could not be read`);
  }
  return undefined;
}
