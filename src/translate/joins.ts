/** How are the parts of records read that v2 keeps in other records? (Design: joined records.) */
import type { ObjectPlan } from "../json/plan.ts";
import { createPageRewriter, createValueRewriter, type ValueResult } from "../json/rewrite.ts";
import { type Node, parseTree, rawOf } from "../json/tree.ts";
import type { DrainRefused } from "../model/list.ts";
import type { ApiResponse, HeaderList } from "../model/message.ts";
import { Problem } from "../model/problem.ts";
import type { Join, Resource } from "../model/resource.ts";
import { readHeaders } from "./headers.ts";
import { nodeAt } from "./node.ts";
import { pagePlan, pageTarget, readPage, readUpstream } from "./pages.ts";
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

/** Most uids in one request: a page of them, and a target that every gateway takes. */
const BATCH_RECORDS = 200;
const BATCH_BYTES = 6_000;
/** Reads at a time, and reads in all, for one request. */
const PARALLEL = 4;
const MAX_READS = 600;

/** What the records of one list need, read in batches of distinct uids; kept for the whole request. */
export interface JoinReader {
  /** `records`: v2 records, `rec,…,rec`. Gives everything their joins need, or the platform's refusal (401, 429, 5xx). Throws `Problem`. */
  read(records: Uint8Array): Promise<{ readonly kind: "joined"; readonly joined: Joined } | DrainRefused>;
}

/** A reader for one request: what was read once is not read again. */
export function createJoinReader(joins: readonly CompiledJoin[], headers: HeaderList, tools: Tools): JoinReader {
  const found = new Map<string, Map<string, Uint8Array>>(joins.map(({ join }) => [join.v1, new Map()]));
  const records = new Map<string, Map<string, Uint8Array>>();
  const asked = new Map<string, Set<string>>();
  let reads = 0;

  async function fetchOther(compiled: CompiledJoin, uids: readonly string[]): Promise<ApiResponse | undefined> {
    const known = mapOf(records, compiled.other.name);
    const already = setOf(asked, compiled.other.name);
    const missing = uids.filter((uid) => !already.has(uid));
    for (const uid of missing) already.add(uid);
    const read = compiled.join.read === "get" ? readOne : readBatch;
    return inParallel(compiled.join.read === "get" ? missing.map((uid) => [uid]) : batches(missing), async (batch) => {
      reads += 1;
      if (reads > MAX_READS) {
        throw new Problem(
          "DRAIN_TOO_LARGE",
          `the list needs more than ${MAX_READS} further reads: narrow it with a filter`,
          {
            metadata: { limit: String(MAX_READS), unit: "reads" },
          },
        );
      }
      return read(compiled, batch, headers, tools, known);
    });
  }

  return {
    async read(chunk) {
      const nodes = recordsOf(chunk);
      for (const compiled of joins) {
        const needed = neededBy(compiled.join, nodes);
        const refusal = await fetchOther(compiled, [...needed.keys()]);
        if (refusal !== undefined) return { kind: "refused", response: refusal };
        const target = mapOf(found, compiled.join.v1);
        for (const [uid, record] of needed) {
          if (target.has(uid)) continue;
          const value = take(compiled, mapOf(records, compiled.other.name).get(uid), record, tools);
          if (value !== undefined) target.set(uid, value);
        }
      }
      return { kind: "joined", joined: found };
    },
  };
}

/** The records of a chunk as trees. */
function recordsOf(chunk: Uint8Array): readonly Node[] {
  const list = readUpstream(() => parseTree(Buffer.concat([OPEN, chunk, CLOSE]), { surrogates: "pass" }));
  return list.kind === "array" ? list.items : [];
}
const OPEN = Buffer.from("[");
const CLOSE = Buffer.from("]");

/** Distinct uids with the first record that names each. */
function neededBy(join: Join, nodes: readonly Node[]): Map<string, Node> {
  const needed = new Map<string, Node>();
  for (const node of nodes) {
    const by = nodeAt(node, join.by);
    if (join.when !== undefined && isUnset(nodeAt(node, join.when))) continue;
    if (by?.kind === "string" && by.value !== "" && !needed.has(by.value)) needed.set(by.value, node);
  }
  return needed;
}

function isUnset(node: Node | undefined): boolean {
  return node === undefined || node.kind === "null";
}

/** The v1 JSON that a join puts into a record; undefined leaves it to the record's own zero, or to its error. */
function take(
  compiled: CompiledJoin,
  other: Uint8Array | undefined,
  record: Node,
  tools: Tools,
): Uint8Array | undefined {
  const { join } = compiled;
  if (other === undefined) {
    tools.exchange.notes.push("join-missing");
    if (typeof join.missing === "string") return undefined;
    const reduced = nodeAt(record, join.missing.reduced);
    return reduced?.kind === "object" ? compiled.showReduced(rawOf(reduced)).bytes : undefined;
  }
  if (join.take === "record") return compiled.show(other).bytes;
  const value = nodeAt(parseTree(other, { surrogates: "pass" }), join.take.member);
  return value === undefined || value.kind === "null" ? undefined : rawOf(value);
}

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
async function readOne(
  compiled: CompiledJoin,
  [uid = ""]: readonly string[],
  headers: HeaderList,
  tools: Tools,
  into: Map<string, Uint8Array>,
): Promise<ApiResponse | undefined> {
  const target = `${compiled.path}/${uid}`;
  const response = await tools.send({ method: "GET", target, headers: readHeaders(headers) });
  if (response.status === 200) into.set(uid, response.body);
  return response.status === 200 || response.status === 403 || response.status === 404 ? undefined : response;
}

/** One batch by the list's own uid filter; its pages are followed until every uid was seen or the list ends. */
async function readBatch(
  compiled: CompiledJoin,
  uids: readonly string[],
  headers: HeaderList,
  tools: Tools,
  into: Map<string, Uint8Array>,
): Promise<ApiResponse | undefined> {
  const rewrite = createPageRewriter(pagePlan(compiled.other, "copy"));
  const params = uids.map((uid) => `uidp.ids=${encodeURIComponent(uid)}`);
  let token: string | undefined;
  for (let pages = 0; pages <= uids.length; pages += 1) {
    const target = pageTarget(compiled.path, params, {
      size: BATCH_RECORDS,
      ...(token === undefined ? {} : { token }),
    });
    const response = await tools.send({ method: "GET", target, headers: readHeaders(headers) });
    if (response.status === 403 || response.status === 404) return undefined;
    if (response.status !== 200) return response;
    const page = readPage(response, rewrite, [], () => {});
    page.keys.forEach((uid, index) => {
      into.set(uid, page.bytes.subarray(page.starts[index], page.ends[index]));
    });
    if (page.nextPageToken === "" || uids.every((uid) => into.has(uid))) return undefined;
    token = page.nextPageToken;
  }
  return undefined;
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
