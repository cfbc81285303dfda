/** What survives a restart: rule states, their evidence, comparisons and the ledger, in `state.dir`. */
import { createHash, createHmac, randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { pid } from "node:process";
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/faults.ts";
import type { RequestHistory } from "../history/requests.ts";
import { LedgerSchema } from "../ledger/entry.ts";
import type { ClientIdentity } from "../ledger/identity.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { LAST_TIME, type Timer } from "../model/clock.ts";
import { member } from "../model/json.ts";
import { type CredentialOf, createCredentials } from "../rollout/callers.ts";
import type { Rollout } from "../rollout/rollout.ts";
import { withoutEvidence } from "../rollout/rule-state.ts";
import {
  ALL_LOST,
  NOTHING_KEPT,
  type ReadRollout,
  readSavedComparisons,
  readSavedNames,
  readSavedRollout,
  savedRollout,
} from "../rollout/saved-rollout.ts";
import { readRecord } from "../rules/record.ts";
import type { Shadow } from "../shadow/shadow.ts";
import { StateInUse, StateWaitEnded } from "../state/lock.ts";
import { createSavedSection, isIntact, jsonArray, type SavedSection, withCheck } from "../state/section.ts";
import { createFolderStore } from "../state/store.ts";
import type { Log } from "../telemetry/log.ts";
import { VERSION } from "../version.ts";

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
  readonly requests: RequestHistory;
}

