/** How are one record's Get, Create and Delete served? (Design: v1 as clients see it.) */
import { v2PathOf } from "../model/match.ts";
import type { ApiResponse } from "../model/message.ts";
import { Problem } from "../model/problem.ts";
import type { Operation } from "../model/resource.ts";
import { bodyText } from "./body.ts";
import { errorAnswer } from "./error.ts";
import { answerWith, bodilessHeaders, readHeaders, writeHeaders } from "./headers.ts";
import { readNoted } from "./note.ts";
import type { Parts } from "./parts.ts";
import { createShow } from "./show.ts";
import type { Translation } from "./tools.ts";

/** A write that v2 carried out, but whose answer cannot be shown: the client must know that. */
export const STATE_UNKNOWN = { state: "unknown" } as const;

/** One record by its uid. */
export function createGet(operation: Operation & { readonly kind: "get" }, parts: Parts): Translation {
  const show = createShow(operation.answer, operation.joins ?? [], parts);
  return async (request, tools) => {
    const target = v2PathOf(request.match, parts.options.version);
    const response = await tools.send({ method: "GET", target, headers: readHeaders(request.headers) });
    if (response.status !== 200) return errorAnswer(response, parts.names);
    const shown = await show.one(response.body, request.match.uid, request, tools);
    if (shown.kind === "refused") return errorAnswer(shown.response, parts.names);
    return answerWith(response, 200, shown.bytes);
  };
}

/** Parent in the path, body renamed, server-set members dropped. */
export function createCreate(operation: Operation & { readonly kind: "create" }, parts: Parts): Translation {
  const show = createShow(operation.answer, operation.joins ?? [], parts);
  return async (request, tools) => {
    const body = readNoted(request.body, operation.body.rows, parts.options.unknownRequest, tools);
    const response = await tools.send({
      method: "POST",
      target: v2PathOf(request.match, parts.options.version),
      headers: writeHeaders(request.headers, "one"),
      body: Buffer.from(bodyText(body)),
    });
    if (!isSuccess(response)) return errorAnswer(response, parts.names);
    const shown = await show.one(response.body, undefined, request, tools, STATE_UNKNOWN);
    if (shown.kind === "refused") return errorAnswer(shown.response, parts.names);
    return answerWith(response, 200, shown.bytes);
  };
}

/** v1 answers `{}`; v2 may answer nothing at all. A body of the request is not read, as v1 did not. */
export function createDelete(parts: Parts): Translation {
  return async (request, tools) => {
    const response = await tools.send({
      method: "DELETE",
      target: v2PathOf(request.match, parts.options.version),
      headers: bodilessHeaders(request.headers, "one"),
    });
    if (!isSuccess(response)) return errorAnswer(response, parts.names);
    return answerWith(response, 200, Buffer.from("{}"));
  };
}

/** Throws `Problem` for an answer that is neither success nor error. */
export function isSuccess(response: ApiResponse): boolean {
  if (response.status >= 200 && response.status < 300) return true;
  if (response.status >= 400) return false;
  throw new Problem(
    "UPSTREAM_INVALID",
    `the platform answered ${response.status}, which is neither success nor error`,
    {
      metadata: STATE_UNKNOWN,
    },
  );
}
