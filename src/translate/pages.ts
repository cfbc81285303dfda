/** How pages of v2's lists are requested and read. */

import { JsonError } from "../json/error.ts";
import { readInteger } from "../json/exact.ts";
import type { ObjectPlan, PagePlan, RewriteReport } from "../json/plan.ts";
import { createPageRewriter, type PageResult, type PageScalar } from "../json/rewrite.ts";
import type { ApiResponse } from "../model/http.ts";
import { type Json, member } from "../model/json.ts";
import type { ListPage, PageSelector } from "../model/list.ts";
import { Problem } from "../model/problem.ts";
import type { Resource } from "../model/resource.ts";
import { camelCase } from "../model/text.ts";

/** The member that holds the unique key of every v2 record. */
export const V2_KEY = "uid";

/** The target of one page. */
export function pageTarget(path: string, params: readonly string[], page: PageSelector): string {
  const all = [...params, `page_size=${page.size}`];
  if (page.skip !== undefined && page.skip > 0) all.push(`skip=${page.skip}`);
  if (page.token !== undefined) all.push(`page_token=${encodeURIComponent(page.token)}`);
  return targetWith(path, all);
}

/** `path` with a query of encoded `name=value` pairs, if there are any. */
export function targetWith(path: string, params: readonly string[]): string {
  return params.length === 0 ? path : `${path}?${params.join("&")}`;
}

/** Prefix of the names of envelope members in reports. */
const ENVELOPE = "page";

/** The plan for pages of `resource`; `record`: the edits of a record, or `copy` to leave records as they are. */
export function pagePlan(resource: Resource, record: "copy" | ObjectPlan, around?: PagePlan["around"]): PagePlan {
  return {
    ...(around === undefined ? {} : { around }),
    items: resource.items,
    // A platform that leaves out zeros leaves out an empty list as well.
    missingItems: "empty",
    key: V2_KEY,
    record,
    scalars: SCALARS,
    label: ENVELOPE,
  };
}

const TOKEN = "nextPageToken";
/** JSON may hold a lone half of a UTF-16 pair, a query cannot. */
const LONE_SURROGATE = /\p{Surrogate}/u;
const SCALARS = [TOKEN, "totalCount", "skipped"];

/** `bare`: the page has no list of records at all. */
type ReadPage = PageResult & { readonly bare?: boolean };

/** Reads bodies of pages. Throws `Problem` UPSTREAM_INVALID for what is no such page. */
export interface PageReader {
  (body: Uint8Array): ReadPage;
  /** For long pages: yields to other requests now and then. */
  inSlices(body: Uint8Array, turn: YieldToOthers): Promise<ReadPage>;
}

/** Resolves when others had their turn. */
type YieldToOthers = () => Promise<void>;

/** Runs long work that yields to other requests in between. */
export type InTurns = <T>(work: (turn: YieldToOthers) => Promise<T>) => Promise<T>;

/** One long piece of work at a time, first come, first served: a page takes several times its size while it is rewritten. */
export function createTurns(): InTurns {
  let last: Promise<unknown> = Promise.resolve();
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return (work) => {
    const made = last.then(() => work(turn));
    last = made.catch(() => {});
    return made;
  };
}

/** Longer pages are read in slices. */
export const AT_ONCE_BYTES = 512 * 1024;

/** Longer tokens would fill memory and targets. */
const MAX_TOKEN_LENGTH = 4096;

/** What is known of the platform's pages (option `upstream.v2.omitsZeros`). */
export interface PageHabits {
  readonly omitsZeros?: "auto" | "yes" | "no" | undefined;
}

/** Throws `Problem` also for a page without its list, where the platform is known to send empty lists. */
export function createPageReader(
  resource: Resource,
  record: "copy" | ObjectPlan,
  { omitsZeros }: PageHabits,
  around?: PagePlan["around"],
): PageReader {
  const rewrite = createPageRewriter(pagePlan(resource, record, around));
  const check = (page: PageResult, body: Uint8Array): ReadPage => {
    // Two records without a uid would count as one. The empty one comes before all others.
    if (page.ascending === true ? page.keys[0] === "" : page.keys.includes(""))
      throw invalidResponse("a record without its uid");
    const strange = page.reports.filter(({ object }) => object === ENVELOPE);
    if (strange.length > 0) checkEnvelope(resource, page, strange, body);
    if (page.keys.length > 0) return page;
    const items = member(JSON.parse(Buffer.from(body).toString("utf8")), resource.items);
    const bare = items === undefined || items === null;
    if (bare && omitsZeros === "no") throw withoutItems(resource);
    return { ...page, bare };
  };
  const read = (body: Uint8Array): ReadPage => {
    const page = readUpstream(() => rewrite(body));
    return check(page, body);
  };
  const inSlices: PageReader["inSlices"] = async (body, turn) => {
    try {
      return check(await rewrite.inSlices(body, turn), body);
    } catch (error) {
      throw asProblem(error);
    }
  };
  return Object.assign(read, { inSlices });
}

/**
 * A page may have unknown members, but an error or a greeting with status 200 is no empty list, and a token that cannot
 * be read is not the end of one.
 */
function checkEnvelope(
  resource: Resource,
  page: PageResult,
  strange: readonly RewriteReport[],
  body: Uint8Array,
): void {
  const token = strange.find(({ member }) => camelCase(member) === TOKEN);
  if (token !== undefined) throw invalidResponse(`${token.member} is not a ${TOKEN} that can be read`);
  if (page.keys.length > 0 || strange.every(({ kind }) => kind !== "unknown")) return;
  const whole: unknown = JSON.parse(Buffer.from(body).toString("utf8"));
  if (member(whole, resource.items) === undefined) throw withoutItems(resource);
}

