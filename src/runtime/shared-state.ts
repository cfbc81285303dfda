/**
 * Shares what this process decides about rules with other replicas, over the store at `state.url`: step backs and `carryover force` hold for all of them.
 * No request waits for the store. Without it, each replica decides alone, as it does without `state.url`.
 */
import { createHash, randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Config } from "../config/config.ts";
import type { Timer } from "../model/clock.ts";
import type { RecordEvent } from "../model/event.ts";
import { member, parsedJson } from "../model/json.ts";
import { scrub } from "../model/secrets.ts";
import { replaceUnprintable } from "../model/text.ts";
import type { EvidenceCounts, Rollout } from "../rollout/rollout.ts";
import type { RolloutEvent } from "../rollout/rule-state.ts";
import { readCause } from "../rollout/saved-rollout.ts";
import type { Rule } from "../rules/rule.ts";
import { type ForceCommand, ForceCommands, type ForceNote, LONGEST_BY, LONGEST_REASON } from "../rules/status.ts";
import { type Contributions, type Contributor, createContributions, ownerOf } from "../state/shared/contributions.ts";
import { isUp, type LinkState } from "../state/shared/link.ts";
import type { ReplicaRow, RuleRow, SharedStore } from "../state/shared/protocol.ts";
import { createReplica, type Replica } from "../state/shared/replica.ts";
import { createRows } from "../state/shared/rows.ts";
import { storeSecrets } from "../state/shared/secrets.ts";
import { createValkeyStore } from "../state/shared/valkey-store.ts";
import type { Log } from "../telemetry/log.ts";
import type { SharedStateProgress } from "../telemetry/progress.ts";
import { VERSION } from "../version.ts";
import { createSharedEvidence } from "./shared-evidence.ts";

/** How long a start waits for what other replicas decided. Then this process serves, and hears of it later. */
const START_MS = 1_500;
/** How long `carryover force` waits until the store has the command. */
const FORCE_MS = 1_500;
/** A replica that has not been heard for this long is gone. */
const GONE_MS = 5_000;
const DIGEST_DIGITS = 24;
const SHORT_ID = 8;

interface SharedStateParts {
  readonly rollout: Pick<Rollout, "rules" | "adopt" | "stepBackOf" | "forceByHand" | "force">;
  /** Digest of what responses depend on besides the rules. */
  readonly basis: string;
  readonly record: RecordEvent;
  readonly log: Pick<Log, "info" | "warn">;
  /** Random, one per process. */
  readonly instance: string;
  /** Milliseconds since 1970. */
  readonly wall: () => number;
  readonly later: Timer;
  /** Default: the store that the configuration names. */
  readonly store?: SharedStore | undefined;
}

export interface SharedState {
  /** Reads what other replicas decided. Takes a moment at most, whatever the store does, and never rejects. */
  start(): Promise<void>;
  /** Takes each change of a rule. */
  changed(event: RolloutEvent): void;
  /** Takes evidence about a rule. Takes no time, whatever the store does. */
  counted(rule: Rule, counts: EvidenceCounts): void;
  /** Hands a command of `carryover force` to all replicas. Resolves to true once the store has it; to false if that takes too long. */
  force(command: ForceCommand, note: ForceNote): Promise<boolean>;
  /** What this contributor, and all others, keep in the store; to be called once, before `start`. Undefined without a store. */
  open(contributor: string): SharedDocuments | undefined;
  /** False while the store does not respond. */
  isUp(): boolean;
  /** Undefined without a store. */
  progress(): SharedStateProgress | undefined;
  /** Never rejects. */
  close(): Promise<void>;
}

/** The documents of all contributors. */
export interface SharedDocuments {
  readonly contributions: Contributions;
  /** `web-1/1a2b3c4d` */
  readonly nameOf: (host: string, instance: string) => string;
  /** When a contributor, now or last the process `instance`, was heard last, by the clock of this process; undefined while it is there. */
  readonly goneSince: (contributor: Contributor, instance: string) => number | undefined;
}

