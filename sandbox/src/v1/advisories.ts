/** How does native v1 list, change and delete advisories? It pages them itself. (Field map 2.14 and 3.12, traps T38 to T40.) */

import type { Context } from "../context.ts";
import type { Call, Route } from "../gateway/route.ts";
import { member } from "../json.ts";
import { advisories, advisoryTests, numbers, texts } from "../resources/advisories.ts";
import { readable } from "../resources/writes.ts";
import { parseOrder } from "../store/order.ts";
import { parentOf } from "../store/uid.ts";
import { cutPage, pageRequest } from "../v2/paging.ts";
import { readAdvisory, viewAdvisory, viewEvents } from "./advisory-shape.ts";
import { advisoryWrites } from "./advisory-writes.ts";
import { itemText, queryV1, textV1, type V1Face, v1Routes, v1Selection } from "./face.ts";
import { keep } from "./shape.ts";

const TEXTS: readonly (readonly [parameter: string, field: string])[] = [
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
      texts: new Map(TEXTS.map(([parameter, field]) => [field, texts(request, parameter)])),
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
