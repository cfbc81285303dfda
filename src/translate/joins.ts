/** Reads the parts of records that v2 keeps in other records. */
import type { MemberPlan, RewriteReport } from "../json/plan.ts";
import { createPageRewriter, createValueRewriter, type ValueResult } from "../json/rewrite.ts";
import { type JsonNode, nodeAt, parseTree, rawOf } from "../json/tree.ts";
import type { ApiResponse, HeaderList } from "../model/http.ts";
import type { DrainRefused } from "../model/list.ts";
import { Problem } from "../model/problem.ts";
import type { Join, Resource } from "../model/resource.ts";
import { isUid } from "../model/uid.ts";
import { isTypedRefusal, MISSING_OR_FORBIDDEN } from "./error.ts";
import { readHeaders } from "./headers.ts";
import { noteReports, type ResourceContext, type Tools } from "./operation.ts";
import {
  AT_ONCE_BYTES,
  asPage,
  asProblem,
  checkKey,
  checkLast,
  createPageReader,
  keyOf,
  type PageReader,
  pageTarget,
  readPage,
  readUpstream,
  V2_KEY,
} from "./pages.ts";
import { atPath, type JoinedValues, type MemberTrees, recordShape, responsePlan, rootOf } from "./response-plan.ts";

/** A join and what carries it out. */
export interface CompiledJoin {
  readonly join: Join;
  readonly other: Resource;
  /** v2 path of the other resource's list. */
  readonly path: string;
  /** Reads pages of that list. */
  readonly pages: PageReader;
  /** Turns one v2 record of the other resource into its v1 record. */
  readonly rewrite: (record: Uint8Array) => ValueResult;
  /** The same for the few members that a record holds of another one: no zeros are added. */
  readonly rewriteReduced: (record: Uint8Array) => ValueResult;
}

export function compileJoins(joins: readonly Join[], { resources, options }: ResourceContext): CompiledJoin[] {
  return joins.map((join) => {
    const other = resources.get(join.resource);
    if (other === undefined) throw new Error(`join ${join.v1}: there is no resource ${join.resource}`);
    const shape = recordShape(other);
    return {
      join,
      other,
      path: `/${other.domain}/${options.version}/${other.v2}`,
      pages: createPageReader(other, "copy", options),
      rewrite: createValueRewriter(responsePlan(shape, options)),
      rewriteReduced: createValueRewriter(responsePlan(shape, { ...options, insertZeros: false })),
    };
  });
}

/** One v2 record with what its joins need. */
export interface JoinedRecord {
  readonly bytes: Uint8Array;
  /** Length of the values that it gets from other records. */
  readonly joinedBytes: number;
}

/**
 * Reads what v2 records (`rec,…,rec`) need, in batches of distinct uids: the more records, the fuller the batches.
 * Returns everything their joins need, valid until the next call, or the platform's refusal (401, 429, 5xx). Throws `Problem`.
 */
export type JoinReader = (
  records: Uint8Array,
) => Promise<
  { readonly kind: "joined"; readonly joined: JoinedValues; readonly records: readonly JoinedRecord[] } | DrainRefused
>;

/** Bytes of responses kept from one chunk of a list to the next; beyond them everything is forgotten. */
const MAX_KEPT_BYTES = 8 * 1024 * 1024;

/** A reader for one request: records read for one chunk are mostly not read again for the next. */
export function createJoinReader(joins: readonly CompiledJoin[], headers: HeaderList, tools: Tools): JoinReader {
  /** Two joins of one kind of record share what was read. */
  const kinds = new Map<string, { readonly records: Map<string, Uint8Array>; readonly requested: Set<string> }>();
  const states = joins.map((compiled) => {
    const { join, other } = compiled;
    const kind = join.sub === undefined ? other.name : `${other.name}/${join.sub}`;
    const read = kinds.get(kind) ?? { records: new Map(), requested: new Set() };
    kinds.set(kind, read);
    return { compiled, ...read, values: new Map<string, Uint8Array>(), settled: new Set<string>() };
  });
  const joined = new Map(states.map(({ compiled, values }) => [compiled.join.v1, values]));
  const findings = createFindings(tools);
  const read = createRecordReader(
    joins.map(({ join }) => join),
    tools,
  );
  let keptBytes = 0;

  return async (chunk) => {
    if (keptBytes > MAX_KEPT_BYTES) {
      keptBytes = 0;
      for (const { records, requested, values, settled } of states) {
        for (const table of [records, requested, values, settled]) table.clear();
      }
    }
    const readOthers = createOtherRecordReader(headers, tools, (bytes) => {
      keptBytes += bytes;
    });
    const found = await read(chunk);
    for (const { compiled, records, requested, values, settled } of states) {
      const needed = neededBy(compiled.join, found);
      // A text that cannot be a uid counts as missing, and never becomes part of a target.
      const missing = [...needed.keys()].filter((uid) => isUid(uid) && !requested.has(uid));
      for (const uid of missing) requested.add(uid);
      const refusal = await readOthers(compiled, missing, records);
      if (refusal !== undefined) return { kind: "refused", response: refusal };
      for (const [uid, record] of needed) {
        if (settled.has(uid)) continue;
        settled.add(uid);
        const value = joinedValue(compiled, records.get(uid), record, findings);
        if (value !== undefined) values.set(uid, value);
      }
    }
    const joinedBytes = (record: FoundRecord): number =>
      states.reduce((sum, { compiled, values }) => {
        const uid = uidFor(compiled.join, record);
        return sum + (uid === undefined ? 0 : (values.get(uid)?.length ?? 0));
      }, 0);
    const all = found.map((record) => ({ bytes: record.bytes, joinedBytes: joinedBytes(record) }));
    return { kind: "joined", joined, records: all };
  };
}

