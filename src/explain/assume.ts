/** What would the platform answer, if it had every record that is asked for? (Assumed, from the catalogue's examples.) */
import { isJsonObject, type Json, type JsonObject, member } from "../model/json.ts";
import type { Match } from "../model/match.ts";
import type { ApiRequest, ApiResponse } from "../model/message.ts";
import type { Resource } from "../model/resource.ts";
import { exchangeAnswer, recordOf, verbAnswer } from "./example-answer.ts";
import { joinsOf, type Paths, type Place, placeOf } from "./place.ts";
import type { Differing } from "./stored-record.ts";
import { agreeing, over, patched } from "./written-record.ts";

/** An answer, and in words what was assumed to get it. */
export interface Assumed {
  readonly response: ApiResponse;
  readonly assuming: string;
  /** What the call is about, where the catalogue knows it. */
  readonly place: Place;
}

export interface World extends Paths {
  /** The request at hand; undefined when it is no operation of the catalogue. */
  readonly match: Match | undefined;
  /** What the stored record has to differ in, for an update. */
  readonly differing: Differing;
  /** Members of the v1 body. */
  readonly given: JsonObject;
}

/** A platform of good will, whose answers fit what it is asked. Nothing is sent to anybody. */
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
  if (place.kind === "list" && request.method === "GET") return page(resource, place.params, world);
  return oneRecord(request, resource, place, world);
}

function oneRecord(request: ApiRequest, resource: Resource, place: Place, world: World): Answer {
  const sent = sentMembers(request.body);
  const isOwn = resource === world.match?.resource;
  switch (request.method) {
    case "GET": {
      const { record, fields, synced } = isOwn ? world.differing : NOTHING;
      const value = { ...recordOf(resource, world.match?.operation.name), uid: place.uid };
      const facts = [
        "the record exists",
        ...(synced === undefined ? [] : [synced ? "is synced" : "is not synced, has something in every field"]),
        ...(fields.length === 0 ? [] : [`differs in ${fields.join(", ")}`]),
      ];
      return { value: over(value, record), assuming: facts.join(" and ") };
    }
    case "POST": {
      const created = stored({ ...recordOf(resource, "create"), ...sent }, sent, isOwn, world);
      if (!isOwn || world.match.operation.kind !== "update") {
        return { value: childOf(place.uid, created), assuming: "the platform creates the record" };
      }
      const value = { ...created, uid: world.match.uid };
      return { value, assuming: "the platform finds the record by its name, and stores it as asked" };
    }
    default: {
      const before = over({ ...recordOf(resource, "update"), uid: place.uid }, isOwn ? world.differing.record : {});
      const after = patched(before, sent, place.params.get("updateMask") ?? "");
      return { value: stored(after, sent, isOwn, world), assuming: "the record exists and is stored as asked" };
    }
  }
}

/** Nothing in the record contradicts what was sent. */
function stored(record: JsonObject, sent: JsonObject, isOwn: boolean, { match }: World): JsonObject {
  return isOwn && match !== undefined ? agreeing(record, sent, match) : record;
}
const NOTHING: Differing = { record: {}, fields: [], synced: undefined };

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

/** A verb whose body holds what is to be written, once or several times: that is what it answers. */
function wrappedWrite(request: ApiRequest, place: Place, world: World): Answer | undefined {
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
function page(resource: Resource, params: URLSearchParams, world: World): Answer {
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
