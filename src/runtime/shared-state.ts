/**
 * Shares what this process decides about rules with other replicas, over the store at `state.url`: step backs and `carryover force` hold for all of them.
 * No request waits for the store. Without it, each replica decides alone, as it does without `state.url`.
 */
import { createHmac, randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Config } from "../config/config.ts";
import type { Timer } from "../model/clock.ts";
import type { RecordEvent } from "../model/event.ts";
import { member, parsedJson } from "../model/json.ts";
import type { GuardSecond } from "../rollout/guard.ts";
import type { Rollout } from "../rollout/rollout.ts";
import type { Promotes, RolloutEvent } from "../rollout/rule-state.ts";
import type { Rule } from "../rules/rule.ts";
import { type ForceCommand, type ForceNote, LONGEST_BY, LONGEST_REASON } from "../rules/status.ts";
import { type Contributions, type Contributor, createContributions, ownerOf } from "../state/shared/contributions.ts";
import { isUp, type LinkState } from "../state/shared/link.ts";
import type { ReplicaRow, SharedStore } from "../state/shared/protocol.ts";
import { createReplica, type Replica } from "../state/shared/replica.ts";
import { createRows } from "../state/shared/rows.ts";
import { storeSecrets } from "../state/shared/secrets.ts";
import { createValkeyStore } from "../state/shared/valkey-store.ts";
import type { Log } from "../telemetry/log.ts";
import type { SharedStateProgress } from "../telemetry/progress.ts";
import { VERSION } from "../version.ts";
import { createAdoption, foreignText, shared } from "./shared-adoption.ts";
import { createSharedBrownouts } from "./shared-brownouts.ts";
import { createSharedRules, type GuardTogether } from "./shared-rules.ts";

/** How long a start waits for what other replicas decided. Then this process serves, and hears of it later. */
const START_MS = 1_500;
/** How long `carryover force` waits until the store has the command. */
const FORCE_MS = 1_500;
/** A replica that has not been heard for this long is gone. */
const GONE_MS = 5_000;
const SHORT_ID = 8;
const HIDDEN_DIGITS = 12;

interface SharedStateParts {
  readonly rollout: Pick<
    Rollout,
    | "rules"
    | "rule"
    | "ruleStates"
    | "adopt"
    | "together"
    | "promote"
    | "stepBackOf"
    | "forceByHand"
    | "force"
    | "brownouts"
    | "brownoutTogether"
  >;
  /** Digest of what responses depend on besides the rules. */
  readonly basis: string;
  readonly record: RecordEvent;
  readonly log: Pick<Log, "info" | "warn">;
  /** Random, one per process. */
  readonly instance: string;
  /** Secret that all replicas of a deployment have, and no other deployment. */
  readonly secret: string;
  /** Milliseconds since 1970. */
  readonly wall: () => number;
  /** Milliseconds of a clock that is never set. */
  readonly now: () => number;
  readonly later: Timer;
  /** Default: the store that the configuration names. */
  readonly store?: SharedStore | undefined;
}

export interface SharedState {
  /** Reads what other replicas decided. Takes a moment at most, whatever the store does, and never rejects. */
  start(): Promise<void>;
  /** Takes each change of a rule. */
  changed(event: RolloutEvent): void;
  /** Takes what the guard sees of a rule. Takes no time, whatever the store does. */
  guardSeconds(rule: Rule, seconds: readonly GuardSecond[]): void;
  /** By name of a rule: what several replicas see together, where there is trouble. */
  guards(): ReadonlyMap<string, GuardTogether>;
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
  guardSeconds: () => {},
  guards: () => new Map(),
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
  const adopt = createAdoption({ ...parts, name });
  let heard = (): void => {};
  const firstResponse = new Promise<void>((resolve) => {
    heard = resolve;
  });
  /** Local time at the last response, and the time of the store. */
  let clocks = { here: startedAt, there: startedAt };
  const rows = createRows(`r.${instance}`, startedAt);
  const allRows = [rows];
  const hide = (text: string): string =>
    createHmac("sha256", parts.secret).update(text).digest("base64url").slice(0, HIDDEN_DIGITS);
  const promote = (rule: Rule, promotes: Promotes): void => void adopt.promote(replica, rule, promotes);
  const rules = createSharedRules({ ...parts, hide, rows, promote });
  const brownouts = createSharedBrownouts({ rollout, rows });
  let isEnding = false;
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
    asks: () => [...rules.beforeTick(storeTime(), replica.alerted(), isEnding), ...brownouts.beforeTick()],
    alerts: rules.alerts,
    wall,
    later,
    ticked: (link) => {
      report(link);
      if (!isUp(link)) return rules.alone();
      clocks = { here: wall(), there: replica.view().at ?? wall() };
      adopt.all(replica);
      rules.afterTick(replica.answers(), clocks.there);
      brownouts.afterTick(replica.answers());
      heard();
    },
  });
  /** Undefined before the first response. */
  const storeTime = (): number | undefined =>
    replica.view().at === undefined ? undefined : wall() - clocks.here + clocks.there;
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
    guardSeconds: rules.guardSeconds,
    guards: rules.guards,
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
    progress: () => progressOf(replica, clocks),
    close: () => {
      isEnding = true;
      return replica.close();
    },
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
