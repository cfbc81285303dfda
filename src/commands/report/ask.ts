/** Asks instances for their progress (`GET /progress` on the admin port), and checks every member: a report must not guess. */
import { z } from "zod";
import type { InstanceResult } from "../../fleet/merge.ts";
import { withPeers } from "../../fleet/peers.ts";
import { type EventsView, EventsViewSchema } from "../../history/events-view.ts";
import type { AskedTimes } from "../../history/requests.ts";
import { type ForgottenClient, ForgottenClientSchema } from "../../ledger/forgotten.ts";
import { member, parsedJson } from "../../model/json.ts";
import { optional, readRecord } from "../../rules/record.ts";
import {
  type ConfirmedRule,
  ConfirmedRuleSchema,
  type ForceCommand,
  type ForceNote,
  ForceStateSchema,
} from "../../rules/status.ts";
import { PROGRESS_VERSION, type Progress, ProgressSchema } from "../../telemetry/progress.ts";
import { oneLine } from "../terminal.ts";
import { HOW_TO_GIVE_ADMIN_TOKEN } from "./arguments.ts";

export interface AskOptions {
  readonly token: string | undefined;
  readonly timeoutMs: number;
  /** As the global one. */
  readonly fetch: typeof fetch;
}

/** More than the progress of 100,000 clients with all that each may need. */
const MOST_BYTES = 256 * 1024 * 1024;
/** Most characters of a foreign text in a message. */
const LONGEST = 200;

/**
 * Asks each address, and takes from the responses what they tell of other processes that share their store. Never rejects. `addresses`: as
 * `readAddress` returns them. `times`: the window to count requests in.
 */
export async function askFleet(
  addresses: readonly string[],
  options: AskOptions,
  times?: AskedTimes,
): Promise<readonly InstanceResult[]> {
  return withPeers(await Promise.all(addresses.map((address) => ask(address, options, times))));
}

/** As `askFleet`, of one address. */
export async function ask(address: string, options: AskOptions, times?: AskedTimes): Promise<InstanceResult> {
  const path = `/progress${queryOf(times)}`;
  try {
    return { address, progress: await answerOf(address, { path, read: readProgress }, options) };
  } catch (error) {
    return { address, fault: faultText(error, options.timeoutMs) };
  }
}

/** An older instance ignores it. */
function queryOf(times: AskedTimes | undefined): string {
  const given = Object.entries(times ?? {}).flatMap(([name, time]) => (time === undefined ? [] : [`${name}=${time}`]));
  return `?${[...given, "fleet=true"].join("&")}`;
}

/** The state that an instance returned for a command, or why it returned none. */
export type Said<T> =
  | { readonly address: string; readonly state: T }
  | { readonly address: string; readonly fault: string };

/** `survives`: a restart keeps what was said; undefined: the instance is older. */
const AnsweredForceSchema = ForceStateSchema.extend({ survives: optional(z.boolean()) });
export type AnsweredForce = z.output<typeof AnsweredForceSchema>;

/** Sends `carryover confirm`. Never rejects. */
export function askConfirm(address: string, rule: string, options: AskOptions): Promise<Said<ConfirmedRule>> {
  return say(address, { path: "/confirm", body: { rule }, read: (value) => ConfirmedRuleSchema.parse(value) }, options);
}

/** Sends `carryover forget`. Never rejects. */
export function askForget(address: string, client: string, options: AskOptions): Promise<Said<ForgottenClient>> {
  const read = (value: unknown) => ForgottenClientSchema.parse(value);
  return say(address, { path: "/forget", body: { client }, read }, options);
}

/** Sends `carryover force`; the answer is what is in force then. Never rejects. */
export function askForce(
  address: string,
  { force, ...note }: { readonly force: ForceCommand } & ForceNote,
  options: AskOptions,
): Promise<Said<AnsweredForce>> {
  const read = (value: unknown) => AnsweredForceSchema.parse(value);
  // An older instance refuses a body with more members. What it is told to do matters more than why.
  const plainer = Object.keys(note).length === 0 ? undefined : { force };
  return say(address, { path: "/force", body: { force, ...note }, plainer, read }, options);
}

/** `query`: of `GET /events`. Never rejects. */
export function askEvents(address: string, query: string, options: AskOptions): Promise<Said<EventsView>> {
  const read = (value: unknown) => readRecord(EventsViewSchema, value);
  return say(address, { path: `/events${query}`, lacks: "keeps no events", read }, options);
}

