/** JSON log lines: what they hold, and an output that drops lines rather than block a request. */
import { type DestinationStream, destination as openDestination, pino, stdTimeFunctions } from "pino";
import { type Exchange, faultOf, type UpstreamCall, usualFault } from "../model/exchange.ts";
import { scrub, scrubPath } from "../model/secrets.ts";
import { type Batch, createBatch } from "./batch.ts";
import { causeText, stackText } from "./cause.ts";
import { distinctFields, shownName } from "./unknown-fields.ts";

/** Lines of requests are made and written together; the delay is too short for a reader to notice. */
const BATCH = { items: 256, ms: 10 };

/** `LogDestination` of index.ts, with the bytes that a stream holds unread, beyond which lines are dropped. */
type LogTarget = ((line: string) => void) | { write(line: string): unknown; readonly writableLength?: number };

export interface LogOptions {
  readonly level: "debug" | "info" | "warn" | "error" | "silent";
  /** Standard output when absent. */
  readonly destination?: LogTarget;
  /** Milliseconds on the clock that `Exchange.startedAt` was read from; by default the monotonic one. */
  readonly now?: () => number;
}

/** Small facts beside a message; texts are scrubbed. */
type LogFacts = Readonly<Record<string, string | number | boolean>>;

export interface Log {
  /**
   * One line for a finished request: `error` for bugs of carryover, `warn` for other failures, `info` for the rest, including
   * requests that native v1 would have refused as well.
   */
  request(exchange: Exchange): void;
  debug(message: string, facts?: LogFacts): void;
  info(message: string, facts?: LogFacts): void;
  warn(message: string, cause?: unknown, facts?: LogFacts): void;
  error(message: string, cause?: unknown, facts?: LogFacts): void;
  /** Lines dropped so far because the output was blocked. */
  dropped(): number;
  /** Hands waiting lines to the output, which still writes them when the process exits. */
  settle(): void;
  /** Writes out waiting lines; resolves after `ms` milliseconds at the latest. */
  flush(ms: number): Promise<void>;
}

