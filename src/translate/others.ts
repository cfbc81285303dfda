/** How are records of another resource read, when their uids are known? (Design: joined records.) */
import type { ApiResponse, HeaderList } from "../model/message.ts";
import { Problem } from "../model/problem.ts";
import type { Join, Resource } from "../model/resource.ts";
import { isTypedRefusal, NOT_THERE } from "./error.ts";
import { readHeaders } from "./headers.ts";
import { checkKey, createPageReader, keyOf, type PageReader, pageTarget, readPage } from "./pages.ts";
import type { Tools } from "./tools.ts";

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
export type OtherReader = (
  others: OtherRecords,
  uids: readonly string[],
  into: Map<string, Uint8Array>,
) => Promise<ApiResponse | undefined>;

/** A reader for one chunk, within its budget of reads; `onBytes` is told of what has been read and may be held. */
export function createOtherReader(
  headers: HeaderList,
  tools: Tools,
  onBytes: (bytes: number) => void = () => {},
): OtherReader {
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

type Get = (target: string) => Promise<ApiResponse>;

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
async function readOne(target: string, uid: string, get: Get, into: Map<string, Uint8Array>) {
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
  get: Get,
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
  return isTypedRefusal(response, NOT_THERE);
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
