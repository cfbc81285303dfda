/** How does one v1 PUT become the writes of a record and of its part in a sub-resource? (Traps T10, T11, T56, T57, T61.) */

import { type ApiResponse, OurHeader } from "../../model/http.ts";
import { isJsonObject, type Json, type JsonObject } from "../../model/json.ts";
import type { DrainRefused, ListPlan } from "../../model/list.ts";
import { Problem } from "../../model/problem.ts";
import { v2PathOf } from "../../model/request.ts";
import type { Filter } from "../../model/resource.ts";
import { isUid, parentOf } from "../../model/uid.ts";
import { bodyText } from "../body.ts";
import { errorResponse } from "../error.ts";
import { readHeaders, respondWith, writeHeaders } from "../headers.ts";
import { type Composite, filtersOf, type ResourceContext, type Tools, type V1Request } from "../operation.ts";
import { createPageReader, invalidResponse, pageTarget, readPage, V2_KEY } from "../pages.ts";
import { readListQuery } from "../query.ts";
import {
  isClearRefused,
  mismatchHeader,
  type PatchResponse,
  parseRecord,
  patchAt,
  readStored,
  sendPatch,
  verifyPatches,
} from "../replace.ts";
import { isSuccess, STATE_UNKNOWN } from "../single-call.ts";
import { buildPatch, isSynced, needsStored, type Patch } from "../update.ts";
import {
  createRecordWithSubResource,
  type RecordWithSubResource,
  type RequestedRecord,
  refuseChanges,
} from "./sub-resource.ts";

/** A full replace of the record in the path, and of its part when the client sends another one. */
export const createReplaceWithSub: Composite = (operation, parts) => {
  const whole = createRecordWithSubResource(operation, parts);
  return async (request, tools) => {
    const wish = whole.readRequest(request, tools);
    return replaceRecord({ whole, parts, requested: wish, uid: request.match.uid, stored: undefined }, request, tools);
  };
};

/** One full replace. */
export interface ReplaceInput {
  readonly whole: RecordWithSubResource;
  readonly parts: ResourceContext;
  readonly requested: RequestedRecord;
  readonly uid: string;
  /** The v2 record, where it was read already. */
  readonly stored: JsonObject | undefined;
}

/**
 * Both places are read, then the part is written if it differs: it is what needs the further capability, and nothing else
 * is done when it is refused. Then the record. Repeating the request after a failure writes what is still missing.
 */
export async function replaceRecord(replacement: ReplaceInput, request: V1Request, tools: Tools): Promise<ApiResponse> {
  const { whole, parts, requested: wish, uid } = replacement;
  // Before anything is asked: a condition is only good for one call.
  writeHeaders(request.headers, "several");
  const [before, held] = await readBoth(replacement, request, tools);
  if (before?.kind === "refused") return errorResponse(before.response, parts.names);
  if (held.kind === "refused") return errorResponse(held.response, parts.names);
  const stored = before?.record ?? replacement.stored;
  refuseChanges(wish.fixed, stored ?? {});
  const synced = isSynced(whole.rows, stored);
  const part = await whole.part.write(uid, wish.part, { record: held.record, synced }, request, tools);
  if (part.kind === "refused") return part.answer;
  const done = part.effect.patch.asked.length > 0 ? whole.part.join.v1 : undefined;
  return writeAfter(done, tools, async () => {
    const { patch, response, spelling } = await writeRecord(replacement, stored, request, tools);
    if (!isSuccess(response)) return refusedAfter(done, errorResponse(response, parts.names), tools);
    notePatches([part.effect.patch, patch], tools);
    const shown = whole.rewrite(response, uid, part.effect.record, tools);
    const record = parseRecord(response, STATE_UNKNOWN);
    const names = verifyPatches([{ patch, record, spelling }, part.effect], parts, tools);
    return respondWith(response, 200, shown, mismatchHeader(names));
  });
}

/** One PATCH; once more without what the client merely left out, where the platform refuses to clear that. */
async function writeRecord(
  { whole, requested: wish, uid }: ReplaceInput,
  stored: JsonObject | undefined,
  request: V1Request,
  tools: Tools,
): Promise<PatchResponse & { readonly patch: Patch }> {
  const path = `${whole.collection}/${uid}`;
  const headers = writeHeaders(request.headers, "several");
  const write = async (patch: Patch) => {
    if (patch.asked.length === 0) return { patch, ...(await readInstead(path, request, tools)) };
    return { patch, ...(await sendPatch(patch, patchAt(path, patch, headers), tools, tools.mask)) };
  };
  const written = await write(buildPatch(whole.rows, wish.body, stored));
  if (!isClearRefused(written.patch, written.response)) return written;
  tools.exchange.notes.push("clear-refused");
  return write(buildPatch(whole.rows, wish.body, stored, { yields: true }));
}

/** The record, where something asks for it and it was not read already, and its part. */
function readBoth({ whole, requested: wish, uid, stored }: ReplaceInput, request: V1Request, tools: Tools) {
  const needed = stored === undefined && (needsStored(whole.rows, wish.body) || wish.fixed.length > 0);
  return Promise.all([
    needed ? readStored(`${whole.collection}/${uid}`, request, tools) : undefined,
    whole.part.read(uid, request, tools),
  ]);
}

/** Nothing of the record itself is to be written: an empty mask would mean everything, so it is shown as it is. */
async function readInstead(target: string, { headers }: V1Request, tools: Tools): Promise<PatchResponse> {
  tools.exchange.notes.push("update-empty");
  return {
    response: await tools.send({ method: "GET", target, headers: readHeaders(headers) }),
    spelling: undefined,
  };
}

