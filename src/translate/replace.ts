/** How does a v1 PUT, which replaces everything, become one v2 PATCH? (Design: updates.) */
import { isJsonObject, type JsonObject } from "../model/json.ts";
import { v2PathOf } from "../model/match.ts";
import type { ApiResponse, HeaderList } from "../model/message.ts";
import { Problem } from "../model/problem.ts";
import type { Operation } from "../model/resource.ts";
import { RpcCode } from "../model/status.ts";
import { createBodyNotes, readBody } from "./body.ts";
import { errorAnswer, readError } from "./error.ts";
import { answerWith, readHeaders, writeHeaders } from "./headers.ts";
import { noteBody } from "./note.ts";
import type { Parts } from "./parts.ts";
import { isSuccess, STATE_UNKNOWN } from "./records.ts";
import { createShow, type Show } from "./show.ts";
import type { Tools, Translation, V1Request } from "./tools.ts";
import {
  buildPatch,
  findKept,
  findMismatches,
  type MaskSpelling,
  type Mismatch,
  needsStored,
  type Patch,
} from "./update.ts";

/** One read first where a row needs it, then one PATCH; its answer is compared with what was asked. */
export function createReplace(operation: Operation & { readonly kind: "update" }, parts: Parts): Translation {
  const { rows } = operation.body;
  const show = createShow(operation.answer, operation.joins ?? [], parts);
  return async (request, tools) => {
    const notes = createBodyNotes();
    const body = readBody(request.body, rows, parts.options.unknownRequest, notes);
    noteBody(notes, tools);
    const several = needsStored(rows, body);
    const headers = writeHeaders(request.headers, several ? "several" : "one");
    const stored = several ? await readStored(request, parts, tools) : undefined;
    if (stored?.kind === "refused") return errorAnswer(stored.response, parts.names);
    const patch = buildPatch(rows, body, stored?.record);
    const leftAlone = patch.leftAlone.map(() => "field-left-alone");
    if (patch.asked.length === 0) {
      tools.exchange.notes.push("update-empty", ...leftAlone);
      return answerUnchanged(stored, request, parts, show, tools);
    }
    const path = v2PathOf(request.match, parts.options.version);
    const { response, spelling } = await sendPatch(patch, path, headers, tools);
    if (!isSuccess(response)) return errorAnswer(response, parts.names);
    tools.exchange.defaultedFields.push(...patch.defaulted);
    tools.exchange.notes.push(...leftAlone);
    const shown = await show.one(response.body, request.match.uid, request, tools, STATE_UNKNOWN);
    if (shown.kind === "refused") return errorAnswer(shown.response, parts.names);
    const record = parseRecord(response, STATE_UNKNOWN);
    const mismatches = findMismatches(patch, record);
    if (spelling !== undefined && provesSpelling(patch, mismatches)) tools.mask.learn(spelling);
    judge(mismatches, parts, tools);
    return answerWith(
      response,
      200,
      shown.bytes,
      namingHeader([...mismatches.map(({ v1 }) => v1), ...findKept(patch, record)]),
    );
  };
}

/** A field that is spelled differently was asked for and took effect: so the upstream understood this spelling. */
function provesSpelling(patch: Patch, mismatches: readonly Mismatch[]): boolean {
  const telling = patch.asked.filter(({ mask }) => mask.camelCase !== mask.snake_case);
  return telling.length > 0 && !telling.some(({ v1 }) => mismatches.some((mismatch) => mismatch.v1 === v1));
}

/** The record before an update, or the platform's refusal to show it. */
type Stored =
  | { readonly kind: "stored"; readonly response: ApiResponse; readonly record: JsonObject }
  | { readonly kind: "refused"; readonly response: ApiResponse };

