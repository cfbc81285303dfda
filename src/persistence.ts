/** What survives a restart: rule states, their evidence, comparisons and the ledger, in `state.dir`. */
import { createHash, createHmac, randomBytes } from "node:crypto";
import type { Config } from "./config/config.ts";
import { ConfigError } from "./config/faults.ts";
import type { ClientIdentity } from "./ledger/identity.ts";
import type { Ledger } from "./ledger/ledger.ts";
import { readSnapshot } from "./ledger/snapshot.ts";
import type { Timer } from "./model/clock.ts";
import { member } from "./model/json.ts";
import { type CredentialOf, createCredentials } from "./rollout/callers.ts";
import { NOT_FORCED, type Rollout } from "./rollout/rollout.ts";
import { withoutEvidence } from "./rollout/rule-state.ts";
import { createSavedSection, jsonArray, type SavedSection } from "./rollout/saved-section.ts";
import { readSavedComparisons, readSavedNames, readSavedRollout, savedRollout } from "./rollout/saved-state.ts";
import { createFolderStore } from "./rollout/state-store.ts";
import type { Shadow } from "./shadow/shadow.ts";
import type { Log } from "./telemetry/log.ts";
import type { RequestTotalsCounter } from "./telemetry/totals.ts";
import { VERSION } from "./version.ts";

/** Digests of credentials, under a key that survives a restart with the evidence that holds them. */
export interface CredentialDigests {
  readonly credentialOf: CredentialOf;
  /** 64 hexadecimal digits. */
  key(): string;
  restore(key: string): void;
}

/** The salt is in no saved file: the key alone does not tell which credential a digest belongs to. */
export function createCredentialDigests({ clients, cutover }: Config): CredentialDigests {
  const under = (key: string): CredentialOf =>
    createCredentials(clients.identify, createHmac("sha256", cutover.salt).update(`credentials\0${key}`).digest());
  let key = randomBytes(32).toString("hex");
  let digestOf = under(key);
  return {
    credentialOf: (headers) => digestOf(headers),
    key: () => key,
    restore: (before) => {
      key = before;
      digestOf = under(key);
    },
  };
}

interface SavedParts {
  readonly rollout: Rollout;
  readonly ledger: Ledger;
  readonly shadow: Shadow | undefined;
  readonly identity: ClientIdentity;
  readonly digests: CredentialDigests;
  readonly totals: RequestTotalsCounter;
}

export interface SavedState {
  /** Rejects with ConfigError when `state.dir` cannot be used. */
  start(): Promise<void>;
  failing(): boolean;
  /** Runs once the rules' states are on disk, so that what operators are told of survives a restart; else with `false`. */
  afterSaving(run: (isSaved: boolean) => void): void;
  close(): Promise<void>;
}

/** Milliseconds between two saves of evidence, and of counts. A step back is saved when it happens. */
const EVIDENCE_MS = 5_000;
const COUNTS_MS = 30_000;
/** The counts say until when carryover was watching, so they are saved every 5 minutes even if nobody calls. */
const IDLE_CHECKS = 10;
/** How long a change waits for a slow disk before it is logged all the same, in milliseconds. */
const SAVE_MS = 1_000;

/** What survives a restart: in two sections of `state.dir`, or in memory only. */
export function createSavedState(
  config: Config,
  parts: SavedParts,
  { log, later }: { readonly log: Log; readonly later: Timer },
): SavedState {
  const { dir } = config.state;
  if (dir === undefined) {
    return {
      start: async () => {},
      failing: () => false,
      afterSaving: (run) => run(false),
      close: async () => {},
    };
  }
  const { rollout, ledger, shadow, identity, digests, totals } = parts;
  const store = createFolderStore(dir);
  const basis = basisOf(config);
  const warn = (message: string, cause: unknown): void => log.warn(message, cause);
  const rules = createSavedSection({
    store,
    name: "rollout",
    everyMs: EVIDENCE_MS,
    later,
    warn,
    revision: rollout.revision,
    snapshot: () => savedRollout({ key: digests.key(), basis, ...rollout.memory() }),
    restore: (found) => {
      const { key, basis: before, force, rules: saved, transitions } = readSavedRollout(found, identity.nameNow);
      digests.restore(key);
      const holds = before === basis;
      if (!holds)
        log.info("evidence of rules begins anew: carryover or options that change responses are others now", {});
      if (force.command === "native" && config.upstream.v1 !== undefined) {
        log.warn("cutover: forced", undefined, {
          from: "none",
          to: "native",
          reason: "carryover force native, before the restart",
        });
      }
      rollout.restore({
        // Without native v1 nothing can be forced to it any more.
        force: config.upstream.v1 === undefined ? NOT_FORCED : force,
        rules: holds ? saved : saved.map(withoutEvidence),
        transitions,
      });
    },
  });
  const counts = createSavedSection({
    store,
    name: "counts",
    everyMs: COUNTS_MS,
    idleChecks: IDLE_CHECKS,
    later,
    warn,
    revision: ledger.revision,
    snapshot: () => savedCounts(parts, basis),
    restore: (found) => {
      if (member(found, "version") !== 1) throw new Error("version: expected 1");
      const nameNow = identity.nameSince(readSavedNames(member(found, "names")));
      const comparisons = readSavedComparisons(member(found, "comparisons"), nameNow);
      const snapshot = readSnapshot(member(found, "ledger"));
      totals.restore(member(found, "totals"));
      ledger.restore(snapshot, nameNow);
      if (member(found, "basis") === basis) shadow?.restore(comparisons);
    },
  });
  const sections: readonly SavedSection[] = [rules, counts];
  return {
    start: async () => {
      try {
        await store.prepare();
        for (const section of sections) await section.start();
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        const remedy =
          "name a directory that this process may read and write, or remove the option to keep everything in memory";
        throw new ConfigError([{ where: "state.dir", what: `${dir} cannot be used (${why})`, remedy }]);
      }
    },
    failing: () => sections.some((section) => section.failing()),
    afterSaving: (run) => {
      const once = onlyOnce(run);
      const giveUp = later(SAVE_MS, () => once(false));
      void rules.save().then(() => {
        giveUp();
        once(!rules.failing());
      });
    },
    close: async () => {
      for (const section of sections) await section.close();
    },
  };
}

/** Digest of what responses depend on beside the rules: another version, platform or option makes other responses. */
function basisOf({ upstream, v1, unknownFields, shadow }: Config): string {
  const { v2 } = upstream;
  const what = [VERSION, v2.url, v2.version, v2.omitsZeros, upstream.v1?.url, v1, unknownFields, shadow.ignore];
  return createHash("sha256").update(JSON.stringify(what)).digest("hex").slice(0, 16);
}

function* savedCounts({ identity, ledger, totals, shadow }: SavedParts, basis: string): Generator<string> {
  const { entries, head } = ledger.stream();
  const first = { version: 1, basis, names: identity.meanings(), comparisons: shadow?.bounds() ?? [] };
  yield JSON.stringify(first).replace(/\}$/, ',"ledger":{"clients":');
  yield* jsonArray(entries);
  yield JSON.stringify(head()).replace(/^\{/, ",");
  yield `,"totals":${JSON.stringify(totals.snapshot())}}`;
}

function onlyOnce(run: (isSaved: boolean) => void): (isSaved: boolean) => void {
  let isDone = false;
  return (isSaved) => {
    if (isDone) return;
    isDone = true;
    run(isSaved);
  };
}
