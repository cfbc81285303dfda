/** A v1 PUT or create of a record as the writes of the record and of its part in a sub-resource. */

import { type ApiResponse, OurHeader } from "../../model/http.ts";
import { isJsonObject, type Json, type JsonObject } from "../../model/json.ts";
import type { DrainRefused, ListPlan } from "../../model/list.ts";
import { Problem } from "../../model/problem.ts";
import { v2PathOf } from "../../model/request.ts";
import { isUid, parentOf } from "../../model/uid.ts";
import { bodyText } from "../body.ts";
import { errorResponse, isSuccess, STATE_UNKNOWN } from "../error.ts";
import { readHeaders, respondWith, writeHeaders } from "../headers.ts";
import {
  type Composite,
  filtersOf,
  type ResourceContext,
  readRequestQuery,
  type Tools,
  type V1Request,
} from "../operation.ts";
import { createPageReader, invalidResponse, pageTarget, readPage, V2_KEY } from "../pages.ts";
import {
  isClearRefused,
  mismatchHeader,
  type PatchResponse,
  parseRecord,
  patchAt,
  readStored,
  sendPatch,
  verifyCreated,
  verifyPatches,
} from "../replace.ts";
import { buildPatch, isSynced, type Patch, useOfStored } from "../update.ts";
import {
  createRecordWithSubResource,
  type RecordWithSubResource,
  type RequestedRecord,
  refuseChanges,
} from "./sub-resource.ts";

/** A full replace of the record in the path, and of its part. */
export const createReplaceWithSub: Composite = (operation, parts) => {
  const whole = createRecordWithSubResource(operation, parts);
  return async (request, tools) => {
    const requested = whole.readRequest(request, tools);
    return replaceRecord({ whole, parts, requested, uid: request.match.uid, stored: undefined }, request, tools);
  };
};

interface ReplaceInput {
  readonly whole: RecordWithSubResource;
  readonly parts: ResourceContext;
  readonly requested: RequestedRecord;
  readonly uid: string;
  /** The v2 record, if it was read already. */
  readonly stored: JsonObject | undefined;
}

/**
 * Reads both, then writes the part if it differs, then the record. The part comes first because it needs the further
 * capability: when it is refused, nothing was written. Repeating a request that failed writes what is still missing.
 */
async function replaceRecord(input: ReplaceInput, request: V1Request, tools: Tools): Promise<ApiResponse> {
  const { whole, parts, requested, uid } = input;
  // Before any call: a condition holds for one call only.
  writeHeaders(request.headers, "several");
  const { numbersOnly = false } = request;
  const needsRecord = useOfStored(whole.rows, requested.body, numbersOnly) !== undefined || requested.fixed.length > 0;
  const [before, partBefore] = await Promise.all([
    input.stored === undefined && needsRecord ? readStored(`${whole.collection}/${uid}`, request, tools) : undefined,
    whole.part.read(uid, request, tools),
  ]);
  if (before?.kind === "refused") return errorResponse(before.response, parts.names);
  if (partBefore.kind === "refused") return errorResponse(partBefore.response, parts.names);
  const stored = before?.record ?? input.stored;
  refuseChanges(requested.fixed, stored ?? {});
  const storedPart = { record: partBefore.record, synced: isSynced(whole.rows, stored) };
  const part = await whole.part.write(uid, requested.part, storedPart, request, tools);
  if (part.kind === "refused") return part.response;
  const done = part.effect.patch.asked.length > 0 ? whole.part.join.v1 : undefined;
  return writeAfter(done, tools, async () => {
    const { patch, response, spelling } = await writeRecord(input, stored, request, tools);
    if (!isSuccess(response)) return refusedAfter(done, errorResponse(response, parts.names), tools);
    for (const { defaulted, leftAlone } of [part.effect.patch, patch]) {
      tools.exchange.defaultedFields.push(...defaulted);
      tools.exchange.notes.push(...leftAlone.map(() => "field-left-alone" as const));
    }
    const bytes = whole.rewrite(response, uid, part.effect.record, tools);
    const record = parseRecord(response, STATE_UNKNOWN);
    const names = verifyPatches([{ patch, record, spelling }, part.effect], parts, tools);
    return respondWith(response, 200, bytes, mismatchHeader(names));
  });
}

/** One PATCH; a second one without the fields that the client merely left out, when the platform refuses to clear them. */
async function writeRecord(
  { whole, requested, uid }: ReplaceInput,
  stored: JsonObject | undefined,
  request: V1Request,
  tools: Tools,
): Promise<PatchResponse & { readonly patch: Patch }> {
  const path = `${whole.collection}/${uid}`;
  const headers = writeHeaders(request.headers, "several");
  const write = async (patch: Patch) => {
    if (patch.asked.length > 0) {
      return { patch, ...(await sendPatch(patch, patchAt(path, patch, headers), tools, tools.mask)) };
    }
    // An empty mask would mean every field, so the record is only read.
    tools.exchange.notes.push("update-empty");
    const response = await tools.send({ method: "GET", target: path, headers: readHeaders(request.headers) });
    return { patch, response, spelling: undefined };
  };
  const { numbersOnly = false } = request;
  const written = await write(buildPatch(whole.rows, requested.body, stored, { numbersOnly }));
  if (!isClearRefused(written.patch, written.response)) return written;
  tools.exchange.notes.push("clear-refused");
  return write(buildPatch(whole.rows, requested.body, stored, { yields: true, numbersOnly }));
}

/** The part of a record that was just created. */
const NEW_SUB_RESOURCE = { record: {}, synced: false };

/** v1 distinguished the records below one parent by their names. */
const NAME_FIELD = "name";

