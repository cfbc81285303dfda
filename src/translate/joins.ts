/** How are the parts of records read that v2 keeps in other records? (Design: joined records.) */
import type { ObjectPlan, Report } from "../json/plan.ts";
import { createValueRewriter, type ValueResult } from "../json/rewrite.ts";
import { type Node, parseTree, rawOf } from "../json/tree.ts";
import type { DrainRefused } from "../model/list.ts";
import type { ApiResponse, HeaderList } from "../model/message.ts";
import type { Join, Resource } from "../model/resource.ts";
import { isUid } from "../model/uid.ts";
import { nodeAt } from "./node.ts";
import { noteReports } from "./note.ts";
import { createOtherReader, type OtherReader } from "./others.ts";
import { readUpstream } from "./pages.ts";
import type { Joined } from "./reshape.ts";
import type { Tools } from "./tools.ts";

/** A join with what is needed to carry it out. */
export interface CompiledJoin {
  readonly join: Join;
  readonly other: Resource;
  /** v2 path of the other resource's list. */
  readonly path: string;
  /** Turns one v2 record of the other resource into its v1 record. */
  readonly show: (record: Uint8Array) => ValueResult;
  /** The same for the little that a record holds of another one: what is not there is not made up. */
  readonly showReduced: (record: Uint8Array) => ValueResult;
}

/** What the records of one list need, read in batches of distinct uids. */
export interface JoinReader {
  /**
   * `records`: v2 records, `rec,…,rec`; as many as are at hand, so that batches are full. Gives everything their joins need,
   * or the platform's refusal (401, 429, 5xx). Throws `Problem`.
   */
  read(records: Uint8Array): Promise<{ readonly kind: "joined"; readonly joined: Joined } | DrainRefused>;
}

/** Bytes of answers that are kept from one chunk of a list to the next: when they are more, all of them are forgotten. */
const MAX_KEPT_BYTES = 8 * 1024 * 1024;

/** A reader for one request: what was read for one chunk is mostly not read again for the next. */
export function createJoinReader(joins: readonly CompiledJoin[], headers: HeaderList, tools: Tools): JoinReader {
  const found = new Map<string, Map<string, Uint8Array>>(joins.map(({ join }) => [join.v1, new Map()]));
  const records = new Map<string, Map<string, Uint8Array>>();
  const asked = new Map<string, Set<string>>();
  const taken = new Map<string, Set<string>>();
  let kept = 0;
  const note = noteOnce(tools);
  const forget = (): void => {
    kept = 0;
    for (const map of [records, asked, taken]) map.clear();
    for (const values of found.values()) values.clear();
  };

  async function fetchOther(
    compiled: CompiledJoin,
    uids: readonly string[],
    readOthers: OtherReader,
  ): Promise<ApiResponse | undefined> {
    const known = mapOf(records, keyOf(compiled));
    const already = setOf(asked, keyOf(compiled));
    const missing = uids.filter((uid) => !already.has(uid));
    for (const uid of missing) already.add(uid);
    return readOthers(compiled, missing, known);
  }

  return {
    async read(chunk) {
      if (kept > MAX_KEPT_BYTES) forget();
      const readOthers = createOtherReader(headers, tools, (bytes) => {
        kept += bytes;
      });
      const needs = neededBy(joins, chunk);
      for (const [compiled, needed] of needs) {
        // What can be no uid is missing: it is never put into a target.
        const refusal = await fetchOther(compiled, [...needed.keys()].filter(isUid), readOthers);
        if (refusal !== undefined) return { kind: "refused", response: refusal };
        const target = mapOf(found, compiled.join.v1);
        const settled = setOf(taken, compiled.join.v1);
        for (const [uid, record] of needed) {
          if (settled.has(uid)) continue;
          settled.add(uid);
          const value = take(compiled, mapOf(records, keyOf(compiled)).get(uid), record, note);
          if (value !== undefined) target.set(uid, value);
        }
      }
      return { kind: "joined", joined: found };
    },
  };
}

