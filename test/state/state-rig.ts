/** What survives a restart, with real rules, counts and files, and without servers. */
import { randomBytes, randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../src/config/config.ts";
import { createEventHistory, type EventHistory } from "../../src/history/events.ts";
import { createRequestHistory, type RequestHistory } from "../../src/history/requests.ts";
import { createIdentity } from "../../src/ledger/identity.ts";
import { createLedger, createOperationTraits, type Ledger } from "../../src/ledger/ledger.ts";
import { createRetention, type Retention } from "../../src/ledger/retention.ts";
import { later as afterMs, type Timer } from "../../src/model/clock.ts";
import { createLastRules, type LastRules } from "../../src/rollout/rules-file.ts";
import type { Rule } from "../../src/rules/rule.ts";
import { createKnownContributors, type KnownContributors } from "../../src/runtime/known-contributors.ts";
import { createCredentialDigests, createSavedState, type SavedState } from "../../src/runtime/persistence.ts";
import { type Rig, rig, rulesOf } from "../rollout/control-rig.ts";
import { later } from "../support/take-down.ts";

export interface StateProcess extends Rig {
  readonly saved: SavedState;
  readonly counts: RequestHistory;
  readonly ledger: Ledger;
  readonly history: EventHistory;
  readonly lastRules: LastRules;
  readonly retention: Retention;
  readonly known: KnownContributors;
  /** What was logged. */
  readonly lines: readonly string[];
  /** Reads what was saved, then puts the rules into force. */
  start(): Promise<void>;
}

export interface StateChoices {
  readonly rules?: readonly Rule[];
  /** Whether there is a native v1; default: yes. */
  readonly native?: boolean;
  readonly timer?: Timer;
  /** The time when the process starts, milliseconds since 1970. */
  readonly at?: number;
}

/** A process that keeps its state in `dir`, closed after the test. */
export function stateProcess(
  dir: string | undefined,
  { rules = [], native = true, timer = afterMs, at }: StateChoices = {},
): StateProcess {
  const made: Rig = rig(undefined, { native, onEvent: (event) => void history.record(event) });
  if (at !== undefined) made.at = at;
  const flags = {
    upstreamV2Url: "http://127.0.0.1:1",
    cutoverMode: "translate",
    ...(native ? { upstreamV1Url: "http://127.0.0.1:1" } : {}),
    ...(dir === undefined ? {} : { stateDir: dir }),
  };
  const { config } = loadConfig({ flags, env: {}, readFile: (path) => readFileSync(path) });
  const lines: string[] = [];
  const note = (message: string, cause: unknown): void => {
    lines.push(cause instanceof Error ? `${message} (${cause.message})` : message);
  };
  const wall = () => made.at;
  const identity = createIdentity({ ...config.clients, key: "salt" });
  const ledger = createLedger({
    max: 100,
    wall,
    instance: "i",
    pageSize: 200,
    identity,
    traits: createOperationTraits([], () => false),
  });
  const requests = createRequestHistory(wall);
  const history = createEventHistory({ wall, process: randomBytes(4).toString("hex") });
  const lastRules = createLastRules();
  const known = createKnownContributors(wall);
  const retention = createRetention({ after: 180 * 24 * 3_600_000, wall, now: () => made.at });
  const shadow = undefined;
  const parts = {
    retention,
    known,
    rollout: made.control,
    ledger,
    shadow,
    identity,
    requests,
    history,
    lastRules,
    instance: randomUUID(),
  };
  const log = { info: () => {}, warn: note, error: note } as unknown as Parameters<typeof createSavedState>[2]["log"];
  const saved = createSavedState(
    config,
    { ...parts, digests: createCredentialDigests(config) },
    { log, later: timer, wall },
  );
  later(() => saved.close());
  return {
    ...made,
    get at() {
      return made.at;
    },
    set at(at) {
      made.at = at;
    },
    saved,
    ledger,
    history,
    lastRules,
    retention,
    known,
    counts: requests,
    lines,
    start: async () => {
      await saved.start();
      made.control.replace(rulesOf(rules));
    },
  };
}

/** A directory, removed after the test. */
export function stateFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "carryover-state-"));
  later(async () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
