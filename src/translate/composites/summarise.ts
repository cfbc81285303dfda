/** Reads that v2 has no call for: a summary and a look-up, made from its lists, and one record of a list. */

import type { ObjectPlan } from "../../json/plan.ts";
import { createValueRewriter } from "../../json/rewrite.ts";
import { isJsonObject, type Json, type JsonObject } from "../../model/json.ts";
import type { ListPage, ListPlan } from "../../model/list.ts";
import { collectionPath } from "../../model/request.ts";
import { isUid, parentOf } from "../../model/uid.ts";
import { errorResponse } from "../error.ts";
import { readHeaders, respondWith } from "../headers.ts";
import { EMPTY_LIST_RESPONSE, listHeader } from "../list.ts";
import { type Composite, filtersOf, noteReports, readRequestQuery, verbPath } from "../operation.ts";
import {
  bareMeaning,
  checkKey,
  createPageReader,
  invalidResponse,
  keyOf,
  pageTarget,
  readPage,
  readUpstream,
  targetWith,
  V2_KEY,
} from "../pages.ts";
import { createRecordRewriter } from "../record-rewriter.ts";
import { parseRecord } from "../replace.ts";
import { recordShape, responsePlan, v1ZeroText } from "../response-plan.ts";

/**
 * Reads every page of v2's list below the uid in the path, keeps what the summary needs, and lets the page go. A missing
 * parent is a list without records, as in v1. `from` in the rows names what they show: the `uid` of the parent, the
 * `count` of records, the `latest` record and when it was `updated`, and the greatest name that is a `version`.
 */
export const createSummarise: Composite = (operation, parts) => {
  const filters = filtersOf(operation);
  const rewriter = createRecordRewriter(recordShape(parts.resource), [], parts);
  const pages = createPageReader(parts.resource, "copy", parts.options);
  const path = collectionPath(parts.resource, parts.options.version);
  return async (request, tools) => {
    const { uid } = request.match;
    const query = readRequestQuery(request, filters, tools);
    const params = [...query.params, `uidp.children_of=${encodeURIComponent(uid)}`];
    const summary = new RecordSummary();
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
        for (const record of recordsOf(page)) summary.add(record);
        return withoutRecords(page);
      },
      bareMeans: bareMeaning(parts.options),
    };
    const list = await tools.drain(plan);
    if (list.kind === "refused") return errorResponse(list.response, parts.names);
    const values = new Map([
      [V2_KEY, JSON.stringify(uid)],
      ["count", JSON.stringify(String(list.records))],
      ["version", JSON.stringify(summary.version)],
    ]);
    const { latest } = summary;
    if (latest !== undefined) {
      const record = await rewriter.rewriteOne(latest.bytes, latest.uid, request, tools);
      if (record.kind === "refused") return errorResponse(record.response, parts.names);
      values.set("updated", JSON.stringify(latest.updated));
      values.set("latest", Buffer.from(record.bytes).toString("utf8"));
    }
    const members = operation.answer.rows.map((row) => {
      const value = values.get(row.from?.[0] ?? row.v2 ?? "") ?? v1ZeroText(row);
      return `${JSON.stringify(row.v1)}:${value}`;
    });
    return respondWith(EMPTY_LIST_RESPONSE, 200, Buffer.from(`{${members.join(",")}}`), listHeader(list));
  };
};

interface ListedRecord {
  readonly uid: string;
  readonly bytes: Uint8Array;
  readonly value: JsonObject;
}

/** What is kept of all records. Their order, and repeats, make no difference. */
class RecordSummary {
  /** The record that was updated last; of two at one moment the one with the greater uid. */
  latest:
    | { readonly uid: string; readonly bytes: Uint8Array; readonly updated: string; readonly moment: Moment }
    | undefined;
  /** The greatest name that is a version; empty when none is. */
  version = "";

  add({ uid, bytes, value }: ListedRecord): void {
    const { latest } = this;
    const name = value["name"];
    if (typeof name === "string") this.version = laterVersion(this.version, name);
    const updated = value["updateTime"];
    const moment = momentOf(updated);
    if (moment === undefined || typeof updated !== "string") return;
    const order = latest === undefined ? 1 : compareMoments(moment, latest.moment);
    if (order < 0 || (order === 0 && uid <= (latest?.uid ?? ""))) return;
    // A copy, so that the page can be collected.
    this.latest = { uid, bytes: Uint8Array.from(bytes), updated, moment };
  }
}

