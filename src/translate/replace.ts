/** A v1 PUT, which replaces the whole record, as one v2 PATCH: sends it and compares the response with what was asked for. */

import { JsonError } from "../json/error.ts";
import { parseExact } from "../json/exact.ts";
import { type ApiRequest, type ApiResponse, type HeaderList, OurHeader } from "../model/http.ts";
import { isJsonObject, type JsonObject, member } from "../model/json.ts";
import { Problem, RpcCode } from "../model/problem.ts";
import { collectionPath, v2PathOf } from "../model/request.ts";
import type { Operation, Shape } from "../model/resource.ts";
import { parentOf } from "../model/uid.ts";
import type { V2Body } from "./body.ts";
import { errorResponse, isSuccess, readError, STATE_UNKNOWN } from "./error.ts";
import { readHeaders, writeHeaders } from "./headers.ts";
import {
  type Composite,
  type MaskMemory,
  type ResourceContext,
  readRequestBody,
  type Tools,
  type Translation,
  type V1Request,
} from "./operation.ts";
import { checkKey, invalidResponse, type Metadata, V2_KEY } from "./pages.ts";
import { createRecordRewriter } from "./record-rewriter.ts";
import { invalidBody } from "./scalars.ts";
import {
  buildPatch,
  findKept,
  findMismatches,
  lacksNewValue,
  type MaskSpelling,
  type Mismatch,
  type Patch,
  useOfStored,
} from "./update.ts";

/** Reads the record first where a row needs it, then sends one PATCH. */
export function createReplace(operation: Operation & { readonly kind: "update" }, parts: ResourceContext): Translation {
  const { rows } = operation.body;
  const rewriter = createRecordRewriter(operation.answer, operation.joins ?? [], parts);
  return async (request, tools) => {
    const { uid } = request.match;
    const body = readRequestBody(request.body, rows, parts.options.unknownRequest, tools);
    const { numbersOnly = false } = request;
    const use = useOfStored(rows, body, numbersOnly);
    // A condition holds for the one write. Where the mask depends on the read, it would have to hold for that as well.
    const headers = writeHeaders(request.headers, use === "mask" ? "several" : "one");
    const path = v2PathOf(request.match, parts.options.version);
    let stored = use === undefined ? undefined : await readStored(path, request, tools);
    if (stored?.kind === "refused") {
      // v1 served clients that may write the record and not read it.
      const isNeeded = use === "mask" || readError(stored.response)?.code !== RpcCode.PERMISSION_DENIED;
      if (isNeeded) return errorResponse(stored.response, parts.names);
      stored = undefined;
    }
    const patch = buildPatch(rows, body, stored?.record, { numbersOnly });
    const leftAlone = patch.leftAlone.map(() => "field-left-alone" as const);
    if (patch.asked.length === 0) {
      // An empty mask would mean every field, so nothing is written and the record is shown as it is.
      tools.exchange.notes.push("update-empty", ...leftAlone);
      stored ??= await readStored(path, request, tools);
      if (stored.kind === "refused") return errorResponse(stored.response, parts.names);
      return rewriter.respond(stored.response, uid, request, tools);
    }
    const { response, spelling } = await sendPatch(patch, patchAt(path, patch, headers), tools, tools.mask);
    if (!isSuccess(response)) return errorResponse(response, parts.names);
    tools.exchange.defaultedFields.push(...patch.defaulted);
    tools.exchange.notes.push(...leftAlone);
    return rewriter.respond(response, uid, request, tools, STATE_UNKNOWN, () => {
      const record = parseRecord(response, STATE_UNKNOWN);
      return mismatchHeader(verifyPatches([{ patch, record, spelling }], parts, tools));
    });
  };
}

/** The record before an update, or the platform's refusal to show it. */
export type StoredRecord =
  | { readonly kind: "stored"; readonly response: ApiResponse; readonly record: JsonObject }
  | { readonly kind: "refused"; readonly response: ApiResponse };

/**
 * The record at `path` as v2 has it now. Other writers may change it before the update; docs/v1-behaviour.md says so (DIFF-22).
 * Throws `Problem` UPSTREAM_INVALID, also for another record: compared with that, a change could get lost.
 */
export async function readStored(path: string, request: V1Request, tools: Tools): Promise<StoredRecord> {
  const response = await tools.send({ method: "GET", target: path, headers: readHeaders(request.headers) });
  if (response.status !== 200) return { kind: "refused", response };
  const record = parseRecord(response);
  checkKey(record[V2_KEY], request.match.uid);
  return { kind: "stored", response, record };
}

/** A response, and the spelling of the mask that it would prove. */
export interface PatchResponse {
  readonly response: ApiResponse;
  readonly spelling: MaskSpelling | undefined;
}

/** A PATCH that took effect; `record`: v2's response to it. */
export interface AppliedPatch {
  readonly patch: Patch;
  readonly record: JsonObject;
  readonly spelling: MaskSpelling | undefined;
}

/** How platforms report that a mask names an unknown field. */
const ABOUT_THE_MASK = /mask|(?:unknown|invalid|no such) (?:field|name|path)|no path|could not find field/i;
const MAX_SEARCHED_BYTES = 4096;

