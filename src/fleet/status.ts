/** Where the migration stands: what `carryover status` shows, as data. */
import type { AskedTimes } from "../history/requests.ts";
import { ownerText } from "../ledger/clients-view.ts";
import { DAY_MS, dateOf, dayOf } from "../ledger/days.ts";
import { grouped } from "../model/group.ts";
import type { CutoverMode, RuleMode } from "../model/rules.ts";
import type { Rules } from "../rules/rule.ts";
import { windowWords } from "../rules/schedule.ts";
import { counted } from "../rules/words.ts";
import type { Change } from "./change.ts";
import {
  clockText,
  differentRules,
  type Fleet,
  type FleetRule,
  forceText,
  type SilentInstance,
  troublesOf,
} from "./fleet.ts";
import { DEFAULT_TERMS, judgeRule, placeText, stateText, troubleTexts, whomText } from "./judge.ts";
import { lostOf } from "./lost.ts";
import { largest, latestOf, type RespondingInstance } from "./merge.ts";
import { nextStep } from "./next.ts";
import { nameOf, shortList } from "./next-client.ts";
import { isWhole } from "./next-rule.ts";
import { type ReplicaStatus, replicaStatuses, sharedTroubles } from "./replicas.ts";
import { createReport } from "./report.ts";
import type { MigrationReport } from "./report-lines.ts";
import type { Standing } from "./standing.ts";

/** Lost counts are mentioned for as long as `carryover report --window 14d` could rest on them. */
const LOSS_SHOWN_MS = 14 * DAY_MS;

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
  /** Most urgent first. */
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
  const { at, standing, window, allTime } = createReport(fleet.results, asked);
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

function attentionOf({ instances, gone, silent, rules }: Fleet, tooOld: readonly string[]): readonly string[] {
  const inState = (state: FleetRule["state"]) => rules.filter((rule) => rule.state === state);
  return [
    ...silent.map(({ address, fault }) => `${address} ${fault}`),
    ...commonTroubles(instances),
    ...sharedTroubles(instances),
    ...rules.flatMap((rule) => {
      const [first, ...more] = troubleTexts(rule);
      if (first === undefined) return [];
      return [
        `${rule.name} fails clients${endText(instances)}: ${first}`,
        ...more.map((text) => `${rule.name}: ${text}`),
      ];
    }),
    ...[...inState("unknown"), ...inState("stepped-back")].map((rule) => {
      const why = rule.cause === undefined ? "" : `: ${rule.cause}`;
      return `${rule.name} ${stateText(rule)}${placeText(rule, instances.length)}${why}`;
    }),
    ...instances.flatMap(({ address, progress: { force, forcedBy } }) =>
      forcedBy?.command !== "native" || force === "native"
        ? []
        : [`${address} has no native v1: carryover force native is kept for it, and has no effect until then`],
    ),
    ...rules.flatMap(({ name, brownout }) =>
      brownout?.phase === "held" || brownout?.phase === "stopped"
        ? [`brownout ${name} refuses nothing: ${brownout.why ?? "it is held"}`]
        : [],
    ),
    ...rules.flatMap(({ name, guard }) => (guard?.slow === undefined ? [] : [`${name}: ${guard.slow.says}`])),
    ...rules.flatMap(differingText),
    ...lostTexts([...instances, ...gone]),
    ...differentRules(instances),
    ...differentModes(instances),
    ...tooOld.map(
      (address) => `${address} is an older version, without counts over time: requests of a window are unknown`,
    ),
    ...instances.flatMap(({ address, progress: { ready, saved, changeable } }) => [
      ...(ready === false ? [`${address} is not ready: it starts or stops`] : []),
      ...(saved === false ? [`${address} cannot write its state.dir: a restart would lose what is new`] : []),
      ...(changeable === false
        ? [`${address} takes no carryover force or confirm: their token is not in its state.dir`]
        : []),
    ]),
    ...instances.flatMap(({ address, progress: { at, countsLostAt } }) =>
      countsLostAt === undefined || at - countsLostAt > LOSS_SHOWN_MS
        ? []
        : [
            `${address} lost what it had counted on ${new Date(countsLostAt).toISOString().slice(0, 10)}: the file cannot be read`,
          ],
    ),
    ...failingClients([...instances, ...gone]),
    ...inState("expired").map((rule) => `${rule.name} has expired and matches nothing: remove it`),
  ];
}

