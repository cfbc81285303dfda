/** What does the log say, and what happens to it when nobody reads it? */
import { pino, stdTimeFunctions } from "pino";
import type { Exchange } from "../model/exchange.ts";
import { faultOf, usualFault } from "../model/fault.ts";
import { type Batch, createBatch } from "./batch.ts";
import { createSink, MAX_BUFFERED_BYTES, type Sink } from "./log-sink.ts";
import { requestMembers } from "./request-line.ts";
import { causeText, scrub, stackText } from "./scrub.ts";

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
  const sink = options.destination === undefined ? createSink(1) : given(options.destination);
  const now = options.now ?? (() => performance.now());
  const requests = gathered(options, sink);
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
interface Finished {
  readonly exchange: Exchange;
  readonly level: ReturnType<typeof levelOf>;
  readonly ms: number;
  /** When it was over, on the wall clock. */
  readonly at: number;
}

/** A destination that was handed in gets each line at once. */
function gathered({ destination }: LogOptions, sink: Sink): Batch<Finished> {
  const lineOf = createLineOf();
  const write = (all: readonly Finished[]): void => {
    sink.stream.write(all.map(lineOf).join(""));
  };
  return destination === undefined ? createBatch(GATHER, write) : { add: (one) => write([one]), settle: () => {} };
}

/** Makes lines in the form of the logger's own, at a fraction of their price: this is the one that every request pays for. */
function createLineOf(): (finished: Finished) => string {
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
function given(destination: LogDestination): Sink {
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