/** Builds the PATCH with its mask in one spelling. */
type PatchRequest = (mask: string) => ApiRequest;

/** A PATCH of `path` with its mask in the query. */
export function patchAt(path: string, { body }: Patch, headers: HeaderList): PatchRequest {
  return (mask) => ({ method: "PATCH", target: `${path}?updateMask=${mask}`, headers, body: Buffer.from(body) });
}

/**
 * Sends the PATCH in the remembered spelling, or in camelCase at first. When that is refused (400, code 3, so nothing was
 * done), the other spelling is tried once, unless the configuration fixes it. A spelling that worked before must be
 * refused for the mask: any other refusal is about what the client sent.
 */
export async function sendPatch(
  { asked }: Patch,
  requestWith: PatchRequest,
  { send }: Pick<Tools, "send">,
  { known, fixed }: MaskMemory,
): Promise<PatchResponse> {
  const sendAs = (spelling: MaskSpelling) => send(requestWith(asked.map(({ mask }) => mask[spelling]).join(",")));
  const spelling = known ?? "camelCase";
  const first: PatchResponse = {
    response: await sendAs(spelling),
    spelling: known === undefined ? spelling : undefined,
  };
  const sameInBoth = asked.every(({ mask }) => mask.camelCase === mask.snake_case);
  if (fixed || sameInBoth || !isRefusedArgument(first.response)) return first;
  if (known !== undefined && !ABOUT_THE_MASK.test(errorText(first.response))) return first;
  const other = spelling === "camelCase" ? "snake_case" : "camelCase";
  const second: PatchResponse = { response: await sendAs(other), spelling: other };
  // Refused for the same reason: the spelling was not the cause, or not alone. Any other refusal came after the check of
  // the mask, and tells the client more than the first.
  return isRefusedArgument(second.response) ? first : second;
}

/**
 * True when the platform refused `patch` (so nothing was done), perhaps for fields that the client merely left out: with
 * "permission denied", or for an invalid argument that is the mask or one of these fields.
 */
export function isClearRefused({ asked }: Patch, response: ApiResponse): boolean {
  const yielding = asked.filter(({ yields }) => yields);
  if (yielding.length === 0) return false;
  if (response.status === 403) return readError(response)?.code === RpcCode.PERMISSION_DENIED;
  if (!isRefusedArgument(response)) return false;
  const text = errorText(response);
  const names = yielding.flatMap(({ mask }) => Object.values(mask));
  return ABOUT_THE_MASK.test(text) || names.some((name) => text.includes(name));
}

function errorText({ body }: ApiResponse): string {
  return new TextDecoder().decode(body.subarray(0, MAX_SEARCHED_BYTES));
}

function isRefusedArgument(response: ApiResponse): boolean {
  return response.status === 400 && readError(response)?.code === RpcCode.INVALID_ARGUMENT;
}

/**
 * Compares what was asked for with what the platform stored, and teaches `memory` the spelling of the mask. Gives the v1
 * names of fields that are not as the client asked, including those left unchanged on purpose. Throws `Problem`
 * UPDATE_INCOMPLETE by `updates.mismatch`.
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
  const all = found.flatMap(({ mismatches }) => mismatches);
  tools.exchange.mismatches.push(...all.map(({ v1 }) => v1));
  failOnMismatch(all, parts.options.mismatch);
  return found.flatMap(({ patch, record, mismatches }) => [
    ...mismatches.map(({ v1 }) => v1),
    ...findKept(patch, record),
  ]);
}

/** True when every field whose spellings differ took effect: then the upstream understood this spelling. */
function provesSpelling(patch: Patch, mismatches: readonly Mismatch[]): boolean {
  const telling = patch.asked.filter(({ mask }) => mask.camelCase !== mask.snake_case);
  return telling.length > 0 && !telling.some(({ v1 }) => mismatches.some((mismatch) => mismatch.v1 === v1));
}

const DROPPED_VALUE = "has a value that the platform does not know, and dropped";

function failOnMismatch(mismatches: readonly Mismatch[], policy: ResourceContext["options"]["mismatch"]): void {
  const failing = mismatches.filter(
    ({ zero, dropped }) => policy === "fail" || (policy === "zeros" && (zero || dropped)),
  );
  if (failing.length === 0) return;
  const names = failing.map(({ v1 }) => v1).join(", ");
  throw new Problem(
    "UPDATE_INCOMPLETE",
    `the platform did not store what was asked for: ${names}; read the record and repeat the update`,
    {
      fieldViolations: failing.map(({ v1, zero, dropped }) => ({
        field: v1,
        description: zero ? "was to become empty" : dropped ? DROPPED_VALUE : "differs",
      })),
    },
  );
}

/**
 * Compares a new record with the values sent that only v2 can know. Returns the v1 names of fields that lack one. Throws `Problem`
 * UPDATE_INCOMPLETE, which names the record, where v1 would have refused such a value, or as `updates.mismatch: fail` asks. Where v1 would
 * have dropped it, the client gets its record: repeating the request would create another one.
 */
