/** How is a v1 list answered? (Design: lists; specification section 4.) */

import type { PageResult } from "../json/rewrite.ts";
import { snakeCase } from "../model/field-names.ts";
import { type ApiResponse, type BodyStream, type HeaderList, OurHeader } from "../model/http.ts";
import type { DrainedList, ListPage, ListPlan, StreamedList } from "../model/list.ts";
import { collectionPath } from "../model/request.ts";
import type { EnvelopeRow, Operation } from "../model/resource.ts";
import { parentOf } from "../model/uid.ts";
import { errorResponse, isTypedRefusal, MISSING_OR_FORBIDDEN } from "./error.ts";
import { readHeaders, respondWith } from "./headers.ts";
import { noteReports, type ResourceContext, type Tools, type Translation, type V1Request } from "./operation.ts";
import { createPageReader, invalidResponse, type PageReader, pageTarget, readAny, readAnyPage } from "./pages.ts";
import { type ListQuery, matchesQuery, parseQuery, readListQuery } from "./query.ts";
import { createRecordRewriter, type RecordRewriter } from "./record-rewriter.ts";
import { v1ZeroText } from "./response-plan.ts";

export type ListOperation = Operation & { readonly kind: "list" };

const OPEN = Buffer.from('{"items":[');
const COMMA = Buffer.from(",");
const CLOSE = Buffer.from("]}");
const EMPTY = Buffer.from('{"items":[]}');

/** What a list answer of v1's gateway carries, for when there is no answer of v2 to take fields from. */
export const EMPTY_LIST_RESPONSE: ApiResponse = {
  status: 200,
  headers: [["grpc-metadata-content-type", "application/grpc"]],
  body: new Uint8Array(),
};

/** Every match in one answer `{"items":[…]}`, whatever v2's page size; an id filter becomes a Get. */
export function createList(operation: ListOperation, parts: ResourceContext): Translation {
  const { resource, options } = parts;
  const path = collectionPath(resource, options.version);
  const show = createRecordRewriter(operation.answer, operation.joins ?? [], parts);
  const showOne = showOfGet(operation, parts) ?? show;
  const pages = createPageReader(resource, show.plan ?? "copy");

  const believed = (page: ListPage): ListPage => {
    if (page.bare === true && options.omitsZeros === "no") throw invalidResponse(`a page without ${resource.items}`);
    return page;
  };

  return async (request, tools) => {
    const query = readListQuery(request.match.query, operation.filters);
    if (query.unknown.length > 0) tools.exchange.notes.push("query-unknown");
    const envelope = (uids: readonly string[]) => envelopeText(operation, totalsOf(uids), request, uids);
    if (query.empty) return emptyList({ path, parts, body: joinChunks([], envelope([])) }, request, tools);
    if (query.get !== undefined)
      return listOfOne(query.get, query, { path, show: showOne, parts, envelope }, request, tools);
    if (resource.list === "paged") return pagedResponse(operation, query, { path, parts, pages }, request, tools);

    const params = options.orderBy === undefined ? query.params : [...query.params, orderParam(options.orderBy)];
    const plan: ListPlan = {
      resource: resource.name,
      // Uids may ascend by chance in another order, which proves nothing.
      keyOrder: options.orderBy === undefined ? resource.orderedByUid : isByKey(options.orderBy),
      request: (page) => ({
        method: "GET",
        target: pageTarget(path, params, page),
        headers: readHeaders(request.headers),
      }),
      read: (response) => {
        const page = readAnyPage(
          response,
          pages,
          query.keyTests,
          (reports) => noteReports(reports, tools),
          tools.inTurns,
        );
        return page instanceof Promise ? page.then(believed) : believed(page);
      },
      bareMeans: options.omitsZeros === "yes" ? "empty" : "nothing",
      show: show.chunk?.(request, tools),
    };
    const list = await tools.longDrain(plan);
    if (list.kind === "refused") return errorResponse(list.response, parts.names);
    const body = list.kind === "list" ? joinChunks(list.chunks, "") : streamChunks(list.chunks);
    return respondWith(list, 200, body, listHeader(list));
  };
}

