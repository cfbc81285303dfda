/** v1 lists: every match in one response, or page by page where v1 itself paged. */

import type { PageResult, PageScalar } from "../json/rewrite.ts";
import { type ApiResponse, type BodyStream, type HeaderList, OurHeader } from "../model/http.ts";
import type { DrainedList, ListPlan, StreamedList } from "../model/list.ts";
import { collectionPath } from "../model/request.ts";
import type { EnvelopeRow, Operation } from "../model/resource.ts";
import { snakeCase } from "../model/text.ts";
import { parentOf } from "../model/uid.ts";
import { errorResponse, isTypedRefusal, MISSING_OR_FORBIDDEN } from "./error.ts";
import { readHeaders, respondWith, withoutPaging } from "./headers.ts";
import {
  noteReports,
  type ResourceContext,
  readRequestQuery,
  type Tools,
  type Translation,
  type V1Request,
} from "./operation.ts";
import {
  bareMeaning,
  checkOnly,
  createPageReader,
  type PageReader,
  pageTarget,
  readAny,
  readAnyPage,
  targetWith,
} from "./pages.ts";
import { type ListQuery, matchesQuery, parseQuery } from "./query.ts";
import { createRecordRewriter, type RecordRewriter } from "./record-rewriter.ts";
import { v1ZeroText } from "./response-plan.ts";
import { int64Text } from "./scalars.ts";

export type ListOperation = Operation & { readonly kind: "list" };

/** What every request for one list shares. */
interface ListContext {
  readonly operation: ListOperation;
  readonly parts: ResourceContext;
  /** v2 path of the list. */
  readonly path: string;
  readonly pages: PageReader;
  /** For a record that comes from a Get. */
  readonly getRewriter: RecordRewriter;
}

/** v1's envelope. */
const AROUND = { open: '{"items":[', close: "]}" };
const OPEN = Buffer.from(AROUND.open);
const COMMA = Buffer.from(",");
const CLOSE = Buffer.from(AROUND.close);
const EMPTY = Buffer.from('{"items":[]}');

/** Headers of v1's gateway, for a list without any response of v2. */
export const EMPTY_LIST_RESPONSE: ApiResponse = {
  status: 200,
  headers: [["grpc-metadata-content-type", "application/grpc"]],
  body: new Uint8Array(),
};

/** Every match in one response `{"items":[…]}`, whatever v2's page size; an id filter becomes a Get. */
export function createList(operation: ListOperation, parts: ResourceContext): Translation {
  const { resource, options } = parts;
  const path = collectionPath(resource, options.version);
  const rewriter = createRecordRewriter(operation.answer, operation.joins ?? [], parts);
  const get = resource.operations.find((each) => each.kind === "get");
  // v2's Get often holds more than its list, so that less must be joined.
  const getRewriter =
    get?.kind === "get" && get.answer === operation.answer
      ? createRecordRewriter(get.answer, get.joins ?? [], parts)
      : rewriter;
  const plain = resource.list === "drain" && rewriter.plan !== undefined;
  const pages = createPageReader(resource, rewriter.plan ?? "copy", options, plain ? AROUND : undefined);
  const context: ListContext = { operation, parts, path, pages, getRewriter };

  return async (request, tools) => {
    const query = readRequestQuery(request, operation.filters, tools);
    if (query.empty) return emptyList(context, request, tools);
    if (query.get !== undefined) return listOfOne(query.get, query, context, request, tools);
    if (resource.list === "paged") return pagedResponse(query, context, request, tools);

    const { orderBy } = options;
    const params = orderBy === undefined ? query.params : [...query.params, `order_by=${encodeURIComponent(orderBy)}`];
    const plan: ListPlan = {
      resource: resource.name,
      // In another order, ascending uids are chance and prove nothing.
      keyOrder: orderBy === undefined ? resource.orderedByUid : /^uid(?: +asc)?$/i.test(orderBy),
      request: (page) => ({
        method: "GET",
        target: pageTarget(path, params, page),
        headers: readHeaders(request.headers),
      }),
      read: (response) => {
        const onReports = (reports: PageResult["reports"]) => noteReports(reports, tools);
        return readAnyPage(response, pages, query.keyTests, onReports, tools.inTurns);
      },
      bareMeans: bareMeaning(options),
      show: rewriter.chunk?.(request, tools),
    };
    const list = await tools.longDrain(plan);
    if (list.kind === "refused") return errorResponse(list.response, parts.names);
    const body = list.kind === "list" ? wholeBody(list, plain) : streamChunks(list.chunks);
    const response = respondWith(withoutPaging(list), 200, body, listHeader(list));
    // A filter of carryover's own hides records that the platform counts.
    return list.kind === "list" || query.keyTests.length > 0 ? response : { ...response, expected: list.expected };
  };
}