/** The records of a page that are not hidden. */
function* recordsOf({ bytes, starts, ends, keys, hidden }: ListPage): Generator<ListedRecord> {
  for (const [index, uid] of keys.entries()) {
    if (hidden?.[index] === 1) continue;
    const record = bytes.subarray(starts[index], ends[index]);
    const value = JSON.parse(Buffer.from(record).toString("utf8")) as Json;
    if (isJsonObject(value)) yield { uid, bytes: record, value };
  }
}

/** The page for the drain, which needs keys alone: each record is one digit. */
function withoutRecords(page: ListPage): ListPage {
  const starts = Uint32Array.from(page.keys, (_, index) => 2 * index);
  const ends = starts.map((start) => start + 1);
  return { ...page, bytes: Buffer.from(page.keys.map(() => "0").join(",")), starts, ends };
}

/** `1.2.10` or `v1.2`: a number alone may be a date or an alias. */
const VERSION = /^v?(\d+(?:\.\d+)+)$/;

/** The later of two names; empty when neither is a version. */
export function laterVersion(a: string, b: string): string {
  const left = numbersOf(a);
  const right = numbersOf(b);
  if (left === undefined) return right === undefined ? "" : b;
  if (right === undefined) return a;
  for (const [at, number] of left.entries()) {
    const other = right[at];
    // 1.2 comes before 1.2.0.
    if (other === undefined || number > other) return a;
    if (number < other) return b;
  }
  if (right.length > left.length) return b;
  // The same version, one with a `v`: the result does not depend on the order.
  return a < b ? a : b;
}

function numbersOf(name: string): bigint[] | undefined {
  return VERSION.exec(name)?.[1]?.split(".").map(BigInt);
}

/** Milliseconds, and the digits of the fraction of a second below them. */
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

/** Negative when `a` is earlier, positive when `b` is. */
export function compareMoments(a: Moment, b: Moment): number {
  if (a.ms !== b.ms) return a.ms - b.ms;
  return a.below === b.below ? 0 : a.below < b.below ? -1 : 1;
}

/**
 * The verb returns a uid, also of a record that does not exist; a Get of that uid returns the rest. The platform's refusal of the
 * Get is the response: its 404 is v1's "not found", and its 403 stays.
 */
export const createLookUp: Composite = (operation, parts) => {
  const rewriter = createRecordRewriter(operation.answer, [], parts);
  const verb = verbPath(operation, parts);
  const collection = collectionPath(parts.resource, parts.options.version);
  const filters = filtersOf(operation);
  return async (request, tools) => {
    const { params } = readRequestQuery(request, filters, tools);
    const headers = readHeaders(request.headers);
    const found = await tools.send({ method: "GET", target: targetWith(verb, params), headers });
    if (found.status !== 200) return errorResponse(found, parts.names);
    const uid = keyOf(found.body);
    if (typeof uid !== "string" || !isUid(uid)) throw invalidResponse("it names no uid");
    const response = await tools.send({ method: "GET", target: `${collection}/${uid}`, headers });
    if (response.status !== 200) return errorResponse(response, parts.names);
    return rewriter.respond(response, uid, request, tools);
  };
};

/**
 * A Get of the record. The rows say what v1's response holds. The platform's refusal is the response, because v1
 * named the record by its path (as opposed to the filters of its lists).
 */
export const createListMember: Composite = (operation, parts) => {
  const collection = collectionPath(parts.resource, parts.options.version);
  // v1's response always has its list, whether v2 leaves zeros out or not.
  const plan = responsePlan(operation.answer, { ...parts.options, insertZeros: true });
  const lists = operation.answer.rows.filter((row) => row.kind !== "map" && row.list === true);
  const rewrite = createValueRewriter({ ...plan, unknown: "drop", reportUnknown: false } satisfies ObjectPlan);
  return async (request, tools) => {
    const { uid, uidPath, query } = request.match;
    if (query !== "") tools.exchange.notes.push("query-unknown");
    const headers = readHeaders(request.headers);
    const response = await tools.send({ method: "GET", target: `${collection}/${uidPath}`, headers });
    if (response.status !== 200) return errorResponse(response, parts.names);
    const { bytes, reports } = readUpstream(() => rewrite(response.body));
    const record = parseRecord(response);
    checkKey(record[V2_KEY], uid);
    noteReports(reports, tools);
    // v1's response for an empty list did not name the record.
    const holdsList = lists.some(({ v2 }) => v2 !== null && record[v2] !== undefined);
    return respondWith(response, 200, holdsList ? bytes : rewrite(Buffer.from("{}")).bytes);
  };
};
