/** How does a v1 PUT, which replaces everything, become one v2 PATCH? (Design: updates.) */
import type { JsonObject } from "../model/json.ts";
import { v2PathOf } from "../model/match.ts";
import type { ApiResponse } from "../model/message.ts";
import type { Operation } from "../model/resource.ts";
import { errorAnswer } from "./error.ts";
import { answerWith, readHeaders, writeHeaders } from "./headers.ts";
import { readNoted } from "./note.ts";
import { checkKey, V2_KEY } from "./pages.ts";
import type { Parts } from "./parts.ts";
import { namingHeader, parseRecord, patchAt, sendPatch, settle } from "./patch.ts";
import { isSuccess, STATE_UNKNOWN } from "./records.ts";
import { createShow, type Show } from "./show.ts";
import type { Tools, Translation, V1Request } from "./tools.ts";
import { buildPatch, needsStored } from "./update.ts";

/** One read first where a row needs it, then one PATCH; its answer is compared with what was asked. */
export function createReplace(operation: Operation & { readonly kind: "update" }, parts: Parts): Translation {
  const { rows } = operation.body;
  const show = createShow(operation.answer, operation.joins ?? [], parts);
  return async (request, tools) => {
    const body = readNoted(request.body, rows, parts.options.unknownRequest, tools);
    const several = needsStored(rows, body);
    const headers = writeHeaders(request.headers, several ? "several" : "one");
    const path = v2PathOf(request.match, parts.options.version);
    const stored = several ? await readStored(path, request, tools) : undefined;
    if (stored?.kind === "refused") return errorAnswer(stored.response, parts.names);
    const patch = buildPatch(rows, body, stored?.record);
    const leftAlone = patch.leftAlone.map(() => "field-left-alone");
    if (patch.asked.length === 0) {
      tools.exchange.notes.push("update-empty", ...leftAlone);
      const before = stored ?? (await readStored(path, request, tools));
      return answerUnchanged(before, request, parts, show, tools);
    }
    const { response, spelling } = await sendPatch(patch, patchAt(path, patch, headers), tools, tools.mask);
    if (!isSuccess(response)) return errorAnswer(response, parts.names);
    tools.exchange.defaultedFields.push(...patch.defaulted);
    tools.exchange.notes.push(...leftAlone);
    const shown = await show.one(response.body, request.match.uid, request, tools, STATE_UNKNOWN);
    if (shown.kind === "refused") return errorAnswer(shown.response, parts.names);
    const record = parseRecord(response, STATE_UNKNOWN);
    const names = settle([{ patch, record, spelling }], parts, tools);
    return answerWith(response, 200, shown.bytes, namingHeader(names));
  };
}

/** The record before an update, or the platform's refusal to show it. */
export type Stored =
  | { readonly kind: "stored"; readonly response: ApiResponse; readonly record: JsonObject }
  | { readonly kind: "refused"; readonly response: ApiResponse };

/**
 * The record that the request names, as v2 has it now at `path`. Its race with other writers is stated in the documentation
 * of updates. Throws `Problem` UPSTREAM_INVALID, also for another record: compared with that, a change could get lost.
 */
export async function readStored(path: string, request: V1Request, tools: Tools): Promise<Stored> {
  const response = await tools.send({ method: "GET", target: path, headers: readHeaders(request.headers) });
  if (response.status !== 200) return { kind: "refused", response };
  const record = parseRecord(response);
  checkKey(record[V2_KEY], request.match.uid);
  return { kind: "stored", response, record };
}

/** Nothing is to be written: an empty mask would mean everything, so the record is shown as it is. */
async function answerUnchanged(before: Stored, request: V1Request, parts: Parts, show: Show, tools: Tools) {
  const { kind, response } = before;
  if (kind === "refused") return errorAnswer(response, parts.names);
  const shown = await show.one(response.body, request.match.uid, request, tools);
  if (shown.kind === "refused") return errorAnswer(shown.response, parts.names);
  return answerWith(response, 200, shown.bytes);
}