const ALONE: SharedState = {
  open: () => undefined,
  start: async () => {},
  changed: () => {},
  counted: () => {},
  force: async () => false,
  isUp: () => true,
  progress: () => undefined,
  close: async () => {},
};

export function createSharedState(config: Config["state"], parts: SharedStateParts): SharedState {
  const { rollout, instance, wall, later } = parts;
  const store = parts.store ?? storeOf(config, later);
  if (store === undefined) return ALONE;
  const host = hostname();
  const name = nameOf(host, instance);
  const startedAt = wall();
  const report = createReports(parts);
  const adopt = createAdoption(parts, name);
  let heard = (): void => {};
  const firstResponse = new Promise<void>((resolve) => {
    heard = resolve;
  });
  /** Local time at the last response, and the time of the store. */
  let clocks = { here: startedAt, there: startedAt };
  const rows = createRows(`r.${instance}`, startedAt);
  const allRows = [rows];
  const evidence = createSharedEvidence(parts.basis, rows);
  const presentRules = (): readonly Rule[] => rollout.rules()?.rules ?? [];
  const replica = createReplica({
    id: instance,
    store,
    about: (isLeaving) =>
      JSON.stringify({
        host,
        instance,
        version: VERSION,
        rules: rollout.rules()?.digest,
        startedAt,
        left: isLeaving || undefined,
      }),
    rows: allRows,
    asks: () => {
      evidence.publish();
      return evidence.asks(presentRules());
    },
    wall,
    later,
    ticked: (link) => {
      report(link);
      if (!isUp(link)) return;
      clocks = { here: wall(), there: replica.view().at ?? wall() };
      evidence.answered(replica.answers());
      adopt.all(replica);
      heard();
    },
  });
  return {
    open: (contributor) => {
      const own = createRows(ownerOf(contributor), startedAt);
      allRows.push(own);
      return {
        contributions: createContributions(own, store),
        nameOf,
        goneSince: (one, process) => goneSince(replica.view().replicas, clocks, one, process),
      };
    },
    start: async () => {
      replica.start();
      await within(START_MS, firstResponse, later);
    },
    changed: (event) => {
      if (event.kind === "rules") adopt.all(replica);
      if (event.kind === "stepped-back" && event.rule !== undefined) adopt.own(replica, event.rule, event.reason);
    },
    counted: evidence.counted,
    force: (command, { reason, by }) => {
      const detail = JSON.stringify({
        command,
        reason: shared(reason, LONGEST_REASON),
        by: shared(by, LONGEST_BY),
        name,
      });
      const applied = replica.decide({ kind: "force", detail }).then((outcome) => outcome !== "stale");
      // It is handed over when the store is back.
      if (replica.view().link.phase === "away") return Promise.resolve(false);
      return within(FORCE_MS, applied, later).then((isApplied) => isApplied === true);
    },
    isUp: () => isUp(replica.view().link),
    progress: () => ({ ...progressOf(replica, clocks), evidence: evidence.sums(presentRules()) }),
    close: () => replica.close(),
  };
}

/** Undefined without `state.url`. */
function storeOf({ url, username, prefix, ...files }: Config["state"], later: Timer) {
  if (url === undefined) return undefined;
  return createValkeyStore({
    url,
    username,
    prefix,
    later,
    random: Math.random,
    fresh: () => randomUUID(),
    secrets: storeSecrets(files),
  });
}

/** `web-1/1a2b3c4d`: several processes may share a host. */
function nameOf(host: string, instance: string): string {
  return `${host}/${instance.slice(0, SHORT_ID)}`;
}

/** Rules of the same key take the same requests in the same way, whatever their share of clients and their thresholds are. */
function keyOf({ name, mode, evidenceKey }: Rule): string {
  const text = JSON.stringify([name, mode, evidenceKey]);
  return createHash("sha256").update(text).digest("hex").slice(0, DIGEST_DIGITS);
}

/** A text for the store. */
function shared(text: string | undefined, most: number): string | undefined {
  return text === undefined ? undefined : scrub(text).slice(0, most);
}

