/** What survives a restart: rule states, their evidence, comparisons, the ledger, events and the last good rules, in `state.dir`. */
import { createHash, createHmac, randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { pid } from "node:process";
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/faults.ts";
import type { EventHistory } from "../history/events.ts";
import type { RequestHistory } from "../history/requests.ts";
import { LedgerSchema } from "../ledger/entry.ts";
import type { ClientIdentity } from "../ledger/identity.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type Retention, readRetention } from "../ledger/retention.ts";
import { LAST_TIME, type Timer } from "../model/clock.ts";
import { member, parsedJson } from "../model/json.ts";
import { type CredentialOf, createCredentials } from "../rollout/callers.ts";
import type { Rollout, RolloutMemory } from "../rollout/rollout.ts";
import { withoutEvidence } from "../rollout/rule-state.ts";
import type { LastRules } from "../rollout/rules-file.ts";
import {
  ALL_LOST,
  type KeptMembers,
  readSavedComparisons,
  readSavedNames,
  readSavedRollout,
  savedRollout,
} from "../rollout/saved-rollout.ts";
import { readRecord } from "../rules/record.ts";
import type { Shadow } from "../shadow/shadow.ts";
import { StateInUse, StateWaitEnded } from "../state/lock.ts";
import { createSavedSection, isIntact, jsonArray, type SavedSection, withCheck } from "../state/section.ts";
import { createFolderStore, type StateStore } from "../state/store.ts";
import type { Log } from "../telemetry/log.ts";
import { VERSION } from "../version.ts";
import type { KnownContributors } from "./known-contributors.ts";

/** Digests of credentials, under a key that survives a restart with the evidence that holds them. */
export interface CredentialDigests {
  readonly credentialOf: CredentialOf;
  /** 64 hexadecimal digits. */
  key(): string;
  restore(key: string): void;
}

/** The salt is in no saved file: the key alone does not tell which credential a digest belongs to. */
export function createCredentialDigests({ clients, cutover, state, upstream }: Config): CredentialDigests {
  const under = (key: string): CredentialOf =>
    createCredentials(clients.identify, createHmac("sha256", cutover.salt).update(`credentials\0${key}`).digest());
  // Replicas that share a store count callers together, so all of one deployment have the same key.
  const deployment = JSON.stringify([state.prefix, upstream.v2.url, upstream.v1?.url]);
  const common =
    state.url === undefined
      ? undefined
      : createHmac("sha256", cutover.salt).update(`replicas\0${deployment}`).digest("hex");
  let key = common ?? randomBytes(32).toString("hex");
  let digestOf = under(key);
  return {
    credentialOf: (headers) => digestOf(headers),
    key: () => key,
    restore: (before) => {
      if (common !== undefined) return;
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
  readonly history: EventHistory;
  /** Undefined without a rules file. */
  readonly lastRules: LastRules | undefined;
  readonly retention: Retention;
  /** Undefined without a shared store. */
  readonly known?: KnownContributors | undefined;
  /** Random, one per process. */
  readonly instance: string;
}

/** What is known of the process before this one. */
export interface ProcessBefore {
  /** The version that it was, if that was another one. */
  readonly version?: string | undefined;
  /** How it ended, if it did not stop properly. */
  readonly ended?: string | undefined;
}

/** What the shared store has of the process before this one. */
export interface StoredBefore {
  /** When it was written, in milliseconds since 1970 by the clock of that process. */
  readonly at: number;
  /** As the sections of `state.dir`. */
  readonly counts: object;
  readonly events: object;
}

export interface SavedState {
  /**
   * `stored`: what the shared store has under the contributor's id; takes a moment at most, and never rejects. What is newer is restored, this or
   * the directory.
   *
   * Rejects with ConfigError when `state.dir` cannot be a directory, with `StateInUse` when another live process has it, and with
   * `StateWaitEnded` after `endWait`. Where the storage fails, this process goes on in memory with what it could read.
   */
  start(stored?: (contributor: string) => Promise<StoredBefore | undefined>): Promise<void>;
  /** Under which id the shared store has what this process counts. With `state.dir` the same after a restart. Known once `start` asks for it. */
  contributor(): string;
  /** Ends a `start` that waits for another process. */
  endWait(): void;
  /** True while this process may write to `state.dir`. */
  isHeld(): Promise<boolean>;
  failing(): boolean;
  /** When counts were lost because they could not be read, in milliseconds since 1970; undefined if they were not. */
  countsLostAt(): number | undefined;
  /** Since when comparisons are counted, in milliseconds since 1970. */
  comparedSince(): number;
  /** Known after `start`. */
  before(): ProcessBefore;
  /** Runs once the rules' states are on disk, so that what operators are told of survives a restart; else with `false`. */
  afterSaving(run: (isSaved: boolean) => void): void;
  /** Saves the counts now; false if a restart would bring back older ones. Without `state.dir` nothing is kept that could come back. */
  saveCounts(): Promise<boolean>;
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

/** Without what an earlier version saved. */
const EARLIER = "an earlier version";

/** What survives a restart: in sections of `state.dir`, or in memory only. */
export function createSavedState(
  config: Config,
  parts: SavedParts,
  { log, later, wall }: { readonly log: Log; readonly later: Timer; readonly wall: () => number },
): SavedState {
  const { dir } = config.state;
  let comparedSince = wall();
  if (dir === undefined) {
    return {
      start: async (stored) => void (await stored?.(parts.instance)),
      contributor: () => parts.instance,
      endWait: () => {},
      isHeld: async () => false,
      failing: () => false,
      countsLostAt: () => undefined,
      comparedSince: () => comparedSince,
      before: () => ({}),
      afterSaving: (run) => run(false),
      saveCounts: async () => true,
      close: async () => {},
    };
  }
  const { rollout, ledger, shadow, identity, digests, requests, history, lastRules, retention, known } = parts;
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
  let kept: KeptMembers = {};
  let contributor = parts.instance;
  let stored: StoredBefore | undefined;
  let countsLostAt: number | undefined;
  let before: ProcessBefore = {};
  /** The version that wrote the events; undefined when they were not read. */
  let writer: string | undefined;
  let isFailing = false;
  const failed = (message: string, cause: unknown): void => {
    const isNews = !isFailing;
    isFailing = true;
    const reason = `${message}${cause instanceof Error ? ` (${cause.message})` : ""}`;
    log.warn(message, cause, isNews ? { event: history.record({ kind: "state-failing", reason }) } : undefined);
  };
  const recovered = (): void => {
    if (!isFailing || sections.some((section) => section.failing())) return;
    isFailing = false;
    const reason = `${dir} can be written again`;
    log.info(`state.dir: ${reason}`, { event: history.record({ kind: "state-saved", reason }) });
  };
  const common = { store, later, warn, failed, recovered };
  const restoreRules = (found: RolloutMemory, holds: boolean): void => {
    const { force, rules } = found;
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
    rollout.restore({ ...found, rules: holds ? rules : rules.map(withoutEvidence) });
  };
  const rules = createSavedSection({
    ...common,
    name: "rollout",
    everyMs: EVIDENCE_MS,
    revision: rollout.revision,
    snapshot: () => savedRollout({ key: digests.key(), basis, kept, ...rollout.memory() }),
    restore: (text) => {
      const found = readSavedRollout(JSON.parse(text), identity.nameNow);
      if (found.key !== undefined) digests.restore(found.key);
      const isSame = found.basis === basis && found.key !== undefined;
      // Those that share a store find there what a process before this one counted.
      const holds = isSame && config.state.url === undefined;
      if (!isSame)
        log.info("evidence of rules begins anew: carryover or options that change responses are others now", {});
      ({ kept } = found);
      history.adopt(found.transitions);
      restoreRules(found, holds);
      return found.unusable;
    },
    lost: () => restoreRules(ALL_LOST, true),
    whenLost: hasNative
      ? "rules that translate stay on native v1 until carryover confirm RULE, and everything does until carryover force none"
      : "rules translate, since there is no native v1; carryover confirm RULE ends the warning of each",
  });
  const restoreCounts = (found: unknown): readonly string[] => {
    if (member(found, "version") !== 1) throw new Error("version: expected 1");
    const nameNow = identity.nameSince(readSavedNames(member(found, "names")));
    const comparisons = readSavedComparisons(member(found, "comparisons"), nameNow);
    const snapshot = readRecord(LedgerSchema, member(found, "ledger"), "ledger");
    const historyFault = requests.restore(member(found, "totals"), member(found, "history"));
    ledger.restore(snapshot, nameNow);
    retention.restore(readRetention(member(found, "overdue"), nameNow));
    if (member(found, "basis") === basis) {
      shadow?.tally.restore(comparisons);
      const compared = member(found, "comparedSince");
      comparedSince = typeof compared === "number" && compared <= LAST_TIME ? compared : snapshot.since;
    }
    const lostAt = member(found, "lostAt");
    if (typeof lostAt === "number" && lostAt <= LAST_TIME) countsLostAt = lostAt;
    // Only counts over time begin again.
    return historyFault === undefined ? [] : [historyFault];
  };
  /** True if the counts of the shared store were restored. What cannot be used there is left. */
  const restoreStored = (): boolean => {
    if (stored === undefined) return false;
    try {
      restoreCounts(stored.counts);
      log.info("counts continue from the store at state.url, which is ahead of state.dir", {});
      return true;
    } catch (error) {
      log.warn("what the store at state.url has of this process's counts cannot be used", error);
      return false;
    } finally {
      stored = undefined;
    }
  };
  const counts = createSavedSection({
    ...common,
    name: "counts",
    everyMs: COUNTS_MS,
    idleChecks: IDLE_CHECKS,
    revision: ledger.revision,
    snapshot: () => withCheck(savedCounts(parts, { basis, lostAt: countsLostAt, comparedSince })),
    restore: (text) => {
      const found = intactJson(text);
      const at = member(member(found, "ledger"), "at");
      const isBehind = stored !== undefined && typeof at === "number" && at < stored.at;
      return isBehind && restoreStored() ? [] : restoreCounts(found);
    },
    lost: () => {
      if (!restoreStored()) countsLostAt = wall();
    },
    whenLost: "who called v1 before is forgotten, and every count begins now",
  });
  const events = createSavedSection({
    ...common,
    name: "events",
    everyMs: EVIDENCE_MS,
    revision: history.revision,
    snapshot: () => withCheck(history.saved(VERSION)),
    restore: (text) => {
      writer = history.restore(intactJson(text));
      return [];
    },
    // History protects nothing.
    lost: () => {},
    whenLost: "events begin now; nothing else depends on them",
  });
  /** Those that `state.dir` lacks. */
  const takeEvents = (found: object): void => {
    try {
      history.restore(found);
    } catch (error) {
      log.warn("what the store at state.url has of this process's events cannot be used", error);
    }
  };
  // Events are rare. Most of them come when a process is in trouble.
  history.subscribe(() => void events.save());
  /** A section of something that is saved as a whole. Nothing protects clients by it. */
  const whole = (
    name: string,
    everyMs: number,
    part: Pick<LastRules, "saved" | "restore" | "revision"> | undefined,
    whenLost: string,
  ): readonly SavedSection[] =>
    part === undefined
      ? []
      : [
          createSavedSection({
            ...common,
            name,
            everyMs,
            revision: part.revision,
            snapshot: () => withCheck(part.saved()),
            restore: (text) => {
              part.restore(intactJson(text));
              return [];
            },
            lost: () => {},
            whenLost,
          }),
        ];
  const spare = whole(
    "last-rules",
    EVIDENCE_MS,
    lastRules,
    "carryover does not start with an invalid rules file until it has read a valid one",
  );
  const replicas = whole(
    "replicas",
    COUNTS_MS,
    known,
    "what the store at state.url loses of replicas that this process has not seen yet is not noticed",
  );
  const sections: readonly SavedSection[] = [rules, counts, events, ...spare, ...replicas];
  return {
    contributor: () => contributor,
    start: async (readStored) => {
      try {
        const { used, marked, fault, heardAt } = await store.prepare();
        if (readStored !== undefined) {
          contributor = await contributorOf(store, parts.instance);
          stored = await readStored(contributor);
        }
        const storedEvents = stored?.events;
        if (fault !== undefined)
          warn(
            `state.dir: ${dir} cannot be written: this process goes on in memory with what it can read there`,
            fault,
          );
        await rules.start(used);
        // Earlier versions saved no counts in their first minutes.
        await counts.start(marked);
        const hadEvents = (await store.mark("events").catch(() => undefined)) !== undefined;
        await events.start(false);
        if (storedEvents !== undefined) takeEvents(storedEvents);
        for (const section of [...spare, ...replicas]) await section.start(false);
        before = {
          version: hadEvents ? otherVersion(writer) : used ? EARLIER : undefined,
          ended: endOf(history, heardAt),
        };
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
    comparedSince: () => comparedSince,
    before: () => before,
    afterSaving: (run) => {
      const once = onlyOnce(run);
      const giveUp = later(SAVE_MS, () => once(false));
      void Promise.all([rules, events, ...spare].map((section) => section.save())).then(() => {
        giveUp();
        once(!rules.failing());
      });
    },
    saveCounts: async () => {
      await counts.save();
      return !counts.failing();
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

const CONTRIBUTOR = "contributor";
const CONTRIBUTOR_ID = /^[0-9a-f-]{36}$/;

/** The id in the directory, or `fresh`, which is kept there from now on. */
async function contributorOf(store: Pick<StateStore, "read" | "write">, fresh: string): Promise<string> {
  const kept = await store.read(CONTRIBUTOR).catch(() => undefined);
  const id = member(parsedJson(kept ?? ""), "id");
  if (typeof id === "string" && CONTRIBUTOR_ID.test(id)) return id;
  await store.write(CONTRIBUTOR, [JSON.stringify({ version: 1, id: fresh })]).catch(() => {});
  return fresh;
}

/** Throws for text that is not as it was written. */
function intactJson(text: string): unknown {
  if (!isIntact(text)) throw new Error("it is not as it was written");
  return JSON.parse(text);
}

function otherVersion(writer: string | undefined): string | undefined {
  return writer === VERSION ? undefined : writer;
}

/** Undefined if the last process that saved its events stopped properly. `heardAt`: milliseconds since 1970. */
function endOf(history: Pick<EventHistory, "select">, heardAt: number | undefined): string | undefined {
  const all = history.select();
  const last = all.findLast(({ kind }) => kind === "started" || kind === "stopped");
  if (last?.kind !== "started") return undefined;
  const at = new Date(Math.floor(heardAt ?? all.at(-1)?.at ?? last.at)).toISOString().slice(0, 19).replace("T", " ");
  return `the process before it did not stop properly: it was last heard of at ${at}Z, and nothing was saved since`;
}

/** Digest of what responses depend on beside the rules: another version, platform or option makes other responses. */
export function basisOf({
  upstream,
  v1,
  unknownFields,
  shadow,
}: Pick<Config, "upstream" | "v1" | "unknownFields" | "shadow">): string {
  const { v2 } = upstream;
  const what = [
    VERSION,
    v2.url,
    v2.version,
    v2.omitsZeros,
    upstream.v1?.url,
    v1,
    unknownFields,
    shadow.ignore,
    shadow.matchers,
  ];
  return createHash("sha256").update(JSON.stringify(what)).digest("hex").slice(0, 16);
}

function* savedCounts(
  { identity, ledger, requests, shadow, retention }: SavedParts,
  about: { readonly basis: string; readonly lostAt: number | undefined; readonly comparedSince: number },
): Generator<string> {
  const { entries, head } = ledger.stream();
  const comparisons = (shadow?.tally.rows() ?? []).map(({ results: _, controls: __, noisy: ___, ...counts }) => counts);
  const first = { version: 1, ...about, names: identity.meanings(), comparisons, overdue: retention.memory() };
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