/**
 * v1 updated a record of that name below the parent, unless the one boolean parameter of the operation forbade it. v2 has
 * no such switch, so the name is looked up first; a record without a name is the platform's to refuse.
 * Race: when another client creates the record after the look-up, v2's own rule for taken names decides.
 */
export const createCreateOrReplace: Composite = (operation, parts) => {
  const whole = createRecordWithSubResource(operation, parts);
  const filters = filtersOf(operation);
  const find = createFinder(parts, whole);
  return async (request, tools) => {
    const { params } = readRequestQuery(request, filters, tools);
    const requested = whole.readRequest(request, tools);
    // Before any call: a condition holds for one call only.
    writeHeaders(request.headers, "several");
    const name = requested.body.fields.get(NAME_FIELD);
    const text = name === undefined ? "" : (JSON.parse(name.raw) as string);
    const found = text === "" ? undefined : await find(text, request, tools);
    if (found?.kind === "refused") return errorResponse(found.response, parts.names);
    if (found?.record === undefined) return createWith({ whole, parts, requested }, request, tools);
    if (filters.some((filter) => filter.use === "send" && params.includes(`${filter.v2}=true`))) {
      throw alreadyExists(parts);
    }
    const uid = found.record[V2_KEY];
    if (typeof uid !== "string" || !isUid(uid)) throw invalidResponse("a record without its uid");
    return replaceRecord({ whole, parts, requested, uid, stored: found.record }, request, tools);
  };
};

function alreadyExists({ resource }: ResourceContext): Problem {
  return new Problem("ALREADY_EXISTS", `a ${resource.name} of this name exists already below this parent`, {
    fieldViolations: [{ field: NAME_FIELD, description: "is taken" }],
  });
}

type RecordByName = { readonly kind: "found"; readonly record: JsonObject | undefined } | DrainRefused;

/** Looks for the child of the request's parent with exactly this name, on all pages of v2's list. */
function createFinder(parts: ResourceContext, whole: RecordWithSubResource) {
  const pages = createPageReader(parts.resource, "copy");
  return async (name: string, { match, headers }: V1Request, tools: Tools): Promise<RecordByName> => {
    const params = [`uidp.children_of=${encodeURIComponent(match.uid)}`, `${NAME_FIELD}=${encodeURIComponent(name)}`];
    const plan: ListPlan = {
      resource: parts.resource.name,
      keyOrder: parts.resource.orderedByUid,
      request: (page) => ({
        method: "GET",
        target: pageTarget(whole.collection, params, page),
        headers: readHeaders(headers),
      }),
      read: (response) => readPage(response, pages, [(uid) => parentOf(uid) === match.uid], () => {}),
    };
    const list = await tools.drain(plan);
    if (list.kind === "refused") return list;
    for (const chunk of list.chunks) {
      const records = JSON.parse(`[${Buffer.from(chunk).toString("utf8")}]`) as Json[];
      const record = records.filter(isJsonObject).find((each) => each[NAME_FIELD] === name);
      if (record !== undefined) return { kind: "found", record };
    }
    return { kind: "found", record: undefined };
  };
}

/** Creates the record first, since its part cannot exist without it. Repeating a request that failed writes the part. */
async function createWith(
  { whole, parts, requested }: Pick<ReplaceInput, "whole" | "parts" | "requested">,
  request: V1Request,
  tools: Tools,
): Promise<ApiResponse> {
  const { resource } = parts;
  refuseChanges(requested.fixed, {});
  const response = await tools.send({
    method: "POST",
    target: v2PathOf(request.match, parts.options.version),
    headers: writeHeaders(request.headers, "several"),
    body: Buffer.from(bodyText(requested.body)),
  });
  if (!isSuccess(response)) return errorResponse(response, parts.names);
  const uid = parseRecord(response, STATE_UNKNOWN)[V2_KEY];
  if (typeof uid !== "string" || !isUid(uid)) throw invalidResponse("a record without its uid", STATE_UNKNOWN);
  // The part is written by this uid: never into a record that was not created here.
  if (parentOf(uid) !== request.match.uid) throw invalidResponse("it is another record", STATE_UNKNOWN);
  const part = await writeAfter(resource.name, tools, () =>
    whole.part.write(uid, requested.part, NEW_SUB_RESOURCE, request, tools),
  );
  if (part.kind === "refused") return refusedAfter(resource.name, part.response, tools);
  const bytes = whole.rewrite(response, uid, part.effect.record, tools);
  const mismatches = [
    ...verifyPatches([part.effect], parts, tools),
    ...verifyCreated(requested.body, whole.shape, response, parts, tools),
  ];
  return respondWith(response, 200, bytes, mismatchHeader(mismatches));
}

/** The platform's refusal of a further write, with a header that names what was written before (`done`, a v1 name). */
function refusedAfter(done: string | undefined, answer: ApiResponse, tools: Tools): ApiResponse {
  if (done === undefined) return answer;
  tools.exchange.notes.push("partial-write");
  return { ...answer, headers: [...answer.headers, [OurHeader.PARTIAL, done]] };
}

/** Makes a further write; a `Problem` that it throws names in its metadata what was written before. */
async function writeAfter<T>(done: string | undefined, tools: Tools, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (thrown) {
    if (done === undefined || !(thrown instanceof Problem)) throw thrown;
    tools.exchange.notes.push("partial-write");
    const { reason, message, metadata, fieldViolations, retryAfter, fault, options, cause } = thrown;
    throw new Problem(reason, message, {
      metadata: { ...metadata, partial: done },
      fieldViolations,
      ...(retryAfter === undefined ? {} : { retryAfter }),
      fault,
      options,
      cause,
    });
  }
}
