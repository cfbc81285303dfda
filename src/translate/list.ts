/** How is a v1 list answered? (Design: lists; specification section 4.) */
import { OurHeader } from "../model/http.ts";
import type { DrainedList, ListPage, ListPlan, LongList } from "../model/list.ts";
import { collectionPath } from "../model/match.ts";
import type { ApiResponse, BodyStream, HeaderList } from "../model/message.ts";
import type { Operation } from "../model/resource.ts";
import { errorAnswer, isTypedRefusal, NOT_THERE } from "./error.ts";
import { answerWith, readHeaders } from "./headers.ts";
import { keepsRecord } from "./keep.ts";
import { noteReports } from "./note.ts";
import { answerPaged, envelopeText } from "./paged.ts";
import { createPageReader, invalidAnswer, pageTarget, readAnyPage } from "./pages.ts";
import type { Parts } from "./parts.ts";
import { type ListQuery, readListQuery } from "./query.ts";
import { createShow, type Show } from "./show.ts";
import type { Tools, Translation, V1Request } from "./tools.ts";

export type ListOperation = Operation & { readonly kind: "list" };

const OPEN = Buffer.from('{"items":[');
const COMMA = Buffer.from(",");
const CLOSE = Buffer.from("]}");
const EMPTY = Buffer.from('{"items":[]}');

/** What a list answer of v1's gateway carries, for when there is no answer of v2 to take fields from. */
export const NO_ANSWER: ApiResponse = {
  status: 200,
  headers: [["grpc-metadata-content-type", "application/grpc"]],
  body: new Uint8Array(),
};

/** Every match in one answer `{"items":[…]}`, whatever v2's page size; an id filter becomes a Get. */
export function createList(operation: ListOperation, parts: Parts): Translation {
  const { resource, options } = parts;
  const path = collectionPath(resource, options.version);
  const show = createShow(operation.answer, operation.joins ?? [], parts);
  const showOne = showOfGet(operation, parts) ?? show;
  const pages = createPageReader(resource, show.plan ?? "copy");

  const believed = (page: ListPage): ListPage => {
    if (page.bare === true && options.omitsZeros === "no") throw invalidAnswer(`a page without ${resource.items}`);
    return page;
  };

  return async (request, tools) => {
    const query = readListQuery(request.match.query, operation.filters);
    if (query.unknown.length > 0) tools.exchange.notes.push("query-unknown");
    const envelope = (uids: readonly string[]) => envelopeText(operation, wholeOf(uids), request, uids);
    if (query.empty) return emptyList({ path, parts, body: joinChunks([], envelope([])) }, request, tools);
    if (query.get !== undefined)
      return listOfOne(query.get, query, { path, show: showOne, parts, envelope }, request, tools);
    if (resource.list === "paged") return answerPaged(operation, query, { path, parts, pages }, request, tools);

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
    if (list.kind === "refused") return errorAnswer(list.response, parts.names);
    const body = list.kind === "list" ? joinChunks(list.chunks, "") : streamChunks(list.chunks);
    return answerWith(list, 200, body, listHeader(list));
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
function wholeOf(uids: readonly string[]): ReadonlyMap<string, string> {
  return new Map([["totalCount", String(uids.length)]]);
}

/**
 * What is proved about the list, for the client to see (design section 10): of one that is still being read, what its end
 * will prove, or else not come.
 */
export function listHeader(list: DrainedList | LongList): HeaderList {
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
  { path, parts, body }: { readonly path: string; readonly parts: Parts; readonly body: Uint8Array },
  request: V1Request,
  tools: Tools,
): Promise<ApiResponse> {
  const target = pageTarget(path, [], { size: 1 });
  const response = await tools.send({ method: "GET", target, headers: readHeaders(request.headers) });
  return response.status === 200 ? answerWith(response, 200, body) : errorAnswer(response, parts.names);
}

/** What v2's Get shows of the same record: often more than its list, so that less is to be joined. */
function showOfGet(operation: ListOperation, parts: Parts): Show | undefined {
  const get = parts.resource.operations.find((each) => each.kind === "get");
  if (get?.kind !== "get" || get.answer !== operation.answer) return undefined;
  return createShow(get.answer, get.joins ?? [], parts);
}

interface OneParts {
  readonly path: string;
  readonly show: Show;
  readonly parts: Parts;
  readonly envelope: (uids: readonly string[]) => string;
}

async function listOfOne(
  uid: string,
  query: ListQuery,
  { path, show, parts, envelope }: OneParts,
  request: V1Request,
  tools: Tools,
) {
  const response = await tools.send({ method: "GET", target: `${path}/${uid}`, headers: readHeaders(request.headers) });
  if (isTypedRefusal(response, NOT_THERE)) {
    tools.exchange.notes.push("id-filter-empty");
    return answerWith(NO_ANSWER, 200, joinChunks([], envelope([])));
  }
  if (response.status !== 200) return errorAnswer(response, parts.names);
  const shown = await show.one(response.body, uid, request, tools);
  if (shown.kind === "refused") return errorAnswer(shown.response, parts.names);
  if (!keepsRecord(response.body, uid, query)) return answerWith(response, 200, joinChunks([], envelope([])));
  return answerWith(response, 200, joinChunks([shown.bytes], envelope([uid])));
}
