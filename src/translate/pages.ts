/** How is a v2 list page asked for and read? (Specification section 4, list parameters and envelope.) */
import { JsonError } from "../json/error.ts";
import type { ObjectPlan, PagePlan, RewriteReport } from "../json/plan.ts";
import { createPageRewriter, type PageResult } from "../json/rewrite.ts";
import { camelCase } from "../model/field-names.ts";
import type { ApiResponse } from "../model/http.ts";
import { type Json, member } from "../model/json.ts";
import type { ListPage, PageSelector } from "../model/list.ts";
import { Problem } from "../model/problem.ts";
import type { Resource } from "../model/resource.ts";

/** v2's own key of every record. */
export const V2_KEY = "uid";

/** The query of one page. */
export function pageTarget(path: string, params: readonly string[], page: PageSelector): string {
  const all = [...params, `page_size=${page.size}`];
  if (page.skip !== undefined && page.skip > 0) all.push(`skip=${page.skip}`);
  if (page.token !== undefined) all.push(`page_token=${encodeURIComponent(page.token)}`);
  return `${path}?${all.join("&")}`;
}

/** Stands before the names of members that are neither records nor paging, where unknown fields are counted. */
const ENVELOPE = "page";

/** The plan for pages of `resource`; `record`: the edits, or `copy` when records are shown later. */
export function pagePlan(resource: Resource, record: "copy" | ObjectPlan): PagePlan {
  return {
    items: resource.items,
    // A platform that leaves zeros out leaves an empty list out as well.
    missingItems: "empty",
    key: V2_KEY,
    record,
    scalars: SCALARS,
    label: ENVELOPE,
  };
}

const TOKEN = "nextPageToken";
/** Half of a pair of UTF-16: JSON may hold it alone, and no query can. (Records are handed on as they are, and bodies of clients are refused with it.) */
const LONE_SURROGATE = /\p{Surrogate}/u;
const SCALARS = [TOKEN, "totalCount", "skipped"];

/** `bare`: it has no list of records at all. */
type ReadPage = PageResult & { readonly bare?: boolean };

/** Reads bodies of pages. */
export interface PageReader {
  (body: Uint8Array): ReadPage;
  /** The same for long ones, with a turn for others now and then. */
  inSlices(body: Uint8Array, turn: YieldToOthers): Promise<ReadPage>;
}

/** Resolves when others had their turn. */
type YieldToOthers = () => Promise<void>;

/** Does long work with turns for others in between. */
export type InTurns = <T>(work: (turn: YieldToOthers) => Promise<T>) => Promise<T>;

/** Pages up to here are read at once. */
const AT_ONCE_BYTES = 512 * 1024;

/** Longer tokens are no tokens: they would fill memory and requests. */
const MAX_TOKEN_LENGTH = 4096;

/** Reads pages of `resource` by `pagePlan`. The function throws `Problem` UPSTREAM_INVALID for what is no such page. */
export function createPageReader(resource: Resource, record: "copy" | ObjectPlan): PageReader {
  const rewrite = createPageRewriter(pagePlan(resource, record));
  const check = (page: PageResult, body: Uint8Array): ReadPage => {
    // Two records without a uid would count as one.
    if (page.keys.includes("")) throw invalidResponse("a record without its uid");
    const strange = page.reports.filter(({ object }) => object === ENVELOPE);
    if (strange.length > 0) checkEnvelope(resource, page, strange, body);
    return page.keys.length > 0 ? page : { ...page, bare: isBare(resource, body) };
  };
  const atOnce = (body: Uint8Array): ReadPage =>
    check(
      readUpstream(() => rewrite(body)),
      body,
    );
  const inSlices: PageReader["inSlices"] = async (body, turn) => {
    try {
      return check(await rewrite.inSlices(body, turn), body);
    } catch (error) {
      return readUpstream(() => {
        throw error;
      });
    }
  };
  return Object.assign(atOnce, { inSlices });
}

/** True when a page without records has no list of them either. */
function isBare(resource: Resource, body: Uint8Array): boolean {
  const items = member(JSON.parse(Buffer.from(body).toString("utf8")) as Json, resource.items);
  return items === undefined || items === null;
}