function notePatches(patches: readonly Patch[], { exchange }: Tools): void {
  for (const { defaulted, leftAlone } of patches) {
    exchange.defaultedFields.push(...defaulted);
    exchange.notes.push(...leftAlone.map(() => "field-left-alone"));
  }
}

/** How does a v1 create that also updates find out which of the two is meant? (Traps T12, T61.) */

/** Of a record that was just made. */
const NEW_SUB_RESOURCE = { record: {}, synced: false };

/** What v1 told records below one parent apart by. */
const NAME_FIELD = "name";

/**
 * v1 updated a record of that name below the parent, unless the one boolean parameter of the operation said otherwise. v2
 * has no such switch, so the name is looked up first. Without a name there is nothing to be found: the platform refuses it.
 * Race: a record that is made between the look-up and the POST is met by v2's own rule for a name that is taken.
 */
export const createCreateOrReplace: Composite = (operation, parts) => {
  const whole = createRecordWithSubResource(operation, parts);
  const filters = filtersOf(operation);
  const find = createFinder(parts, whole);
  return async (request, tools) => {
    const query = readListQuery(request.match.query, filters);
    if (query.unknown.length > 0) tools.exchange.notes.push("query-unknown");
    const wish = whole.readRequest(request, tools);
    // Before anything is asked: a condition is only good for one call.
    writeHeaders(request.headers, "several");
    const name = nameIn(wish);
    const found = name === "" ? undefined : await find(name, request, tools);
    if (found?.kind === "refused") return errorResponse(found.response, parts.names);
    if (found?.record === undefined) return createWith({ whole, parts, requested: wish }, request, tools);
    if (forbidsExisting(filters, query.params)) throw alreadyExists(parts);
    const uid = found.record[V2_KEY];
    if (typeof uid !== "string" || !isUid(uid)) throw invalidResponse("a record without its uid");
    return replaceRecord({ whole, parts, requested: wish, uid, stored: found.record }, request, tools);
  };
};

function nameIn({ body }: RequestedRecord): string {
  const sent = body.fields.get(NAME_FIELD);
  return sent === undefined ? "" : (JSON.parse(sent.raw) as string);
}

function forbidsExisting(filters: readonly Filter[], params: readonly string[]): boolean {
  return filters.some((filter) => filter.use === "send" && params.includes(`${filter.v2}=true`));
}

function alreadyExists({ resource }: ResourceContext): Problem {
  return new Problem("ALREADY_EXISTS", `a ${resource.name} of this name exists already below this parent`, {
    fieldViolations: [{ field: NAME_FIELD, description: "is taken" }],
  });
}

type RecordByName = { readonly kind: "found"; readonly record: JsonObject | undefined } | DrainRefused;

/** Looks for the child of the request's parent that has exactly this name, on all pages of v2's list. */
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

interface CreateInput {
  readonly whole: RecordWithSubResource;
  readonly parts: ResourceContext;
  readonly requested: RequestedRecord;
}

/** The record first: its part has no place without it. Repeating the request after a failure writes the part. */
async function createWith(
  { whole, parts, requested: wish }: CreateInput,
  request: V1Request,
  tools: Tools,
): Promise<ApiResponse> {
  const { resource } = parts;
  refuseChanges(wish.fixed, {});
  const response = await tools.send({
    method: "POST",
    target: v2PathOf(request.match, parts.options.version),
    headers: writeHeaders(request.headers, "several"),
    body: Buffer.from(bodyText(wish.body)),
  });
  if (!isSuccess(response)) return errorResponse(response, parts.names);
  const uid = parseRecord(response, STATE_UNKNOWN)[V2_KEY];
  if (typeof uid !== "string" || !isUid(uid)) throw invalidResponse("a record without its uid", STATE_UNKNOWN);
  // The part is written by this uid: never into a record that was not made here.
  if (parentOf(uid) !== request.match.uid) throw invalidResponse("it is another record", STATE_UNKNOWN);
  const part = await writeAfter(resource.name, tools, () =>
    whole.part.write(uid, wish.part, NEW_SUB_RESOURCE, request, tools),
  );
  if (part.kind === "refused") return refusedAfter(resource.name, part.answer, tools);
  const shown = whole.rewrite(response, uid, part.effect.record, tools);
  return respondWith(response, 200, shown, mismatchHeader(verifyPatches([part.effect], parts, tools)));
}

/** How does a client learn that a request of several writes got only so far? (Trap T61.) */

type WithExchange = Pick<Tools, "exchange">;

/**
 * The platform's refusal of a further write, its own words, with a header that names what was written before. `done`: its
 * v1 name; undefined when nothing was.
 */
export function refusedAfter(done: string | undefined, answer: ApiResponse, tools: WithExchange): ApiResponse {
  if (done === undefined) return answer;
  tools.exchange.notes.push("partial-write");
  return { ...answer, headers: [...answer.headers, [OurHeader.PARTIAL, done]] };
}

/** Makes a further write; a `Problem` that it ends with says in its metadata what was written before. */
export async function writeAfter<T>(
  done: string | undefined,
  tools: WithExchange,
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write();
  } catch (thrown) {
    if (done === undefined || !(thrown instanceof Problem)) throw thrown;
    tools.exchange.notes.push("partial-write");
    const { reason, message, metadata, fieldViolations, retryAfter, cause } = thrown;
    throw new Problem(reason, message, {
      metadata: { ...metadata, partial: done },
      fieldViolations,
      ...(retryAfter === undefined ? {} : { retryAfter }),
      cause,
    });
  }
}
