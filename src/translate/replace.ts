/** How does a v1 PUT, which replaces everything, become one v2 PATCH? (Design: updates.) */

import { type ApiRequest, type ApiResponse, type HeaderList, OurHeader } from "../model/http.ts";
import { isJsonObject, type JsonObject } from "../model/json.ts";
import { Problem, RpcCode } from "../model/problem.ts";
import { v2PathOf } from "../model/request.ts";
import type { Operation } from "../model/resource.ts";
import { errorResponse, readError } from "./error.ts";
import { readHeaders, respondWith, writeHeaders } from "./headers.ts";
import {
  type MaskMemory,
  type ResourceContext,
  readRequestBody,
  type Tools,
  type Translation,
  type V1Request,
} from "./operation.ts";
import { checkKey, V2_KEY } from "./pages.ts";
import { createRecordRewriter, type RecordRewriter } from "./record-rewriter.ts";
import { isSuccess, STATE_UNKNOWN } from "./single-call.ts";
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
export function createReplace(operation: Operation & { readonly kind: "update" }, parts: ResourceContext): Translation {
  const { rows } = operation.body;
  const show = createRecordRewriter(operation.answer, operation.joins ?? [], parts);
  return async (request, tools) => {
    const body = readRequestBody(request.body, rows, parts.options.unknownRequest, tools);
    const several = needsStored(rows, body);
    const headers = writeHeaders(request.headers, several ? "several" : "one");
    const path = v2PathOf(request.match, parts.options.version);
    const stored = several ? await readStored(path, request, tools) : undefined;
    if (stored?.kind === "refused") return errorResponse(stored.response, parts.names);
    const patch = buildPatch(rows, body, stored?.record);
    const leftAlone = patch.leftAlone.map(() => "field-left-alone");
    if (patch.asked.length === 0) {
      tools.exchange.notes.push("update-empty", ...leftAlone);
      const before = stored ?? (await readStored(path, request, tools));
      return answerUnchanged(before, request, parts, show, tools);
    }
    const { response, spelling } = await sendPatch(patch, patchAt(path, patch, headers), tools, tools.mask);
    if (!isSuccess(response)) return errorResponse(response, parts.names);
    tools.exchange.defaultedFields.push(...patch.defaulted);
    tools.exchange.notes.push(...leftAlone);
    const shown = await show.rewriteOne(response.body, request.match.uid, request, tools, STATE_UNKNOWN);
    if (shown.kind === "refused") return errorResponse(shown.response, parts.names);
    const record = parseRecord(response, STATE_UNKNOWN);
    const names = verifyPatches([{ patch, record, spelling }], parts, tools);
    return respondWith(response, 200, shown.bytes, mismatchHeader(names));
  };
}

/** The record before an update, or the platform's refusal to show it. */
export type StoredRecord =
  | { readonly kind: "stored"; readonly response: ApiResponse; readonly record: JsonObject }
  | { readonly kind: "refused"; readonly response: ApiResponse };

/**
 * The record that the request names, as v2 has it now at `path`. Its race with other writers is stated in the documentation
 * of updates. Throws `Problem` UPSTREAM_INVALID, also for another record: compared with that, a change could get lost.
 */
export async function readStored(path: string, request: V1Request, tools: Tools): Promise<StoredRecord> {
  const response = await tools.send({ method: "GET", target: path, headers: readHeaders(request.headers) });
  if (response.status !== 200) return { kind: "refused", response };
  const record = parseRecord(response);
  checkKey(record[V2_KEY], request.match.uid);
  return { kind: "stored", response, record };
}

/** Nothing is to be written: an empty mask would mean everything, so the record is shown as it is. */
async function answerUnchanged(
  before: StoredRecord,
  request: V1Request,
  parts: ResourceContext,
  show: RecordRewriter,
  tools: Tools,
) {
  const { kind, response } = before;
  if (kind === "refused") return errorResponse(response, parts.names);
  const shown = await show.rewriteOne(response.body, request.match.uid, request, tools);
  if (shown.kind === "refused") return errorResponse(shown.response, parts.names);
  return respondWith(response, 200, shown.bytes);
}

/** How is a PATCH sent, and what does its answer prove? (Design: updates.) */

/** An answer, and the spelling that it would prove. */
export interface PatchResponse {
  readonly response: ApiResponse;
  readonly spelling: MaskSpelling | undefined;
}

/** A PATCH that took effect: `record` is v2's answer to it. */
export interface AppliedPatch {
  readonly patch: Patch;
  readonly record: JsonObject;
  readonly spelling: MaskSpelling | undefined;
}

/** How platforms say that a mask names no field of theirs. */
const ABOUT_THE_MASK = /mask|(?:unknown|invalid|no such) (?:field|name|path)|no path|could not find field/i;
/** Only so much of an error is searched. */
const MOST_BYTES = 4096;

/** The PATCH with its mask in one spelling. */
type PatchRequest = (mask: string) => ApiRequest;

