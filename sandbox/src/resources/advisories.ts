/** Advisories: their filters, v1 and v2. Only v1 writes them. */

import { type Caller, type Context, now } from "../context.ts";
import { cutPage, pageRequest } from "../faces/paging.ts";
import { decodeV1, itemText, keep, pick, queryV1, textV1, type V1Face, v1Routes, v1Selection } from "../faces/v1.ts";
import type { V2Face } from "../faces/v2.ts";
import type { Call, Route } from "../gateway/route.ts";
import { type Json, type JsonObject, member } from "../json.ts";
import { notFound } from "../refusal.ts";
import { parentOf, parseOrder, type StoredRecord } from "../store/collection.ts";
import type { RecordTest } from "../store/select.ts";
import { checkCreation, createRecord, type Resource, readable, updateRecord } from "./resource.ts";

/** The filters of both faces in one vocabulary; an empty list is no filter. */
export interface AdvisoryFilter {
  /** Members that hold one text: any of the wanted ones will do. */
  readonly texts: ReadonlyMap<string, readonly string[]>;
  readonly aliases: readonly string[];
  readonly authors: readonly string[];
  readonly notAuthors: readonly string[];
  readonly reviewers: readonly string[];
  readonly states: readonly number[];
  /** Numbers of the event type filter. */
  readonly types: readonly number[];
  readonly latest: number;
  readonly origin: string;
}

/** Event members by the number of the event type filter. */
export const EVENT_TYPES: readonly string[] = [
  "",
  "detection",
  "truePositiveDetermination",
  "fixed",
  "falsePositiveDetermination",
  "analysisNotPlanned",
  "fixNotPlanned",
  "pendingUpstreamFix",
  "patched",
  "componentLocationChanged",
];

/** A repeated text parameter. An empty element is an element. */
export function texts(request: JsonObject, key: string): readonly string[] {
  const value = member(request, key);
  return Array.isArray(value) ? value.map(String) : [];
}

/** A repeated enum parameter as numbers. Zero is an element like any other. */
export function numbers(request: JsonObject, key: string): readonly number[] {
  const value = member(request, key);
  return Array.isArray(value) ? value.map(Number) : [];
}

/** The events of an advisory as v2 stores them, oldest first. */
export function eventsOf(record: StoredRecord): readonly Json[] {
  const events = member(record.value, "events");
  return Array.isArray(events) ? events : [];
}

/** The event's number in the event type filter; what v2 has no member for is a moved component. */
function typeOf(event: Json | undefined): number {
  const known = EVENT_TYPES.findIndex((name) => name !== "" && member(event, name) !== undefined);
  return known < 0 ? EVENT_TYPES.indexOf("componentLocationChanged") : known;
}

/** The tests that a filter stands for; an advisory must pass all of them. */
export function advisoryTests(filter: AdvisoryFilter): readonly RecordTest[] {
  const tests: RecordTest[] = [];
  const anyEvent = (wanted: readonly unknown[], read: (event: Json) => unknown) => {
    if (wanted.length > 0) tests.push((record) => eventsOf(record).some((event) => wanted.includes(read(event))));
  };
  for (const [key, wanted] of filter.texts) {
    if (wanted.length > 0) tests.push((record) => wanted.includes(String(member(record.value, key) ?? "")));
  }
  if (filter.aliases.length > 0) {
    tests.push((record) => texts(record.value, "aliases").some((alias) => filter.aliases.includes(alias)));
  }
  anyEvent(filter.authors, (event) => member(event, "author"));
  anyEvent(filter.reviewers, (event) => member(event, "reviewer"));
  anyEvent(filter.states, (event) => Number(member(event, "reviewState") ?? 0));
  anyEvent(filter.types, typeOf);
  if (filter.notAuthors.length > 0) {
    const wrote = (event: Json) => filter.notAuthors.includes(String(member(event, "author") ?? ""));
    tests.push((record) => !eventsOf(record).some(wrote));
  }
  if (filter.latest !== 0) tests.push((record) => typeOf(eventsOf(record).at(-1)) === filter.latest);
  if (filter.origin !== "") tests.push((record) => member(record.extra, "origin") === filter.origin);
  return tests;
}

export const advisories: Resource = {
  name: "advisories",
  type: "Advisory",
  times: ["createTime", "updateTime"],
  secrets: ({ store }) => ({ value: { advisoryId: `ADV-${store.nextHex(8).toUpperCase()}` }, extra: {} }),
  check: ({ next }) => next,
};

// v1: the shape of advisories and events.

