/** Records v1 requests as they end (`record.file`). No request waits for it. */
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/faults.ts";
import type { Timer } from "../model/clock.ts";
import type { Exchange } from "../model/exchange.ts";
import { isSafe } from "../model/http.ts";
import type { Decide, PassThroughObserver, SettledPlan } from "../model/request.ts";
import type { Resource } from "../model/resource.ts";
import { createQueryRedaction, gapLine, recordedBody, recordedLine } from "./entry.ts";
import { createRecordingWriter, type RecordingCounts } from "./writer.ts";

export interface Recorder {
  /** To be called once for each request, when it is over. */
  observe(exchange: Exchange): void;
  /** `decide`, which keeps the bodies of writes until their requests are over, with `record.bodies`. */
  keepBodies(decide: Decide): Decide;
  /** Rejects with ConfigError for a file that cannot be written. */
  start(): Promise<void>;
  counts(): RecorderCounts;
  /** Writes what waits. */
  close(): Promise<void>;
}

/** Since the start of the process. */
export interface RecorderCounts extends RecordingCounts {
  /** Requests beyond `record.perSecond`. */
  readonly beyondRate: number;
}

/** Without `record.file`. */
export const NOTHING_RECORDED: RecorderCounts = { lines: 0, bytes: 0, dropped: 0, isFailing: false, beyondRate: 0 };

export interface RecorderParts {
  readonly resources: readonly Pick<Resource, "name" | "operations">[];
  readonly log: {
    warn(message: string, cause?: unknown, facts?: Readonly<Record<string, string | number>>): void;
    info(message: string, facts?: Readonly<Record<string, string | number>>): void;
  };
  readonly wall: () => number;
  readonly later: Timer;
}

/** Longer bodies are not recorded: no record of the catalogue comes near. */
const MAX_BODY_BYTES = 64 * 1024;

/** Undefined without `record.file`. */
export function createRecorder({ record }: Pick<Config, "record">, parts: RecorderParts): Recorder | undefined {
  const { file, values, bodies, perSecond, fileBytes, files } = record;
  if (file === undefined) return undefined;
  const { log, wall, later } = parts;
  const redact = createQueryRedaction(parts.resources, values);
  const kept = new WeakMap<Exchange, Uint8Array>();
  const writer = createRecordingWriter({
    file,
    fileBytes,
    files,
    later,
    wall,
    failed: (cause) =>
      log.warn("the recording cannot be written; requests go on, and are missing in it", cause, { file }),
    recovered: (lost) => log.info("the recording is written again", { file, lost }),
    shared: () =>
      log.warn("another process writes to record.file as well; give each process a file of its own", undefined, {
        file,
      }),
    gap: (left) => gapLine({ left, why: "disk" }, wall()),
  });
  const isWithinRate = createRate(perSecond);
  let beyondRate = 0;
  /** Requests beyond the rate that the recording does not mention yet. */
  let left = 0;
  let cancel: (() => void) | undefined;
  const mention = (): void => {
    cancel?.();
    cancel = undefined;
    if (left > 0) writer.write(gapLine({ left, why: "rate" }, wall()));
    left = 0;
  };
  return {
    observe(exchange) {
      // A gRPC call cannot be repeated by its target.
      if (exchange.apiVersion !== "v1" || exchange.rpc !== undefined || exchange.times !== undefined) return;
      const at = wall();
      if (!isWithinRate(at)) {
        beyondRate += 1;
        left += 1;
        // There may be no further request.
        cancel ??= later(SECOND_MS, mention);
        return;
      }
      mention();
      const body = kept.get(exchange);
      writer.write(recordedLine(exchange, at, redact, body && recordedBody(body)));
    },
    keepBodies: (decide) => (bodies ? withBodies(decide, kept) : decide),
    start: () =>
      writer.open().catch((error: unknown) => {
        const what = `${file} cannot be written (${error instanceof Error ? error.message : String(error)})`;
        const remedy = "name a file in a directory that is there and may be written";
        throw new ConfigError([{ where: "record.file", what, remedy }]);
      }),
    counts: () => ({ ...writer.counts(), beyondRate }),
    close: () => {
      mention();
      return writer.close();
    },
  };
}

const SECOND_MS = 1_000;

/** Returns true for at most `perSecond` requests in each second of the clock. */
function createRate(perSecond: number): (at: number) => boolean {
  let second = Number.NaN;
  let taken = 0;
  return (at) => {
    const now = Math.floor(at / SECOND_MS);
    if (now !== second) taken = 0;
    second = now;
    taken += 1;
    return taken <= perSecond;
  };
}

function withBodies(decide: Decide, kept: WeakMap<Exchange, Uint8Array>): Decide {
  return (request) => {
    const plan = decide(request);
    const { exchange } = request;
    if (plan.kind === "deferred" || isSafe(request.method) || exchange.apiVersion !== "v1") return plan;
    return keeping(plan, (body) => kept.set(exchange, body));
  };
}

function keeping(plan: SettledPlan, keep: (body: Uint8Array) => void): SettledPlan {
  if (plan.kind === "pass") return { ...plan, watch: keepingWatch(plan.watch, keep) };
  return {
    ...plan,
    respond(body, signal) {
      if (body.length > 0 && body.length <= MAX_BODY_BYTES) keep(Buffer.from(body));
      return plan.respond(body, signal);
    },
  };
}

function keepingWatch(watch: PassThroughObserver | undefined, keep: (body: Uint8Array) => void): PassThroughObserver {
  let pieces: Uint8Array[] = [];
  let length = 0;
  return {
    sent(chunk) {
      length += chunk.length;
      if (length <= MAX_BODY_BYTES) pieces.push(Buffer.from(chunk));
      else pieces = [];
      watch?.sent(chunk);
    },
    head: (status, headers) => {
      if (pieces.length > 0) keep(Buffer.concat(pieces));
      watch?.head(status, headers);
    },
    data: (chunk) => watch?.data(chunk),
    over: (whole) => watch?.over(whole),
  };
}
