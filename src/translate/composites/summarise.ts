/** How is a v1 summary made that v2 has no call for, out of v2's list of what it sums up? (A repo's tags.) */
import { isJsonObject, type Json, type JsonObject } from "../../model/json.ts";
import type { DrainedList, ListPage, ListPlan } from "../../model/list.ts";
import { collectionPath } from "../../model/request.ts";
import type { Row } from "../../model/resource.ts";
import { parentOf } from "../../model/uid.ts";
import { errorResponse } from "../error.ts";
import { readHeaders, respondWith } from "../headers.ts";
import { EMPTY_LIST_RESPONSE, listHeader } from "../list.ts";
import { type Composite, filtersOf } from "../operation.ts";
import { createPageReader, pageTarget, readPage, V2_KEY } from "../pages.ts";
import { readListQuery } from "../query.ts";
import { createRecordRewriter, recordShape } from "../record-rewriter.ts";
import { v1ZeroText } from "../response-plan.ts";

/**
 * Every page of v2's list below the uid in the path, counted and compared as it arrives and then let go. A parent that is
 * not there is a list without records, as it was in v1. The rows of the answer say by `from` what they show: the `uid` of
 * the parent, the `count` of records, the `latest` record, when that was `updated`, and the greatest name that is a `version`.
 */
export const createSummarise: Composite = (operation, parts) => {
  const filters = filtersOf(operation);
  const show = createRecordRewriter(recordShape(parts.resource), [], parts);
  const pages = createPageReader(parts.resource, "copy");
  const path = collectionPath(parts.resource, parts.options.version);
  return async (request, tools) => {
    const { uid } = request.match;
    const query = readListQuery(request.match.query, filters);
    if (query.unknown.length > 0) tools.exchange.notes.push("query-unknown");
    const params = [...query.params, `uidp.children_of=${encodeURIComponent(uid)}`];
    const best = createRecordSummary();
    const plan: ListPlan = {
      resource: parts.resource.name,
      keyOrder: parts.resource.orderedByUid,
      request: (page) => ({
        method: "GET",
        target: pageTarget(path, params, page),
        headers: readHeaders(request.headers),
      }),
      read: (response) => {
        const page = readPage(response, pages, [(key) => parentOf(key) === uid], () => {});
        for (const record of recordsOf(page)) best.add(record);
        return withoutRecords(page);
      },
    };
    const list = await tools.drain(plan);
    if (list.kind === "refused") return errorResponse(list.response, parts.names);
    const latest = best.latest();
    const shown = latest === undefined ? undefined : await show.rewriteOne(latest.bytes, latest.uid, request, tools);
    if (shown?.kind === "refused") return errorResponse(shown.response, parts.names);
    const facts = summaryValues(uid, list, best, shown?.bytes);
    const members = operation.answer.rows.map((row) => memberText(row, facts));
    return respondWith(EMPTY_LIST_RESPONSE, 200, Buffer.from(`{${members.join(",")}}`), listHeader(list));
  };
};

type SummaryValues = ReadonlyMap<string, string>;

/** JSON texts by the names that rows know them by. */
function summaryValues(
  uid: string,
  list: DrainedList,
  best: RecordSummary,
  latest: Uint8Array | undefined,
): SummaryValues {
  const facts = new Map<string, string>();
  const say = (name: string, value: Json) => facts.set(name, JSON.stringify(value));
  say(V2_KEY, uid);
  say("count", String(list.records));
  say("version", best.version());
  const held = best.latest();
  if (held !== undefined && latest !== undefined) {
    say("updated", held.updated);
    facts.set("latest", Buffer.from(latest).toString("utf8"));
  }
  return facts;
}

/** The zero where there is nothing to be said: of a repo without tags. */
function memberText(row: Row, facts: SummaryValues): string {
  const fact = facts.get(row.from?.[0] ?? row.v2 ?? "");
  return `${JSON.stringify(row.v1)}:${fact ?? v1ZeroText(row)}`;
}

