/** Watches a drain at work: calls that wait, lists that change meanwhile, chunks that are pulled. */

import type { ListHints } from "../../src/drain/hints.ts";
import type { DrainLimits } from "../../src/drain/limits.ts";
import type { DrainParts } from "../../src/drain/list-reader.ts";
import type { ApiResponse } from "../../src/model/http.ts";
import type { PageSelector, StreamedList } from "../../src/model/list.ts";
import type { Tokens } from "../support/platform-pages.ts";
import { settled } from "../upstream/clock.ts";
import { type Options, type Platform, pageOf, planOf, respond, type Served, stage } from "./simulator.ts";

/** Small enough to be written down: pages of ten, two records of overlap, segments of four pages beyond a thousand records. */
export const SMALL: Partial<DrainLimits> = { pageSize: 10, overlap: 2, windowRecords: 1000, segmentPages: 4 };
/** The same, and lists beyond 20 records are read in segments. */
export const SEGMENTS: Partial<DrainLimits> = { ...SMALL, windowRecords: 20 };

/** A platform over lists that change: call number `call` sees `at(call)`. */
export function moving(at: (call: number) => readonly string[], tokens: Tokens = "keyset", cap = 200): Platform {
  return (selector, call) => respond(pageOf(at(call), selector, tokens, cap));
}

/** `keys`, from call `from` on without `gone` and with `more`, in order. */
export function changed(keys: readonly string[], from: number, gone: readonly string[], more: readonly string[] = []) {
  const left = new Set(gone);
  const later = [...keys.filter((key) => !left.has(key)), ...more].sort();
  return (call: number): readonly string[] => (call < from ? keys : later);
}

/** A memory that returns `heeds` and `count`, and records what is stored in it. */
export function memory(heeds: boolean | undefined, count?: number) {
  const told: [what: "skip" | "count", name: string, value?: boolean | number][] = [];
  const of: ListHints = {
    heedsSkip: () => heeds,
    sawSkip: (resource, heeded) => void told.push(["skip", resource, heeded]),
    countOf: () => count,
    learnCount: (target, learned) => void told.push(["count", target, learned]),
  };
  return { of, told };
}

/** A call that waits for the test. */
export interface Held {
  readonly selector: PageSelector;
  /** Answers as the platform would now, or with `answer`. */
  answer(answer?: ApiResponse): Promise<void>;
  fail(error: unknown): Promise<void>;
}

/** `platform`, but each call waits until it is answered; one whose drain is over is rejected as a connection would be. */
export function holding(platform: Platform) {
  const open: Held[] = [];
  const most = { atOnce: 0 };
  const served: Served = (selector, call, signal) =>
    new Promise((resolve, reject) => {
      const leave = () => open.includes(held) && open.splice(open.indexOf(held), 1);
      const held: Held = {
        selector,
        answer: (answer) => {
          leave();
          resolve(answer ?? platform(selector, call));
          return settled();
        },
        fail: (error) => {
          leave();
          reject(error);
          return settled();
        },
      };
      const stop = () => void held.fail(signal.reason);
      if (signal.aborted) return stop();
      signal.addEventListener("abort", stop, { once: true });
      open.push(held);
      most.atOnce = Math.max(most.atOnce, open.length);
    });
  /** Answers whatever waits, oldest first, until nothing does. */
  const flow = async (): Promise<void> => {
    for (await settled(); open.length > 0; await settled()) await open[0]?.answer();
  };
  return { served, open, most, flow };
}

const decoder = new TextDecoder();

/** The uids in one chunk, as a client would parse them. */
export function uidsIn(chunk: Uint8Array): string[] {
  return (JSON.parse(`[${decoder.decode(chunk)}]`) as { uid: string }[]).map((record) => record.uid);
}

/** A list while it goes out, and the means to pull it. */
export interface Pulled {
  readonly list: StreamedList;
  readonly iterator: AsyncIterator<Uint8Array>;
  /** All that is still to come, and how it ended. */
  rest(): Promise<{ readonly uids: readonly string[]; readonly error: unknown }>;
}

/** `list` as a client takes it; fails when it is none that goes out while it is read. */
export function pull(list: Awaited<ReturnType<ReturnType<typeof stage>["longDrain"]>>): Pulled {
  if (list.kind !== "long") throw new Error(`no long list: ${list.kind}`);
  const iterator = list.chunks[Symbol.asyncIterator]();
  const rest = async () => {
    const uids: string[] = [];
    try {
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next())
        uids.push(...uidsIn(next.value));
      return { uids, error: undefined };
    } catch (error) {
      return { uids, error };
    }
  };
  return { list, iterator, rest };
}

/** Reads `platform`'s list as one that goes out while it is read: whatever was read before its end is sent at once. */
export async function streamed(platform: Served, options: Options = {}) {
  const on = stage(platform, { ...options, limits: { ...SMALL, bufferBytes: 0, ...options.limits } });
  const pulled = pull(await on.longDrain(options.plan ?? planOf()));
  return { ...on, ...pulled, ...(await pulled.rest()) };
}

/** Parts with memory and tokens, as most tests want them. */
export function knowing(heeds: boolean | undefined, tokens: DrainParts["tokens"] = "unknown", count?: number) {
  return { memory: memory(heeds, count).of, tokens } satisfies Partial<DrainParts>;
}
