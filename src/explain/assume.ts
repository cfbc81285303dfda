/** What would the platform answer, if it had every record that is asked for? (Assumed, from the catalogue's examples.) */
import type { Example } from "../model/example.ts";
import { isJsonObject, type Json, type JsonObject } from "../model/json.ts";
import type { Match } from "../model/match.ts";
import type { ApiRequest, ApiResponse } from "../model/message.ts";
import type { Join, Resource } from "../model/resource.ts";
import { isUid } from "../model/uid.ts";
import type { Differing } from "./stored-record.ts";

/** An answer, and in words what was assumed to get it. */
export interface Assumed {
  readonly response: ApiResponse;
  readonly assuming: string;
  /** What the call is about, where the catalogue knows it. */
  readonly place: Place;
}

/** Where a call goes, in the catalogue's words. */
export interface Place {
  readonly resource: Resource | undefined;
  /** `list`: the collection itself; `record`: one uid below it; `part`: a sub-resource of one; `other`: a verb. */
  readonly kind: "list" | "record" | "part" | "other";
  /** Of the record; empty when there is none in the path. */
  readonly uid: string;
  /** The segment of the sub-resource, else empty. */
  readonly sub: string;
  readonly params: URLSearchParams;
}

export interface World {
  readonly resources: readonly Resource[];
  /** v2's version segment. */
  readonly version: string;
  /** The request at hand; undefined when it is no operation of the catalogue. */
  readonly match: Match | undefined;
  /** What the stored record has to differ in, for an update. */
  readonly differing: Differing;
  /** Members of the v1 body. */
  readonly given: JsonObject;
}

/** A platform of good will. Nothing is sent to anybody. */
export function createAssume(world: World): (request: ApiRequest) => Assumed {
  return (request) => {
    const place = placeOf(request.target, world);
    const { value, assuming } = answerTo(request, place, world);
    return { response: ok(value), assuming, place };
  };
}

function ok(value: Json): ApiResponse {
  return { status: 200, headers: [["content-type", "application/json"]], body: Buffer.from(JSON.stringify(value)) };
}

interface Answer {
  readonly value: Json;
  readonly assuming: string;
}

function answerTo(request: ApiRequest, place: Place, world: World): Answer {
  const part = ownPart(request, place, world);
  if (part !== undefined) return part;
  const shown = fromExchange(request, place, world);
  if (shown !== undefined) return { value: shown, assuming: "the platform answers as in the catalogue's example" };
  if (request.method === "OPTIONS") return { value: {}, assuming: "the platform answers it" };
  if (request.method === "DELETE") return { value: {}, assuming: "the record exists and may be deleted" };
  const { resource } = place;
  if (resource === undefined || place.kind === "other" || place.kind === "part") {
    return { value: ownAnswer(world), assuming: "the platform does it" };
  }
  if (place.kind === "list" && request.method === "GET") return page(resource, place.params, world);
  return oneRecord(request, resource, place, world);
}

function oneRecord(request: ApiRequest, resource: Resource, place: Place, world: World): Answer {
  const sent = sentMembers(request.body);
  const isOwn = resource === world.match?.resource;
  switch (request.method) {
    case "GET": {
      const { record, fields } = isOwn ? world.differing : NOTHING;
      const value = { ...recordOf(resource, world.match?.operation.name), uid: place.uid };
      const differs = fields.length === 0 ? "" : ` and differs in ${fields.join(", ")}`;
      return { value: over(value, record), assuming: `the record exists${differs}` };
    }
    case "POST":
      return { value: over(recordOf(resource, "create"), sent), assuming: "the platform creates the record" };
    default: {
      const stored = over({ ...recordOf(resource, "update"), uid: place.uid }, isOwn ? world.differing.record : {});
      return { value: over(stored, sent), assuming: "the record exists and is stored as asked" };
    }
  }
}
const NOTHING: Differing = { record: {}, fields: [] };

/** A part of the record in a place of its own: what is read there differs from what is sent, and what is sent is stored. */
function ownPart({ method, body }: ApiRequest, place: Place, { match, given }: World): Answer | undefined {
  if (place.kind !== "part" || match === undefined) return undefined;
  const join = joinsOf(match.operation).find(({ sub }) => sub === place.sub);
  if (join === undefined || join.take === "record") return undefined;
  const record = { uid: place.uid };
  if (method !== "GET") return { value: { ...record, ...sentMembers(body) }, assuming: "it is stored as asked" };
  const sent = given[join.v1];
  const value = { ...record, [join.take.member]: sent === "stored" ? "stored before" : "stored" };
  return { value, assuming: sent === undefined ? "it exists" : `it exists and differs from ${join.v1}` };
}

