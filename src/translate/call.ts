/** How is a custom verb served, whose v2 counterpart is one call? (Design: words, operation; custom verbs.) */
import { parseTree } from "../json/tree.ts";
import { v2PathOf } from "../model/match.ts";
import type { ApiRequest, ApiResponse } from "../model/message.ts";
import type { Operation } from "../model/resource.ts";
import { bodyText } from "./body.ts";
import { errorAnswer } from "./error.ts";
import { answerWith, readHeaders, writeHeaders } from "./headers.ts";
import { readNoted } from "./note.ts";
import { invalidAnswer, readUpstream } from "./pages.ts";
import type { Parts } from "./parts.ts";
import { readListQuery } from "./query.ts";
import { isSuccess, STATE_UNKNOWN } from "./records.ts";
import { createShow } from "./show.ts";
import type { Tools, Translation, V1Request } from "./tools.ts";

type CallOperation = Operation & { readonly kind: "call" };

/** One call: the path's uid, the query and the body in v2's words, the answer in v1's. Never repeated once it was sent. */
export function createCall(operation: CallOperation, parts: Parts): Translation {
  const show = createShow(operation.answer, [], parts);
  const isRead = operation.v2.method === "GET";
  const believe = createBelief(operation);
  return async (request, tools) => {
    const query = readListQuery(request.match.query, operation.filters ?? []);
    if (query.unknown.length > 0) tools.exchange.notes.push("query-unknown");
    const path = v2PathOf(request.match, parts.options.version);
    const target = query.params.length === 0 ? path : `${path}?${query.params.join("&")}`;
    const response = await tools.send(
      isRead ? readOf(target, request) : writeOf(target, operation, request, parts, tools),
    );
    if (!isSuccess(response)) return errorAnswer(response, parts.names);
    const metadata = isRead ? undefined : STATE_UNKNOWN;
    believe(bodyOf(response), request.match.uid, metadata);
    const shown = await show.one(bodyOf(response), undefined, request, tools, metadata);
    if (shown.kind === "refused") return errorAnswer(shown.response, parts.names);
    return answerWith(response, 200, shown.bytes);
  };
}

function readOf(target: string, { headers }: V1Request): ApiRequest {
  return { method: "GET", target, headers: readHeaders(headers) };
}

function writeOf(
  target: string,
  { v2, body: shape }: CallOperation,
  request: V1Request,
  parts: Parts,
  tools: Tools,
): ApiRequest {
  const body = readNoted(request.body, shape?.rows ?? [], parts.options.unknownRequest, tools);
  return {
    method: v2.method,
    target,
    headers: writeHeaders(request.headers, "one"),
    body: Buffer.from(bodyText(body)),
  };
}

/**
 * Where the answer names the record of the path: throws `Problem` UPSTREAM_INVALID, with `metadata`, for one that names another,
 * and for one that says nothing at all. Its zeros would be made up: a token that is empty, a switch that is off.
 */
function createBelief({ body, answer }: CallOperation) {
  const known = new Set(answer.rows.map(({ v2 }) => v2));
  // In a body it counts for nothing, because the path says which record is meant; so the answer must say the same.
  const own = new Set(body?.rows.flatMap(({ v2, access }) => (access === "output" && v2 !== null ? [v2] : [])));
  const named = answer.rows.flatMap(({ v2 }) => (v2 !== null && own.has(v2) ? [v2] : []));
  return (bytes: Uint8Array, uid: string, metadata?: Readonly<Record<string, string>>): void => {
    if (named.length === 0) return;
    const said = readUpstream(() => membersOf(bytes), metadata);
    if (![...said.keys()].some((name) => known.has(name))) throw invalidAnswer("nothing in it is known", metadata);
    if (named.some((name) => said.has(name) && said.get(name) !== uid)) {
      throw invalidAnswer("it is about another record", metadata);
    }
  };
}

/** Members of the answer by name, with their text where they are one. */
function membersOf(bytes: Uint8Array): ReadonlyMap<string, string | undefined> {
  const node = parseTree(bytes, { surrogates: "pass" });
  const members = node.kind === "object" ? node.members : [];
  return new Map(members.map(({ key, value }) => [key, value.kind === "string" ? value.value : undefined]));
}

/** An empty message may come as nothing at all (specification section 4). */
function bodyOf(response: ApiResponse): Uint8Array {
  return response.body.length === 0 ? Buffer.from("{}") : response.body;
}