function withoutItems({ items }: Resource): Problem {
  return invalidResponse(`a page without ${items}`);
}

/** What a first page without its list says: that the list is empty, or nothing. */
export function bareMeaning({ omitsZeros }: PageHabits): "empty" | "nothing" {
  return omitsZeros === "yes" ? "empty" : "nothing";
}

/**
 * Throws `Problem` UPSTREAM_INVALID for a page without its list that ends a list of which `read` records have come, and counts
 * more: it may be the response of something else.
 */
export function checkLast(
  resource: Resource,
  page: Pick<ListPage, "bare" | "nextPageToken" | "totalCount">,
  read: number,
): void {
  if (page.bare === true && page.nextPageToken === "" && (page.totalCount ?? 0) > read) throw withoutItems(resource);
}

/** The same for a first page that is not read as a part of a list. */
export function checkOnly(resource: Resource, { bare, scalars }: ReadPage): void {
  const nextPageToken = String(scalars.get(TOKEN) ?? "");
  checkLast(resource, { bare, nextPageToken, totalCount: readCount(scalars.get("totalCount")) }, 0);
}

/** The uid of a record; undefined when it has none, or is no JSON. */
export function keyOf(record: Uint8Array): Json | undefined {
  try {
    return member(JSON.parse(Buffer.from(record).toString("utf8")), V2_KEY);
  } catch {
    return undefined;
  }
}

/** Throws `Problem` UPSTREAM_INVALID when `found` is no uid, or not `asked`. */
export function checkKey(found: Json | undefined, asked: string | undefined, metadata?: Metadata): void {
  if (typeof found !== "string" || found === "") throw invalidResponse("a record without its uid", metadata);
  if (asked !== undefined && found !== asked) throw invalidResponse("it is another record", metadata);
}

/** What a `Problem` says beside its message. */
export type Metadata = Readonly<Record<string, string>>;

/** Reads one 200 response as a page. `keep`: tests of uids; records that fail one are hidden. Throws `Problem` UPSTREAM_INVALID. */
export function readPage(
  { body }: ApiResponse,
  read: PageReader,
  keep: readonly KeyTest[],
  onReports: (reports: readonly RewriteReport[]) => void,
): ListPage {
  return listPage(read(body), keep, onReports);
}

type KeyTest = (uid: string) => boolean;

/** The page in `body`, read in slices when it is long. */
export function readAny(
  read: PageReader,
  body: Uint8Array,
  inTurns: InTurns | undefined,
): ReadPage | Promise<ReadPage> {
  if (inTurns === undefined || body.length <= AT_ONCE_BYTES) return read(body);
  return inTurns((turn) => read.inSlices(body, turn));
}

/** Records as a page that has nothing else. */
export function asPage(items: string, records: readonly Uint8Array[]): Uint8Array {
  const separated = records.flatMap((record, index) => (index === 0 ? [record] : [COMMA, record]));
  return Buffer.concat([Buffer.from(`{${JSON.stringify(items)}:[`), ...separated, Buffer.from("]}")]);
}

const COMMA = Buffer.from(",");

/** `readPage`, in slices when the page is long. */
export function readAnyPage(
  { body }: ApiResponse,
  read: PageReader,
  keep: readonly KeyTest[],
  onReports: (reports: readonly RewriteReport[]) => void,
  inTurns: InTurns | undefined,
): ListPage | Promise<ListPage> {
  const page = readAny(read, body, inTurns);
  if (page instanceof Promise) return page.then((read) => listPage(read, keep, onReports));
  return listPage(page, keep, onReports);
}

function listPage(
  page: ReadPage,
  keep: readonly KeyTest[],
  onReports: (reports: readonly RewriteReport[]) => void,
): ListPage {
  onReports(page.reports);
  const token = page.scalars.get(TOKEN) ?? "";
  if (typeof token !== "string") throw invalidResponse("nextPageToken is no string");
  if (LONE_SURROGATE.test(token)) throw invalidResponse("nextPageToken is no Unicode");
  if (token.length > MAX_TOKEN_LENGTH)
    throw invalidResponse(`nextPageToken is longer than ${MAX_TOKEN_LENGTH} characters`);
  return {
    bytes: page.bytes,
    starts: page.starts,
    ends: page.ends,
    keys: page.keys,
    ascending: page.ascending,
    hidden:
      keep.length === 0 ? undefined : Uint8Array.from(page.keys, (key) => (keep.every((test) => test(key)) ? 0 : 1)),
    bare: page.bare,
    nextPageToken: token,
    totalCount: readCount(page.scalars.get("totalCount")),
    skipped: readCount(page.scalars.get("skipped")),
  };
}

/** Counts come as decimal strings or numbers and are only hints: anything else counts as absent. */
function readCount(value: PageScalar | undefined): number | undefined {
  const text = typeof value === "string" ? value : String(readInteger(value?.number ?? ""));
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** Runs `read` over bytes from v2. Throws `Problem` UPSTREAM_INVALID for invalid JSON. */
export function readUpstream<T>(read: () => T, metadata: Metadata = {}): T {
  try {
    return read();
  } catch (error) {
    throw asProblem(error, metadata);
  }
}

export function asProblem(error: unknown, metadata?: Metadata): unknown {
  return error instanceof JsonError ? invalidResponse(error.message, metadata) : error;
}

/** The platform sent another response than was asked for; `what` says so without values. */
export function invalidResponse(what: string, metadata: Metadata = {}): Problem {
  return new Problem("UPSTREAM_INVALID", `the platform's answer is not what was asked for: ${what}`, {
    metadata,
    options: [],
  });
}
