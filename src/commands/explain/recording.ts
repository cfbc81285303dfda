/** Which calls does an operation make, when nothing it sends ever leaves? */

import { createDrains } from "../../drain/drain.ts";
import type { DrainLimits } from "../../drain/limits.ts";
import { createExchange, type Exchange, type Upstream } from "../../model/exchange.ts";
import { type ApiRequest, type ApiResponse, wholeResponse } from "../../model/http.ts";
import { isJsonObject, type Json, type JsonObject, member } from "../../model/json.ts";
import { Problem } from "../../model/problem.ts";
import type { Decide, OperationMatch, RequestContext } from "../../model/request.ts";
import type { Resource } from "../../model/resource.ts";
import { createSignalController } from "../../model/signal.ts";
import type { MaskMemory, Tools } from "../../translate/operation.ts";
import type { MaskSpelling } from "../../translate/update.ts";
import {
  type CallTarget,
  type CataloguePaths,
  callTargetOf,
  exchangeAnswer,
  joinsOf,
  mergedOver,
  patched,
  recordOf,
  type StoredDifference,
  verbAnswer,
  withSentUids,
} from "./assumed-records.ts";
import type { AskedRequest } from "./request.ts";

/** One call that would be made, and the answer that was assumed for it. */
export interface RecordedCall extends AssumedAnswer {
  readonly request: ApiRequest;
}

/** What became of a request. */
export interface Recording {
  readonly calls: readonly RecordedCall[];
  readonly exchange: Exchange;
  /** Passed on untouched: to which upstream, and with which target. */
  readonly pass: { readonly upstream: Upstream; readonly target: string } | undefined;
  /** The v1 answer, under the assumptions. */
  readonly answer: ApiResponse | undefined;
  /** Why there is none. */
  readonly problem: Problem | undefined;
}

export interface RecorderParts {
  readonly assume: (request: ApiRequest) => AssumedAnswer;
  /** How masks in queries are spelled, and those in bodies; undefined: as by a carryover that has learned nothing. */
  readonly mask: MaskSpelling | undefined;
  readonly bodyMask: MaskSpelling | undefined;
  readonly limits: DrainLimits;
  /** The proxy, with these tools for whatever it translates. */
  decide(tools: (request: RequestContext) => Tools): Decide;
}

/** More calls than one request makes when every list has one page: then something goes in a circle. */
const MOST_CALLS = 1_000;

/** Runs `request` through the proxy. There is no way out: what an operation may do is to have its calls written down. */
export async function recordRequest(request: AskedRequest, parts: RecorderParts): Promise<Recording> {
  const calls: RecordedCall[] = [];
  const [path = ""] = request.target.split("?");
  const exchange = createExchange("", 0, request.method, path);
  const send = async (call: ApiRequest): Promise<ApiResponse> => {
    if (calls.length >= MOST_CALLS) throw new Problem("INTERNAL", `more than ${MOST_CALLS} calls`);
    const assumed = parts.assume(call);
    calls.push({ request: call, ...assumed });
    return assumed.response;
  };
  const decide = parts.decide((asked) => toolsOf(asked.exchange, send, parts));
  const recording = { calls, exchange, pass: undefined, answer: undefined, problem: undefined };
  const { method, target, headers } = request;
  try {
    const plan = decide({ method, target, headers, exchange });
    if (plan.kind === "pass") return { ...recording, pass: { upstream: plan.upstream, target: plan.target } };
    return { ...recording, answer: wholeResponse(await plan.respond(request.body, createSignalController().signal)) };
  } catch (thrown) {
    return { ...recording, problem: Problem.from(thrown) };
  }
}

function fixedMask(spelling: MaskSpelling | undefined): MaskMemory {
  return { known: spelling, fixed: spelling !== undefined, learn: () => {} };
}

