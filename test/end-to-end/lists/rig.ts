/** carryover in front of a platform, for tests of lists: in memory, or over sockets where those are the subject. */
import { afterAll, afterEach, expect } from "vitest";
import type { Exchange } from "../../../src/model/exchange.ts";
import { startCarryover } from "../../support/carryover.ts";
import { settled } from "../../upstream/clock.ts";
import { get } from "./client.ts";
import { createLister, type Lister } from "./memory.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";
import { createPlatform, type Habits, type Platform } from "./platform.ts";
import type { Shelf } from "./shelf.ts";

export const GROUPS = "/iam/v1/groups";
export const INVITES = "/iam/v1/group_invites";

export interface Rig {
  readonly platform: Platform;
  /** One list from beginning to end. */
  list(as?: string, target?: string): Promise<Outcome>;
}

export interface WireRig extends Rig {
  readonly url: string;
  /** One per request that is over. */
  readonly exchanges: readonly Exchange[];
}

export interface Setting {
  readonly habits?: Partial<Habits>;
  /** What the platform holds; default: 450 records. */
  readonly shelf?: Shelf;
  /** Options as flags. */
  readonly flags?: Readonly<Record<string, string>>;
}

/** Options that make any list of more than a few records a streamed one. */
export const STREAMED = { listsBufferBytes: "1024" };
/** And none. */
export const BUFFERED = { listsBufferBytes: "128MiB" };

/** To be called at the top of a test file: after each test everything must be at rest, and all that lists take up given back. */
export function checkAfterEach(): void {
  afterEach(async () => {
    for (const [platform, { calls, lists }] of inMemory.splice(0)) {
      for (let turns = 0; platform.busy.now > 0 && turns < 1_000; turns++) await settled();
      expect(platform.busy.now).toBe(0);
      expect(lists.state()).toEqual({ reading: 0, waiting: 0 });
      expect(calls.state()).toMatchObject({ reading: 0, waiting: { short: 0, page: 0, background: 0 } });
    }
    for (const one of kept.values()) {
      if (one.used) await atRest(one);
      one.used = false;
    }
  });
  afterAll(async () => {
    for (const one of kept.values()) await one.close();
    kept.clear();
  });
}

// ---- In memory -----------------------------------------------------------------------------------------------------

/** Those of the test that is under way. */
const inMemory: (readonly [Platform, Lister])[] = [];

export async function rigFor({ habits = {}, shelf, flags }: Setting): Promise<Rig> {
  const { skip, tokens } = habits;
  const platform = createPlatform();
  const lister = await createLister(platform.send, flags);
  inMemory.push([platform, lister]);
  const list: Rig["list"] = async (as = "alice", target = GROUPS) => (await lister.list(as, target)).outcome;
  await learn({ platform, list }, { skip, tokens });
  platform.reset(habits, shelf);
  return { platform, list };
}

/** Two lists, after which carryover knows what it can expect of its platform. */
async function learn({ platform, list }: Pick<Rig, "platform" | "list">, habits: Kind): Promise<void> {
  platform.reset(habits);
  await list();
  await list();
}

type Kind = { readonly [K in "skip" | "tokens"]: Habits[K] | undefined };

// ---- Over sockets --------------------------------------------------------------------------------------------------

interface Kept {
  readonly rig: WireRig;
  readonly exchanges: Exchange[];
  readonly adminUrl: string;
  /** By the test that is under way. */
  used: boolean;
  close(): Promise<void>;
}

/** Those of one file with the same options and the same kind of platform share it. */
const kept = new Map<string, Kept>();

/** A test that asks for the same again gets the same, as if it were new. */
export async function wireRigFor({ habits = {}, shelf, flags = {} }: Setting = {}): Promise<WireRig> {
  const { skip, tokens } = habits;
  const key = JSON.stringify([flags, skip, tokens]);
  let one = kept.get(key);
  if (one === undefined) {
    one = await start(flags);
    kept.set(key, one);
    await learn(one.rig, { skip, tokens });
  }
  one.used = true;
  const { platform } = one.rig;
  await until(() => platform.busy.now === 0, "calls of an earlier list are under way");
  one.exchanges.length = 0;
  platform.reset(habits, shelf);
  return one.rig;
}

async function start(flags: Readonly<Record<string, string>>): Promise<Kept> {
  const platform = createPlatform();
  const exchanges: Exchange[] = [];
  const onExchange = (one: Exchange) => void exchanges.push(one);
  const carryover = await startCarryover({ v2Url: await platform.listen(), flags, onExchange });
  const { url, adminUrl } = carryover;
  const list: Rig["list"] = async (as = "alice", target = GROUPS) => outcomeOf(await get({ url, target, as }), as);
  return {
    rig: { platform, url, exchanges, list },
    exchanges,
    adminUrl,
    used: false,
    close: async () => {
      await carryover.close();
      await until(() => platform.sockets.size === 0, "sockets to the platform are left");
      await platform.close();
    },
  };
}

/** Nothing is under way any more: no call to the platform, no request of a client. */
async function atRest({ rig: { platform }, adminUrl }: Kept): Promise<void> {
  await until(() => platform.busy.now === 0, "calls to the platform are under way");
  await until(async () => {
    const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
    return /^carryover_in_flight_requests 0$/m.test(metrics);
  }, "requests are in flight");
}

// ---- What is expected ----------------------------------------------------------------------------------------------

/** Waits until `holds`; fails with `otherwise` when it does not for long. */
export async function until(holds: () => boolean | Promise<boolean>, otherwise: string): Promise<void> {
  const end = performance.now() + 20_000;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(otherwise);
    await sleep(5);
  }
}

function sleep(ms: number): Promise<void> {
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
  return shelf.records.map(({ uid }) => uid);
}