/** Nothing waits for the output: when it blocks, 4 MiB of lines wait in memory and further ones are dropped. No call throws. */
export function createLog(options: LogOptions): Log {
  const sink = options.destination === undefined ? createLogSink(1) : destinationSink(options.destination);
  const now = options.now ?? (() => performance.now());
  const requests = createLineBatch(options, sink);
  const logger = pino(
    { level: options.level, base: null, timestamp: stdTimeFunctions.isoTime, formatters },
    {
      write: (line) => {
        // Keeps the order of lines.
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

/** A finished request whose line is not written yet. */
interface LoggedRequest {
  readonly exchange: Exchange;
  readonly level: ReturnType<typeof levelOf>;
  readonly ms: number;
  /** The end of the request, in milliseconds since 1970. */
  readonly at: number;
}

/** A destination that was handed in gets each line at once. */
function createLineBatch({ destination }: LogOptions, sink: LogSink): Batch<LoggedRequest> {
  const lineOf = createLineOf();
  const write = (all: readonly LoggedRequest[]): void => {
    sink.stream.write(all.map(lineOf).join(""));
  };
  return destination === undefined ? createBatch(BATCH, write) : { add: (one) => write([one]), settle: () => {} };
}

/** Makes lines as the logger does, at a fraction of its cost, since every request pays for one. */
function createLineOf(): (finished: LoggedRequest) => string {
  let last = Number.NaN;
  let time = "";
  return ({ exchange, level, ms, at }) => {
    // Formatted again only when the millisecond has passed.
    if (at !== last) time = new Date(at).toISOString();
    last = at;
    let members: string;
    try {
      members = requestMembers(exchange, ms);
    } catch (error) {
      // One faulty line must not cost the others of its batch.
      members = `"msg":"a request that cannot be shown","cause":${JSON.stringify(causeText(error))}`;
    }
    return `{"level":"${level}","time":"${time}",${members}}\n`;
  };
}

const formatters = { level: (label: string) => ({ level: label }) };

function levelOf(exchange: Exchange): "error" | "warn" | "info" {
  if (exchange.reason === "INTERNAL") return "error";
  const fault = faultOf(exchange);
  return fault === undefined || (fault === "client" && isOrdinary(exchange)) ? "info" : "warn";
}

/** Native v1 would have refused it as well. An error with a status of success cut off a response that had begun. */
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

const MAX_NAMES = 20;
const MAX_KINDS = 12;

/** The reason, in the log only, of an error that came from the platform. */
const UPSTREAM_ERROR = "UPSTREAM_ERROR";

/** Texts that JSON does not escape. */
const NEEDS_NO_ESCAPE = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

/**
 * The line's members as JSON text, without braces; empty ones are left out. No token, page token or query value is among them.
 * The text is assembled by hand because building an object and serialising it takes three times as long.
 */
function requestMembers(exchange: Exchange, durationMs: number): string {
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

/** Members that most requests lack. */
function rareMembers(exchange: Exchange): string {
  const { reason, options, client, rule, list, unknownFields, cause } = exchange;
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
  if (options !== undefined && options.length > 0) add("options", options);
  if (exchange.rpc !== undefined) add("grpcStatus", exchange.rpc.code);
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

/** Each name once, short, printable and scrubbed; the last entry counts those left out. */
function shownNames(all: readonly string[]): readonly string[] {
  const distinct = [...new Set(all)];
  const shown = distinct.slice(0, MAX_NAMES).map(shownName);
  return distinct.length > MAX_NAMES ? [...shown, `and ${distinct.length - MAX_NAMES} more`] : shown;
}

function roundMs(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/** An output that takes lines without making the caller wait. */
interface LogSink {
  readonly stream: DestinationStream;
  /** Lines dropped so far. */
  dropped(): number;
  flush(ms: number): Promise<void>;
}

/** Most bytes that wait for a blocked output; further lines are dropped and counted. */
const MAX_BUFFERED_BYTES = 4 * 1024 * 1024;
/** Longest time that a line waits for others, in milliseconds. */
const FLUSH_MS = 10;
/** Bytes that are written without waiting for more, and the most of one write. */
const MIN_WRITE_BYTES = 64 * 1024;
const MAX_WRITE_BYTES = 512 * 1024;
const NEW_LINE = 0x0a;

/**
 * Writes asynchronously, several lines at a time: a write costs several times what making a line costs, mostly in a thread that
 * competes with the event loop. Lines that wait when the process exits are still written.
 */
export function createLogSink(fd: number, maxBytes: number = MAX_BUFFERED_BYTES): LogSink {
  const sonic = openDestination({
    fd,
    sync: false,
    minLength: MIN_WRITE_BYTES,
    maxWrite: MAX_WRITE_BYTES,
    maxLength: maxBytes,
    // In text mode it would measure all waiting text again with every line.
    contentMode: "buffer",
  });
  let dropped = 0;
  sonic.on("drop", (lines: Uint8Array) => {
    for (const byte of lines) if (byte === NEW_LINE) dropped++;
  });
  // A closed pipe must not end the process, and there is nowhere left to report it.
  sonic.on("error", () => {
    dropped++;
  });
  let isScheduled = false;
  const writeOut = () => {
    isScheduled = false;
    sonic.flush();
  };
  return {
    stream: {
      write: (lines) => {
        // In buffer mode it takes only bytes, although its type says text.
        sonic.write(Buffer.from(lines) as never);
        if (isScheduled) return;
        isScheduled = true;
        setTimeout(writeOut, FLUSH_MS);
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

/** A destination that was handed in can neither break a request nor, unread, fill the memory. */
function destinationSink(destination: LogTarget): LogSink {
  const stream: Exclude<LogTarget, (line: string) => void> =
    typeof destination === "function" ? { write: destination } : destination;
  let dropped = 0;
  const write = (line: string): void => {
    try {
      if ((stream.writableLength ?? 0) < MAX_BUFFERED_BYTES) stream.write(line);
      else dropped++;
    } catch {
      dropped++;
    }
  };
  return { stream: { write }, dropped: () => dropped, flush: async () => {} };
}