/** Every record that is named, or else one: what follows needs something to go on with. */
function page(resource: Resource, params: URLSearchParams, world: World): Answer {
  const looksFor = world.match?.operation.kind === "create" && resource === world.match.resource;
  if (looksFor) return { value: { [resource.items]: [], totalCount: "0" }, assuming: "there is none yet" };
  const base = recordOf(resource, world.match?.resource === resource ? world.match.operation.name : "list");
  const named = params.getAll("uidp.ids");
  const records = named.length === 0 ? [base] : named.map((uid) => ({ ...base, uid }));
  const value = { [resource.items]: records, nextPageToken: "", totalCount: String(records.length) };
  const what = named.length === 0 ? "one page of records" : named.length === 1 ? "it exists" : "all of them exist";
  return { value, assuming: what };
}

/** The fullest record among the examples, best of the operation itself. */
function recordOf(resource: Resource, operation: string | undefined): JsonObject {
  const answers = resource.examples.filter((example) => example.of === "answer");
  const own = answers.filter((example) => example.operation === operation);
  const fullest = [...(own.length > 0 ? own : answers)].sort((a, b) => sizeOf(b.v2) - sizeOf(a.v2))[0];
  return { uid: "0".repeat(16), ...fullest?.v2 };
}

function sizeOf(value: JsonObject): number {
  return JSON.stringify(value).length;
}

/** What a verb of its own answers: as an example has it, else nothing. */
function ownAnswer({ match }: World): Json {
  if (match === undefined) return {};
  const answers = match.resource.examples.filter((example) => example.of === "answer");
  const found = answers.find(({ operation }) => operation === match.operation.name);
  return found?.v2 ?? { uid: match.uid };
}

/** The answer of the example that shows this very call of the operation. */
function fromExchange(request: ApiRequest, place: Place, { match, version }: World): Json | undefined {
  if (match === undefined || (place.kind !== "other" && place.kind !== "part")) return undefined;
  const prefix = `/${match.resource.domain}/${version}/`;
  const tail = tailOf(request.target.slice(prefix.length));
  const exchanges = match.resource.examples.filter(
    (example): example is Example & { of: "exchange" } =>
      example.of === "exchange" && example.operation === match.operation.name && (example.status ?? 200) === 200,
  );
  for (const { calls } of exchanges) {
    const found = calls.find(({ call, status }) => {
      const [method, path = ""] = call.split(" ");
      return (status ?? 200) === 200 && method === request.method && tailOf(path) === tail;
    });
    if (found !== undefined) return found.answer;
  }
  return undefined;
}

/** What tells paths apart that lead to different records: the verb, or the last segment. */
function tailOf(path: string): string {
  const plain = path.split("?")[0] ?? "";
  const colon = plain.lastIndexOf(":");
  return colon < 0 ? plain.slice(plain.lastIndexOf("/") + 1) : plain.slice(colon);
}

function placeOf(target: string, { resources, version }: World): Place {
  const [path = "", query = ""] = target.split("?");
  const params = new URLSearchParams(query);
  const nowhere = { kind: "other", uid: "", sub: "", params } as const;
  for (const resource of resources) {
    const collection = `/${resource.domain}/${version}/${resource.v2}`;
    if (path === collection) return { ...nowhere, resource, kind: "list" };
    if (path.startsWith(`${collection}/`))
      return belowOf(resource, path.slice(collection.length + 1), params, resources);
  }
  return { ...nowhere, resource: resources.find((one) => path.startsWith(`/${one.domain}/`)) };
}

function belowOf(resource: Resource, rest: string, params: URLSearchParams, resources: readonly Resource[]): Place {
  const verb = rest.lastIndexOf(":");
  if (verb >= 0) return { resource, kind: "other", uid: rest.slice(0, verb), sub: "", params };
  const slash = rest.lastIndexOf("/");
  const last = rest.slice(slash + 1);
  if (subResources(resource, resources).has(last)) {
    return { resource, kind: "part", uid: rest.slice(0, slash), sub: last, params };
  }
  return { resource, kind: isUid(rest) ? "record" : "other", uid: rest, sub: "", params };
}

/** Segments behind a uid that are parts of its record, not uids (`readme`). */
function subResources(resource: Resource, resources: readonly Resource[]): ReadonlySet<string> {
  const joins = resources.flatMap(({ operations }) => operations.flatMap((one): readonly Join[] => joinsOf(one)));
  return new Set(
    joins.flatMap((join) => (join.resource === resource.name && join.sub !== undefined ? [join.sub] : [])),
  );
}

/** The joins of an operation, if it is of a kind that has any. */
export function joinsOf(operation: object): readonly Join[] {
  return "joins" in operation && operation.joins !== undefined ? (operation.joins as readonly Join[]) : [];
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

/** `top` laid over `base`, members of objects one by one. */
function over(base: JsonObject, top: JsonObject): JsonObject {
  const merged: JsonObject = { ...base };
  for (const [key, value] of Object.entries(top)) {
    const below = merged[key];
    merged[key] =
      isJsonObject(below) && isJsonObject(value) && Object.keys(value).length > 0 ? over(below, value) : value;
  }
  return merged;
}