/** v1's envelope; `rest`: its members behind the items. */
function joinChunks(chunks: readonly Uint8Array[], rest: string): Uint8Array {
  const parts: Uint8Array[] = [OPEN];
  chunks.forEach((chunk, index) => {
    if (index > 0) parts.push(COMMA);
    parts.push(chunk);
  });
  parts.push(Buffer.from(`]${rest}}`));
  return Buffer.concat(parts);
}

/** The same while the chunks are still being made; given up early, it gives them up too. */
function streamChunks(chunks: BodyStream): BodyStream {
  return {
    [Symbol.asyncIterator]() {
      const source = chunks[Symbol.asyncIterator]();
      let held: Uint8Array | undefined;
      let state: "new" | "begun" | "over" = "new";
      return {
        async next() {
          if (held !== undefined) {
            const value = held;
            held = undefined;
            return { done: false, value };
          }
          if (state === "over") return { done: true, value: undefined };
          const chunk = await source.next();
          const first = state === "new";
          state = chunk.done === true ? "over" : "begun";
          if (chunk.done === true) return { done: false, value: first ? EMPTY : CLOSE };
          held = chunk.value;
          return { done: false, value: first ? OPEN : COMMA };
        },
        async return() {
          state = "over";
          held = undefined;
          await source.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}

/** What v2 would say of a page that holds the whole list (specification section 2, list envelope). */
function totalsOf(uids: readonly string[]): ReadonlyMap<string, string> {
  return new Map([["totalCount", String(uids.length)]]);
}

/**
 * What is proved about the list, for the client to see (design section 10): of one that is still being read, what its end
 * will prove, or else not come.
 */
export function listHeader(list: DrainedList | StreamedList): HeaderList {
  if (list.kind === "list") {
    return [[OurHeader.LIST, `witness=${list.witness}; pages=${list.pages}; records=${list.records}`]];
  }
  return [[OurHeader.LIST, list.floor === "none" ? "witness=none" : `witness=${list.floor}-or-abort`]];
}

/** Records by their key, one after another: then `order_by` makes an order of what has none of its own. */
function isByKey(orderBy: string): boolean {
  return /^uid(?: +asc)?$/i.test(orderBy);
}

function orderParam(orderBy: string): string {
  return `order_by=${encodeURIComponent(orderBy)}`;
}

/** Nothing can match, but who may ask is the platform's to say: it is asked for as little as possible. */
async function emptyList(
  { path, parts, body }: { readonly path: string; readonly parts: ResourceContext; readonly body: Uint8Array },
  request: V1Request,
  tools: Tools,
): Promise<ApiResponse> {
  const target = pageTarget(path, [], { size: 1 });
  const response = await tools.send({ method: "GET", target, headers: readHeaders(request.headers) });
  return response.status === 200 ? respondWith(response, 200, body) : errorResponse(response, parts.names);
}

/** What v2's Get shows of the same record: often more than its list, so that less is to be joined. */
function showOfGet(operation: ListOperation, parts: ResourceContext): RecordRewriter | undefined {
  const get = parts.resource.operations.find((each) => each.kind === "get");
  if (get?.kind !== "get" || get.answer !== operation.answer) return undefined;
  return createRecordRewriter(get.answer, get.joins ?? [], parts);
}

interface SingleRecordList {
  readonly path: string;
  readonly show: RecordRewriter;
  readonly parts: ResourceContext;
  readonly envelope: (uids: readonly string[]) => string;
}

async function listOfOne(
  uid: string,
  query: ListQuery,
  { path, show, parts, envelope }: SingleRecordList,
  request: V1Request,
  tools: Tools,
) {
  const response = await tools.send({ method: "GET", target: `${path}/${uid}`, headers: readHeaders(request.headers) });
  if (isTypedRefusal(response, MISSING_OR_FORBIDDEN)) {
    tools.exchange.notes.push("id-filter-empty");
    return respondWith(EMPTY_LIST_RESPONSE, 200, joinChunks([], envelope([])));
  }
  if (response.status !== 200) return errorResponse(response, parts.names);
  const shown = await show.rewriteOne(response.body, uid, request, tools);
  if (shown.kind === "refused") return errorResponse(shown.response, parts.names);
  if (!matchesQuery(response.body, uid, query)) return respondWith(response, 200, joinChunks([], envelope([])));
  return respondWith(response, 200, joinChunks([shown.bytes], envelope([uid])));
}

/** How is a list answered that v1 itself paged? (Design: lists; the token goes through unchanged.) */

interface PagedList {
  readonly path: string;
  readonly parts: ResourceContext;
  readonly pages: PageReader;
}

/** One v2 page is one v1 page: records, and the members of v1's envelope. */
export async function pagedResponse(
  operation: Operation & { readonly kind: "list" },
  query: ListQuery,
  { path, parts, pages }: PagedList,
  request: V1Request,
  tools: Tools,
): Promise<ApiResponse> {
  const params = [...query.params, ...query.pageParams].join("&");
  const target = params === "" ? path : `${path}?${params}`;
  const response = await tools.send({ method: "GET", target, headers: readHeaders(request.headers) });
  if (response.status !== 200) return errorResponse(response, parts.names);
  const page = await readAny(pages, response.body, tools.inTurns);
  noteReports(page.reports, tools);
  const rest = envelopeText(operation, page.scalars, request, page.keys);
  const body = Buffer.concat([Buffer.from('{"items":['), keptRecords(page, query), Buffer.from(`]${rest}}`)]);
  return respondWith(response, 200, body);
}

/** The records of the page that pass the tests which v2's list does not make. */
function keptRecords(page: PageResult, { keyTests }: ListQuery): Uint8Array {
  const kept = page.keys.flatMap((key, index) => (keyTests.every((test) => test(key)) ? [index] : []));
  if (kept.length === page.keys.length) return page.bytes;
  const records = kept.map((index) => Buffer.from(page.bytes.subarray(page.starts[index], page.ends[index])));
  return Buffer.concat(records.flatMap((record, index) => (index === 0 ? [record] : [Buffer.from(","), record])));
}

/**
 * What stands behind the items in v1's envelope: `,"name":value` for each member. `scalars`: what v2's page says; `keys`:
 * the uids of its records.
 */
export function envelopeText(
  operation: Operation & { readonly kind: "list" },
  scalars: PageResult["scalars"],
  request: V1Request,
  keys: readonly string[],
): string {
  const asked = queryParameters(request.match.query);
  // Asked for no group in particular: the one that the page begins with.
  const owner = keys[0] === undefined ? undefined : parentOf(keys[0]);
  return (operation.envelope ?? [])
    .map((row) => envelopeMember(row, row.v2 === null ? (fromQuery(row, asked) ?? owner) : scalars.get(row.v2)))
    .join("");
}

type EnvelopeValue = ReturnType<PageResult["scalars"]["get"]>;

/** One member; nothing for an optional one that v2 did not send. */
function envelopeMember(row: EnvelopeRow, value: EnvelopeValue): string {
  const zero = row.presence === "explicit" ? undefined : v1ZeroText(row);
  // 64-bit integers are texts in both versions; a number says the same.
  const shown = typeof value === "number" && row.kind === "int64" ? String(value) : value;
  const text = shown === undefined || shown === null ? zero : JSON.stringify(shown);
  return text === undefined ? "" : `,${JSON.stringify(row.v1)}:${text}`;
}

/** What v1 repeated of the request: the first of these parameters that the client sent. */
function fromQuery(row: EnvelopeRow, asked: ReadonlyMap<string, string>): string | undefined {
  return row.fromQuery?.map((name) => asked.get(name)).find((value) => value !== undefined && value !== "");
}

/** Parameters by their snake_case name. */
function queryParameters(query: string): ReadonlyMap<string, string> {
  return new Map(parseQuery(query).map(({ name, value }) => [snakeCase(name), value]));
}
