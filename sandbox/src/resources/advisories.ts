/** What is an advisory, and which of them does a list mean? Only v1 writes them. (Field map 2.14 and 3.12.) */

import { type Json, type JsonObject, member } from "../json.ts";
import type { StoredRecord } from "../store/collection.ts";
import type { RecordTest } from "../store/select.ts";
import type { Resource } from "./resource.ts";

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

/** A repeated text parameter without its empty members. */
export function texts(request: JsonObject, key: string): readonly string[] {
  const value = member(request, key);
  return Array.isArray(value) ? value.map(String).filter((text) => text !== "") : [];
}

/** A repeated enum parameter as numbers, zero left out. */
export function numbers(request: JsonObject, key: string): readonly number[] {
  const value = member(request, key);
  return Array.isArray(value) ? value.map(Number).filter((number) => number !== 0) : [];
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