function toolsOf(exchange: Exchange, send: Tools["send"], { limits, mask, bodyMask }: RecorderParts): Tools {
  const { signal } = createSignalController();
  const { drain } = createDrains({
    send,
    reads: send,
    signal,
    limits,
    tokens: "unknown",
    memory: {
      heedsSkip: () => undefined,
      sawSkip: () => {},
      countOf: () => undefined,
      learnCount: () => {},
    },
    require: () => "none",
    claim: async () => () => {},
    turn: async () => {},
    now: () => 0,
    report: (facts) => {
      exchange.list = facts;
    },
  });
  // Nothing is sent, so nothing is long.
  return {
    send,
    reads: send,
    drain,
    longDrain: drain,
    mask: fixedMask(mask),
    bodyMask: fixedMask(bodyMask),
    exchange,
  };
}

/** What would the platform answer, if it had every record that is asked for? (Assumed, from the catalogue's examples.) */

/** An answer, and in words what was assumed to get it. */
export interface AssumedAnswer {
  readonly response: ApiResponse;
  readonly assuming: string;
  /** What the call is about, where the catalogue knows it. */
  readonly place: CallTarget;
}

export interface AssumedPlatform extends CataloguePaths {
  /** The request at hand; undefined when it is no operation of the catalogue. */
  readonly match: OperationMatch | undefined;
  /** What the stored record has to differ in, for an update. */
  readonly differing: StoredDifference;
  /** Members of the v1 body. */
  readonly given: JsonObject;
}

/** A platform of good will, whose answers fit what it is asked. Nothing is sent to anybody. */
export function createAssume(world: AssumedPlatform): (request: ApiRequest) => AssumedAnswer {
  return (request) => {
    const place = callTargetOf(request.target, world);
    const { value, assuming } = answerTo(request, place, world);
    return { response: okResponse(value), assuming, place };
  };
}

function okResponse(value: Json): ApiResponse {
  return { status: 200, headers: [["content-type", "application/json"]], body: Buffer.from(JSON.stringify(value)) };
}

interface AssumedValue {
  readonly value: Json;
  readonly assuming: string;
}

function answerTo(request: ApiRequest, place: CallTarget, world: AssumedPlatform): AssumedValue {
  const made = ownPart(request, place, world) ?? wrappedWrite(request, place, world);
  if (made !== undefined) return made;
  const shown = exchangeAnswer(request, place, world.match, world);
  if (shown !== undefined) return { value: shown, assuming: "the platform answers as in the catalogue's example" };
  if (request.method === "OPTIONS") return { value: {}, assuming: "the platform answers it" };
  if (request.method === "DELETE") return { value: {}, assuming: "the record exists and may be deleted" };
  const { resource } = place;
  if (resource === undefined || place.kind === "other" || place.kind === "part") {
    return { value: verbAnswer(world.match), assuming: "the platform does it" };
  }
  if (place.kind === "list" && request.method === "GET") return assumedPage(resource, place.params, world);
  return oneRecord(request, resource, place, world);
}

function oneRecord(request: ApiRequest, resource: Resource, place: CallTarget, world: AssumedPlatform): AssumedValue {
  const sent = sentMembers(request.body);
  const isOwn = resource === world.match?.resource;
  switch (request.method) {
    case "GET": {
      const { record, fields, synced } = isOwn ? world.differing : NO_DIFFERENCE;
      const value = { ...recordOf(resource, world.match?.operation.name), uid: place.uid };
      const facts = [
        "the record exists",
        ...(synced === undefined ? [] : [synced ? "is synced" : "is not synced, has something in every field"]),
        ...(fields.length === 0 ? [] : [`differs in ${fields.join(", ")}`]),
      ];
      return { value: mergedOver(value, record), assuming: facts.join(" and ") };
    }
    case "POST": {
      const created = storedRecord({ ...recordOf(resource, "create"), ...sent }, sent, isOwn, world);
      if (!isOwn || world.match.operation.kind !== "update") {
        return { value: childOf(place.uid, created), assuming: "the platform creates the record" };
      }
      const value = { ...created, uid: world.match.uid };
      return { value, assuming: "the platform finds the record by its name, and stores it as asked" };
    }
    default: {
      const before = mergedOver(
        { ...recordOf(resource, "update"), uid: place.uid },
        isOwn ? world.differing.record : {},
      );
      const after = patched(before, sent, place.params.get("updateMask") ?? "");
      return { value: storedRecord(after, sent, isOwn, world), assuming: "the record exists and is stored as asked" };
    }
  }
}