const SAME = ["artifactType", "artifactName", "artifactArchitecture", "aliases", "advisoryId", "author"] as const;
const RENAMED: readonly (readonly [stored: string, v1: string])[] = [
  ["createTime", "createdAt"],
  ["updateTime", "updatedAt"],
  ["deleteTime", "deletedAt"],
  ["legacyAdvisoryId", "legacyAdvisoryID"],
];
const EVENT_SAME = [
  "fixed",
  "falsePositiveDetermination",
  "analysisNotPlanned",
  "fixNotPlanned",
  "pendingUpstreamFix",
  "truePositiveDetermination",
  "patched",
  "findings",
  "author",
  "reviewer",
  "issue",
] as const;

function viewDetection(detection: Json): JsonObject {
  const scan = member(detection, "scanv1");
  if (scan === undefined) return keep(detection, ["nvdapi", "manual"]);
  const { subpackage, component, ...rest } = scan as JsonObject;
  return { scanv1: { ...rest, subpackageName: subpackage ?? "", componentName: component ?? "" } };
}

/** An event as v1 knows it; where a component moved to is kept beside the record, for v2 has no word for it. */
export function viewEvent(event: Json, moved: Json | undefined): JsonObject {
  const detection = member(event, "detection");
  const uid = String(member(event, "uid") ?? "");
  const move = member(moved, uid);
  return {
    id: uid,
    ...pick(event, [
      ["createTime", "timestamp"],
      ["reviewState", "status"],
    ]),
    ...keep(event, EVENT_SAME),
    ...(detection === undefined ? {} : { detection: viewDetection(detection) }),
    ...(move === undefined ? {} : { componentLocationChanged: move }),
  };
}

/** The events of a record, oldest first. */
export function viewEvents(record: StoredRecord): JsonObject[] {
  return eventsOf(record).map((event) => viewEvent(event, member(record.extra, "moved")));
}

/** The component's members have presence in v1: an empty one is not there. */
export function viewAdvisory(record: StoredRecord): JsonObject {
  return {
    id: record.uid,
    ...keep(record.value, SAME),
    ...keep(record.value, ["componentName", "componentLocation", "componentType"]),
    ...pick(record.value, RENAMED),
    events: viewEvents(record),
  };
}

function readDetection(detection: Json): JsonObject {
  const scan = member(detection, "scanv1");
  if (scan === undefined) return keep(detection, ["nvdapi", "manual"]);
  const { subpackageName, componentName, ...rest } = scan as JsonObject;
  return { scanv1: { ...rest, subpackage: subpackageName ?? "", component: componentName ?? "" } };
}

/** A v1 event as v2 knows it, without the uid and the time, which the server sets. */
export function readEvent(given: Json): JsonObject {
  const detection = member(given, "detection");
  return {
    ...keep(given, EVENT_SAME),
    ...pick(given, [["status", "reviewState"]]),
    ...(detection === undefined ? {} : { detection: readDetection(detection) }),
  };
}

/** What a v1 client says of an advisory itself: its events, ids and times are not its to set. */
export function readAdvisory(given: Json): JsonObject {
  return keep(given, [
    "artifactType",
    "artifactName",
    "artifactArchitecture",
    "componentName",
    "componentLocation",
    "componentType",
    "aliases",
    "author",
  ]);
}

// v1: lists in pages, changes, deletes.

const V1_TEXTS: readonly (readonly [parameter: string, field: string])[] = [
  ["advisoryIds", "advisoryId"],
  ["legacyAdvisoryIds", "legacyAdvisoryId"],
  ["artifactType", "artifactType"],
  ["artifactName", "artifactName"],
  ["artifactArchitecture", "artifactArchitecture"],
  ["componentName", "componentName"],
  ["componentType", "componentType"],
  ["componentLocation", "componentLocation"],
];
/** The orders of the v1 enum by number. */
const ORDERS: readonly string[] = [
  "uid asc",
  "uid asc",
  "uid desc",
  "created_at asc",
  "created_at desc",
  "aliases asc",
  "aliases desc",
  "updated_at asc",
  "updated_at desc",
  "deleted_at asc",
  "deleted_at desc",
];
/** Stored members that no update through v1 changes. */
const SERVER_FIELDS = ["advisoryId", "createTime", "deleteTime", "legacyAdvisoryId", "severities", "events"] as const;

