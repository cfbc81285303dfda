/** How is a v1 summary made that v2 has no call for, out of v2's list of what it sums up? (A repo's tags.) */
import { isJsonObject, type Json, type JsonObject } from "../../model/json.ts";
import type { DrainedList, ListPage, ListPlan } from "../../model/list.ts";
import { collectionPath } from "../../model/match.ts";
import type { Row } from "../../model/resource.ts";
import { parentOf } from "../../model/uid.ts";
import { zeroText } from "../answer-plan.ts";
import { errorAnswer } from "../error.ts";
import { answerWith, readHeaders } from "../headers.ts";
import { listHeader, NO_ANSWER } from "../list.ts";
import { createPageReader, pageTarget, readPage, V2_KEY } from "../pages.ts";
import { readListQuery } from "../query.ts";
import { createShow, recordShape } from "../show.ts";
import { type Composite, filtersOf } from "./composite.ts";
import { compareMoments, laterVersion, type Moment, momentOf } from "./version.ts";

/**
 * Every page of v2's list below the uid in the path, counted and compared as it arrives and then let go. A parent that is
 * not there is a list without records, as it was in v1. The rows of the answer say by `from` what they show: the `uid` of
 * the parent, the `count` of records, the `latest` record, when that was `updated`, and the greatest name that is a `version`.
 */
export const createSummarise: Composite = (operation, parts) => {
  const filters = filtersOf(operation);
  const show = createShow(recordShape(parts.resource), [], parts);
  const pages = createPageReader(parts.resource, "copy");
  const path = collectionPath(parts.resource, parts.options.version);
  return async (request, tools) => {
    const { uid } = request.match;
    const query = readListQuery(request.match.query, filters);
    if (query.unknown.length > 0) tools.exchange.notes.push("query-unknown");
    const params = [...query.params, `uidp.children_of=${encodeURIComponent(uid)}`];
    const best = createBest();
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
        for (const record of recordsOf(page)) best.meet(record);
        return emptied(page);
      },
    };
    const list = await tools.drain(plan);
    if (list.kind === "refused") return errorAnswer(list.response, parts.names);
    const latest = best.latest();
    const shown = latest === undefined ? undefined : await show.one(latest.bytes, latest.uid, request, tools);
    if (shown?.kind === "refused") return errorAnswer(shown.response, parts.names);
    const facts = factsOf(uid, list, best, shown?.bytes);
    const members = operation.answer.rows.map((row) => memberText(row, facts));
    return answerWith(NO_ANSWER, 200, Buffer.from(`{${members.join(",")}}`), listHeader(list));
  };
};

type Facts = ReadonlyMap<string, string>;

/** JSON texts by the names that rows know them by. */
function factsOf(uid: string, list: DrainedList, best: Best, latest: Uint8Array | undefined): Facts {
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
function memberText(row: Row, facts: Facts): string {
  const fact = facts.get(row.from?.[0] ?? row.v2 ?? "");
  return `${JSON.stringify(row.v1)}:${fact ?? zeroText(row)}`;
}

/** One record as it came. */
interface Met {
  readonly uid: string;
  readonly bytes: Uint8Array;
  readonly value: JsonObject;
}

interface Latest {
  readonly uid: string;
  readonly bytes: Uint8Array;
  readonly updated: string;
  readonly moment: Moment;
}

/** What is worth keeping of all records. The order in which they come, and how often, makes no difference. */
interface Best {
  meet(record: Met): void;
  /** The record that was updated last; of two at one moment the one with the greater uid. Undefined when none says when. */
  latest(): Latest | undefined;
  /** The greatest name that is a version; empty when none is. */
  version(): string;
}

function createBest(): Best {
  let latest: Latest | undefined;
  let version = "";
  return {
    meet({ uid, bytes, value }) {
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
function* recordsOf({ bytes, starts, ends, keys, hidden }: ListPage): Generator<Met> {
  for (const [index, uid] of keys.entries()) {
    if (hidden?.[index] === 1) continue;
    const record = bytes.subarray(starts[index], ends[index]);
    const value = JSON.parse(Buffer.from(record).toString("utf8")) as Json;
    if (isJsonObject(value)) yield { uid, bytes: record, value };
  }
}

/** The same page for the drain, which proves by keys alone: each record stands there as one digit. */
function emptied(page: ListPage): ListPage {
  const starts = Uint32Array.from(page.keys, (_, index) => 2 * index);
  const ends = starts.map((start) => start + 1);
  return { ...page, bytes: Buffer.from(page.keys.map(() => "0").join(",")), starts, ends };
}
