/** How are the parts of records read that v2 keeps in other records? (Design: joined records.) */
import type { ObjectPlan, RewriteReport } from "../json/plan.ts";
import { createValueRewriter, type ValueResult } from "../json/rewrite.ts";
import { type JsonNode, nodeAt, parseTree, rawOf } from "../json/tree.ts";
import type { ApiResponse, HeaderList } from "../model/http.ts";
import type { DrainRefused } from "../model/list.ts";
import { Problem } from "../model/problem.ts";
import type { Join, Resource } from "../model/resource.ts";
import { isUid } from "../model/uid.ts";
import { isTypedRefusal, MISSING_OR_FORBIDDEN } from "./error.ts";
import { readHeaders } from "./headers.ts";
import { noteReports, type Tools } from "./operation.ts";
import { checkKey, createPageReader, keyOf, type PageReader, pageTarget, readPage, readUpstream } from "./pages.ts";
import type { JoinedValues } from "./response-plan.ts";

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
  read(records: Uint8Array): Promise<{ readonly kind: "joined"; readonly joined: JoinedValues } | DrainRefused>;
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
    readOthers: OtherRecordReader,
  ): Promise<ApiResponse | undefined> {
    const known = mapOf(records, recordKind(compiled));
    const already = setOf(asked, recordKind(compiled));
    const missing = uids.filter((uid) => !already.has(uid));
    for (const uid of missing) already.add(uid);
    return readOthers(compiled, missing, known);
  }

  return {
    async read(chunk) {
      if (kept > MAX_KEPT_BYTES) forget();
      const readOthers = createOtherRecordReader(headers, tools, (bytes) => {
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
          const value = takeValue(compiled, mapOf(records, recordKind(compiled)).get(uid), record, note);
          if (value !== undefined) target.set(uid, value);
        }
      }
      return { kind: "joined", joined: found };
    },
  };
}

