/** How are v1 members built that have another shape in v2, or lie in another record? (Design: the rewriter, joined records.) */
import type { Finish } from "../json/plan.ts";
import { type Node, parseTree, rawOf } from "../json/tree.ts";
import { Problem } from "../model/problem.ts";
import type { Join, Row } from "../model/resource.ts";
import { nodeAt } from "./node.ts";

/** What was read for the joins of a request: by v1 member, then by uid of the other record, v1 JSON. */
export type Joined = ReadonlyMap<string, ReadonlyMap<string, Uint8Array>>;

export interface Reshape {
  /** Top-level v2 members to be cut out. */
  readonly captures: ReadonlySet<string>;
  /** v1 members that `finish` emits. */
  readonly emits: readonly string[];
  readonly finish: Finish;
}

/** Top-level names of dotted paths. */
function rootOf(path: string): string {
  const dot = path.indexOf(".");
  return dot < 0 ? path : path.slice(0, dot);
}

/** `rows`: those with `from`, and those that a join fills. `zeroOf`: JSON text of a row's zero. */
export function reshape(
  rows: readonly Row[],
  joins: readonly Join[],
  joined: Joined | undefined,
  zeroOf: (row: Row) => string | undefined,
): Reshape {
  const captures = new Set<string>();
  for (const row of rows) {
    for (const path of row.from ?? []) captures.add(rootOf(path));
    if (row.v2 !== null) captures.add(rootOf(row.v2));
  }
  for (const join of joins) {
    captures.add(rootOf(join.by));
    if (typeof join.missing === "object") captures.add(join.missing.reduced);
  }
  const finish: Finish = (captured, emit) => {
    const trees = new Map<string, Node>();
    for (const [name, raw] of captured) trees.set(name, parseTree(raw, { surrogates: "pass" }));
    for (const row of rows) {
      const join = joins.find((candidate) => candidate.v1 === row.v1);
      const value = join === undefined ? pick(trees, row.from ?? []) : fromJoin(join, trees, joined);
      if (value !== undefined) emit(row.v1, value);
      else if (row.presence !== "explicit") {
        const zero = zeroOf(row);
        if (zero !== undefined) emit(row.v1, zero);
      }
    }
  };
  return { captures, emits: rows.map((row) => row.v1), finish };
}

/** The first value along `paths` that is there, not null and not an empty string. */
function pick(trees: ReadonlyMap<string, Node>, paths: readonly string[]): Uint8Array | undefined {
  for (const path of paths) {
    const node = atPath(trees, path);
    if (node === undefined || node.kind === "null" || (node.kind === "string" && node.value === "")) continue;
    return rawOf(node);
  }
  return undefined;
}

function atPath(trees: ReadonlyMap<string, Node>, path: string): Node | undefined {
  const root = rootOf(path);
  return root === path ? trees.get(root) : nodeAt(trees.get(root), path.slice(root.length + 1));
}

function fromJoin(join: Join, trees: ReadonlyMap<string, Node>, joined: Joined | undefined): Uint8Array | undefined {
  const by = atPath(trees, join.by);
  const uid = by?.kind === "string" ? by.value : "";
  const found = joined?.get(join.v1)?.get(uid);
  if (found !== undefined || uid === "") return found;
  if (join.missing === "error") {
    throw new Problem("DRAIN_INCOMPLETE", `the ${join.resource} ${JSON.stringify(uid)} of a record could not be read`);
  }
  return undefined;
}