/** The PATCH at `path`, its mask in the query. */
export function patchAt(path: string, { body }: Patch, headers: HeaderList): PatchRequest {
  return (mask) => ({ method: "PATCH", target: `${path}?updateMask=${mask}`, headers, body: Buffer.from(body) });
}

/**
 * Sends the PATCH in the remembered spelling; while there is none, in camelCase, as the specification names fields. When
 * that is refused (400, code 3: nothing was done), the other spelling is tried once, unless the configuration fixes it. A
 * spelling that worked before must be refused for the mask: anything else is wrong with what the client sent.
 */
export async function sendPatch(
  { asked }: Patch,
  written: PatchRequest,
  { send }: Pick<Tools, "send">,
  { known, fixed }: MaskMemory,
): Promise<PatchResponse> {
  const sendAs = (spelling: MaskSpelling) => send(written(asked.map(({ mask }) => mask[spelling]).join(",")));
  const spelling = known ?? "camelCase";
  const first: PatchResponse = {
    response: await sendAs(spelling),
    spelling: known === undefined ? spelling : undefined,
  };
  const sameInBoth = asked.every(({ mask }) => mask.camelCase === mask.snake_case);
  if (fixed || sameInBoth || !isRefusedArgument(first.response)) return first;
  if (known !== undefined && !isAboutMask(first.response)) return first;
  const other = spelling === "camelCase" ? "snake_case" : "camelCase";
  const second: PatchResponse = { response: await sendAs(other), spelling: other };
  // Refused for the same reason: then it was not, or not only, the spelling. Any other refusal came after the check of
  // the mask, and tells the client more than the first.
  return isRefusedArgument(second.response) ? first : second;
}

/**
 * True when the platform refused `patch` (nothing was done), and may have done so for fields that the client merely left out: it was
 * not allowed, or it was an invalid argument of the mask, or of one of these fields.
 */
export function isClearRefused({ asked }: Patch, response: ApiResponse): boolean {
  const yielding = asked.filter(({ yields }) => yields);
  if (yielding.length === 0) return false;
  if (response.status === 403) return readError(response)?.code === RpcCode.PERMISSION_DENIED;
  if (!isRefusedArgument(response)) return false;
  const text = errorText(response);
  return (
    ABOUT_THE_MASK.test(text) || yielding.some(({ mask }) => Object.values(mask).some((name) => text.includes(name)))
  );
}

function isAboutMask(response: ApiResponse): boolean {
  return ABOUT_THE_MASK.test(errorText(response));
}

function errorText({ body }: ApiResponse): string {
  return new TextDecoder().decode(body.subarray(0, MOST_BYTES));
}

function isRefusedArgument(response: ApiResponse): boolean {
  return response.status === 400 && readError(response)?.code === RpcCode.INVALID_ARGUMENT;
}

/**
 * Compares what was asked for with what the platform says it stored, and teaches `memory` the mask's spelling. Gives the v1 names
 * of what is not as the client asked, also of what was left alone on purpose. Throws `Problem` UPDATE_INCOMPLETE by
 * `updates.mismatch`.
 */
export function verifyPatches(
  effects: readonly AppliedPatch[],
  parts: ResourceContext,
  tools: Tools,
  memory = tools.mask,
): string[] {
  const found = effects.map((effect) => ({ ...effect, mismatches: findMismatches(effect.patch, effect.record) }));
  for (const { patch, spelling, mismatches } of found) {
    if (spelling !== undefined && provesSpelling(patch, mismatches)) memory.learn(spelling);
  }
  failOnMismatch(
    found.flatMap(({ mismatches }) => mismatches),
    parts,
    tools,
  );
  return found.flatMap(({ patch, record, mismatches }) => [
    ...mismatches.map(({ v1 }) => v1),
    ...findKept(patch, record),
  ]);
}

/** A field that is spelled differently was asked for and took effect: so the upstream understood this spelling. */
function provesSpelling(patch: Patch, mismatches: readonly Mismatch[]): boolean {
  const telling = patch.asked.filter(({ mask }) => mask.camelCase !== mask.snake_case);
  return telling.length > 0 && !telling.some(({ v1 }) => mismatches.some((mismatch) => mismatch.v1 === v1));
}

/** Throws `Problem` UPDATE_INCOMPLETE by `updates.mismatch`. */
function failOnMismatch(mismatches: readonly Mismatch[], parts: ResourceContext, tools: Tools): void {
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

/** Names what is not as the client asked. */
export function mismatchHeader(names: readonly string[]): HeaderList {
  return names.length === 0 ? [] : [[OurHeader.MISMATCH, names.join(", ")]];
}

/** The record that v2 answered with. Throws `Problem` UPSTREAM_INVALID, with `metadata`, when there is none. */
export function parseRecord(response: ApiResponse, metadata: Readonly<Record<string, string>> = {}): JsonObject {
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