/** What is met in joined records, each thing noted once: the same records are joined again and again. */
function noteOnce(tools: Pick<Tools, "exchange">): JoinNotes {
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
interface JoinNotes {
  missing(): void;
  /** `member`: the v1 member that is filled. */
  reports(member: string, reports: readonly RewriteReport[]): void;
}

/** The records of a chunk as trees. */
function recordsOf(chunk: Uint8Array): readonly JsonNode[] {
  const list = readUpstream(() => parseTree(Buffer.concat([OPEN, chunk, CLOSE]), { surrogates: "pass" }));
  return list.kind === "array" ? list.items : [];
}
const OPEN = Buffer.from("[");
const CLOSE = Buffer.from("]");

/** For each join the distinct uids, with the first record that names each. */
function neededBy(
  joins: readonly CompiledJoin[],
  chunk: Uint8Array,
): ReadonlyMap<CompiledJoin, ReadonlyMap<string, JsonNode>> {
  const needs = new Map(joins.map((compiled) => [compiled, new Map<string, JsonNode>()]));
  for (const node of recordsOf(chunk)) {
    for (const [{ join }, needed] of needs) {
      if (join.when !== undefined && isUnset(nodeAt(node, join.when))) continue;
      const by = nodeAt(node, join.by);
      if (by?.kind === "string" && by.value !== "" && !needed.has(by.value)) needed.set(by.value, node);
    }
  }
  return needs;
}

function isUnset(node: JsonNode | undefined): boolean {
  return node === undefined || node.kind === "null";
}

/** The v1 JSON that a join puts into a record; undefined leaves it to the record's own zero, or to its error. */
function takeValue(
  compiled: CompiledJoin,
  other: Uint8Array | undefined,
  record: JsonNode,
  note: JoinNotes,
): Uint8Array | undefined {
  const { join } = compiled;
  if (other === undefined) {
    note.missing();
    if (typeof join.missing === "string") return undefined;
    const reduced = nodeAt(record, join.missing.reduced);
    return reduced?.kind === "object" ? rewriteJoined(compiled.showReduced, rawOf(reduced), join, note) : undefined;
  }
  if (join.take === "record") return rewriteJoined(compiled.show, other, join, note);
  const { member } = join.take;
  const value = nodeAt(
    readUpstream(() => parseTree(other, { surrogates: "pass" })),
    member,
  );
  return value === undefined || value.kind === "null" ? undefined : rawOf(value);
}

function rewriteJoined(show: CompiledJoin["show"], record: Uint8Array, join: Join, note: JoinNotes): Uint8Array {
  const { bytes, reports } = readUpstream(() => show(record));
  note.reports(join.v1, reports);
  return bytes;
}

/** Which kind of record a join reads: two joins of one kind share what was read. */
function recordKind({ other, join }: CompiledJoin): string {
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

/** How are records of another resource read, when their uids are known? (Design: joined records.) */

/** Most uids in one request: a page of them, and a target that every gateway takes. */
export const BATCH_RECORDS = 200;
const BATCH_BYTES = 6_000;
/** Reads at a time, and reads in all, for one chunk of a list. */
const PARALLEL = 4;
export const MAX_READS = 600;
/** Bytes of answers for one chunk: they are held beside it. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Which records a join reads: those of `other`, whose v2 list is `path`. */
export interface OtherRecords {
  readonly other: Resource;
  readonly path: string;
  readonly join: Pick<Join, "read" | "sub">;
}

/**
 * Reads the records `uids` of `others` into `into`; those that are missing or forbidden are left out.
 * Gives the platform's refusal (401, 429, 5xx) when there is one. Throws `Problem`.
 */
export type OtherRecordReader = (
  others: OtherRecords,
  uids: readonly string[],
  into: Map<string, Uint8Array>,
) => Promise<ApiResponse | undefined>;

/** A reader for one chunk, within its budget of reads; `onBytes` is told of what has been read and may be held. */
export function createOtherRecordReader(
  headers: HeaderList,
  tools: Tools,
  onBytes: (bytes: number) => void = () => {},
): OtherRecordReader {
  let reads = 0;
  let bytes = 0;
  const get = async (target: string): Promise<ApiResponse> => {
    reads += 1;
    if (reads > MAX_READS) throw tooMuch(MAX_READS, "reads");
    const response = await tools.reads({ method: "GET", target, headers: readHeaders(headers) });
    onBytes(response.body.length);
    bytes += response.body.length;
    if (bytes > MAX_BYTES) throw tooMuch(MAX_BYTES, "bytes");
    return response;
  };
  return ({ other, path, join }, uids, into) => {
    if (join.read === "get" || join.sub !== undefined) {
      // Known before the first of them: the platform is not asked hundreds of times for nothing.
      if (reads + uids.length > MAX_READS) throw tooMuch(MAX_READS, "reads");
      const behind = join.sub === undefined ? "" : `/${join.sub}`;
      return inParallel(uids, (uid) => readOne(`${path}/${uid}${behind}`, uid, get, into));
    }
    const pages = createPageReader(other, "copy");
    return inParallel(batches(uids), (batch) => readBatch(other, path, batch, pages, get, into));
  };
}

function tooMuch(limit: number, unit: "reads" | "bytes"): Problem {
  const what = unit === "reads" ? "further reads" : "bytes of other records";
  return new Problem("DRAIN_TOO_LARGE", `the list needs more than ${limit} ${what}: narrow it with a filter`, {
    metadata: { limit: String(limit), unit },
  });
}

type GetTarget = (target: string) => Promise<ApiResponse>;

/** In the order of `uids`, each short enough for one target. */
function batches(uids: readonly string[]): string[][] {
  const all: string[][] = [];
  let current: string[] = [];
  let bytes = 0;
  for (const uid of uids) {
    const size = encodeURIComponent(uid).length + "uidp.ids=&".length;
    if (current.length >= BATCH_RECORDS || (current.length > 0 && bytes + size > BATCH_BYTES)) {
      all.push(current);
      current = [];
      bytes = 0;
    }
    current.push(uid);
    bytes += size;
  }
  if (current.length > 0) all.push(current);
  return all;
}

/** One record by a Get: some members are in no list. */
async function readOne(target: string, uid: string, get: GetTarget, into: Map<string, Uint8Array>) {
  const response = await get(target);
  if (response.status === 200) {
    checkKey(keyOf(response.body), uid);
    into.set(uid, response.body);
  }
  return response.status === 200 || isMissing(response) ? undefined : response;
}

/**
 * One batch by the list's own uid filter; its pages are followed until every uid was seen or the list ends. A list that goes
 * on behind as many pages as there are uids is not the one that was asked for: nothing of it is taken for missing.
 */
async function readBatch(
  other: Resource,
  path: string,
  uids: readonly string[],
  pages: PageReader,
  get: GetTarget,
  into: Map<string, Uint8Array>,
): Promise<ApiResponse | undefined> {
  const params = uids.map((uid) => `uidp.ids=${encodeURIComponent(uid)}`);
  const asked = new Set(uids);
  let token: string | undefined;
  for (let read = 0; read <= uids.length; read += 1) {
    const page = { size: BATCH_RECORDS, ...(token === undefined ? {} : { token }) };
    const response = await get(pageTarget(path, params, page));
    if (response.status !== 200) return isMissing(response) ? undefined : response;
    const records = readPage(response, pages, [], () => {});
    records.keys.forEach((uid, index) => {
      if (asked.has(uid)) into.set(uid, records.bytes.subarray(records.starts[index], records.ends[index]));
    });
    if (records.nextPageToken === "" || uids.every((uid) => into.has(uid))) return undefined;
    token = records.nextPageToken;
  }
  throw new Problem("DRAIN_INCOMPLETE", `the platform's pages of ${other.name} do not come to an end`);
}

/** Not there, or not for this caller, by the platform's own word: what that does to the record is the join's business. */
function isMissing(response: ApiResponse): boolean {
  return isTypedRefusal(response, MISSING_OR_FORBIDDEN);
}

/** Runs `work` on all items, a few at a time; the first refusal ends it. */
async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<ApiResponse | undefined>) {
  const queue = items.values();
  let refusal: ApiResponse | undefined;
  const worker = async (): Promise<void> => {
    for (const item of queue) {
      if (refusal !== undefined) return;
      refusal = (await work(item)) ?? refusal;
    }
  };
  await Promise.all(Array.from({ length: Math.min(PARALLEL, items.length) }, worker));
  return refusal;
}
