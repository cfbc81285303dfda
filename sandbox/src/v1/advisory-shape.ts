/** How do advisories and their events look in v1? (Field map 2.14, trap T38.) */
import { type Json, type JsonObject, member } from "../json.ts";
import { eventsOf } from "../resources/advisories.ts";
import type { StoredRecord } from "../store/collection.ts";
import { keep, pick } from "./shape.ts";

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
