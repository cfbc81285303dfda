/** Drains over a simulated platform, good or faulty, and what they did. */

import { createDrains, type Drains } from "../../src/drain/drain.ts";
import type { DrainLimits } from "../../src/drain/limits.ts";
import type { DrainParts } from "../../src/drain/list-reader.ts";
import type { DrainNote } from "../../src/drain/state.ts";
import type { ListFacts, Witness } from "../../src/model/exchange.ts";
import type { ApiRequest, ApiResponse, Send } from "../../src/model/http.ts";
import type { DrainedList, DrainRefused, ListPage, ListPlan, PageSelector } from "../../src/model/list.ts";
import { Problem } from "../../src/model/problem.ts";
import { createSignalController, type Signal } from "../../src/model/signal.ts";
import { DRAIN_LIMITS, drainParts, NO_MEMORY } from "../support/drains.ts";
import { ascending, cutPage, type Page, type Tokens } from "../support/platform-pages.ts";

/** A page as the simulated wire carries it. */
export interface Answer {
  readonly items: readonly unknown[];
  readonly next: string;
  readonly total?: unknown;
  readonly skipped?: unknown;
}

/** `keys` in the order of the platform: the page after `selector`, at most `cap` records. */
export function pageOf(keys: readonly string[], selector: PageSelector, tokens: Tokens, cap = 200): Answer {
  return answerOf(cutPage(ascending(keys), selector, { tokens, cap }));
}

/** `page` as the simulated wire carries it. */
export function answerOf({ items, next, total, skipped }: Page<string>): Answer {
  return {
    items: items.map((uid) => ({ uid })),
    next,
    total: total === undefined ? undefined : String(total),
    skipped,
  };
}

export function keysOf(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `u${String(i).padStart(6, "0")}`);
}

export function respond(answer: Answer): ApiResponse {
  return raw(
    200,
    JSON.stringify({ items: answer.items, next: answer.next, total: answer.total, skipped: answer.skipped }),
  );
}

export function raw(status: number, text: string): ApiResponse {
  return { status, headers: [], body: new TextEncoder().encode(text) };
}

/** What a request asked for. */
function selectorOf(request: ApiRequest): PageSelector {
  const query = new URL(request.target, "http://sim").searchParams;
  const token = query.get("token");
  const skip = query.get("skip");
  return {
    size: Number(query.get("size")),
    ...(token === null ? {} : { token }),
    ...(skip === null ? {} : { skip: Number(skip) }),
  };
}

export function planOf(
  keyOrder = true,
  hides: (uid: string) => boolean = () => false,
): Omit<ListPlan, "read"> & { read(response: ApiResponse): ListPage } {
  return { resource: "groups", keyOrder, request: requestOf, read: (response) => readPage(response, hides) };
}

function requestOf(page: PageSelector): ApiRequest {
  const query = new URLSearchParams({ size: String(page.size) });
  if (page.token !== undefined) query.set("token", page.token);
  if (page.skip !== undefined) query.set("skip", String(page.skip));
  return { method: "GET", target: `/list?${query}`, headers: [] };
}

function readPage(response: ApiResponse, hides: (uid: string) => boolean): ListPage {
  const text = new TextDecoder().decode(response.body);
  const page = parse(text);
  if (!Array.isArray(page["items"])) throw new Problem("UPSTREAM_INVALID", "not a page");
  const keys = page["items"].map(uidOf);
  return listPage(keys, (uid) => JSON.stringify({ uid }), {
    hidden: Uint8Array.from(keys, (uid) => (hides(uid) ? 1 : 0)),
    nextPageToken: typeof page["next"] === "string" ? page["next"] : "",
    totalCount: page["total"] === undefined ? undefined : Number(page["total"]),
    skipped: typeof page["skipped"] === "number" ? page["skipped"] : undefined,
  });
}

/** A page of one record for each of `keys`, as `write` writes it; `also`: what else it says. */
export function listPage(
  keys: readonly string[],
  write: (key: string) => string,
  also: Partial<ListPage> = {},
): ListPage {
  const records = keys.map((key) => write(key));
  const starts: number[] = [];
  const ends: number[] = [];
  let at = 0;
  for (const record of records) {
    starts.push(at);
    ends.push(at + record.length);
    at += record.length + 1;
  }
  const bytes = new TextEncoder().encode(records.join(","));
  return { bytes, starts, ends, keys, nextPageToken: "", totalCount: undefined, skipped: undefined, ...also };
}

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch (cause) {
    throw new Problem("UPSTREAM_INVALID", "not JSON", { cause });
  }
}

