/** How does native v1 create advisories, and create and change their events? v2 has nothing like it. (Operations 100, 104, 105.) */

import type { Caller } from "../auth/caller.ts";
import { type Context, now } from "../context.ts";
import type { Route } from "../gateway/route.ts";
import { type Json, type JsonObject, member } from "../json.ts";
import { notFound } from "../refusal.ts";
import { advisories, eventsOf } from "../resources/advisories.ts";
import { checkCreation, createRecord, updateRecord } from "../resources/writes.ts";
import type { StoredRecord } from "../store/collection.ts";
import { readAdvisory, readEvent, viewAdvisory, viewEvent } from "./advisory-shape.ts";
import { decodeV1, textV1 } from "./face.ts";

const NAMES: ReadonlyMap<string, string> = new Map([
  ["uid", "id"],
  ["parent", "parentId"],
]);

/** An event to be stored: where a component moved to lies beside it, for v2 has no word for that. */
interface NewEvent {
  readonly event: JsonObject;
  readonly moved: JsonObject;
}

function newEvent(context: Context, given: Json): NewEvent {
  const uid = context.store.nextHex(40);
  const event = { uid, createTime: now(context), ...readEvent(given) };
  return { event, moved: movedOf(uid, given) };
}

function movedOf(uid: string, given: Json): JsonObject {
  const move = member(given, "componentLocationChanged");
  return move === undefined ? {} : { [uid]: move };
}

/** `extra` with another word on what moved; without anything moved there is no such member. */
function withMoves(extra: JsonObject, moves: JsonObject): JsonObject {
  const { moved: _moved, ...rest } = extra;
  return Object.keys(moves).length === 0 ? rest : { ...rest, moved: moves };
}

function create(context: Context, caller: Caller, given: JsonObject): StoredRecord {
  const advisory = member(given, "advisory") ?? {};
  const parent = String(member(given, "parentId") ?? "");
  const bare = { value: readAdvisory(advisory), extra: {} };
  // Refused, it uses up no uid for its events.
  checkCreation(context, advisories, caller, parent, bare);
  const listed = member(advisory, "events");
  const events = (Array.isArray(listed) ? listed : []).map((one) => newEvent(context, one));
  const moves: JsonObject = Object.assign({}, ...events.map(({ moved }) => moved));
  const value = { ...bare.value, events: events.map(({ event }) => event) };
  return createRecord(context, advisories, caller, parent, { value, extra: withMoves({}, moves) });
}

/** Puts an event in the place of the one with its uid, or after all others. `make` runs once nothing can fail. */
function putEvent(context: Context, caller: Caller, holder: string, make: () => NewEvent): JsonObject {
  let id = "";
  const record = updateRecord(context, advisories, caller, holder, (before) => {
    const { event, moved } = make();
    id = String(event["uid"]);
    const events = eventsOf(before);
    const isKnown = events.some((one) => member(one, "uid") === id);
    const next = isKnown ? events.map((one) => (member(one, "uid") === id ? event : one)) : [...events, event];
    const { [id]: _old, ...stay } = (before.extra["moved"] ?? {}) as JsonObject;
    return { value: { ...before.value, events: next }, extra: withMoves(before.extra, { ...stay, ...moved }) };
  });
  const stored = eventsOf(record).find((one) => member(one, "uid") === id) ?? {};
  return viewEvent(stored, record.extra["moved"]);
}

/** The advisory that holds the event `id`. Throws 404 when none does. */
function holderOf(context: Context, id: string): { holder: string; event: Json } {
  const collection = context.store.collection("advisories");
  for (const uid of collection.uids()) {
    const record = collection.get(uid);
    const event = record === undefined ? undefined : eventsOf(record).find((one) => member(one, "uid") === id);
    if (event !== undefined) return { holder: uid, event };
  }
  throw notFound("AdvisoryEvent", id);
}

/** `POST advisories`, `POST advisories/{parent_id}/events`, `PUT advisory_events/{id}`. */
export function advisoryWrites(context: Context): readonly Route[] {
  const at = { domain: "vulnerabilities", version: "v1", names: NAMES };
  const write = (message: string, value: JsonObject) => textV1(context, message, value);
  const createAdvisory: Route["prepare"] = (call) => {
    const given = decodeV1(context, "CreateAdvisoryRequest", call.body);
    return (caller) => write("Advisory", viewAdvisory(create(context, caller, given)));
  };
  const createEvent: Route["prepare"] = (call) => {
    const given = decodeV1(context, "CreateAdvisoryEventRequest", call.body);
    const make = () => newEvent(context, member(given, "advisoryEvent") ?? {});
    return (caller) => write("AdvisoryEvent", putEvent(context, caller, call.tail, make));
  };
  const updateEvent: Route["prepare"] = (call) => {
    const given = decodeV1(context, "AdvisoryEvent", call.body);
    return (caller) => {
      const { holder, event } = holderOf(context, call.tail);
      const server = { uid: call.tail, createTime: member(event, "createTime") ?? null };
      const next = { event: { ...server, ...readEvent(given) }, moved: movedOf(call.tail, given) };
      return write(
        "AdvisoryEvent",
        putEvent(context, caller, holder, () => next),
      );
    };
  };
  return [
    { ...at, collection: "advisories", method: "POST", shape: "collection", prepare: createAdvisory },
    { ...at, collection: "advisories", method: "POST", shape: "suffix", word: "events", prepare: createEvent },
    { ...at, collection: "advisory_events", method: "PUT", shape: "tail", prepare: updateEvent },
  ];
}