type JoinFindings = ReturnType<typeof createFindings>;

/** Each report is noted once, because the same records are joined again and again. */
function createFindings(tools: Pick<Tools, "exchange">) {
  const known = new Set<string>();
  return {
    missing: () => tools.exchange.notes.push("join-missing"),
    /** `member`: the v1 member that is filled. */
    reports(member: string, reports: readonly RewriteReport[]): void {
      for (const report of reports) {
        const id = JSON.stringify([member, report.kind, report.object, report.member]);
        if (known.has(id)) continue;
        known.add(id);
        noteReports([{ ...report, object: report.object === "" ? member : `${member}.${report.object}` }], tools);
      }
    },
  };
}

/** A v2 record, and those of its members that joins read. */
interface FoundRecord {
  readonly bytes: Uint8Array;
  readonly members: MemberTrees;
}

/** Takes the records of `rec,…,rec` apart, in slices when they are long. For one chunk at a time. Throws `Problem`. */
function createRecordReader(
  joins: readonly Join[],
  { inTurns }: Pick<Tools, "inTurns">,
): (chunk: Uint8Array) => Promise<readonly FoundRecord[]> {
  let members = new Map<string, JsonNode>();
  let all: MemberTrees[] = [];
  const paths = joins.flatMap(({ by, when, missing }) =>
    [by, when ?? [], typeof missing === "object" ? missing.reduced : []].flat(),
  );
  const plans = paths.map(rootOf).map((name): [string, MemberPlan] => {
    const convert = (raw: Uint8Array): Uint8Array => {
      members.set(name, parseTree(raw, { surrogates: "pass" }));
      return raw;
    };
    return [name, { value: { kind: "convert", convert } }];
  });
  const finish = (): void => {
    all.push(members);
    members = new Map();
  };
  const rewrite = createPageRewriter({
    items: ITEMS,
    key: V2_KEY,
    record: { kind: "object", members: new Map(plans), reportUnknown: false, finish },
  });
  return async (chunk) => {
    members = new Map();
    all = [];
    const text = asPage(ITEMS, [chunk]);
    try {
      const isShort = inTurns === undefined || text.length <= AT_ONCE_BYTES;
      const { bytes, starts, ends } = isShort ? rewrite(text) : await inTurns((turn) => rewrite.inSlices(text, turn));
      return all.map((each, index) => ({ bytes: bytes.subarray(starts[index], ends[index]), members: each }));
    } catch (error) {
      throw asProblem(error);
    }
  };
}

const ITEMS = "records";

/** The distinct uids that a join needs, with the first record that names each. */
function neededBy(join: Join, records: readonly FoundRecord[]): ReadonlyMap<string, FoundRecord> {
  const needed = new Map<string, FoundRecord>();
  for (const record of records) {
    const uid = uidFor(join, record);
    if (uid !== undefined && !needed.has(uid)) needed.set(uid, record);
  }
  return needed;
}

/** The uid of the other record that a join needs for this one; undefined when it needs none. */
function uidFor(join: Join, { members }: FoundRecord): string | undefined {
  if (join.when !== undefined && (atPath(members, join.when)?.kind ?? "null") === "null") return undefined;
  const by = atPath(members, join.by);
  return by?.kind === "string" && by.value !== "" ? by.value : undefined;
}