const SHOWN_LOST = 3;

function lostTexts(all: readonly RespondingInstance[]): readonly string[] {
  const at = latestOf(all);
  const lost = lostOf(all.map(({ progress }) => progress)).filter(({ until }) => at - until <= LOSS_SHOWN_MS);
  const more = lost.length - SHOWN_LOST;
  return [
    ...lost
      .slice(0, SHOWN_LOST)
      .map(({ name, seen }) => `lost with the store: what ${name} counted, last seen ${clockText(seen, at)}`),
    ...(more > 0 ? [`lost with the store: what ${counted(more, "other replica")} counted`] : []),
  ];
}

/** The same on several instances is one line: `a (and 2 more) is forced to native …`. */
function commonTroubles(instances: readonly RespondingInstance[]): readonly string[] {
  const all = instances.flatMap((one) =>
    troublesOf(one).map((text) => ({ address: one.address, what: text.slice(one.address.length) })),
  );
  return grouped(all, ({ what }) => [what]).map(([{ address, what }, ...more]) => {
    return `${address}${more.length === 0 ? "" : ` (and ${more.length} more)`}${what}`;
  });
}

/** More comparisons would not help. */
function differingText(rule: FleetRule): readonly string[] {
  const { lacks } = judgeRule(rule, DEFAULT_TERMS);
  const found = lacks.find(({ why, isNearer }) => why === "differences" && isNearer === false);
  const { differences = 0, comparisons = 0 } = rule.evidence ?? {};
  if (found === undefined || differences === 0) return [];
  const [worst] = rule.causes ?? [];
  const where = worst === undefined ? "" : `, most often ${worst.what} at ${worst.path} of ${worst.operation}`;
  return [`${rule.name}: ${differences} of ${counted(comparisons, "comparison")} differed${where} (/samples)`];
}

function hasNative(instances: readonly RespondingInstance[]): boolean {
  return instances.some(({ progress }) => progress.native !== false);
}

/** First, since a screen cuts long lines. */
function endText(instances: readonly RespondingInstance[]): string {
  return hasNative(instances) ? " (carryover force native ends it)" : " (there is no native v1 to go back to)";
}

function differentModes(instances: readonly RespondingInstance[]): readonly string[] {
  const modes = grouped(instances, ({ progress }) => [progress.mode]);
  if (modes.length < 2) return [];
  return [
    `instances differ in cutover.mode: ${modes.map(([{ address, progress }]) => `${address} has ${progress.mode}`).join(", ")}`,
  ];
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

/** Errors are not counted by time, so those of operations that are no longer called are left out. */
const STILL_CALLED_MS = DAY_MS;

/** Most failures first. */
function failingClients(instances: readonly RespondingInstance[]): readonly string[] {
  const found = instances.flatMap(({ progress: { at, ledger } }) =>
    ledger.clients.flatMap((client) =>
      client.operations.map(({ resource, operation, errors, lastSeen }) => ({
        name: client.name,
        owner: ownerText(client),
        what: `${resource} ${operation}`,
        count: at - lastSeen < STILL_CALLED_MS ? (errors?.translation ?? 0) : 0,
      })),
    ),
  );
  const clients = grouped(
    found.filter(({ count }) => count > 0),
    ({ name }) => [name],
  ).map((group) => ({
    name: group[0].name,
    owner: group.find(({ owner }) => owner !== "")?.owner,
    count: group.reduce((all, one) => all + one.count, 0),
    operations: [...new Set(group.map(({ what }) => what))].join(", "),
  }));
  return clients
    .sort((a, b) => b.count - a.count)
    .map(({ name, owner, count, operations }) => {
      const who = owner === undefined ? name : `${name}, ${owner}`;
      return `client ${who}: ${counted(count, "request")} failed because of translation (${operations})`;
    });
}

/** 0; 2: an address did not respond. */
export function statusExitCode({ silent }: MigrationStatus): number {
  return silent.length === 0 ? 0 : 2;
}