/** A text from the store, to which others can write. */
function foreignText(value: unknown, most: number): string | undefined {
  return typeof value === "string" ? replaceUnprintable(value).slice(0, most) : undefined;
}

const LONGEST_NAME = 128;

/** Brings the decisions in the store and those of this process together. */
function createAdoption({ rollout, instance, log }: SharedStateParts, name: string) {
  /** By key: the latest generation that was looked at. */
  const handled = new Map<string, number>();
  let forceNumber = 0;
  let digest: string | undefined;
  const keys = new WeakMap<Rule, string>();
  const cachedKeyOf = (rule: Rule): string => {
    const key = keys.get(rule) ?? keyOf(rule);
    keys.set(rule, key);
    return key;
  };
  const publish = (replica: Replica, rule: Rule, reason: string): void => {
    const key = cachedKeyOf(rule);
    const cause = rollout.stepBackOf(rule.name)?.cause;
    if (cause === undefined) return;
    const { replica: from = name, ...found } = cause;
    const rateLimit = cause.what === "guard" ? { rateLimit: shared(cause.rateLimit, LONGEST_NAME) } : {};
    const detail = JSON.stringify({
      rule: rule.name,
      reason: shared(reason, LONGEST_REASON),
      cause: { ...found, ...rateLimit },
      name: from,
    });
    void replica.decide({ kind: "rule", key, what: "back", generation: 0, detail });
  };
  const follow = (replica: Replica, rule: Rule, row: RuleRow | undefined): void => {
    const own = rollout.stepBackOf(rule.name);
    const key = cachedKeyOf(rule);
    // A rule that never steps back follows no other.
    if (own === undefined || replica.isDeciding(key)) return;
    if (row === undefined) {
      // It stepped back before the store knew of it: in an earlier process, or before the store was emptied.
      if (own.phase !== "forward") publish(replica, rule, "it had stepped back before the store knew of it");
      return;
    }
    const isNew = row.generation > (handled.get(key) ?? 0);
    handled.set(key, row.generation);
    if (row.what !== "back") return;
    if (isNew && row.replica !== instance && own.phase !== "back") {
      const detail = parsedJson(row.detail);
      const cause = readCause(member(detail, "cause"));
      if (cause === undefined) {
        log.warn("a step back of another replica cannot be read, and is not followed", undefined, { rule: rule.name });
        return;
      }
      const from = foreignText(member(detail, "name"), LONGEST_NAME) ?? row.replica;
      rollout.adopt(rule.name, { ...cause, replica: from });
      return;
    }
    // It returned here: a replica that starts from now on need not step back.
    if (!isNew && own.phase === "forward") {
      const { generation } = row;
      const text = JSON.stringify({ rule: rule.name, name });
      void replica.decide({ kind: "rule", key, what: "forward", generation, detail: text });
    }
  };
  const followForce = (replica: Replica): void => {
    const row = replica.force();
    if (row === undefined || row.number <= forceNumber || replica.isDeciding("force")) return;
    forceNumber = row.number;
    if (row.replica === instance) return;
    const detail = parsedJson(row.detail);
    const command = ForceCommands.safeParse(member(detail, "command")).data;
    if (command === undefined) {
      log.warn("a command of carryover force on another replica cannot be read, and is not followed", undefined, {});
      return;
    }
    const reason = foreignText(member(detail, "reason"), LONGEST_REASON);
    const by = foreignText(member(detail, "by"), LONGEST_BY);
    const before = rollout.force();
    const isKnown = before.command === command && before.reason === reason && before.by === by && before.lost !== true;
    if (isKnown) return;
    const note = { replica: foreignText(member(detail, "name"), LONGEST_NAME) ?? row.replica };
    const said = { ...(reason === undefined ? {} : { reason }), ...(by === undefined ? {} : { by }) };
    rollout.forceByHand(command, row.at, { ...said, ...note });
  };
  return {
    /** The rule stepped back here. */
    own: (replica: Replica, ruleName: string, reason: string): void => {
      // Another replica's step back is in the store already.
      if (rollout.stepBackOf(ruleName)?.cause?.replica !== undefined) return;
      const rule = rollout.rules()?.rules.find((one) => one.name === ruleName);
      if (rule !== undefined) publish(replica, rule, reason);
    },
    all: (replica: Replica): void => {
      // Before the first response nothing is known of the others.
      if (replica.view().at === undefined) return;
      followForce(replica);
      const rules = rollout.rules();
      if (rules?.digest !== digest) {
        digest = rules?.digest;
        // A rule that was removed and is there again is a new one here: what the others decided is looked at again.
        const present = new Set(rules?.rules.map(cachedKeyOf));
        for (const key of handled.keys()) if (!present.has(key)) handled.delete(key);
      }
      const rows = replica.rules();
      for (const rule of rules?.rules ?? []) follow(replica, rule, rows.get(cachedKeyOf(rule)));
    },
  };
}

