/** Recording the calls of a request against an assumed platform: nothing is sent. */
import { createDrains } from "../../drain/drain.ts";
import type { DrainLimits } from "../../drain/limits.ts";
import { createExchange, type Exchange, type Upstream } from "../../model/exchange.ts";
import type { ApiRequest, ApiResponse } from "../../model/http.ts";
import { isJsonObject, type Json, type JsonObject, member } from "../../model/json.ts";
import { Problem } from "../../model/problem.ts";
import type { Decide, OperationMatch, RequestContext } from "../../model/request.ts";
import type { Examples, Resource } from "../../model/resource.ts";
import { createSignalController } from "../../model/signal.ts";
import type { MaskMemory, Tools } from "../../translate/operation.ts";
import type { MaskSpelling } from "../../translate/update.ts";
import {
  type CallSubject,
  type CataloguePaths,
  callSubjectOf,
  exchangeAnswer,
  joinsOf,
  mergedOver,
  NO_DIFFERENCE,
  patched,
  recordOf,
  type StoredDifference,
  verbAnswer,
  withSentUids,
} from "./assumed-records.ts";
import type { AskedRequest } from "./request.ts";

/** One call that would be made. */
export interface RecordedCall {
  readonly request: ApiRequest;
  /** In words: what was assumed for its response. */
  readonly assuming: string;
  /** What the call is about, where the catalogue knows it. */
  readonly subject: CallSubject;
}

/** The outcome of a request. */
export interface Recording {
  readonly calls: readonly RecordedCall[];
  readonly exchange: Exchange;
  /** Passed on untouched: to which upstream, and with which target. */
  readonly pass: { readonly upstream: Upstream; readonly target: string; readonly body?: Uint8Array } | undefined;
  /** Why there is no response. */
  readonly problem: Problem | undefined;
}

interface RecorderParts {
  readonly platform: AssumedPlatform;
  /** How masks in queries and in bodies are spelled; undefined: as by a carryover that has learned nothing. */
  readonly mask: MaskSpelling | undefined;
  readonly bodyMask: MaskSpelling | undefined;
  readonly limits: DrainLimits;
  /** The proxy, with these tools for whatever it translates. */
  decide(tools: (request: RequestContext) => Tools): Decide;
}

/** A platform that has every record it is asked for. */
export interface AssumedPlatform extends CataloguePaths {
  readonly examples: Examples;
  /** The client's request; undefined when it is no operation of the catalogue. */
  readonly match: OperationMatch | undefined;
  /** What the stored record has to differ in, for an update. */
  readonly differing: StoredDifference;
  /** Members of the v1 body. */
  readonly given: JsonObject;
}

/** More calls than any request makes while every list has one page: more means an endless loop. */
const MAX_CALLS = 1_000;

/** Runs `request` through the proxy, with tools that only write down the calls of an operation. */
export async function recordRequest(request: AskedRequest, parts: RecorderParts): Promise<Recording> {
  const { platform } = parts;
  const calls: RecordedCall[] = [];
  const { method, target, headers } = request;
  const exchange = createExchange("", 0, method, target);
  const send = async (call: ApiRequest): Promise<ApiResponse> => {
    if (calls.length >= MAX_CALLS) throw new Problem("INTERNAL", `more than ${MAX_CALLS} calls`);
    const subject = callSubjectOf(call.target, platform);
    const { value, assuming } = assumedResponse(call, subject, platform);
    calls.push({ request: call, assuming, subject });
    return { status: 200, headers: [["content-type", "application/json"]], body: Buffer.from(JSON.stringify(value)) };
  };
  const decide = parts.decide((asked) => recordingTools(asked.exchange, send, parts));
  const recording = { calls, exchange, pass: undefined, problem: undefined };
  try {
    const first = decide({ method, target, headers, exchange });
    const plan = first.kind === "deferred" ? first.decide(request.body) : first;
    if (plan.kind === "pass") {
      const { upstream, sent } = plan;
      return { ...recording, pass: { upstream, target: plan.target, ...(sent && { body: sent.body }) } };
    }
    await plan.respond(request.body, createSignalController().signal);
    return recording;
  } catch (thrown) {
    return { ...recording, problem: Problem.from(thrown) };
  }
}