function uidOf(item: unknown): string {
  const uid = (item as { uid?: unknown } | null)?.uid;
  if (typeof uid !== "string" || uid === "") throw new Problem("UPSTREAM_INVALID", "a record without uid");
  return uid;
}

/** A platform: what it answers to call number `call` (from 0). */
export type Platform = (selector: PageSelector, call: number) => ApiResponse;

/** A platform without faults over a list that does not change. */
export function quiet(keys: readonly string[], tokens: Tokens = "keyset", cap = 200): Platform {
  return (selector) => respond(pageOf(keys, selector, tokens, cap));
}

/** `platform`, but call `n` is answered by `fault`. */
export function broken(platform: Platform, n: number | "always", fault: Platform): Platform {
  return (selector, call) => (n === "always" || call === n ? fault : platform)(selector, call);
}

/** Everything that one drain did. */
export interface Outcome {
  readonly result: DrainedList | DrainRefused | undefined;
  readonly problem: Problem | undefined;
  readonly error: unknown;
  readonly requests: readonly PageSelector[];
  readonly facts: readonly ListFacts[];
  readonly notes: readonly DrainNote[];
  readonly claims: { taken: number; released: number };
}

export interface Options {
  readonly limits?: Partial<DrainLimits>;
  readonly require?: Witness;
  readonly plan?: ListPlan;
  readonly parts?: Partial<DrainParts>;
}

/** What a platform answers, perhaps later. `signal`: as it was handed to the call. */
export type Served = (selector: PageSelector, call: number, signal: Signal) => ApiResponse | Promise<ApiResponse>;

/** Drains over a platform, and what they did so far. */
export interface Stage extends Drains, Omit<Outcome, "result" | "problem" | "error"> {
  readonly parts: DrainParts;
}

/** Puts drains in front of `platform`, by default with the limits of the configuration. */
export function stage(platform: Served, options: Options = {}): Stage {
  const requests: PageSelector[] = [];
  const facts: ListFacts[] = [];
  const notes: DrainNote[] = [];
  const claims = { taken: 0, released: 0 };
  const send: Send = async (request, { signal }) => {
    const selector = selectorOf(request);
    requests.push(selector);
    return platform(selector, requests.length - 1, signal);
  };
  const parts: DrainParts = {
    ...drainParts(send, createSignalController().signal),
    limits: { ...DRAIN_LIMITS, ...options.limits },
    require: () => options.require ?? "none",
    claim: async () => {
      claims.taken += 1;
      return () => {
        claims.released += 1;
      };
    },
    report: (fact, noted) => {
      facts.push(fact);
      notes.push(...noted);
    },
    ...options.parts,
  };
  return { ...createDrains(parts), parts, requests, facts, notes, claims };
}

/** Drains `platform` and tells everything about it. */
export async function drained(platform: Served, options: Options = {}): Promise<Outcome> {
  const { drain, parts: _, longDrain: __, ...rest } = stage(platform, options);
  try {
    return { result: await drain(options.plan ?? planOf()), problem: undefined, error: undefined, ...rest };
  } catch (error) {
    return { result: undefined, problem: error instanceof Problem ? error : undefined, error, ...rest };
  }
}

/** The same for a platform that is known to take no notice of `skip`: its lists are read by their cursor. */
export function drainedByCursor(platform: Served, options: Options = {}): Promise<Outcome> {
  const memory = { ...NO_MEMORY, heedsSkip: () => false };
  return drained(platform, { ...options, parts: { memory, ...options.parts } });
}

/** The uids of a drained list as a client would parse them; fails when there is no list. */
export function uidsOf(outcome: Outcome): string[] {
  if (outcome.result?.kind !== "list") throw new Error(`no list: ${String(outcome.error)}`);
  const text = outcome.result.chunks.map((chunk) => new TextDecoder().decode(chunk)).join(",");
  return (JSON.parse(`[${text}]`) as { uid: string }[]).map((record) => record.uid);
}
