/** Processes of these tests that share a store: each with rules and a way to the store of its own. Time passes 20 times faster for them. */
import { setTimeout } from "node:timers/promises";
import { loadConfig } from "../../src/config/config.ts";
import { later } from "../../src/model/clock.ts";
import type { RolloutOptions } from "../../src/rollout/rollout.ts";
import type { RolloutEvent } from "../../src/rollout/rule-state.ts";
import type { Rules } from "../../src/rules/rule.ts";
import { createSharedState } from "../../src/runtime/shared-state.ts";
import { type SharedStore, StoreError } from "../../src/state/shared/protocol.ts";
import { type Rig, rig, rule, rulesOf, START } from "../rollout/control-rig.ts";
import { createMemoryStore, type MemoryStore } from "../state/shared/memory-store.ts";
import { later as afterTest } from "../support/take-down.ts";

const { config } = loadConfig({
  flags: { upstreamV2Url: "http://127.0.0.1:1", upstreamV1Url: "http://127.0.0.1:1", cutoverMode: "native" },
  env: {},
  readFile: () => new Uint8Array(),
});

const FASTER = 20;
export const RULES: Rules = rulesOf([rule()]);

const began = performance.now();
/** Milliseconds since 1970, for the processes and their store. */
export const wall = (): number => Math.round(START + (performance.now() - began) * FASTER);

export function createStore(): MemoryStore {
  let random = 0;
  return createMemoryStore(wall, () => `fresh-${random++}`);
}

interface ReplicaOptions {
  readonly rules?: Rules;
  /** The way to the store is cut. */
  readonly isAway?: boolean;
  readonly basis?: string;
  readonly secret?: string;
  readonly before?: (made: Rig) => void;
}

export async function startReplica(
  store: MemoryStore,
  instance: string,
  { rules = RULES, isAway = false, basis = "basis", secret = "secret", before = () => {} }: ReplicaOptions = {},
) {
  const lines: string[] = [];
  const way = { isAway };
  const heard: ((event: RolloutEvent) => void)[] = [];
  const seconds: { to?: RolloutOptions["guardSeconds"] } = {};
  const link: { isUp?: () => boolean } = {};
  const made = rig(rules, {
    isShared: true,
    guardSeconds: (one, found) => seconds.to?.(one, found),
    isStoreUp: () => link.isUp?.() !== false,
    onEvent: (event) => {
      for (const one of heard) one(event);
    },
  });
  made.at = wall();
  before(made);
  const cut: SharedStore = {
    ...store,
    tick: async (request) => {
      if (way.isAway) throw new StoreError("away", "connect ECONNREFUSED");
      return store.tick(request);
    },
    close: async () => {},
  };
  const note = (message: string): void => void lines.push(message);
  const shared = createSharedState(config.state, {
    rollout: made.control,
    basis,
    record: ({ kind }) => {
      lines.push(kind);
      return "id";
    },
    log: { info: note, warn: note },
    instance,
    secret,
    wall,
    now: () => made.at + made.ahead,
    later: (ms, run) => later(ms / FASTER, run),
    store: cut,
  });
  seconds.to = shared.guardSeconds;
  link.isUp = shared.isUp;
  heard.push(shared.changed);
  afterTest(() => shared.close());
  await shared.start();
  return Object.assign(made, { shared, lines, way });
}

export type Process = Awaited<ReturnType<typeof startReplica>>;
export const phaseOf = ({ control }: Process): string | undefined => control.stepBackOf("all")?.phase;

export async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; !holds(); tries++) {
    if (tries > 400) throw new Error("it does not happen");
    await setTimeout(10);
  }
}