/** What is met in joined records, each thing noted once: the same records are joined again and again. */
function noteOnce(tools: Pick<Tools, "exchange">): Note {
  const { exchange } = tools;
  const known = new Set<string>();
  return {
    missing: () => exchange.notes.push("join-missing"),
    reports(member, reports) {
      const fresh = reports.filter(({ kind, object, member: name }) => {
        const id = JSON.stringify([member, kind, object, name]);
        return !known.has(id) && known.add(id);
      });
      noteReports(
        fresh.map((report) => ({ ...report, object: report.object === "" ? member : `${member}.${report.object}` })),
        tools,
      );
    },
  };
}
interface Note {
  missing(): void;
  /** `member`: the v1 member that is filled. */
  reports(member: string, reports: readonly Report[]): void;
}

/** The records of a chunk as trees. */
function recordsOf(chunk: Uint8Array): readonly Node[] {
  const list = readUpstream(() => parseTree(Buffer.concat([OPEN, chunk, CLOSE]), { surrogates: "pass" }));
  return list.kind === "array" ? list.items : [];
}
const OPEN = Buffer.from("[");
const CLOSE = Buffer.from("]");

/** For each join the distinct uids, with the first record that names each. */
function neededBy(
  joins: readonly CompiledJoin[],
  chunk: Uint8Array,
): ReadonlyMap<CompiledJoin, ReadonlyMap<string, Node>> {
  const needs = new Map(joins.map((compiled) => [compiled, new Map<string, Node>()]));
  for (const node of recordsOf(chunk)) {
    for (const [{ join }, needed] of needs) {
      if (join.when !== undefined && isUnset(nodeAt(node, join.when))) continue;
      const by = nodeAt(node, join.by);
      if (by?.kind === "string" && by.value !== "" && !needed.has(by.value)) needed.set(by.value, node);
    }
  }
  return needs;
}

function isUnset(node: Node | undefined): boolean {
  return node === undefined || node.kind === "null";
}

/** The v1 JSON that a join puts into a record; undefined leaves it to the record's own zero, or to its error. */
function take(compiled: CompiledJoin, other: Uint8Array | undefined, record: Node, note: Note): Uint8Array | undefined {
  const { join } = compiled;
  if (other === undefined) {
    note.missing();
    if (typeof join.missing === "string") return undefined;
    const reduced = nodeAt(record, join.missing.reduced);
    return reduced?.kind === "object" ? shown(compiled.showReduced, rawOf(reduced), join, note) : undefined;
  }
  if (join.take === "record") return shown(compiled.show, other, join, note);
  const { member } = join.take;
  const value = nodeAt(
    readUpstream(() => parseTree(other, { surrogates: "pass" })),
    member,
  );
  return value === undefined || value.kind === "null" ? undefined : rawOf(value);
}

function shown(show: CompiledJoin["show"], record: Uint8Array, join: Join, note: Note): Uint8Array {
  const { bytes, reports } = readUpstream(() => show(record));
  note.reports(join.v1, reports);
  return bytes;
}

/** Which kind of record a join reads: two joins of one kind share what was read. */
function keyOf({ other, join }: CompiledJoin): string {
  return join.sub === undefined ? other.name : `${other.name}/${join.sub}`;
}

function mapOf(maps: Map<string, Map<string, Uint8Array>>, key: string): Map<string, Uint8Array> {
  const existing = maps.get(key);
  if (existing !== undefined) return existing;
  const made = new Map<string, Uint8Array>();
  maps.set(key, made);
  return made;
}

function setOf(sets: Map<string, Set<string>>, key: string): Set<string> {
  const existing = sets.get(key);
  if (existing !== undefined) return existing;
  const made = new Set<string>();
  sets.set(key, made);
  return made;
}

/** The joins of an operation, ready. `showOf` gives the v1 form of another resource's record. */
export function compileJoins(
  joins: readonly Join[],
  resources: ReadonlyMap<string, Resource>,
  version: string,
  planOf: (resource: Resource, whole: boolean) => ObjectPlan,
): CompiledJoin[] {
  return joins.map((join) => {
    const other = resources.get(join.resource);
    if (other === undefined) throw new Error(`join ${join.v1}: there is no resource ${join.resource}`);
    const path = `/${other.domain}/${version}/${other.v2}`;
    const show = createValueRewriter(planOf(other, true));
    return { join, other, path, show, showReduced: createValueRewriter(planOf(other, false)) };
  });
}