export function verifyCreated(
  body: V2Body,
  shape: Shape,
  response: ApiResponse,
  { options, resource }: ResourceContext,
  { exchange }: Tools,
): string[] {
  const shown = new Set(shape.rows.map(({ v2 }) => v2));
  const sent = [...body.fields.values()].map(({ row, raw }) => ({ row, wanted: parseExact(raw) }));
  const asking = sent.filter(({ row, wanted }) => shown.has(row.v2) && lacksNewValue(wanted, undefined, row));
  if (asking.length === 0) return [];
  const record = parseRecord(response, STATE_UNKNOWN);
  const lacking = asking.filter(({ row, wanted }) => lacksNewValue(wanted, member(record, row.v2 ?? ""), row));
  const names = lacking.map(({ row }) => row.v1);
  exchange.mismatches.push(...names);
  const refused = lacking.some(({ row }) => row.kind === "enum" && row.values.unknown === "refuse");
  if (names.length === 0 || options.mismatch === "report" || (options.mismatch === "zeros" && !refused)) return names;
  const uid = record[V2_KEY];
  throw new Problem(
    "UPDATE_INCOMPLETE",
    `the platform created the ${resource.name} ${JSON.stringify(uid)} without values that it does not know: ${names.join(", ")}; update or delete it`,
    {
      metadata: { created: String(uid) },
      fieldViolations: names.map((field) => ({ field, description: DROPPED_VALUE })),
    },
  );
}

/** Names the fields that are not as the client asked. */
export function mismatchHeader(names: readonly string[]): HeaderList {
  return names.length === 0 ? [] : [[OurHeader.MISMATCH, names.join(", ")]];
}

/** The record of a response. Throws `Problem` UPSTREAM_INVALID, with `metadata`, when there is none. */
export function parseRecord(response: ApiResponse, metadata?: Metadata): JsonObject {
  try {
    const record = parseExact(response.body);
    if (isJsonObject(record)) return record;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
  }
  throw invalidResponse("it is no record", metadata);
}

/** v2 finds the record by its name: another name would make a second record. */
const NAME = "name";

/**
 * The record is read and then created again under its own name and parent. Fields that the client left out become zero,
 * except for rows with `when-present`, which keep the stored value: v1 did not clear them, and v2 requires them.
 * Races: a record deleted in between is created with another uid, which is reported as an error. Kept values are those
 * that were read: a change by another writer in between is undone, and no response shows that.
 */
export const createReplaceByCreate: Composite = (operation, parts) => {
  if (operation.kind !== "update") throw new Error(`${operation.name}: ${operation.by} needs an update`);
  const { rows } = operation.body;
  const rewriter = createRecordRewriter(operation.answer, operation.joins ?? [], parts);
  const collection = collectionPath(parts.resource, parts.options.version);
  return async (request, tools) => {
    const body = readRequestBody(request.body, rows, parts.options.unknownRequest, tools);
    const headers = writeHeaders(request.headers, "several");
    const { uid } = request.match;
    const stored = await readStored(`${collection}/${uid}`, request, tools);
    if (stored.kind === "refused") return errorResponse(stored.response, parts.names);
    const patch = buildPatch(rows, body, stored.record);
    refuseRename(patch, stored.record);
    const response = await tools.send({
      method: "POST",
      target: `${collection}/${parentOf(uid)}`,
      headers,
      body: Buffer.from(withKept(patch, stored.record, operation.answer)),
    });
    if (!isSuccess(response)) return errorResponse(response, parts.names);
    tools.exchange.defaultedFields.push(...patch.defaulted);
    return rewriter.respond(response, uid, request, tools, STATE_UNKNOWN, () => {
      const record = parseRecord(response, STATE_UNKNOWN);
      const applied = { patch: { ...patch, leftAlone: [] }, record, spelling: undefined };
      return mismatchHeader(verifyPatches([applied], parts, tools));
    });
  };
};

/** Throws `Problem` INVALID_BODY. */
function refuseRename({ asked }: Patch, stored: JsonObject): void {
  const name = asked.find(({ v1 }) => v1 === NAME);
  if (name !== undefined && JSON.parse(name.raw) !== stored[NAME]) {
    throw invalidBody(NAME, "cannot be changed in v2; create another record and delete this one");
  }
}

/** The body of the create: the fields of the patch, and stored values of those that it leaves unchanged or that v1 does not know. */
function withKept(patch: Patch, stored: JsonObject, { rows, v2Only }: Shape): string {
  const known = new Set([...rows.map(({ v2 }) => v2), ...v2Only]);
  const unknown = Object.keys(stored).filter((name) => !known.has(name));
  const kept = [...patch.leftAlone.map(({ row: { v2 } }) => v2), ...unknown].flatMap((name) => {
    const value = name === null ? undefined : stored[name];
    return value === undefined ? [] : [`${JSON.stringify(name)}:${JSON.stringify(value)}`];
  });
  const asked = patch.body.slice(1, -1);
  return `{${[...kept, ...(asked === "" ? [] : [asked])].join(",")}}`;
}
