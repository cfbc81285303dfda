/** What does an instance say of its progress, or why does it say nothing? (`GET /progress` on its admin port.) */
import { isJsonObject, type Json, type JsonObject, member } from "../../model/json.ts";
import type { ClientEntry, LedgerSnapshot } from "../../model/ledger.ts";
import {
  type DifferenceBound,
  PROGRESS_VERSION,
  type Progress,
  type RequestTotals,
  type RequestTotalsRow,
  RULE_STATES,
  type RuleProgress,
} from "../../model/progress.ts";
import { HOW_TO_GIVE_ADMIN_TOKEN } from "./arguments.ts";
import { oneLine } from "./one-line.ts";

/** One address, and what was heard there. */
export type InstanceResult =
  | { readonly address: string; readonly progress: Progress }
  | { readonly address: string; readonly fault: string };

export interface AskOptions {
  readonly token: string | undefined;
  readonly timeoutMs: number;
  /** As the global one. */
  readonly fetch: typeof fetch;
}

/** No instance says more: 100,000 clients with all that each may need. */
const MOST_BYTES = 256 * 1024 * 1024;
/** Longest text of a stranger in a message. */
const LONGEST = 200;

/** Never rejects: what goes wrong is told as a fault. `address`: as `readAddress` gives it. */
export async function ask(address: string, options: AskOptions): Promise<InstanceResult> {
  try {
    return { address, progress: await progressOf(address, options) };
  } catch (error) {
    return { address, fault: faultText(error, options.timeoutMs) };
  }
}

/** Says what to do; shown as it is. */
class InstanceError extends Error {}

