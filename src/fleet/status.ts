/** Where the migration stands: what `carryover status` shows, as data. */
import type { AskedTimes } from "../history/requests.ts";
import { grouped } from "../model/group.ts";
import type { CutoverMode } from "../model/rules.ts";
import type { Rules } from "../rules/rule.ts";
import { differentRules, type Fleet, type FleetRule, forceText, type SilentInstance, troublesOf } from "./fleet.ts";
import { DEFAULT_TERMS, judgeRule, placeText, stateText, troubleTexts, whomText } from "./gate.ts";
import type { RespondingInstance } from "./merge.ts";
import { createReport, type MigrationReport } from "./report.ts";
import type { Standing } from "./standing.ts";

/** Lost counts are mentioned for as long as `carryover report --window 14d` could rest on them. */
const LOSS_SHOWN_MS = 14 * 24 * 3_600_000;

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
  readonly standing: Omit<Standing, "next"> | null;
  /** The same share since `countsSince`. */
  readonly allTime: Pick<Standing, "translatedShare" | "served">;
  readonly next: string;
  readonly instances: readonly InstanceStatus[];
  readonly silent: readonly SilentInstance[];
  readonly rules: readonly RuleLineStatus[];
  /** Most urgent first. */
  readonly attention: readonly string[];
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
  readonly mode: CutoverMode;
  readonly doing: FleetRule["doing"];
  readonly state: FleetRule["state"];
  /** Addresses. */
  readonly on: readonly string[];
  readonly whom: string;
  /** What it does, and since when. */
  readonly says: string;
  /** Why it may not go further (`carryover gate`); empty: it may. */
  readonly missing: readonly string[];
  readonly evidence: readonly string[];
}

/** `asked`: the times that the instances were asked for. */
export function createStatus(fleet: Fleet, asked: AskedTimes): MigrationStatus {
  const { instances, silent } = fleet;
  const { at, standing, window, allTime } = createReport(fleet.results, asked);
  const rules = fleet.rules.map((rule): RuleLineStatus => {
    const { name, mode, doing, state, on } = rule;
    const { against, evidence } = judgeRule(rule, DEFAULT_TERMS);
    const says = `${stateText(rule)}${placeText(rule, instances.length)}${guardWord(rule)}`;
    return { name, mode, doing, state, on, whom: whomText(rule), says, missing: against, evidence };
  });
  const status = {
    version: 1,
    at,
    countsSince: window.countsSince,
    window: shownWindow(window),
    standing: standing && withoutNext(standing),
    allTime: { translatedShare: allTime.translatedShare, served: allTime.served },
    instances: instances.map(({ address, progress }) => {
      const { mode, force, digest } = progress;
      return { address, mode, force, forceText: forceText(progress), rules: digest ?? null };
    }),
    silent,
    rules,
    attention: attentionOf(fleet, window.tooOld),
  } as const;
  return { ...status, next: nextOf(status, fleet) ?? standing?.next ?? "start an instance" };
}

/** Only choices that leave clients to a sick v2 are named. */
function guardWord({ mode, state, guard }: FleetRule): string {
  const translates = mode === "translate" || state === "promoted";
  return !translates || guard === undefined || guard.action === "stepBack" ? "" : `, guard: ${guard.action}`;
}

function withoutNext({ next: _, ...rest }: Standing): Omit<Standing, "next"> {
  return rest;
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

function attentionOf({ instances, silent, rules }: Fleet, tooOld: readonly string[]): readonly string[] {
  const inState = (state: FleetRule["state"]) => rules.filter((rule) => rule.state === state);
  return [
    ...silent.map(({ address, fault }) => `${address} ${fault}`),
    ...instances.flatMap(troublesOf),
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
    ...rules.flatMap(({ name, guard }) => (guard?.slow === undefined ? [] : [`${name}: ${guard.slow.says}`])),
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
    ...failingClients(instances),
    ...inState("expired").map((rule) => `${rule.name} has expired and matches nothing: remove it`),
  ];
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

/** Most failures first. */
function failingClients(instances: readonly RespondingInstance[]): readonly string[] {
  const found = instances.flatMap(({ progress }) =>
    progress.ledger.clients.flatMap(({ name, operations }) =>
      operations.map(({ resource, operation, errors }) => ({
        name,
        what: `${resource} ${operation}`,
        count: errors?.translation ?? 0,
      })),
    ),
  );
  const clients = grouped(
    found.filter(({ count }) => count > 0),
    ({ name }) => [name],
  ).map((group) => ({
    name: group[0].name,
    count: group.reduce((all, one) => all + one.count, 0),
    operations: [...new Set(group.map(({ what }) => what))].join(", "),
  }));
  return clients
    .sort((a, b) => b.count - a.count)
    .map(({ name, count, operations }) => {
      const requests = count === 1 ? "1 request" : `${count} requests`;
      return `client ${name}: ${requests} failed because of translation (${operations})`;
    });
}

/** What instances and rules need, with the command for it; undefined: nothing. */
function nextOf({ rules }: Pick<MigrationStatus, "rules">, fleet: Fleet): string | undefined {
  const { instances, silent } = fleet;
  const unknown = rules.find(({ state }) => state === "unknown");
  if (unknown !== undefined) return `${unknown.name}: see /rules, then carryover confirm ${unknown.name}`;
  const [unheard] = silent;
  if (unheard !== undefined) return `find out why ${unheard.address} does not respond`;
  if (instances.some(({ progress }) => !progress.lastReloadSuccessful))
    return "correct the rules file: carryover check --rules-only --rules FILE";
  const forced = instances.find(({ progress }) => progress.force !== "none")?.progress;
  if (forced !== undefined) {
    if (forced.forcedBy?.lost === true)
      return "unless a person forced native v1, carryover force none: its state is lost";
    const lift = forced.forcedBy?.command === "native" ? "carryover force none" : "force: none in the rules file";
    return `when the emergency is over: ${lift}`;
  }
  const sick = fleet.rules.find((rule) => troubleTexts(rule).length > 0);
  if (sick !== undefined) {
    return `v2 fails clients of ${sick.name}: find out why${hasNative(instances) ? ", or carryover force native" : ""}`;
  }
  const broken = instances.flatMap(({ progress }) => progress.openBreakers ?? [])[0];
  if (broken !== undefined) return `find out why upstream ${broken} does not respond`;
  const back = fleet.rules.find(({ state }) => state === "stepped-back");
  if (back?.byGuard === true) return `find out why v2 fails: ${back.name} returns by itself when v2 responds`;
  if (back !== undefined) return `find out why ${back.name} stepped back: /samples, and the log`;
  const moving = rules.filter(({ mode, state }) => mode !== "native" && state !== "expired");
  const ready = moving.find(({ missing }) => missing.length === 0);
  if (ready !== undefined) return `${ready.name} may go further: carryover gate ${ready.name}`;
  const [waiting] = moving;
  return waiting && `wait for ${waiting.name}: carryover gate ${waiting.name}`;
}

/** 0; 2: an address did not respond. */
export function statusExitCode({ silent }: MigrationStatus): number {
  return silent.length === 0 ? 0 : 2;
}
