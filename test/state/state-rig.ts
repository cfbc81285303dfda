/** What survives a restart, with real rules, counts and files, and without servers. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../src/config/config.ts";
import { createRequestHistory, type RequestHistory } from "../../src/history/requests.ts";
import { createIdentity } from "../../src/ledger/identity.ts";
import { createLedger, createOperationTraits, type Ledger } from "../../src/ledger/ledger.ts";
import { later as afterMs, type Timer } from "../../src/model/clock.ts";
import type { Rule } from "../../src/rules/rule.ts";
import { createCredentialDigests, createSavedState, type SavedState } from "../../src/runtime/persistence.ts";
import { type Rig, rig, rulesOf } from "../rollout/control-rig.ts";
import { later } from "../support/take-down.ts";

export interface StateProcess extends Rig {
  readonly saved: SavedState;
  readonly history: RequestHistory;
  readonly ledger: Ledger;
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
}

/** A process that keeps its state in `dir`, closed after the test. */
export function stateProcess(
  dir: string | undefined,
  { rules = [], native = true, timer = afterMs }: StateChoices = {},
): StateProcess {
  const made = rig(undefined, { native });
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
    traits: createOperationTraits([]),
  });
  const requests = createRequestHistory(wall);
  const parts = { rollout: made.control, ledger, shadow: undefined, identity, requests };
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
    history: requests,
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
