/** What does the log say, and what happens to it when nobody reads it? */
import { type DestinationStream, destination as openDestination, pino, stdTimeFunctions } from "pino";
import { type Exchange, faultOf, type UpstreamCall, usualFault } from "../model/exchange.ts";
import { type Batch, createBatch } from "./batch.ts";
import { causeText, scrub, scrubPath, stackText } from "./scrub.ts";
import { distinctFields, shownName } from "./unknown-fields.ts";

/** Lines of requests are made and written together: nobody who reads along notices these milliseconds. */
const GATHER = { items: 256, ms: 10 };

interface LogDestination {
  write(line: string): unknown;
  readonly writableLength?: number;
}

export interface LogOptions {
  readonly level: "debug" | "info" | "warn" | "error" | "silent";
  /** Where lines go; standard output when absent. A stream says in `writableLength` how much it holds that nobody has read. */
  readonly destination?: LogDestination;
  /** Milliseconds on the clock that `Exchange.startedAt` was read from; by default the monotonic one. */
  readonly now?: () => number;
}

/** Small facts beside a message; texts are scrubbed. */
export type LogFacts = Readonly<Record<string, string | number | boolean>>;

export interface Log {
  /**
   * One line for a finished request: error for carryover's own mistakes, warn for what else went wrong for a client, info for
   * the rest, which includes what native v1 would have refused as well.
   */
  request(exchange: Exchange): void;
  debug(message: string, facts?: LogFacts): void;
  info(message: string, facts?: LogFacts): void;
  warn(message: string, cause?: unknown, facts?: LogFacts): void;
  error(message: string, cause?: unknown, facts?: LogFacts): void;
  /** Lines lost so far because the sink was blocked. */
  dropped(): number;
  /** Hands the sink what is gathered, without waiting: for the last moment of a process, in which sinks write out what they hold. */
  settle(): void;
  /** Writes out what is held, waiting for at most `ms` milliseconds. */
  flush(ms: number): Promise<void>;
}

/**
 * JSON lines (design section 8). Nothing waits for the sink: lines go out as soon as the one before was taken, and a
 * sink that blocks costs 4 MiB of memory and then lines, never a request. No call throws.
 */
export function createLog(options: LogOptions): Log {
  const sink = options.destination === undefined ? createLogSink(1) : destinationSink(options.destination);
  const now = options.now ?? (() => performance.now());
  const requests = createLineBatch(options, sink);
  const logger = pino(
    { level: options.level, base: null, timestamp: stdTimeFunctions.isoTime, formatters },
    {
      write: (line) => {
        // Lines keep their order.
        requests.settle();
        sink.stream.write(line);
      },
    },
  );
  return {
    request: (exchange) => {
      const level = levelOf(exchange);
      if (!logger.isLevelEnabled(level)) return;
      requests.add({ exchange, level, ms: now() - exchange.startedAt, at: Date.now() });
    },
    debug: (message, facts) => logger.debug(scrubbed(facts), scrub(message)),
    info: (message, facts) => logger.info(scrubbed(facts), scrub(message)),
    warn: (message, cause, facts) => logger.warn({ ...scrubbed(facts), ...causeFacts(cause) }, scrub(message)),
    error: (message, cause, facts) => {
      const stack = stackText(cause);
      const at = stack === undefined ? {} : { stack };
      logger.error({ ...scrubbed(facts), ...causeFacts(cause), ...at }, scrub(message));
    },
    dropped: sink.dropped,
    settle: requests.settle,
    flush: (ms) => {
      requests.settle();
      return sink.flush(ms);
    },
  };
}

/** A finished request, until its line is made. */
interface LoggedRequest {
  readonly exchange: Exchange;
  readonly level: ReturnType<typeof levelOf>;
  readonly ms: number;
  /** When it was over, on the wall clock. */
  readonly at: number;
}

/** A destination that was handed in gets each line at once. */
function createLineBatch({ destination }: LogOptions, sink: LogSink): Batch<LoggedRequest> {
  const lineOf = createLineOf();
  const write = (all: readonly LoggedRequest[]): void => {
    sink.stream.write(all.map(lineOf).join(""));
  };
  return destination === undefined ? createBatch(GATHER, write) : { add: (one) => write([one]), settle: () => {} };
}

