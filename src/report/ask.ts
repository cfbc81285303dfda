/** What does an instance say of its progress, or why does it say nothing? (`GET /progress` on its admin port.) */
import { member } from "../model/json.ts";
import type { Progress } from "../model/progress.ts";
import { HOW_TO_GIVE } from "./given.ts";
import { oneLine } from "./one-line.ts";
import { readProgress } from "./read.ts";

/** One address, and what was heard there. */
export type Asked =
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
export async function ask(address: string, options: AskOptions): Promise<Asked> {
  try {
    return { address, progress: await progressOf(address, options) };
  } catch (error) {
    return { address, fault: faultOf(error, options.timeoutMs) };
  }
}

/** Says what to do; shown as it is. */
class Fault extends Error {}

async function progressOf(address: string, { token, timeoutMs, fetch }: AskOptions): Promise<Progress> {
  const response = await fetch(`${address}/progress`, {
    headers: { accept: "application/json", ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
    signal: AbortSignal.timeout(timeoutMs),
    // The token is for this address alone.
    redirect: "manual",
  });
  const text = await textOf(response);
  if (response.status !== 200) throw new Fault(refusalOf(response.status, text, token));
  try {
    return readProgress(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) throw new Fault("is no carryover admin port: it answered no JSON");
    throw new Fault(`answered what cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The body, which must end somewhere. */
async function textOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let bytes = 0;
  let text = "";
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw new Fault("answered without an end");
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** What an answer other than 200 means, and what helps. */
function refusalOf(status: number, text: string, token: string | undefined): string {
  const message = ownMessage(text);
  if (message === undefined) return `is no carryover admin port: it answered ${status}`;
  if (status === 401) {
    const help = token === undefined ? `pass ${HOW_TO_GIVE}` : "the token is not the one of admin.tokenFile";
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
function faultOf(error: unknown, timeoutMs: number): string {
  if (error instanceof Fault) return error.message;
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