/** Logs and records how the connection with the store changes. Returns what takes the state after each tick. */
function createReports({ log, record }: SharedStateParts): (link: LinkState) => void {
  let before: LinkState | undefined;
  let isAway = false;
  return (link) => {
    const { phase, fault = "" } = link;
    if (!isUp(link) && !isAway) {
      isAway = true;
      const reason = `the store at state.url cannot be used, and this replica decides alone: ${fault}`;
      log.warn(reason, undefined, { event: record({ kind: "state-failing", reason }) });
    } else if (isUp(link) && isAway) {
      isAway = false;
      const reason = "the store at state.url can be used again";
      log.info(reason, { event: record({ kind: "state-saved", reason }) });
    }
    if (phase === "refilling" && before?.phase !== "refilling") {
      log.warn("the store at state.url lost what it had: this replica sends what it knows again", undefined, {});
    }
    before = link;
  };
}

function goneSince(
  replicas: readonly ReplicaRow[],
  { here, there }: { readonly here: number; readonly there: number },
  contributor: Contributor,
  instance: string,
): number | undefined {
  const row = replicas.find(({ id }) => id === instance);
  const hasLeft = [row, contributor].some((one) => member(parsedJson(one?.about ?? ""), "left") === true);
  if (row !== undefined && there - row.heardAt <= GONE_MS && !hasLeft) return undefined;
  // The store names replicas for a day. Rows come every few minutes at least.
  const heardAt = Math.max(row?.heardAt ?? 0, contributor.heardAt);
  return Math.max(0, Math.round(Math.min(heardAt, there) - there + here));
}

function progressOf(replica: Replica, { here, there }: { readonly here: number; readonly there: number }) {
  const { link, trouble, replicas } = replica.view();
  const local = (time: number): number => Math.max(0, Math.round(time - there + here));
  const fault = link.fault ?? trouble;
  return {
    up: isUp(link),
    since: link.since,
    ...(fault === undefined ? {} : { fault }),
    replicas: replicas.map(({ id, heardAt, about }) => {
      const found = parsedJson(about);
      const [host, version, rules] = ["host", "version", "rules"].map((key) => foreignText(member(found, key), 64));
      const startedAt = member(found, "startedAt");
      const isGone = id !== replica.id && there - heardAt > GONE_MS;
      const hasLeft = member(found, "left") === true;
      return {
        instance: id,
        name: nameOf(host ?? "unknown", id),
        version: version ?? "unknown",
        ...(rules === undefined ? {} : { rules }),
        startedAt: typeof startedAt === "number" && startedAt >= 0 ? Math.round(startedAt) : local(heardAt),
        heardAt: local(heardAt),
        ...(isGone || hasLeft ? { goneSince: local(heardAt) } : {}),
        ...(hasLeft ? { left: true } : {}),
      };
    }),
  };
}

/** Undefined after `ms`. */
async function within<T>(ms: number, work: Promise<T>, later: Timer): Promise<T | undefined> {
  let cancel = (): void => {};
  const late = new Promise<undefined>((resolve) => {
    cancel = later(ms, () => resolve(undefined));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    cancel();
  }
}