const face: V1Face = {
  resource: advisories,
  domain: "vulnerabilities",
  collection: "advisories",
  operations: ["update", "delete"],
  filter: "AdvisoryFilter",
  item: "Advisory",
  view: viewAdvisory,
  key: "id",
  write: {
    message: "Advisory",
    // The events have operations of their own: an update leaves them alone.
    read: (given, before) => ({
      value: { ...keep(before?.value, SERVER_FIELDS), ...readAdvisory(given) },
      extra: before?.extra ?? {},
    }),
    answer: "Advisory",
    view: viewAdvisory,
  },
  tests: (request) =>
    advisoryTests({
      texts: new Map(V1_TEXTS.map(([parameter, field]) => [field, texts(request, parameter)])),
      aliases: texts(request, "aliases"),
      authors: texts(request, "eventAuthor"),
      notAuthors: texts(request, "excludeEventAuthor"),
      reviewers: texts(request, "eventReviewer"),
      states: numbers(request, "eventStatuses"),
      types: numbers(request, "eventTypes"),
      latest: Number(member(request, "latestEventType") ?? 0),
      origin: String(member(request, "origin") ?? ""),
    }),
};

/** `{id, items, nextPageToken, totalCount}`; `id` is the group that was asked for, else that of the first of the list. */
function list(context: Context, call: Call): ReturnType<Route["prepare"]> {
  const request = queryV1(context, face.filter, call.query);
  return (caller) => {
    const order = parseOrder(ORDERS[Number(member(request, "orderBy") ?? 0)] ?? "uid");
    const selection = v1Selection(context, face, caller, request);
    const paging = pageRequest(request, order, "unlimited");
    const page = cutPage(context, context.store.collection("advisories"), selection, paging);
    const uidp = member(request, "uidp");
    const asked = [member(uidp, "childrenOf"), member(uidp, "descendantsOf")].find((uid) => (uid ?? "") !== "");
    const group = asked ?? parentOf(page.records[0]?.uid ?? "");
    const items = page.records.map((record) => itemText(context, face, record)).join(",");
    const next = JSON.stringify(page.nextToken);
    return `{"id":${JSON.stringify(group)},"items":[${items}],"nextPageToken":${next},"totalCount":"${page.total}"}`;
  };
}

function events(context: Context, call: Call): ReturnType<Route["prepare"]> {
  return (caller) => {
    const record = readable(context, advisories, caller, call.tail);
    return textV1(context, "AdvisoryEventList", { parentId: record.uid, items: viewEvents(record) });
  };
}

/** The list with its envelope, the events of one advisory, and every write. */
export function advisoriesV1(context: Context): readonly Route[] {
  const at = { domain: "vulnerabilities", version: "v1", collection: "advisories", method: "GET" };
  return [
    { ...at, shape: "collection", prepare: (call) => list(context, call) },
    { ...at, shape: "suffix", word: "events", prepare: (call) => events(context, call) },
    ...v1Routes(context, face),
    ...advisoryWrites(context),
  ];
}

// v1: creates, and changes of events, which v2 lacks.

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

// v2

const V2_TEXTS: readonly (readonly [parameter: string, field: string])[] = [
  ["advisoryIds", "advisoryId"],
  ["legacyAdvisoryIds", "legacyAdvisoryId"],
  ["artifactNames", "artifactName"],
  ["artifactTypes", "artifactType"],
  ["artifactArchitectures", "artifactArchitecture"],
  ["componentNames", "componentName"],
  ["componentTypes", "componentType"],
  ["componentLocations", "componentLocation"],
];

/** A word looked for in the names of an advisory. */
function queryTest(request: JsonObject): readonly RecordTest[] {
  const word = String(member(request, "query") ?? "").toLowerCase();
  if (word === "") return [];
  return [
    (record) => {
      const names = ["advisoryId", "artifactName", "componentName"].map((key) => member(record.value, key));
      return [...names, ...texts(record.value, "aliases")].some((name) =>
        String(name ?? "")
          .toLowerCase()
          .includes(word),
      );
    },
  ];
}

export const advisoriesV2: V2Face = {
  resource: advisories,
  domain: "vulnerabilities",
  collection: "advisories",
  operations: ["list", "get"],
  listRequest: "ListAdvisoriesRequest",
  order: "uid",
  tests: (request) => [
    ...advisoryTests({
      texts: new Map(V2_TEXTS.map(([parameter, field]) => [field, texts(request, parameter)])),
      aliases: texts(request, "aliases"),
      authors: texts(request, "eventAuthors"),
      notAuthors: texts(request, "excludeEventAuthors"),
      reviewers: texts(request, "eventReviewers"),
      states: numbers(request, "eventReviewStates"),
      types: numbers(request, "eventTypes"),
      latest: Number(member(request, "latestEventType") ?? 0),
      origin: String(member(request, "origin") ?? ""),
    }),
    ...queryTest(request),
  ],
};