async function say<T>(address: string, question: Question<T>, options: AskOptions): Promise<Said<T>> {
  try {
    return { address, state: await answerOf(address, question, options) };
  } catch (error) {
    const { plainer, ...rest } = question;
    if (plainer !== undefined && error instanceof InstanceError && error.isOfBody)
      return say(address, { ...rest, body: plainer }, options);
    return { address, fault: faultText(error, options.timeoutMs) };
  }
}

interface Question<T> {
  readonly path: string;
  /** To post as JSON; without it the path is read. */
  readonly body?: object;
  /** To post instead where that is refused. */
  readonly plainer?: object | undefined;
  /** What an instance without this path does not do. */
  readonly lacks?: string;
  /** Throws for what is no answer. */
  readonly read: (value: unknown) => T;
}

/** Its message is shown as it is. */
class InstanceError extends Error {
  /** The body of the request was refused. */
  readonly isOfBody: boolean;

  constructor(message: string, status?: number) {
    super(message);
    this.isOfBody = status === 400 || status === 413;
  }
}

async function answerOf<T>(
  address: string,
  { path, body, read, lacks }: Question<T>,
  { token, timeoutMs, fetch }: AskOptions,
): Promise<T> {
  const response = await fetch(`${address}${path}`, {
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    headers: {
      accept: "application/json",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    signal: AbortSignal.timeout(timeoutMs),
    // The token is for this address alone.
    redirect: "manual",
  });
  const text = await textOf(response);
  if (response.status !== 200) throw new InstanceError(refusalOf(response.status, text, token, lacks), response.status);
  try {
    return read(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) throw new InstanceError("is no carryover admin port: it answered no JSON");
    throw new InstanceError(`answered what cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The body, up to a limit. */
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

/** What a status other than 200 means, and what helps. */
function refusalOf(status: number, text: string, token: string | undefined, lacks = "tells no progress"): string {
  const message = ownMessage(text);
  if (message === undefined) return `is no carryover admin port: it answered ${status}`;
  if (status === 401) {
    const help =
      token === undefined ? `pass ${HOW_TO_GIVE_ADMIN_TOKEN}` : "the token is not the one of admin.tokenFile";
    return `answered 401: ${/same machine|set admin\.tokenFile/.test(message) ? message : help}`;
  }
  if (status === 405) return "is an older version of carryover, which cannot be told that";
  if (status === 404 && message.includes("there is nothing here")) {
    return `is an older version of carryover, which ${lacks}, or its address lacks a path`;
  }
  if (status === 404 && message.includes("none of the API's prefixes")) {
    return "is carryover's port for clients: give the admin port (admin.port, 8081 unless it was set)";
  }
  return `answered ${status}: ${oneLine(message.slice(0, LONGEST))}`;
}

/** The message of an error that carryover itself made; undefined for anything else. */
function ownMessage(text: string): string | undefined {
  const body = parsedJson(text);
  const message = member(body, "message");
  const details = member(body, "details");
  const own = Array.isArray(details) && details.some((detail) => member(detail, "domain") === "carryover");
  return own && typeof message === "string" ? message : undefined;
}

/** `fetch` reports what happened in the cause. */
function faultText(error: unknown, timeoutMs: number): string {
  if (error instanceof InstanceError) return error.message;
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return `did not answer within ${timeoutMs / 1000} s`;
  const { cause } = error;
  if (!(cause instanceof Error)) return `cannot be reached (${oneLine(error.message)})`;
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : oneLine(cause.message);
  // Newer versions of Node have only the name of the parser's error.
  const isParserError =
    cause.name === "HTTPParserError" || code.startsWith("HPE_") || code.startsWith("Response does not match the HTTP");
  return isParserError ? "does not speak HTTP" : `cannot be reached (${code})`;
}

/** Without members that it does not know. Throws `Error` with the path of a wrong member. */
export function readProgress(value: unknown): Progress {
  const version = member(value, "version");
  if (version !== PROGRESS_VERSION) {
    throw new Error(
      typeof version === "number" && version > PROGRESS_VERSION
        ? "the instance is newer than this report: run the report of its release"
        : "it is no progress of carryover",
    );
  }
  return readRecord(ProgressSchema, value);
}