function recordingTools(exchange: Exchange, send: Tools["send"], { limits, mask, bodyMask }: RecorderParts): Tools {
  const { drain } = createDrains({
    send,
    reads: send,
    signal: createSignalController().signal,
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
  const fixed = (spelling: MaskSpelling | undefined): MaskMemory => {
    return { known: spelling, fixed: spelling !== undefined, learn: () => {} };
  };
  return { send, reads: send, drain, longDrain: drain, mask: fixed(mask), bodyMask: fixed(bodyMask), exchange };
}

interface AssumedValue {
  readonly value: Json;
  readonly assuming: string;
}

function assumedResponse(request: ApiRequest, subject: CallSubject, platform: AssumedPlatform): AssumedValue {
  const { match } = platform;
  const written = subResource(request, subject, platform) ?? wrappedWrite(request, subject, platform);
  if (written !== undefined) return written;
  const shown = exchangeAnswer(request, subject, match, platform);
  if (shown !== undefined) return { value: shown, assuming: "the platform answers as in the catalogue's example" };
  if (request.method === "OPTIONS") return { value: {}, assuming: "the platform answers it" };
  if (request.method === "DELETE") return { value: {}, assuming: "the record exists and may be deleted" };
  const { resource } = subject;
  if (resource === undefined || subject.kind === "other" || subject.kind === "part")
    return { value: verbAnswer(platform.examples, match), assuming: "the platform does it" };
  if (subject.kind === "list" && request.method === "GET") return assumedPage(resource, subject.params, platform);
  return assumedRecord(request, resource, subject, platform);
}

function assumedRecord(
  request: ApiRequest,
  resource: Resource,
  subject: CallSubject,
  platform: AssumedPlatform,
): AssumedValue {
  const { match, differing } = platform;
  const sent = sentMembers(request.body);
  const isOwn = resource === match?.resource;
  // Nothing in the record contradicts what was sent.
  const stored = (record: JsonObject) => (isOwn ? withSentUids(record, sent, match) : record);
  switch (request.method) {
    case "GET": {
      const { record, fields, synced } = isOwn ? differing : NO_DIFFERENCE;
      const value = { ...recordOf(platform.examples, resource, match?.operation.name), uid: subject.uid };
      const facts = [
        "the record exists",
        ...(synced === undefined ? [] : [synced ? "is synced" : "is not synced, has something in every field"]),
        ...(fields.length === 0 ? [] : [`differs in ${fields.join(", ")}`]),
      ];
      return { value: mergedOver(value, record), assuming: facts.join(" and ") };
    }
    case "POST": {
      const created = stored({ ...recordOf(platform.examples, resource, "create"), ...sent });
      if (!isOwn || match.operation.kind !== "update") {
        return { value: childOf(subject.uid, created), assuming: "the platform creates the record" };
      }
      const value = { ...created, uid: match.uid };
      return { value, assuming: "the platform finds the record by its name, and stores it as asked" };
    }
    default: {
      const before = mergedOver(
        { ...recordOf(platform.examples, resource, "update"), uid: subject.uid },
        isOwn ? differing.record : {},
      );
      return {
        value: stored(patched(before, sent, subject.params.get("updateMask") ?? "")),
        assuming: "the record exists and is stored as asked",
      };
    }
  }
}

/** A sub-resource of the record: what is read there differs from what is sent, and what is sent is stored. */
function subResource(
  { method, body }: ApiRequest,
  subject: CallSubject,
  { match, given }: AssumedPlatform,
): AssumedValue | undefined {
  if (subject.kind !== "part" || match === undefined) return undefined;
  const join = joinsOf(match.operation).find(({ sub }) => sub === subject.sub);
  if (join === undefined || join.take === "record") return undefined;
  const record = { uid: subject.uid };
  if (method !== "GET") return { value: { ...record, ...sentMembers(body) }, assuming: "it is stored as asked" };
  const sent = given[join.v1];
  const value = { ...record, [join.take.member]: sent === "stored" ? "stored before" : "stored" };
  return { value, assuming: sent === undefined ? "it exists" : `it exists and differs from ${join.v1}` };
}

/** A verb whose body holds what to write, once or several times: that is also its response. */
function wrappedWrite(request: ApiRequest, subject: CallSubject, platform: AssumedPlatform): AssumedValue | undefined {
  const { match } = platform;
  if (subject.kind !== "other" || match?.operation.kind !== "composite") return undefined;
  const { resource, operation, uid } = match;
  if (operation.wrap === undefined) return undefined;
  const { wrap } = operation;
  const sent = sentMembers(request.body);
  const { requests } = sent;
  if (!Array.isArray(requests)) {
    const shown = exchangeAnswer(request, subject, match, platform);
    const before = isJsonObject(shown) ? shown : recordOf(platform.examples, resource, operation.name);
    return { value: { ...before, ...objectIn(sent, wrap) }, assuming: "it is stored as asked" };
  }
  const base = recordOf(platform.examples, resource, "create");
  const records = requests.map((each, index) => childOf(uid, { ...base, ...objectIn(each, wrap) }, index));
  return { value: { [resource.items]: records }, assuming: "the platform creates every one of them" };
}

function objectIn(value: Json, name: string): JsonObject {
  const held = member(value, name);
  return isJsonObject(held) ? held : {};
}

/** Every record that is named, or else one, for the calls that follow. */
function assumedPage(resource: Resource, params: URLSearchParams, platform: AssumedPlatform): AssumedValue {
  const { match } = platform;
  if (match?.operation.kind === "create" && resource === match.resource)
    return { value: { [resource.items]: [], totalCount: "0" }, assuming: "there is none yet" };
  const base = recordOf(platform.examples, resource, match?.resource === resource ? match.operation.name : "list");
  const named = params.getAll("uidp.ids");
  const records = named.length === 0 ? [placed(base, params)] : named.map((uid) => ({ ...base, uid }));
  const value = { [resource.items]: records, nextPageToken: "", totalCount: String(records.length) };
  const what = named.length === 0 ? "one page of records" : named.length === 1 ? "it exists" : "all of them exist";
  return { value, assuming: what };
}

/** The record in the group that the list is asked for: carryover drops records of other groups. */
function placed(record: JsonObject, params: URLSearchParams): JsonObject {
  const parent = params.get("uidp.children_of") ?? params.get("uidp.descendants_of");
  if (params.get("uidp.in_root") === "true") return childOf("", record);
  return parent === null ? record : childOf(parent, record);
}

/** `record` below `parent`; at the root when that is empty. `index` makes the records of one batch differ. */
function childOf(parent: string, record: JsonObject, index = 0): JsonObject {
  const uid = String(record["uid"]);
  const own = uid.slice(uid.lastIndexOf("/") + 1) + (index === 0 ? "" : String(index));
  return { ...record, uid: parent === "" ? own : `${parent}/${own}` };
}

/** The members of a body that is a JSON object; none of any other. */
export function sentMembers(body: Uint8Array | undefined): JsonObject {
  if (body === undefined || body.length === 0) return {};
  try {
    const value = JSON.parse(Buffer.from(body).toString("utf8")) as Json;
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