/** Where pages come in the envelope (`isAround`), a list of one page is a response as it stands: nothing is copied. */
function wholeBody({ chunks, only }: DrainedList, isAround: boolean): Uint8Array {
  return isAround && only !== undefined ? only.bytes : joinChunks(chunks, "");
}

/** v1's envelope; `rest`: its members after the items. */
function joinChunks(chunks: readonly Uint8Array[], rest: string): Uint8Array {
  const items = chunks.flatMap((chunk, index) => (index === 0 ? [chunk] : [COMMA, chunk]));
  return Buffer.concat([OPEN, ...items, Buffer.from(`]${rest}}`)]);
}

/** The same for a stream. A generator would not do: its `return` does nothing before its first `next`, and waits for one under way. */
function streamChunks(chunks: BodyStream): BodyStream {
  return {
    [Symbol.asyncIterator]() {
      const source = chunks[Symbol.asyncIterator]();
      let pending: Uint8Array | undefined;
      let state: "new" | "begun" | "over" = "new";
      return {
        async next() {
          if (pending !== undefined) {
            const value = pending;
            pending = undefined;
            return { done: false, value };
          }
          if (state === "over") return { done: true, value: undefined };
          const chunk = await source.next();
          const first = state === "new";
          state = chunk.done === true ? "over" : "begun";
          if (chunk.done === true) return { done: false, value: first ? EMPTY : CLOSE };
          pending = chunk.value;
          return { done: false, value: first ? OPEN : COMMA };
        },
        async return() {
          state = "over";
          pending = undefined;
          await source.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}

/**
 * What is proved about the list, for the client; of a list that is still being read, what its end will prove, or else it
 * is aborted.
 */
export function listHeader(list: DrainedList | StreamedList): HeaderList {
  if (list.kind === "list") {
    return [[OurHeader.LIST, `witness=${list.witness}; pages=${list.pages}; records=${list.records}`]];
  }
  return [[OurHeader.LIST, list.floor === "none" ? "witness=none" : `witness=${list.floor}-or-abort`]];
}

/** Nothing can match, but the platform decides who may ask, so it is asked for as little as possible. */
async function emptyList(context: ListContext, request: V1Request, tools: Tools): Promise<ApiResponse> {
  const target = pageTarget(context.path, [], { size: 1 });
  const response = await tools.send({ method: "GET", target, headers: readHeaders(request.headers) });
  if (response.status !== 200) return errorResponse(response, context.parts.names);
  return respondWith(withoutPaging(response), 200, joinChunks([], wholeEnvelope(context, request, [])));
}

async function listOfOne(
  uid: string,
  query: ListQuery,
  context: ListContext,
  request: V1Request,
  tools: Tools,
): Promise<ApiResponse> {
  const { path, parts, getRewriter } = context;
  const response = await tools.send({ method: "GET", target: `${path}/${uid}`, headers: readHeaders(request.headers) });
  if (isTypedRefusal(response, MISSING_OR_FORBIDDEN)) {
    tools.exchange.notes.push("id-filter-empty");
    return respondWith(EMPTY_LIST_RESPONSE, 200, joinChunks([], wholeEnvelope(context, request, [])));
  }
  if (response.status !== 200) return errorResponse(response, parts.names);
  const record = await getRewriter.rewriteOne(response.body, uid, request, tools);
  if (record.kind === "refused") return errorResponse(record.response, parts.names);
  const matches = matchesQuery(response.body, uid, query);
  const rest = wholeEnvelope(context, request, matches ? [uid] : []);
  return respondWith(response, 200, joinChunks(matches ? [record.bytes] : [], rest));
}

/** One v2 page is one v1 page; the token goes through unchanged. */
async function pagedResponse(
  query: ListQuery,
  { operation, path, parts, pages }: ListContext,
  request: V1Request,
  tools: Tools,
): Promise<ApiResponse> {
  const target = targetWith(path, [...query.params, ...query.pageParams]);
  const response = await tools.send({ method: "GET", target, headers: readHeaders(request.headers) });
  if (response.status !== 200) return errorResponse(response, parts.names);
  const page = await readAny(pages, response.body, tools.inTurns);
  noteReports(page.reports, tools);
  // How many records came before a page that the client asked for by its token, only the client knows.
  if (!query.pageParams.some((param) => param.startsWith("page_token="))) checkOnly(parts.resource, page);
  const rest = envelopeText(operation, page.scalars, request, page.keys);
  return respondWith(withoutPaging(response), 200, joinChunks(keptRecords(page, query), rest));
}

/** The records of the page that pass the tests which v2's list does not make. */
function keptRecords({ bytes, keys, starts, ends }: PageResult, { keyTests }: ListQuery): readonly Uint8Array[] {
  const kept = [...keys.keys()].filter((index) => keyTests.every((test) => test(keys[index] ?? "")));
  if (kept.length === 0) return [];
  if (kept.length === keys.length) return [bytes];
  return kept.map((index) => bytes.subarray(starts[index], ends[index]));
}

/** The envelope of a list that holds the records `uids` and no others. */
function wholeEnvelope({ operation }: ListContext, request: V1Request, uids: readonly string[]): string {
  return envelopeText(operation, new Map([["totalCount", String(uids.length)]]), request, uids);
}

/**
 * v1's members after the items, `,"name":value` each. `scalars`: those of v2's page; `keys`: the uids of its records.
 */
function envelopeText(
  operation: ListOperation,
  scalars: PageResult["scalars"],
  request: V1Request,
  keys: readonly string[],
): string {
  const asked = new Map(parseQuery(request.match.query).map(({ name, value }) => [snakeCase(name), value]));
  // Without a group in the request: the group of the first record.
  const owner = keys[0] === undefined ? undefined : parentOf(keys[0]);
  return (operation.envelope ?? [])
    .map((row) => envelopeMember(row, row.v2 === null ? (fromQuery(row, asked) ?? owner) : scalars.get(row.v2)))
    .join("");
}

/** Empty for an optional member that v2 did not send. */
function envelopeMember(row: EnvelopeRow, value: PageScalar | undefined): string {
  const zero = row.presence === "explicit" ? undefined : v1ZeroText(row);
  const text = scalarText(row, value) ?? zero;
  return text === undefined ? "" : `,${JSON.stringify(row.v1)}:${text}`;
}

/** 64-bit integers are strings in v1, and strings or numbers in v2. Undefined for a number that is none. */
function scalarText(row: EnvelopeRow, value: PageScalar | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return JSON.stringify(value);
  if (row.kind !== "int64") return value.number;
  const digits = int64Text(value.number);
  return digits === undefined ? undefined : JSON.stringify(digits);
}

/** What v1 repeated of the request: the first of these parameters that is not empty. */
function fromQuery(row: EnvelopeRow, asked: ReadonlyMap<string, string>): string | undefined {
  return row.fromQuery?.map((name) => asked.get(name)).find((value) => value !== undefined && value !== "");
}