/** The v1 JSON that a join puts into a record; undefined leaves it to the record's own zero, or to its error. */
function joinedValue(
  { join, rewrite, rewriteReduced }: CompiledJoin,
  other: Uint8Array | undefined,
  { members }: FoundRecord,
  findings: JoinFindings,
): Uint8Array | undefined {
  const rewritten = (show: CompiledJoin["rewrite"], bytes: Uint8Array): Uint8Array => {
    const result = readUpstream(() => show(bytes));
    findings.reports(join.v1, result.reports);
    return result.bytes;
  };
  if (other === undefined) {
    findings.missing();
    if (typeof join.missing === "string") return undefined;
    const reduced = atPath(members, join.missing.reduced);
    return reduced?.kind === "object" ? rewritten(rewriteReduced, rawOf(reduced)) : undefined;
  }
  if (join.take === "record") return rewritten(rewrite, other);
  const tree = readUpstream(() => parseTree(other, { surrogates: "pass" }));
  const value = nodeAt(tree, join.take.member);
  return value === undefined || value.kind === "null" ? undefined : rawOf(value);
}

/** Most uids in one request: a full page, and a target that every gateway accepts. */
const BATCH_RECORDS = 200;
const BATCH_BYTES = 6_000;
const PARALLEL = 4;
/** Reads for one chunk of a list: the new records of one page. A list of many pages may need more in all. */
export const MAX_READS = 600;
/** Bytes of responses for one chunk, held in memory beside it. */
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Reads the records `uids` of the other resource into `into`; those that are missing or forbidden are left out.
 * Gives the platform's refusal (401, 429, 5xx) when there is one. Throws `Problem`.
 */
type OtherRecordReader = (
  others: CompiledJoin,
  uids: readonly string[],
  into: Map<string, Uint8Array>,
) => Promise<ApiResponse | undefined>;

/** A reader for one chunk, within its budget of reads. */
function createOtherRecordReader(
  headers: HeaderList,
  tools: Tools,
  onBytes: (bytes: number) => void,
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
  return ({ other, path, pages, join }, uids, into) => {
    if (join.read === "get" || join.sub !== undefined) {
      // Checked before the first of them, so that hundreds of reads are not made for nothing.
      if (reads + uids.length > MAX_READS) throw tooMuch(MAX_READS, "reads");
      const sub = join.sub === undefined ? "" : `/${join.sub}`;
      return inParallel(uids, (uid) => readOne(`${path}/${uid}${sub}`, uid, get, into));
    }
    return inParallel(batches(uids), (batch) => readBatch(other, path, batch, pages, get, into));
  };
}

function tooMuch(limit: number, unit: "reads" | "bytes"): Problem {
  const what = unit === "reads" ? "further reads" : "bytes of other records";
  return new Problem(
    "DRAIN_TOO_LARGE",
    `one page of the list needs more than ${limit} ${what}: narrow it with a filter`,
    {
      metadata: { limit: String(limit), unit },
      options: [],
    },
  );
}

type GetTarget = (target: string) => Promise<ApiResponse>;

/** Batches in the order of `uids`, each short enough for one target. */
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

/** A refused page after the first one, which only carryover asked for. */
const REFUSES_PAGE: ReadonlySet<number> = new Set([400, 404, 410]);

/**
 * One batch by the uid filter of v2's list, page by page, until every uid was seen or the list ends; once more from the
 * first page when a later one is refused. A list with more pages of records than uids is not the one that was asked
 * for: then no uid counts as missing.
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
  const followed = new Set<string>();
  let token: string | undefined;
  let again = false;
  // Empty pages are bounded by the budget of reads.
  for (let full = 0; full <= uids.length; ) {
    const page = { size: BATCH_RECORDS, ...(token === undefined ? {} : { token }) };
    const response = await get(pageTarget(path, params, page));
    if (token !== undefined && REFUSES_PAGE.has(response.status)) {
      if (again) throw incompleteBatch(other, "are refused behind the first one");
      again = true;
      token = undefined;
      full = 0;
      followed.clear();
      continue;
    }
    if (response.status !== 200) return isMissing(response) ? undefined : response;
    const records = readPage(response, pages, [], () => {});
    checkLast(other, records, uids.filter((uid) => into.has(uid)).length);
    records.keys.forEach((uid, index) => {
      if (asked.has(uid)) into.set(uid, records.bytes.subarray(records.starts[index], records.ends[index]));
    });
    if (records.nextPageToken === "" || uids.every((uid) => into.has(uid))) return undefined;
    token = records.nextPageToken;
    if (followed.has(token)) break;
    followed.add(token);
    if (records.keys.length > 0) full += 1;
  }
  throw incompleteBatch(other, "do not come to an end");
}

function incompleteBatch(other: Resource, why: string): Problem {
  return new Problem("DRAIN_INCOMPLETE", `the platform's pages of ${other.name} ${why}`, { options: [] });
}

/** Missing or forbidden, as the platform itself says. */
function isMissing(response: ApiResponse): boolean {
  return isTypedRefusal(response, MISSING_OR_FORBIDDEN);
}

/** Runs `work` on all items, a few at a time; the first refusal ends it. */
async function inParallel<T>(
  items: readonly T[],
  work: (item: T) => Promise<ApiResponse | undefined>,
): Promise<ApiResponse | undefined> {
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