/** One record as it came. */
interface ListedRecord {
  readonly uid: string;
  readonly bytes: Uint8Array;
  readonly value: JsonObject;
}

interface LatestRecord {
  readonly uid: string;
  readonly bytes: Uint8Array;
  readonly updated: string;
  readonly moment: Moment;
}

/** What is worth keeping of all records. The order in which they come, and how often, makes no difference. */
interface RecordSummary {
  add(record: ListedRecord): void;
  /** The record that was updated last; of two at one moment the one with the greater uid. Undefined when none says when. */
  latest(): LatestRecord | undefined;
  /** The greatest name that is a version; empty when none is. */
  version(): string;
}

function createRecordSummary(): RecordSummary {
  let latest: LatestRecord | undefined;
  let version = "";
  return {
    add({ uid, bytes, value }) {
      const name = value["name"];
      if (typeof name === "string") version = laterVersion(version, name);
      const updated = value["updateTime"];
      const moment = momentOf(updated);
      if (moment === undefined || typeof updated !== "string") return;
      const order = latest === undefined ? 1 : compareMoments(moment, latest.moment);
      // A copy: the page is let go.
      if (order > 0 || (order === 0 && uid > (latest?.uid ?? "")))
        latest = { uid, bytes: Uint8Array.from(bytes), updated, moment };
    },
    latest: () => latest,
    version: () => version,
  };
}

/** The records of a page that are to be shown. */
function* recordsOf({ bytes, starts, ends, keys, hidden }: ListPage): Generator<ListedRecord> {
  for (const [index, uid] of keys.entries()) {
    if (hidden?.[index] === 1) continue;
    const record = bytes.subarray(starts[index], ends[index]);
    const value = JSON.parse(Buffer.from(record).toString("utf8")) as Json;
    if (isJsonObject(value)) yield { uid, bytes: record, value };
  }
}

/** The same page for the drain, which proves by keys alone: each record stands there as one digit. */
function withoutRecords(page: ListPage): ListPage {
  const starts = Uint32Array.from(page.keys, (_, index) => 2 * index);
  const ends = starts.map((start) => start + 1);
  return { ...page, bytes: Buffer.from(page.keys.map(() => "0").join(",")), starts, ends };
}

/** Which of two names is the later version, and which of two times the later one? */

/** `1.2.10`, `v1.2`: numbers with dots between them, and nothing behind. A number alone may be a date or an alias. */
const VERSION = /^v?(\d+(?:\.\d+)+)$/;

/** The later of two names; names that are no version are never the later one. Empty when neither is a version. */
export function laterVersion(a: string, b: string): string {
  const [left, right] = [numbersOf(a), numbersOf(b)];
  if (left === undefined || right === undefined) return left === undefined ? (right === undefined ? "" : b) : a;
  for (const [at, number] of left.entries()) {
    const other = right[at];
    // 1.2 comes before 1.2.0.
    if (other === undefined || number > other) return a;
    if (number < other) return b;
  }
  if (right.length > left.length) return b;
  // The same version, once with a `v`: whichever came first, the answer is the same.
  return a < b ? a : b;
}

function numbersOf(name: string): bigint[] | undefined {
  return VERSION.exec(name)?.[1]?.split(".").map(BigInt);
}

/** A moment: milliseconds, and what of its fraction of a second lies below them. */
export interface Moment {
  readonly ms: number;
  readonly below: string;
}

/** The moment that an RFC 3339 text names; undefined for any other text. */
export function momentOf(text: unknown): Moment | undefined {
  if (typeof text !== "string") return undefined;
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) return undefined;
  return { ms, below: (/\.(\d+)/.exec(text)?.[1] ?? "").slice(3).padEnd(6, "0") };
}

/** Below zero when `a` comes first, above when `b` does. */
export function compareMoments(a: Moment, b: Moment): number {
  if (a.ms !== b.ms) return a.ms - b.ms;
  return a.below === b.below ? 0 : a.below < b.below ? -1 : 1;
}
