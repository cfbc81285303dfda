/** Where the migration stands: what `carryover status` shows, as data. */
import type { AskedTimes } from "../history/requests.ts";
import { DAY_MS, dateOf, dayOf } from "../ledger/days.ts";
import { grouped } from "../model/group.ts";
import type { CutoverMode, RuleMode } from "../model/rules.ts";
import type { Rules } from "../rules/rule.ts";
import { windowWords } from "../rules/schedule.ts";
import { counted } from "../rules/words.ts";
import { attentionOf } from "./attention.ts";
import type { Change } from "./change.ts";
import { type Fleet, type FleetRule, forceText, type SilentInstance } from "./fleet.ts";
import { DEFAULT_TERMS, judgeRule, placeText, stateText, whomText } from "./judge.ts";
import { largest, type RespondingInstance } from "./merge.ts";
import { nextStep } from "./next.ts";
import { nameOf, shortList } from "./next-client.ts";
import { isWhole } from "./next-rule.ts";
import { type ReplicaStatus, replicaStatuses } from "./replicas.ts";
import { createStanding } from "./report.ts";
import type { MigrationReport } from "./report-lines.ts";
import type { Standing } from "./standing.ts";

/** The output of `--json`. Times are ISO 8601 in UTC. */
export interface MigrationStatus {
  readonly version: 1;
  /** By the latest clock; null if no instance responded. */
  readonly at: string | null;
  /** Since when requests are counted; null if no instance responded. */
  readonly countsSince: string | null;
  /** What `standing` is about. */
  readonly window: Pick<MigrationReport["window"], "from" | "to" | "says" | "limits" | "counted" | "tooOld" | "rows">;
  /** Null if no instance responded. */
  readonly standing: Standing | null;
  /** The same share since `countsSince`. */
  readonly allTime: Pick<Standing, "translatedShare" | "served">;
  /** Without a full stop. */
  readonly next: string;
  /** What to write for it; null: a person must find out, decide or wait. */
  readonly change: Change | null;
  readonly instances: readonly InstanceStatus[];
  /** Processes that share a store with the instances, and processes that did within the last day. */
  readonly replicas: readonly ReplicaStatus[];
  readonly silent: readonly SilentInstance[];
  readonly rules: readonly RuleLineStatus[];
  /** Most harm first (harm.ts). */
  readonly attention: readonly string[];
  /** What went wrong in the last 24 h, newest first, whether or not it is over. */
  readonly lately: readonly LatelyLine[];
  /** What takes long, and is better begun early: operations that v2 lacks. */
  readonly ahead: readonly string[];
}

export interface LatelyLine {
  readonly at: string;
  /** As `carryover events` has it. */
  readonly kind: string;
  readonly rule: string | null;
  /** Addresses. */
  readonly on: readonly string[];
  readonly says: string;
}

interface InstanceStatus {
  readonly address: string;
  /** What serves a request that no rule takes: `cutover.mode`. */
  readonly mode: CutoverMode;
  readonly force: Rules["force"];
  /** With who says so. */
  readonly forceText: string;
  readonly rules: string | null;
}

export interface RuleLineStatus {
  readonly name: string;
  readonly mode: RuleMode;
  readonly doing: FleetRule["doing"];
  readonly state: FleetRule["state"];
  /** Addresses. */
  readonly on: readonly string[];
  readonly whom: string;
  /** What it does, and since when. */
  readonly says: string;
  /** Why it may not go further (`carryover gate`). */
  readonly missing: readonly string[];
  /** Nothing is missing, and there is something further. */
  readonly mayGoFurther: boolean;
  readonly evidence: readonly string[];
  /** Of a brownout: its next windows, in UTC and its time zone. Empty for any other rule. */
  readonly windows: readonly string[];
}