export interface SavedState {
  /**
   * Rejects with ConfigError when `state.dir` cannot be a directory, with `StateInUse` when another live process has it, and with
   * `StateWaitEnded` after `endWait`. Where the storage fails, this process goes on in memory with what it could read.
   */
  start(): Promise<void>;
  /** Ends a `start` that waits for another process. */
  endWait(): void;
  /** True while this process may write to `state.dir`. */
  isHeld(): Promise<boolean>;
  failing(): boolean;
  /** When counts were lost because they could not be read, in milliseconds since 1970; undefined if they were not. */
  countsLostAt(): number | undefined;
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

/** How long the shutdown waits for storage that does not respond, in milliseconds. */
const CLOSE_MS = 10_000;

/** What survives a restart: in two sections of `state.dir`, or in memory only. */
export function createSavedState(
  config: Config,
  parts: SavedParts,
  { log, later, wall }: { readonly log: Log; readonly later: Timer; readonly wall: () => number },
): SavedState {
  const { dir } = config.state;
  if (dir === undefined) {
    return {
      start: async () => {},
      endWait: () => {},
      isHeld: async () => false,
      failing: () => false,
      countsLostAt: () => undefined,
      afterSaving: (run) => run(false),
      close: async () => {},
    };
  }
  const { rollout, ledger, shadow, identity, digests, requests } = parts;
  const warn = (message: string, cause: unknown): void => log.warn(message, cause);
  const store = createFolderStore(dir, {
    host: hostname(),
    process: pid,
    later,
    wall,
    warn,
    isUnchanged: async () => (await Promise.all(sections.map((section) => section.isUnchanged()))).every(Boolean),
    reclaimed: () => {
      for (const section of sections) void section.save(true);
      void store.markUsed().catch(() => {});
    },
  });
  const basis = basisOf(config);
  const hasNative = config.upstream.v1 !== undefined;
  let kept = NOTHING_KEPT;
  let countsLostAt: number | undefined;
  const restoreRules = (found: Pick<ReadRollout, "force" | "rules" | "lost" | "transitions">, holds: boolean): void => {
    const { force, rules, lost, transitions } = found;
    if (force.command === "native") {
      const said = force.lost
        ? "what carryover force said before the restart cannot be read: native until carryover force none"
        : "carryover force native, before the restart";
      if (hasNative) log.warn("cutover: forced", undefined, { from: "none", to: "native", reason: said });
      else
        log.warn(
          "carryover force native is kept, and has no effect until upstream.v1.url is set again; carryover force none ends it",
          undefined,
        );
    }
    rollout.restore({
      force,
      rules: holds ? rules : rules.map(withoutEvidence),
      lost,
      transitions,
    });
  };
  const rules = createSavedSection({
    store,
    name: "rollout",
    everyMs: EVIDENCE_MS,
    later,
    warn,
    revision: rollout.revision,
    snapshot: () => savedRollout({ key: digests.key(), basis, kept, ...rollout.memory() }),
    restore: (text) => {
      const found = readSavedRollout(JSON.parse(text), identity.nameNow);
      if (found.key !== undefined) digests.restore(found.key);
      const holds = found.basis === basis && found.key !== undefined;
      if (!holds)
        log.info("evidence of rules begins anew: carryover or options that change responses are others now", {});
      ({ kept } = found);
      restoreRules(found, holds);
      return found.unusable;
    },
    lost: () => restoreRules(ALL_LOST, true),
    whenLost: hasNative
      ? "rules that translate stay on native v1 until carryover confirm RULE, and everything does until carryover force none"
      : "rules translate, since there is no native v1; carryover confirm RULE ends the warning of each",
  });
  const counts = createSavedSection({
    store,
    name: "counts",
    everyMs: COUNTS_MS,
    idleChecks: IDLE_CHECKS,
    later,
    warn,
    revision: ledger.revision,
    snapshot: () => withCheck(savedCounts(parts, basis, countsLostAt)),
    restore: (text) => {
      if (!isIntact(text)) throw new Error("it is not as it was written");
      const found: unknown = JSON.parse(text);
      if (member(found, "version") !== 1) throw new Error("version: expected 1");
      const nameNow = identity.nameSince(readSavedNames(member(found, "names")));
      const comparisons = readSavedComparisons(member(found, "comparisons"), nameNow);
      const snapshot = readRecord(LedgerSchema, member(found, "ledger"), "ledger");
      const historyFault = requests.restore(member(found, "totals"), member(found, "history"));
      ledger.restore(snapshot, nameNow);
      if (member(found, "basis") === basis) shadow?.tally.restore(comparisons);
      const lostAt = member(found, "lostAt");
      if (typeof lostAt === "number" && lostAt <= LAST_TIME) countsLostAt = lostAt;
      // Only counts over time begin again.
      return historyFault === undefined ? [] : [historyFault];
    },
    lost: () => {
      countsLostAt = wall();
    },
    whenLost: "who called v1 before is forgotten, and every count begins now",
  });
  const sections: readonly SavedSection[] = [rules, counts];
  return {
    start: async () => {
      try {
        const { used, marked, fault } = await store.prepare();
        if (fault !== undefined)
          warn(
            `state.dir: ${dir} cannot be written: this process goes on in memory with what it can read there`,
            fault,
          );
        await rules.start(used);
        // Earlier versions saved no counts in their first minutes.
        await counts.start(marked);
        if (marked && fault === undefined) return;
        // Shows at once whether anything can be saved.
        for (const section of sections) await section.save(true);
        // Else it is written by the next process.
        if (!sections.some((section) => section.failing())) await store.markUsed().catch(() => {});
      } catch (error) {
        if (error instanceof StateInUse || error instanceof StateWaitEnded) throw error;
        const why = error instanceof Error ? error.message : String(error);
        const remedy = "name a directory whose parent exists, or remove the option to keep everything in memory";
        throw new ConfigError([{ where: "state.dir", what: `${dir} cannot be used (${why})`, remedy }]);
      }
    },
    endWait: store.endWait,
    isHeld: () =>
      store.requireHeld().then(
        () => true,
        () => false,
      ),
    failing: () => sections.some((section) => section.failing()),
    countsLostAt: () => countsLostAt,
    afterSaving: (run) => {
      const once = onlyOnce(run);
      const giveUp = later(SAVE_MS, () => once(false));
      void rules.save().then(() => {
        giveUp();
        once(!rules.failing());
      });
    },
    close: async () => {
      const closed = (async () => {
        for (const section of sections) await section.close();
        await store.release();
      })();
      let giveUp = (): void => {};
      const tooLong = new Promise<void>((resolve) => {
        giveUp = later(CLOSE_MS, () => {
          warn(
            `state.dir: ${dir} does not respond: the last ${CLOSE_MS / 1_000} s were waited for, and what is new is lost`,
            undefined,
          );
          resolve();
        });
      });
      await Promise.race([closed, tooLong]);
      giveUp();
    },
  };
}

/** Digest of what responses depend on beside the rules: another version, platform or option makes other responses. */
function basisOf({ upstream, v1, unknownFields, shadow }: Config): string {
  const { v2 } = upstream;
  const what = [VERSION, v2.url, v2.version, v2.omitsZeros, upstream.v1?.url, v1, unknownFields, shadow.ignore];
  return createHash("sha256").update(JSON.stringify(what)).digest("hex").slice(0, 16);
}

function* savedCounts(
  { identity, ledger, requests, shadow }: SavedParts,
  basis: string,
  lostAt: number | undefined,
): Generator<string> {
  const { entries, head } = ledger.stream();
  const comparisons = (shadow?.tally.rows() ?? []).map(({ results: _, controls: __, noisy: ___, ...counts }) => counts);
  const first = { version: 1, basis, lostAt, names: identity.meanings(), comparisons };
  yield JSON.stringify(first).replace(/\}$/, ',"ledger":{"clients":');
  yield* jsonArray(entries);
  yield JSON.stringify(head()).replace(/^\{/, ",");
  yield ',"history":';
  yield* requests.saved();
  // Last: it has every kind that the history counts.
  yield `,"totals":${JSON.stringify(requests.snapshot())}}`;
}

function onlyOnce(run: (isSaved: boolean) => void): (isSaved: boolean) => void {
  let isDone = false;
  return (isSaved) => {
    if (isDone) return;
    isDone = true;
    run(isSaved);
  };
}