/** Makes lines in the form of the logger's own, at a fraction of their price: this is the one that every request pays for. */
function createLineOf(): (finished: LoggedRequest) => string {
  let last = Number.NaN;
  let time = "";
  return ({ exchange, level, ms, at }) => {
    // Spelled anew only when the millisecond has passed.
    if (at !== last) time = new Date(at).toISOString();
    last = at;
    return `{"level":"${level}","time":"${time}",${membersOf(exchange, ms)}}\n`;
  };
}

/** A line that cannot be made costs nobody else theirs. */
function membersOf(exchange: Exchange, ms: number): string {
  try {
    return requestMembers(exchange, ms);
  } catch (error) {
    return `"msg":"a request that cannot be shown","cause":${JSON.stringify(causeText(error))}`;
  }
}

const formatters = { level: (label: string) => ({ level: label }) };

function levelOf(exchange: Exchange): "error" | "warn" | "info" {
  if (exchange.reason === "INTERNAL") return "error";
  const fault = faultOf(exchange);
  return fault === undefined || (fault === "client" && isOrdinary(exchange)) ? "info" : "warn";
}

/** Native v1 would have refused it as well. An error with a status of success cut off an answer that had begun. */
function isOrdinary({ reason, status }: Exchange): boolean {
  return status >= 400 && (usualFault(reason) ?? "client") === "client";
}

function scrubbed(facts: LogFacts | undefined): LogFacts {
  if (facts === undefined) return {};
  return Object.fromEntries(
    Object.entries(facts).map(([name, fact]) => [name, typeof fact === "string" ? scrub(fact) : fact]),
  );
}

function causeFacts(cause: unknown): { readonly cause?: string } {
  return cause === undefined ? {} : { cause: causeText(cause) };
}

/** What was handed in can neither break a request nor, unread, fill the memory. */
function destinationSink(destination: LogDestination): LogSink {
  let dropped = 0;
  const write = (line: string): void => {
    try {
      if ((destination.writableLength ?? 0) < MAX_BUFFERED_BYTES) destination.write(line);
      else dropped++;
    } catch {
      dropped++;
    }
  };
  return { stream: { write }, dropped: () => dropped, flush: async () => {} };
}

/** Which facts of a request belong into its log line? (Never a token, a page token or a value of a query.) */

const MAX_NAMES = 20;
const MAX_KINDS = 12;

/** The reason, in the log only, of an error that is the platform's own. */
const UPSTREAM_ERROR = "UPSTREAM_ERROR";

/** Texts that JSON writes as they are. */
const NEEDS_NO_ESCAPE = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

/**
 * The line's members as JSON text, without braces; what a request has nothing of is left out. `durationMs` is milliseconds.
 * Spelled out, at a third of the price of an object that is made to be written: every request pays for this.
 */
export function requestMembers(exchange: Exchange, durationMs: number): string {
  const { requestId, method, path, apiVersion, resource, operation, mode, status, upstreamMs } = exchange;
  const always =
    `"msg":"request","requestId":${jsonText(scrub(requestId))},"method":${jsonText(method.slice(0, 20))},` +
    `"path":${jsonText(scrubPath(path))},"apiVersion":"${apiVersion}","resource":${jsonText(resource)},` +
    `"operation":${jsonText(operation)},"mode":"${mode}","status":${status},"durationMs":${roundMs(durationMs)},` +
    `"upstreamMs":${roundMs(upstreamMs)},"requestBytes":${exchange.requestBytes},"responseBytes":${exchange.responseBytes}`;
  const calls = exchange.calls.length > 0 ? `,"calls":${callsText(exchange.calls)}` : "";
  return always + calls + rareMembers(exchange);
}

function jsonText(value: string): string {
  return NEEDS_NO_ESCAPE.test(value) ? `"${value}"` : JSON.stringify(value);
}