async function progressOf(address: string, { token, timeoutMs, fetch }: AskOptions): Promise<Progress> {
  const response = await fetch(`${address}/progress`, {
    headers: { accept: "application/json", ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
    signal: AbortSignal.timeout(timeoutMs),
    // The token is for this address alone.
    redirect: "manual",
  });
  const text = await textOf(response);
  if (response.status !== 200) throw new InstanceError(refusalOf(response.status, text, token));
  try {
    return readProgress(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) throw new InstanceError("is no carryover admin port: it answered no JSON");
    throw new InstanceError(`answered what cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The body, which must end somewhere. */
async function textOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let bytes = 0;
  let text = "";
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw new InstanceError("answered without an end");
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** What an answer other than 200 means, and what helps. */
function refusalOf(status: number, text: string, token: string | undefined): string {
  const message = ownMessage(text);
  if (message === undefined) return `is no carryover admin port: it answered ${status}`;
  if (status === 401) {
    const help =
      token === undefined ? `pass ${HOW_TO_GIVE_ADMIN_TOKEN}` : "the token is not the one of admin.tokenFile";
    return `answered 401: ${message.includes("same machine") ? message : help}`;
  }
  if (status === 404 && message.includes("there is nothing here")) {
    return "is an older version of carryover, which tells no progress, or its address lacks a path";
  }
  if (status === 404 && message.includes("none of the API's prefixes")) {
    return "is carryover's port for clients: give the admin port (admin.port, 8081 unless it was set)";
  }
  return `answered ${status}: ${oneLine(message.slice(0, LONGEST))}`;
}

/** The message of an error of carryover's own; undefined for anything else. */
function ownMessage(text: string): string | undefined {
  try {
    const body: unknown = JSON.parse(text);
    const message = member(body, "message");
    const details = member(body, "details");
    const own = Array.isArray(details) && details.some((detail) => member(detail, "domain") === "carryover");
    return own && typeof message === "string" ? message : undefined;
  } catch {
    return undefined;
  }
}

/** `fetch` hides what happened in the cause. */
function faultText(error: unknown, timeoutMs: number): string {
  if (error instanceof InstanceError) return error.message;
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return `did not answer within ${timeoutMs / 1000} s`;
  const { cause } = error;
  if (!(cause instanceof Error)) return `cannot be reached (${oneLine(error.message)})`;
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : oneLine(cause.message);
  return isNoHttp(cause, code) ? "does not speak HTTP" : `cannot be reached (${code})`;
}

/** The parser's own codes, or in newer versions of Node only its name. */
function isNoHttp({ name }: Error, code: string): boolean {
  return name === "HTTPParserError" || code.startsWith("HPE_") || /^Response does not match the HTTP/.test(code);
}

/** Is what an admin port answered the progress of an instance? (Every member is checked: a report must not guess.) */

/**
 * What another process told, checked member by member; members that it does not know are left out. Throws `Error` with the
 * place that is wrong.
 */
export function readProgress(value: unknown): Progress {
  const top = objectAt(value as Json | undefined, "the answer");
  const version = top["version"];
  if (version !== PROGRESS_VERSION) {
    throw new Error(
      typeof version === "number" && version > PROGRESS_VERSION
        ? "the instance is newer than this report: run the report of its release"
        : "it is no progress of carryover",
    );
  }
  return {
    version,
    instance: textAt(top, "instance"),
    since: timeAt(top, "since"),
    at: timeAt(top, "at"),
    mode: wordAt(top, "mode", CUTOVER_MODES),
    force: wordAt(top, "force", FORCES),
    lastReloadSuccessful: booleanAt(top, "lastReloadSuccessful"),
    totals: readRequestTotals(objectAt(top["totals"], "totals")),
    ledger: readLedger(objectAt(top["ledger"], "ledger")),
    bounds: listAt(top, "bounds", readBound),
    rules: listAt(top, "rules", readRule),
  };
}

const CUTOVER_MODES = ["native", "shadow", "translate"] as const;
const DOING = [...CUTOVER_MODES, "nothing"] as const;
const FORCES = ["none", "native", "translate"] as const;

function readRequestTotals(from: JsonObject): RequestTotals {
  return { since: timeAt(from, "since"), at: timeAt(from, "at"), rows: listAt(from, "rows", readRow) };
}

function readRow(from: JsonObject): RequestTotalsRow {
  return {
    apiVersion: textAt(from, "apiVersion"),
    resource: textAt(from, "resource"),
    operation: textAt(from, "operation"),
    mode: textAt(from, "mode"),
    codes: textAt(from, "codes"),
    requests: countAt(from, "requests"),
    lastSeen: timeAt(from, "lastSeen"),
  };
}

function readBound(from: JsonObject): DifferenceBound {
  return {
    resource: textAt(from, "resource"),
    operation: textAt(from, "operation"),
    client: optional(from, "client", textAt),
    comparisons: countAt(from, "comparisons"),
    differences: countAt(from, "differences"),
    upper: shareAt(from, "upper"),
  };
}

function readRule(from: JsonObject): RuleProgress {
  return {
    name: textAt(from, "name"),
    mode: wordAt(from, "mode", CUTOVER_MODES),
    doing: wordAt(from, "doing", DOING),
    state: wordAt(from, "state", RULE_STATES),
    since: optional(from, "since", timeAt),
    detail: textAt(from, "detail"),
  };
}

function readLedger(from: JsonObject): LedgerSnapshot {
  if (from["version"] !== 1) throw new Error("ledger.version is not 1");
  return {
    version: 1,
    instances: wordsAt(from, "instances"),
    since: timeAt(from, "since"),
    watchedSince: optional(from, "watchedSince", timeAt),
    at: timeAt(from, "at"),
    requests: readCounts(from),
    bound: countAt(from, "bound"),
    clients: listAt(from, "clients", readClient),
  };
}

function readClient(from: JsonObject): ClientEntry {
  const needs = objectAt(from["needs"], "needs");
  const pair = (one: JsonObject) => ({ resource: textAt(one, "resource"), operation: textAt(one, "operation") });
  const field = (one: JsonObject) => ({ resource: textAt(one, "resource"), field: textAt(one, "field") });
  return {
    name: textAt(from, "name"),
    label: textAt(from, "label"),
    firstSeen: timeAt(from, "firstSeen"),
    lastSeen: timeAt(from, "lastSeen"),
    lastV1: optional(from, "lastV1", timeAt),
    requests: readCounts(from),
    over: countAt(from, "over"),
    operations: listAt(from, "operations", (one) => ({
      ...pair(one),
      requests: countAt(one, "requests"),
      lastSeen: timeAt(one, "lastSeen"),
    })),
    needs: {
      longLists: listAt(needs, "longLists", (one) => ({
        resource: textAt(one, "resource"),
        records: countAt(one, "records"),
      })),
      zeroedFields: listAt(needs, "zeroedFields", field),
      lacking: listAt(needs, "lacking", pair),
      unknownFields: listAt(needs, "unknownFields", field),
      unseen: listAt(needs, "unseen", pair),
    },
  };
}

function readCounts(from: JsonObject): { readonly v1: number; readonly v2: number } {
  const counts = objectAt(from["requests"], "requests");
  return { v1: countAt(counts, "v1"), v2: countAt(counts, "v2") };
}

/** What does a member of foreign JSON hold? (Each function throws `Error` with the name of a member that holds something else.) */

/** Of ECMAScript's dates. */
export const LAST_TIME = 8.64e15;
/** A million a second for 30 years: whoever tells more has not counted. */
const LARGEST_COUNT = 1e15;

export function objectAt(value: Json | undefined, where: string): JsonObject {
  if (!isJsonObject(value)) throw new Error(`${where} is no object`);
  return value;
}

export function textAt(from: JsonObject, name: string): string {
  const value = from[name];
  if (typeof value !== "string") throw new Error(`${name} is no text`);
  return value;
}

/** Milliseconds since 1970, not beyond what a date can hold. */
export function timeAt(from: JsonObject, name: string): number {
  const value = from[name];
  if (typeof value !== "number" || !(value >= 0 && value <= LAST_TIME)) throw new Error(`${name} is no time`);
  return value;
}

/** A whole number from 0 on, as large as anything can have been counted. */
export function countAt(from: JsonObject, name: string): number {
  const value = from[name];
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > LARGEST_COUNT) {
    throw new Error(`${name} is no count`);
  }
  return value;
}

/** 0 to 1. */
export function shareAt(from: JsonObject, name: string): number {
  const value = from[name];
  if (typeof value !== "number" || !(value >= 0 && value <= 1)) throw new Error(`${name} is no share`);
  return value;
}

export function booleanAt(from: JsonObject, name: string): boolean {
  const value = from[name];
  if (typeof value !== "boolean") throw new Error(`${name} is neither true nor false`);
  return value;
}

export function wordAt<Word extends string>(from: JsonObject, name: string, words: readonly Word[]): Word {
  const found = words.find((word) => word === from[name]);
  if (found === undefined) throw new Error(`${name} is none of ${words.join(", ")}`);
  return found;
}

export function wordsAt(from: JsonObject, name: string): readonly string[] {
  const value = from[name];
  if (!Array.isArray(value)) throw new Error(`${name} is no list`);
  return value.map((one) => {
    if (typeof one !== "string") throw new Error(`${name} holds more than texts`);
    return one;
  });
}

export function listAt<One>(from: JsonObject, name: string, read: (one: JsonObject) => One): readonly One[] {
  const value = from[name];
  if (!Array.isArray(value)) throw new Error(`${name} is no list`);
  return value.map((one: Json, index) => {
    const where = `${name}[${index}]`;
    try {
      return read(objectAt(one, "it"));
    } catch (error) {
      throw new Error(`${where}: ${error instanceof Error ? error.message : String(error)}`);
    }
  });
}

/** Absent and null are the same: JSON has no undefined. */
export function optional<One>(
  from: JsonObject,
  name: string,
  read: (from: JsonObject, name: string) => One,
): One | undefined {
  return from[name] === undefined || from[name] === null ? undefined : read(from, name);
}
