/** Pages of a list, and the tokens that lead from one to the next. */
import { createHash } from "node:crypto";
import type { Context } from "../context.ts";
import { type JsonObject, member } from "../json.ts";
import { invalid } from "../refusal.ts";
import { type Collection, comparePositions, lowerBound, type Order, type StoredRecord } from "../store/collection.ts";
import type { Selection } from "../store/select.ts";

const DEFAULT_SIZE = 50;
const MAX_SIZE = 200;

/** The paging parameters of a decoded list request. */
export interface PageRequest {
  readonly size: number;
  readonly token: string;
  readonly skip: number;
  readonly order: Order;
  /** A hash of everything that must stay the same from page to page. */
  readonly query: string;
}

export interface Page {
  readonly records: readonly StoredRecord[];
  readonly nextToken: string;
  readonly total: number;
  readonly skipped: number;
}

/** What a token remembers: when it was made, for which query, and where the next page begins. */
interface TokenContent {
  readonly at: number;
  readonly query: string;
  readonly row: number;
  readonly key: string;
  readonly uid: string;
  /** Records that the requests of its chain skipped, and the number of pages in the chain. */
  readonly skipped: number;
  readonly pages: number;
  /** Empty pages that come before the next one. */
  readonly empty: number;
}

/**
 * Reads the paging parameters. Throws 400 for negative numbers. A size over the maximum is the maximum, or refused, or
 * fine where there is none (`unlimited`: native v1).
 */
export function pageRequest(
  request: JsonObject,
  order: Order,
  large: "clamp" | "refuse" | "unlimited" = "clamp",
): PageRequest {
  const number = (key: string) => Number(member(request, key) ?? 0);
  const size = number("pageSize");
  const skip = number("skip");
  if (size < 0) throw invalid("page_size", "page_size must not be negative");
  if (large === "refuse" && size > MAX_SIZE) throw invalid("page_size", `page_size must not exceed ${MAX_SIZE}`);
  if (skip < 0) throw invalid("skip", "skip must not be negative");
  const { pageSize: _size, pageToken: _token, skip: _skip, ...filters } = request;
  const query = createHash("sha256")
    .update(JSON.stringify([order.name, filters]))
    .digest("base64url")
    .slice(0, 12);
  return {
    size: size === 0 ? DEFAULT_SIZE : Math.min(size, large === "unlimited" ? size : MAX_SIZE),
    token: String(member(request, "pageToken") ?? ""),
    skip,
    order,
    query,
  };
}

/** Cuts one page out of `selection`. */
export function cutPage(context: Context, collection: Collection, selection: Selection, request: PageRequest): Page {
  const { uids, from, to } = inOrder(collection, selection, request.order);
  const before = validToken(context, request);
  const start = startOf(context, collection, uids, from, to, request.order, before);
  const skip = context.settings.ignoreSkip ? 0 : request.skip;
  const chain = (before?.skipped ?? 0) + skip;
  const first = Math.min(start + skip, to);
  if (before !== undefined && before.empty > 0) {
    const nextToken = writeToken({ ...before, empty: before.empty - 1 });
    return {
      records: [],
      nextToken,
      total: to - from,
      skipped: saidSkipped(context, request, before, first - from, chain),
    };
  }
  const last = Math.min(first + request.size, to);
  const records = uids.slice(first, last).flatMap((uid) => collection.get(uid) ?? []);
  const end = records.at(-1);
  const content: TokenContent = {
    at: context.settings.clock().getTime(),
    query: request.query,
    row: last - from,
    key: end === undefined ? "" : request.order.key(end),
    uid: end?.uid ?? "",
    skipped: chain,
    pages: (before?.pages ?? 0) + 1,
    empty: context.settings.emptyPages,
  };
  const skipped = saidSkipped(context, request, before, first - from, chain);
  return { records, nextToken: last < to ? writeToken(content) : "", total: to - from, skipped };
}

/** Returns the number in `skipped`. `position`: records before the page; `chain`: records that its chain skipped. */
function saidSkipped(
  { settings }: Context,
  request: PageRequest,
  before: TokenContent | undefined,
  position: number,
  chain: number,
): number {
  if (settings.ignoreSkip) return 0;
  if (before === undefined || settings.skipped === "request") return request.skip;
  if (settings.skipped === "position") return position;
  return settings.skipped === "growing" ? chain * (before.pages + 1) : chain;
}

/** The rows of a selection in the asked order, without those that fail its test. */
function inOrder(collection: Collection, selection: Selection, order: Order): Omit<Selection, "test"> {
  const { uids, from, to, test } = selection;
  if (order.byUid && test === undefined) return { uids, from, to };
  const passes = (uid: string) => {
    const record = collection.get(uid);
    return record !== undefined && (test === undefined || test(record));
  };
  if (order.byUid) return wholeOf(uids.slice(from, to).filter(passes));
  const all = collection.ordered(order);
  if (to - from === all.length && test === undefined) return wholeOf(all);
  const chosen = new Set(uids.slice(from, to).filter(passes));
  return wholeOf(all.filter((uid) => chosen.has(uid)));
}

function wholeOf(uids: readonly string[]): Omit<Selection, "test"> {
  return { uids, from: 0, to: uids.length };
}

/** Reads the token of `request`. Returns undefined without one, and for an expired one, which restarts the list. */
function validToken({ settings }: Context, request: PageRequest): TokenContent | undefined {
  if (request.token === "") return undefined;
  const content = readToken(request.token);
  if (settings.clock().getTime() - content.at >= settings.tokenLifetimeMs) return undefined;
  if (content.query !== request.query) throw invalid("page_token", "the token belongs to another list");
  return content;
}

/** The row at which the page behind a token begins; the first one without a token. */
function startOf(
  context: Context,
  collection: Collection,
  uids: readonly string[],
  from: number,
  to: number,
  order: Order,
  content: TokenContent | undefined,
): number {
  if (content === undefined) return from;
  if (context.settings.tokens === "offset") return Math.min(from + content.row, to);
  if (order.byUid) return clamp(lowerBound(uids, `${content.uid}\u0000`), from, to);
  return firstAfter(collection, uids, order, content);
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}

function firstAfter(collection: Collection, uids: readonly string[], order: Order, content: TokenContent): number {
  let low = 0;
  let high = uids.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const record = collection.get(uids[middle] ?? "");
    const key = record === undefined ? "" : order.key(record);
    if (comparePositions(order, key, record?.uid ?? "", content.key, content.uid) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function writeToken(content: TokenContent): string {
  const { at, query, row, key, uid, skipped, pages, empty } = content;
  return Buffer.from(JSON.stringify([at, query, row, key, uid, skipped, pages, empty])).toString("base64url");
}

function readToken(token: string): TokenContent {
  try {
    const [at, query, row, key, uid, ...rest] = JSON.parse(Buffer.from(token, "base64url").toString("utf8"));
    const [skipped, pages, empty] = rest.map(Number);
    if (typeof at === "number" && typeof row === "number" && typeof uid === "string") {
      const own = { at, query: String(query), row, key: String(key), uid };
      return { ...own, skipped: skipped ?? 0, pages: pages ?? 0, empty: empty ?? 0 };
    }
  } catch {
    // Falls through: whatever is wrong with it, the answer is the same.
  }
  throw invalid("page_token", "the token is not one of this service");
}