/** What most requests have nothing of. */
function rareMembers(exchange: Exchange): string {
  const { reason, client, rule, list, unknownFields, cause } = exchange;
  let members = "";
  const add = (name: string, value: unknown): void => {
    members += `,"${name}":${JSON.stringify(value)}`;
  };
  if (client !== "unknown") add("client", shownName(client));
  if (rule !== undefined) add("rule", rule);
  const fault = faultOf(exchange);
  if (reason !== undefined) add("reason", reason);
  else if (fault === "platform") add("reason", UPSTREAM_ERROR);
  if (fault !== undefined) add("fault", fault);
  if (exchange.times !== undefined) add("times", exchange.times);
  if (exchange.aborted) add("aborted", true);
  if (list !== undefined) add("list", list);
  if (unknownFields.length > 0) {
    add("unknownFields", shownNames(distinctFields(exchange).map(({ direction, name }) => `${direction} ${name}`)));
  }
  if (exchange.defaultedFields.length > 0) add("defaultedFields", shownNames(exchange.defaultedFields));
  if (exchange.mismatches.length > 0) add("mismatches", shownNames(exchange.mismatches));
  if (exchange.notes.length > 0) add("notes", shownNames(exchange.notes));
  if (cause !== undefined) {
    add("cause", causeText(cause));
    const stack = reason === "INTERNAL" ? stackText(cause) : undefined;
    if (stack !== undefined) add("stack", stack);
  }
  return members;
}

/** How many calls of each kind: `{"v2 GET 200":51,"v2 GET 503":1}`. */
function callsText(calls: readonly UpstreamCall[]): string {
  const [first] = calls;
  if (first !== undefined && calls.length === 1) return `{${jsonText(kindOf(first))}:1}`;
  const kinds = new Map<string, number>();
  for (const call of calls) {
    const kind = kindOf(call);
    const key = kinds.has(kind) || kinds.size < MAX_KINDS ? kind : "other";
    kinds.set(key, (kinds.get(key) ?? 0) + 1);
  }
  return JSON.stringify(Object.fromEntries(kinds));
}

function kindOf({ upstream, method, status }: UpstreamCall): string {
  return `${upstream} ${method} ${status === 0 ? "no answer" : status}`;
}

/** Each name once, short, printable and scrubbed; how many were left out is said at the end. */
function shownNames(all: readonly string[]): readonly string[] {
  const distinct = [...new Set(all)];
  const shown = distinct.slice(0, MAX_NAMES).map(shownName);
  return distinct.length > MAX_NAMES ? [...shown, `and ${distinct.length - MAX_NAMES} more`] : shown;
}

function roundMs(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/** Where do log lines wait while nobody reads them, and for how long? */

/** Takes lines without ever making anybody wait. */
export interface LogSink {
  readonly stream: DestinationStream;
  /** Lines lost so far. */
  dropped(): number;
  /** Writes out what is held, waiting for at most `ms` milliseconds. */
  flush(ms: number): Promise<void>;
}

/** Most bytes that wait for a blocked sink; further lines are dropped and counted. */
export const MAX_BUFFERED_BYTES = 4 * 1024 * 1024;
/** Longest time that a line waits for others, in milliseconds: nobody who reads along notices it. */
const GATHER_MS = 10;
/** So many bytes are written without waiting for more, and so many at most in one go. */
const GATHER_BYTES = 64 * 1024;
const MAX_WRITE_BYTES = 512 * 1024;
const NEW_LINE = 0x0a;

/**
 * Asynchronous, a few lines at a time: each write costs a busy process several times what making a line costs, most of
 * it in a thread that competes with the event loop. What is held at the process's end is still written by then.
 */
export function createLogSink(fd: number, maxBytes: number = MAX_BUFFERED_BYTES): LogSink {
  const sonic = openDestination({
    fd,
    sync: false,
    minLength: GATHER_BYTES,
    maxWrite: MAX_WRITE_BYTES,
    maxLength: maxBytes,
    // As text it would measure everything that is held again with every line.
    contentMode: "buffer",
  });
  let dropped = 0;
  sonic.on("drop", (lines: Uint8Array) => {
    for (const byte of lines) if (byte === NEW_LINE) dropped++;
  });
  // A sink that went away (a closed pipe) must not end the process: there is nowhere left to say so.
  sonic.on("error", () => {
    dropped++;
  });
  let gathering = false;
  const writeOut = () => {
    gathering = false;
    sonic.flush();
  };
  return {
    stream: {
      write: (lines) => {
        // Its type knows only text; in this mode it takes only bytes.
        sonic.write(Buffer.from(lines) as never);
        if (gathering) return;
        gathering = true;
        setTimeout(writeOut, GATHER_MS);
      },
    },
    dropped: () => dropped,
    flush: (ms) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, ms);
        sonic.flush(() => {
          clearTimeout(timer);
          resolve();
        });
      }),
  };
}