/** `asked`: the times that the instances were asked for. */
export function createStatus(fleet: Fleet, asked: AskedTimes): MigrationStatus {
  const { instances, silent } = fleet;
  const { at, standing, window, allTime } = createStanding(fleet, asked);
  const rules = fleet.rules.map((rule): RuleLineStatus => {
    const { name, mode, doing, state, on, brownout } = rule;
    const { lacks, evidence } = judgeRule(rule, DEFAULT_TERMS);
    const says = `${stateText(rule)}${placeText(rule, instances.length)}${guardWord(rule)}`;
    return {
      name,
      mode,
      doing,
      state,
      on,
      whom: whomText(rule),
      says,
      missing: lacks.map(({ text }) => text),
      mayGoFurther:
        lacks.length === 0 &&
        mode !== "brownout" &&
        !isWhole(rule) &&
        instances.every(({ progress }) => progress.lastReloadSuccessful),
      evidence,
      windows: (brownout?.next ?? []).map((window) => windowWords(window, brownout?.zone ?? "UTC")),
    };
  });
  return {
    version: 1,
    at,
    countsSince: window.countsSince,
    window: shownWindow(window),
    standing: standing && withoutNext(standing),
    next: standing?.next ?? nextStep(fleet, NOTHING_KNOWN).says,
    change: standing?.change ?? null,
    allTime: { translatedShare: allTime.translatedShare, served: allTime.served },
    instances: instances.map(({ address, progress }) => {
      const { mode, force, digest } = progress;
      return { address, mode, force, forceText: forceText(progress), rules: digest ?? null };
    }),
    replicas: replicaStatuses(instances),
    silent,
    rules,
    attention: attentionOf(fleet, window.tooOld),
    lately: latelyOf(instances),
    ahead: lackingTexts([...instances, ...fleet.gone]),
  };
}

const NOTHING_KNOWN = { counts: [], clients: [], at: 0, watchedSince: 0 };

/** Only choices that leave clients to a sick v2 are named. */
function guardWord({ mode, state, guard }: FleetRule): string {
  const translates = mode === "translate" || state === "promoted";
  return !translates || guard === undefined || guard.action === "stepBack" ? "" : `, guard: ${guard.action}`;
}

function withoutNext({ translatedShare, served, moved, silent, clients }: Standing): Standing {
  return { translatedShare, served, moved, silent, clients };
}

function shownWindow({
  from,
  to,
  says,
  limits,
  counted,
  ...rest
}: MigrationReport["window"]): MigrationStatus["window"] {
  const { tooOld, rows } = rest;
  return { from, to, says, limits, counted, tooOld, rows };
}

/** The same on several instances counts once. */
function latelyOf(instances: readonly RespondingInstance[]): readonly LatelyLine[] {
  const all = instances.flatMap(({ address, progress: { lately = [] } }) =>
    lately.map((event) => ({ ...event, address })),
  );
  return grouped(all, ({ kind, rule, says }) => [kind, rule ?? "", says])
    .map((group) => ({ ...group[0], on: [...new Set(group.map(({ address }) => address))] }))
    .sort((one, other) => other.at - one.at)
    .map(({ at, kind, rule, on, says }) => ({ at: new Date(at).toISOString(), kind, rule: rule ?? null, on, says }));
}

/** Whoever calls weekly still needs it. */
const LACKING_SHOWN_MS = 8 * DAY_MS;

/** To agree on a way without an operation takes longer than anything else. */
function lackingTexts(instances: readonly RespondingInstance[]): readonly string[] {
  const calls = instances.flatMap(({ progress: { at, ledger } }) =>
    ledger.clients.flatMap(({ name, needs, operations }) =>
      needs.lacking
        .map(nameOf)
        .map((what) => ({ what, name, last: operations.find((one) => nameOf(one) === what)?.lastSeen ?? 0 }))
        .filter(({ last }) => at - last < LACKING_SHOWN_MS),
    ),
  );
  return grouped(calls, ({ what }) => [what]).map((group) => {
    const names = [...new Set(group.map(({ name }) => name))];
    const who = shortList(names, counted(names.length, "client"));
    const last = dateOf(dayOf(largest(group.map((one) => one.last))));
    return `v2 has no ${group[0].what}, and ${who} called it, last on ${last}: agree on a way without it`;
  });
}

/** 0; 2: an address did not respond. */
export function statusExitCode({ silent }: MigrationStatus): number {
  return silent.length === 0 ? 0 : 2;
}