/**
 * A page may say more than we know, but not something else: an error or a greeting with status 200 is no empty list, and
 * a token that cannot be read is not the end of one.
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
  const whole = JSON.parse(Buffer.from(body).toString("utf8")) as Json;
  if (member(whole, resource.items) === undefined) throw invalidResponse(`a page without ${resource.items}`);
}

/** The uid of a record; undefined when it has none, or is no JSON. */
export function keyOf(record: Uint8Array): Json | undefined {
  try {
    return member(JSON.parse(Buffer.from(record).toString("utf8")) as Json, V2_KEY);
  } catch {
    return undefined;
  }
}

/** Throws `Problem` UPSTREAM_INVALID when `found` is no uid, or not `asked`. */
export function checkKey(found: Json | undefined, asked: string | undefined, metadata?: Metadata): void {
  if (typeof found !== "string" || found === "") throw invalidResponse("a record without its uid", metadata);
  if (asked !== undefined && found !== asked) throw invalidResponse("it is another record", metadata);
}

type Metadata = Readonly<Record<string, string>>;

/** Reads one 200 answer as a page; `read` is a `createPageReader`. Throws `Problem` UPSTREAM_INVALID. */
export function readPage(
  response: ApiResponse,
  read: PageReader,
  keep: readonly ((uid: string) => boolean)[],
  onReports: (reports: readonly RewriteReport[]) => void,
): ListPage {
  return listPage(
    readUpstream(() => read(response.body)),
    keep,
    onReports,
  );
}

/** The page in `body`, read in slices where it is long. */
export function readAny(
  read: PageReader,
  body: Uint8Array,
  inTurns: InTurns | undefined,
): ReturnType<PageReader> | Promise<ReturnType<PageReader>> {
  if (inTurns === undefined || body.length <= AT_ONCE_BYTES) return readUpstream(() => read(body));
  return inTurns((turn) => read.inSlices(body, turn));
}

/** `readPage`, in slices where the page is long. */
export function readAnyPage(
  { body }: ApiResponse,
  read: PageReader,
  keep: readonly ((uid: string) => boolean)[],
  onReports: (reports: readonly RewriteReport[]) => void,
  inTurns: InTurns | undefined,
): ListPage | Promise<ListPage> {
  const page = readAny(read, body, inTurns);
  if (page instanceof Promise) return page.then((read) => listPage(read, keep, onReports));
  return listPage(page, keep, onReports);
}

function listPage(
  page: ReadPage,
  keep: readonly ((uid: string) => boolean)[],
  onReports: (reports: readonly RewriteReport[]) => void,
): ListPage {
  onReports(page.reports);
  const token = page.scalars.get("nextPageToken") ?? "";
  if (typeof token !== "string") throw invalidResponse("nextPageToken is no string");
  if (LONE_SURROGATE.test(token)) throw invalidResponse("nextPageToken is no Unicode");
  if (token.length > MAX_TOKEN_LENGTH)
    throw invalidResponse(`nextPageToken is longer than ${MAX_TOKEN_LENGTH} characters`);
  return {
    bytes: page.bytes,
    starts: page.starts,
    ends: page.ends,
    keys: page.keys,
    ...(keep.length === 0 ? {} : { hidden: hide(page.keys, keep) }),
    ...(page.bare === true ? { bare: true } : {}),
    nextPageToken: token,
    totalCount: readCount(page.scalars.get("totalCount")),
    skipped: readCount(page.scalars.get("skipped")),
  };
}

function hide(keys: readonly string[], keep: readonly ((uid: string) => boolean)[]): Uint8Array {
  return Uint8Array.from(keys, (key) => (keep.every((test) => test(key)) ? 0 : 1));
}

/** Counts come as decimal strings or numbers, and are only hints: anything odd counts as absent. */
function readCount(value: string | number | null | boolean | undefined): number | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  const text = String(value);
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** Runs `read` over bytes from v2; what is not the JSON that was asked for is the platform's fault. */
export function readUpstream<T>(read: () => T, metadata: Metadata = {}): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof JsonError) throw invalidResponse(error.message, metadata);
    throw error;
  }
}

/** The platform answered something else than what was asked for; `what` says it without values. */
export function invalidResponse(what: string, metadata: Metadata = {}): Problem {
  return new Problem("UPSTREAM_INVALID", `the platform's answer is not what was asked for: ${what}`, { metadata });
}
