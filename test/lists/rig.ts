/** How do carryover and a platform stand opposite each other in a test of lists, and what must hold when it is over? */
import { afterAll, afterEach, expect } from "vitest";
import type { Exchange } from "../../src/model/exchange.ts";
import { startCarryover } from "../support/carryover.ts";
import { get } from "./client.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";
import { createPlatform, type Habits, type Platform } from "./platform.ts";
import { createShelf, rowsOf, type Shelf } from "./shelf.ts";

export const GROUPS = "/iam/v1/groups";
export const INVITES = "/iam/v1/group_invites";

export interface Rig {
  readonly platform: Platform;
  readonly url: string;
  readonly adminUrl: string;
  /** One per request that is over. */
  readonly exchanges: Exchange[];
  /** One list from beginning to end. */
  list(as?: string, target?: string): Promise<Outcome>;
}

export interface Setting {
  readonly habits?: Partial<Habits>;
  /** What the platform holds; default: 450 records. */
  readonly shelf?: Shelf;
  /** Options as flags. */
  readonly flags?: Readonly<Record<string, string>>;
  /** One that has read no list yet, so that it has learned nothing of its platform. */
  readonly fresh?: true;
}

/** Options that make any list of more than a few records a streamed one. */
export const STREAMED = { listsBufferBytes: "1024" };
/** And none. */
export const BUFFERED = { listsBufferBytes: "128MiB" };

interface Kept {
  readonly rig: Rig;
  readonly lists: number;
  /** By the test that is under way. */
  used: boolean;
  close(): Promise<void>;
}

/** Starting one takes longer than most tests: those with the same options and the same kind of platform share it. */
const kept = new Map<string, Kept>();
const unhandled: unknown[] = [];
process.on("unhandledRejection", (reason) => unhandled.push(reason));

/** To be called at the top of a test file: after each test it looks whether everything is as before. */
export function checkAfterEach(): void {
  afterEach(async () => {
    const used = [...kept.values()].filter((one) => one.used);
    await Promise.all(
      used.map(async ({ rig, lists }) => {
        await settled(rig);
        await slotsAreFree(rig, lists);
      }),
    );
    for (const one of used) one.used = false;
    expect(unhandled.splice(0)).toEqual([]);
  });
  afterAll(async () => {
    for (const { rig, close } of kept.values()) {
      await close();
      expect(rig.platform.sockets.size).toBe(0);
    }
  });
}

/** A test that asks for the same again gets the same, as if it were new. */
export async function rigFor({ habits = {}, shelf, flags = {}, fresh }: Setting = {}): Promise<Rig> {
  const { skip, tokens } = habits;
  const key = JSON.stringify([flags, skip, tokens, fresh === undefined ? "" : kept.size]);
  let one = kept.get(key);
  if (one === undefined) {
    one = await start(flags);
    kept.set(key, one);
    one.rig.platform.reset({ ...(skip === undefined ? {} : { skip }), ...(tokens === undefined ? {} : { tokens }) });
    if (fresh === undefined) await learn(one.rig);
  }
  one.used = true;
  const { platform, exchanges } = one.rig;
  await until(() => platform.busy.now === 0, "calls of an earlier list are under way");
  exchanges.length = 0;
  platform.reset(habits, shelf);
  return one.rig;
}

/** Two lists, after which carryover knows what it can expect of its platform. */
async function learn(rig: Rig): Promise<void> {
  await rig.list();
  await rig.list();
}

async function start(flags: Readonly<Record<string, string>>): Promise<Kept> {
  const platform = await createPlatform();
  const exchanges: Exchange[] = [];
  const onExchange = (one: Exchange) => void exchanges.push(one);
  const carryover = await startCarryover({ v2Url: platform.url, flags, onExchange });
  const { url, adminUrl } = carryover;
  const list: Rig["list"] = async (as = "alice", target = GROUPS) => outcomeOf(await get({ url, target, as }), as);
  return {
    rig: { platform, url, adminUrl, exchanges, list },
    lists: Number(flags["listsMaxConcurrentPerCredential"] ?? 4),
    used: false,
    close: async () => {
      await carryover.close();
      await until(() => platform.sockets.size === 0, "sockets to the platform are left");
      await platform.close();
    },
  };
}

/** Nothing is under way any more: no call to the platform, no request of a client. */
async function settled({ platform, adminUrl }: Rig): Promise<void> {
  await until(() => platform.busy.now === 0, "calls to the platform are under way");
  expect(platform.sockets.size).toBeLessThanOrEqual(128);
  await until(async () => {
    const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
    return /^carryover_in_flight_requests 0$/m.test(metrics);
  }, "requests are in flight");
}

/** As many lists of several pages as one credential may have at a time are answered: no slot is held by what is over. */
async function slotsAreFree(rig: Rig, lists: number): Promise<void> {
  const { platform } = rig;
  const { skip, tokens } = platform.habits;
  platform.reset({ skip, tokens }, createShelf(rowsOf(450, 7)));
  const outcomes = await Promise.all(Array.from({ length: Math.min(lists, 16) }, () => rig.list("alice")));
  // A place was free for what was found wanting, or too long, when it was read.
  const read = new Set(["LIST_UNPROVEN", "DRAIN_TOO_LARGE"]);
  const ended = outcomes.map((one) => (one.kind !== "error" ? one.kind : read.has(`${one.reason}`) ? "whole" : one));
  expect(ended).toEqual(outcomes.map(() => "whole"));
}

/** Waits until `holds`; fails with `otherwise` when it does not for long. */
export async function until(holds: () => boolean | Promise<boolean>, otherwise: string): Promise<void> {
  const end = performance.now() + 5_000;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(otherwise);
    await sleep(5);
  }
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Expects each of `uids` exactly once, and nothing else; `label` stands in the message. */
export function expectWhole(outcome: Outcome, uids: readonly string[], label = "list"): void {
  if (outcome.kind !== "whole") throw new Error(`${label}: not whole: ${JSON.stringify(outcome).slice(0, 600)}`);
  // Long lists make long messages: first what is wrong in numbers.
  const shown = new Set(outcome.ids);
  const wrong = { lost: uids.filter((uid) => !shown.has(uid)).length, twice: outcome.ids.length - shown.size };
  expect({ label, ...wrong, records: outcome.ids.length }).toEqual({ label, lost: 0, twice: 0, records: uids.length });
}

export function uidsOf(shelf: Shelf): readonly string[] {
  return shelf.rows.map(({ uid }) => uid);
}