/** Nothing in the record contradicts what was sent. */
function storedRecord(record: JsonObject, sent: JsonObject, isOwn: boolean, { match }: AssumedPlatform): JsonObject {
  return isOwn && match !== undefined ? withSentUids(record, sent, match) : record;
}
const NO_DIFFERENCE: StoredDifference = { record: {}, fields: [], synced: undefined };

/** A part of the record in a place of its own: what is read there differs from what is sent, and what is sent is stored. */
function ownPart(
  { method, body }: ApiRequest,
  place: CallTarget,
  { match, given }: AssumedPlatform,
): AssumedValue | undefined {
  if (place.kind !== "part" || match === undefined) return undefined;
  const join = joinsOf(match.operation).find(({ sub }) => sub === place.sub);
  if (join === undefined || join.take === "record") return undefined;
  const record = { uid: place.uid };
  if (method !== "GET") return { value: { ...record, ...sentMembers(body) }, assuming: "it is stored as asked" };
  const sent = given[join.v1];
  const value = { ...record, [join.take.member]: sent === "stored" ? "stored before" : "stored" };
  return { value, assuming: sent === undefined ? "it exists" : `it exists and differs from ${join.v1}` };
}

/** A verb whose body holds what is to be written, once or several times: that is what it answers. */
function wrappedWrite(request: ApiRequest, place: CallTarget, world: AssumedPlatform): AssumedValue | undefined {
  const { match } = world;
  if (place.kind !== "other" || match?.operation.kind !== "composite") return undefined;
  const { resource, operation, uid } = match;
  if (operation.wrap === undefined) return undefined;
  const { wrap } = operation;
  const sent = sentMembers(request.body);
  const { requests } = sent;
  if (!Array.isArray(requests)) {
    const shown = exchangeAnswer(request, place, match, world);
    const before = isJsonObject(shown) ? shown : recordOf(resource, operation.name);
    return { value: { ...before, ...objectIn(sent, wrap) }, assuming: "it is stored as asked" };
  }
  const base = recordOf(resource, "create");
  const records = requests.map((each, index) => childOf(uid, { ...base, ...objectIn(each, wrap) }, index));
  return { value: { [resource.items]: records }, assuming: "the platform creates every one of them" };
}

function objectIn(value: Json, name: string): JsonObject {
  const held = member(value, name);
  return isJsonObject(held) ? held : {};
}

/** Every record that is named, or else one: what follows needs something to go on with. */
function assumedPage(resource: Resource, params: URLSearchParams, world: AssumedPlatform): AssumedValue {
  const looksFor = world.match?.operation.kind === "create" && resource === world.match.resource;
  if (looksFor) return { value: { [resource.items]: [], totalCount: "0" }, assuming: "there is none yet" };
  const base = recordOf(resource, world.match?.resource === resource ? world.match.operation.name : "list");
  const named = params.getAll("uidp.ids");
  const records = named.length === 0 ? [placed(base, params)] : named.map((uid) => ({ ...base, uid }));
  const value = { [resource.items]: records, nextPageToken: "", totalCount: String(records.length) };
  const what = named.length === 0 ? "one page of records" : named.length === 1 ? "it exists" : "all of them exist";
  return { value, assuming: what };
}

/** The record where the list is asked to look: carryover leaves out what lies elsewhere. */
function placed(record: JsonObject, params: URLSearchParams): JsonObject {
  const parent = params.get("uidp.children_of") ?? params.get("uidp.descendants_of");
  if (params.get("uidp.in_root") === "true") return childOf("", record);
  return parent === null ? record : childOf(parent, record);
}

/** `record` below `parent`; at the root when that is empty. `index` tells those of one batch apart. */
function childOf(parent: string, record: JsonObject, index = 0): JsonObject {
  const uid = String(record["uid"]);
  const own = uid.slice(uid.lastIndexOf("/") + 1) + (index === 0 ? "" : String(index));
  return { ...record, uid: parent === "" ? own : `${parent}/${own}` };
}

/** Members of a body that is a JSON object; none for any other. */
export function sentMembers(body: Uint8Array | undefined): JsonObject {
  if (body === undefined || body.length === 0) return {};
  try {
    const value = JSON.parse(Buffer.from(body).toString("utf8")) as Json;
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