/** The record as v2 has it now. Its race with other writers is stated in the documentation of updates. */
async function readStored(request: V1Request, parts: Parts, tools: Tools): Promise<Stored> {
  const target = v2PathOf(request.match, parts.options.version);
  const response = await tools.send({ method: "GET", target, headers: readHeaders(request.headers) });
  if (response.status !== 200) return { kind: "refused", response };
  return { kind: "stored", response, record: parseRecord(response) };
}

/** Nothing is to be written: an empty mask would mean everything, so the record is shown as it is. */
async function answerUnchanged(before: Stored | undefined, request: V1Request, parts: Parts, show: Show, tools: Tools) {
  const { kind, response } = before ?? (await readStored(request, parts, tools));
  if (kind === "refused") return errorAnswer(response, parts.names);
  const shown = await show.one(response.body, request.match.uid, request, tools);
  if (shown.kind === "refused") return errorAnswer(shown.response, parts.names);
  return answerWith(response, 200, shown.bytes);
}

/** An answer, and the spelling that it would prove. */
interface Patched {
  readonly response: ApiResponse;
  readonly spelling: MaskSpelling | undefined;
}

/**
 * Sends the PATCH in the spelling that this upstream is known to want. While it is not known: camelCase, as the
 * specification names fields; a refusal of it (400, code 3: nothing was done) is answered by sending snake_case once.
 */
async function sendPatch(patch: Patch, path: string, headers: HeaderList, tools: Tools): Promise<Patched> {
  const send = (spelling: MaskSpelling) =>
    tools.send({
      method: "PATCH",
      target: `${path}?updateMask=${patch.asked.map(({ mask }) => mask[spelling]).join(",")}`,
      headers,
      body: Buffer.from(patch.body),
    });
  const { known } = tools.mask;
  if (known !== undefined) return { response: await send(known), spelling: undefined };
  const first: Patched = { response: await send("camelCase"), spelling: "camelCase" };
  const sameInBoth = patch.asked.every(({ mask }) => mask.camelCase === mask.snake_case);
  if (sameInBoth || !isRefusedArgument(first.response)) return first;
  const second: Patched = { response: await send("snake_case"), spelling: "snake_case" };
  // Refused for the same reason: then it was not, or not only, the spelling. Any other refusal came behind the check of
  // the mask, and tells the client more than the first.
  return isRefusedArgument(second.response) ? first : second;
}

function isRefusedArgument(response: ApiResponse): boolean {
  return response.status === 400 && readError(response)?.code === RpcCode.INVALID_ARGUMENT;
}

/** Names what is not as the client asked, also what was left alone on purpose. */
function namingHeader(names: readonly string[]): HeaderList {
  return names.length === 0 ? [] : [["carryover-mismatch", names.join(", ")]];
}

/** Throws `Problem` UPDATE_INCOMPLETE by `updates.mismatch`. */
function judge(mismatches: readonly Mismatch[], parts: Parts, tools: Tools): void {
  tools.exchange.mismatches.push(...mismatches.map(({ v1 }) => v1));
  const { mismatch } = parts.options;
  const failing = mismatches.filter(({ zero }) => mismatch === "fail" || (mismatch === "zeros" && zero));
  if (failing.length > 0) {
    const names = failing.map(({ v1 }) => v1).join(", ");
    throw new Problem(
      "UPDATE_INCOMPLETE",
      `the platform did not store what was asked for: ${names}; read the record and repeat the update`,
      {
        fieldViolations: failing.map(({ v1, zero }) => ({
          field: v1,
          description: zero ? "was to become empty" : "differs",
        })),
      },
    );
  }
}

function parseRecord(response: ApiResponse, metadata: Readonly<Record<string, string>> = {}): JsonObject {
  const record = readJson(response);
  if (isJsonObject(record)) return record;
  throw new Problem("UPSTREAM_INVALID", "the platform's answer is not what was asked for: it is no record", {
    metadata,
  });
}

function readJson(response: ApiResponse): unknown {
  try {
    return JSON.parse(Buffer.from(response.body).toString("utf8"));
  } catch {
    return undefined;
  }
}
