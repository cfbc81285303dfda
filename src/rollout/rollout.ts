import { later, type Timer } from "../model/clock.ts";
import type { Comparison } from "../model/comparison.ts";
import type { Exchange } from "../model/exchange.ts";
import type { CutoverMode, ModeDecision, ShadowSettings } from "../model/rules.ts";
import { createChooser, type WhyNotRefused } from "../rules/choose.ts";
import type { RuleInput } from "../rules/conditions/condition.ts";
import type { Rule, Rules } from "../rules/rule.ts";
import type { ForceCommand, ForceNote, ForceState, OwnRuleStatus } from "../rules/status.ts";
import { counted, instant } from "../rules/words.ts";
import type { BrownoutCounts, BrownoutState } from "./brownout.ts";
import { createBrownouts, type Spared } from "./brownouts.ts";
import { alarmEvidence, type GuardSecond } from "./guard.ts";
import { createGuardWatch, type GuardWatch } from "./guard-watch.ts";
import { createRepeats } from "./repeats.ts";
import {
  choiceFor,
  confirmed,
  continuedRuleState,
  memoryOf,
  NO_SHADOW,
  next,
  type Promotes,
  type RolloutEvent,
  type RuleEvent,
  type RuleMemory,
  type RuleState,
  type RuleTransition,
  type Together,
  unknownReport,
  unknownRuleState,
  withoutGuard,
} from "./rule-state.ts";
import type { StepBackCause, StepBackPhase } from "./step-back.ts";
import { ownStatusOf, statusOf, viewOf } from "./view.ts";

/** How much is compared where `cutover.mode` is `shadow` and no rule says otherwise. */
export const DEFAULT_SHADOW: ShadowSettings = { sample: 0.1, control: 0.1 };
/** v1's response is a guess, and no rule names the operation: native v1 knows the response. */
const GUESSED_CHOICE: ModeDecision = { mode: "native", rule: undefined, shadow: NO_SHADOW, why: "guessed" };

export interface RolloutOptions {
  /** Undefined: there is no rules file (yet). */
  readonly rules: Rules | undefined;
  /** What serves a request that no rule matches. */
  readonly mode: CutoverMode;
  /** Whether there is a native v1. */
  readonly native: boolean;
  /** 0 to 100 by client, sticky (`createBucket`). */
  readonly bucketOf: (client: string) => number;
  /** Milliseconds since 1970. */
  readonly wall: () => number;
  /** Milliseconds of a clock that is never set, by which quiet time and windows are measured; default: `wall`. */
  readonly now?: () => number;
  /** Takes a failed request that is over, and that native v1 has served since. */
  readonly blameV2?: (exchange: Exchange) => void;
  /** When reads that wait for v2 are looked at; default: the timers of the process. */
  readonly later?: Timer;
  /** Called once for each change, when it happens; must not throw. */
  readonly onEvent: (event: RolloutEvent) => void;
  /** Other replicas have evidence, too: a rule is promoted by what all of them know, as `together` and `promote` say. */
  readonly isShared?: boolean;
  /** Takes what the guard sees of translated requests, by second; must not throw. */
  readonly guardSeconds?: (rule: Rule, seconds: readonly GuardSecond[]) => void;
  /** With a shared store: false while it does not respond. No brownout runs then. */
  readonly isStoreUp?: () => boolean;
  /** Why a client may not be refused by a brownout, though a rule names it. */
  readonly spared?: Spared;
}

export interface Rollout {
  /**
   * The mode for a request. There are no timers: a rule that waits goes on with the next request or observation that
   * concerns it.
   */
  choose(input: Omit<RuleInput, "at">): ModeDecision;
  /** What the rules file says of operations without a v2 counterpart; undefined: the option `fallback` decides. */
  fallback(): "native" | "refuse" | undefined;
  /**
   * Takes every finished request. Ignored are those that no rule decided on, and those that a rule decided on before it was
   * changed. Credentials are counted, and shown nowhere.
   */
  observe(exchange: Exchange): void;
  /** A translated read that `rule` decided on begins. */
  begins(exchange: Exchange, rule: string): void;
  /** Begins, stops and ends brownouts whose time has come, also without a request. */
  lookAtBrownouts(): void;
  /** By the name of the rule. */
  brownouts(): ReadonlyMap<string, BrownoutState>;
  /** What all replicas counted in the window that begins at `start`. `stopped`: why one of them stopped it. */
  brownoutTogether(name: string, start: number, counts: BrownoutCounts, stopped: string | undefined): void;
  readonly whyNotRefused: WhyNotRefused;
  /** Takes every finished comparison, and what stands for the credential of its request; ignores what `observe` ignores. */
  compared(comparison: Comparison, credential: string | undefined): void;
  /** In force from the next request on. A rule of the same name continues what was learnt of it (`continuedRuleState`). */
  replace(rules: Rules): void;
  /** In force from the next request on, until the next `carryover force`. `at`: milliseconds since 1970. */
  forceByHand(command: ForceCommand, at: number, note?: ForceNote): void;
  force(): ForceState;
  /** Another replica stepped the rule back, for the same requests. Without effect on a rule that is back, and on one that never steps back. */
  adopt(name: string, cause: StepBackCause): void;
  /**
   * What all replicas know of a rule; undefined while that is not known. Returns operations that may be promoted by it, for `promote` once all replicas agree.
   */
  together(name: string, sums: Together | undefined): Promotes | undefined;
  /** Promotes operations of a rule: all replicas do. */
  promote(name: string, promotes: Promotes): void;
  /** Hands the seconds that are over to the guards, and returns the states of all rules. */
  ruleStates(): readonly RuleState[];
  /** Where a rule is that may step back, and why it did; undefined for any other rule, and while its state is unknown. */
  stepBackOf(name: string): RulePhase | undefined;
  /**
   * Lets a rule whose state is unknown go on as its file says: `carryover confirm`. False: its state is known, and nothing changed; undefined:
   * there is no such rule.
   */
  confirm(name: string, at: number): boolean | undefined;
  rules(): Rules | undefined;
  /** The rule of that name, where there is one. */
  rule(name: string): Rule | undefined;
  /** In the order of the file, with what all replicas know. */
  states(): readonly OwnRuleStatus[];
  /** The same with the counts of this process alone. */
  ownStates(): readonly OwnRuleStatus[];
  /** Reads that v2 failed and that were repeated on native v1, by what it did. */
  guardCalls(): GuardWatch["calls"];
  /** For `GET /rules`: JSON. */
  view(): unknown;
  /** What must survive a restart. */
  memory(): RolloutMemory;
  /** Continues from `memory`; to be called before the first rules come into force. */
  restore(memory: RolloutMemory): void;
  /** Grows with every change of what `memory` returns. */
  revision(): number;
}

/** Where a rule is that may step back. */
export interface RulePhase {
  readonly phase: StepBackPhase["kind"];
  readonly cause?: StepBackCause;
  /** Operations that were promoted. */
  readonly promoted: readonly string[];
}

export interface RolloutMemory {
  readonly force: ForcedByHand;
  readonly rules: readonly RuleMemory[];
  readonly lost: LostRules;
  /** Of the rules in force. */
  readonly digest: string | undefined;
}

/**
 * Rules whose saved state cannot be read: by name, the JSON that was found. `*`: each rule without a memory. Empty once the first rules
 * are in force, whose states then say it.
 */
export type LostRules = ReadonlyMap<string, unknown>;

/** Part of `ForceState`: outlives the rules in force. */
export type ForcedByHand = Pick<ForceState, "command" | "commandAt" | "lost" | "reason" | "by" | "replica">;

/** Native may have been forced. */
export const LOST_FORCE: ForcedByHand = { command: "native", commandAt: undefined, lost: true };

export const NOT_FORCED: ForcedByHand = { command: "none", commandAt: undefined };

interface RulesInForce {
  readonly rules: Rules | undefined;
  /** Of the file or by hand. */
  readonly force: Rules["force"];
  /** Decides without looking at any rule: `force`, or there are none. */
  readonly fixed: ModeDecision | undefined;
  readonly chooser: (input: RuleInput) => Rule | undefined;
  /** By the rule's name. */
  readonly states: Map<string, RuleState>;
  /** Milliseconds since 1970: expiries up to `checkedAt` are reported, and the next rule expires at `nextExpiry`. */
  checkedAt: number;
  nextExpiry: number;
}

/** Decides what serves each v1 request, from the rules, `force` and the evidence. */
export function createRollout(options: RolloutOptions): Rollout {
  const { mode, wall, now = wall, bucketOf } = options;
  /** What an earlier process saved, until the first rules are in force. */
  let restored: readonly RuleMemory[] = [];
  let restoredDigest: string | undefined;
  let lost: LostRules = new Map();
  let revision = 0;
  const report = (event: RolloutEvent): void => {
    revision += 1;
    options.onEvent(event);
  };
  const standard = choiceWithoutRule(mode, "default");
  let byHand: ForcedByHand = NOT_FORCED;
  const whyNotRefused: WhyNotRefused = (rule, client, at) => brownouts.whyNotRefused(rule, client, at);
  let present = rulesInForce(options.rules, { rules: [], lost }, options, byHand, whyNotRefused);
  const forceState = (): ForceState => ({
    effective: present.force,
    file: present.rules?.force ?? "none",
    ...byHand,
  });
  if (present.force !== "none") report(forced("none", forceState(), wall()));

  const transition = (state: RuleState, event: RuleEvent): RuleTransition => {
    const after = next(state, event);
    if (after.state !== state) revision += 1;
    present.states.set(state.rule.name, after.state);
    if (after.report !== undefined) report(after.report);
    return after;
  };
  const apply = (state: RuleState, event: RuleEvent): RuleState => transition(state, event).state;
  const brownouts = createBrownouts({
    states: () => present.states,
    apply,
    force: forceState,
    isShared: options.isShared === true,
    isStoreUp: options.isStoreUp,
    spared: options.spared,
    second: () => Math.floor(now() / 1_000),
  });
  /** Rules that had expired when they came into force are not reported: the file's warnings name them. */
  const reportExpiries = (at: number): void => {
    if (at < present.nextExpiry) return;
    const expiryOf = ({ rule }: RuleState): number => rule.expires ?? Number.POSITIVE_INFINITY;
    const all = [...present.states.values()].sort((a, b) => expiryOf(a) - expiryOf(b));
    const expired = all.filter((state) => expiryOf(state) > present.checkedAt && expiryOf(state) <= at);
    present.checkedAt = at;
    present.nextExpiry = firstExpiry(all, at);
    for (const state of expired) apply(state, { kind: "expired", at });
  };
  const watch = createGuardWatch({ now, later: options.later ?? later, blameV2: options.blameV2 });
  const repeats = createRepeats(now);
  /** Hands the seconds that are over to the rule's guard. */
  const judge = (name: string): void => {
    const state = present.states.get(name);
    const seconds = state === undefined ? [] : watch.take(name);
    if (state === undefined || seconds.length === 0) return;
    options.guardSeconds?.(state.rule, seconds);
    const slow = watch.slowest(name);
    const after = apply(state, {
      kind: "guard",
      at: wall(),
      reading: now(),
      seconds,
      slow,
      rateLimit: watch.rateLimit(name),
    });
    if (after.stepBack?.phase.kind === "back") watch.forgetTimes(name);
  };
  watch.subscribe(judge);
  const currentStates = (): readonly RuleState[] => {
    reportExpiries(wall());
    for (const name of present.states.keys()) judge(name);
    return [...present.states.values()];
  };
  /** The state of the rule that decided, unless it is about other requests now; without `ruleId`, of the rule of that name. */
  const decidedBy = ({ rule, ruleId }: Pick<Exchange, "rule" | "ruleId">): RuleState | undefined => {
    const found = rule === undefined ? undefined : present.states.get(rule);
    return ruleId === undefined || ruleId === found?.rule.evidenceKey ? found : undefined;
  };
  return {
    choose: (input) => {
      const other = input.guessed === true ? GUESSED_CHOICE : standard;
      if (present.fixed !== undefined) return present.fixed.why === "default" ? other : present.fixed;
      const at = wall();
      reportExpiries(at);
      brownouts.look(at);
      // Spelled out: a copy by spreading costs more than choosing.
      const { resource, operation, write, guessed, client, head } = input;
      const rule = present.chooser({ resource, operation, write, guessed, client, head, at });
      const state = rule && present.states.get(rule.name);
      if (state === undefined) return other;
      // While the rule is forward, time alone changes nothing that the next observation would not.
      const waits = state.stepBack !== undefined && state.stepBack.phase.kind !== "forward";
      return choiceFor(waits ? apply(state, { kind: "tick", at, reading: now() }) : state, input, bucketOf, at);
    },
    begins: watch.begins,
    lookAtBrownouts: () => brownouts.lookAgain(wall()),
    brownouts: brownouts.states,
    brownoutTogether: (name, start, counts, stopped) => {
      const state = present.states.get(name);
      const event = { kind: "together", start, counts, stopped } as const;
      if (state === undefined) return;
      apply(state, { kind: "brownout", at: wall(), event });
      // It may have waited for this.
      if (state.brownout?.phase.kind === "held") brownouts.lookAgain(wall());
    },
    whyNotRefused: brownouts.whyNotRefused,
    fallback: () => present.rules?.fallback,
    observe: (exchange) => {
      brownouts.observe(exchange, wall());
      const state = decidedBy(exchange);
      if (state !== undefined) apply(state, { kind: "request", at: wall(), reading: now(), exchange });
      watch.observe(exchange, state?.rule);
      if (state !== undefined) judge(state.rule.name);
    },
    compared: (comparison, credential) => {
      const state = decidedBy(comparison);
      if (state === undefined) return;
      const isRepeat = repeats.isRepeat(state.rule, comparison, credential);
      const { isShared = false } = options;
      apply(state, { kind: "comparison", at: wall(), reading: now(), comparison, credential, isRepeat, isShared });
    },
    replace: (rules) => {
      const before = present;
      const memories = before.rules === undefined ? restored : [...before.states.values()].map(memoryOf);
      present = rulesInForce(rules, { rules: memories, lost }, options, byHand, whyNotRefused);
      watch.keep(present.states);
      brownouts.replaced();
      restored = [];
      lost = new Map();
      const at = wall();
      const digest = before.rules?.digest ?? restoredDigest;
      if (rules.digest !== digest) report(replaced(before, present, { digest, memories }, at));
      if (present.force !== before.force) report(forced(before.force, forceState(), at));
      brownouts.lookAgain(at);
      if (before.rules !== undefined) return;
      for (const state of present.states.values()) if (state.unknown !== undefined) report(unknownReport(state, at));
    },
    forceByHand: (command, at, note = {}) => {
      const before = present.force;
      const isSaid = note.reason !== undefined || note.by !== undefined;
      const isNew = command !== byHand.command || byHand.lost === true || isSaid;
      byHand = { command, commandAt: at, ...note };
      present = { ...present, ...forcedOf(present.rules, options, byHand) };
      for (const [name, state] of present.states) present.states.set(name, withoutGuard(state));
      revision += 1;
      const where = note.replica === undefined ? "" : ` on replica ${note.replica}`;
      const said = `carryover force ${command}${where}${note.reason === undefined ? "" : `: ${note.reason}`}`;
      if (isNew) report({ ...forced(before, forceState(), at, said), by: note.by });
      brownouts.lookAgain(wall());
    },
    force: forceState,
    adopt: (name, cause) => {
      const state = present.states.get(name);
      if (state !== undefined) apply(state, { kind: "adopted", at: wall(), reading: now(), cause });
    },
    together: (name, sums) => {
      const state = present.states.get(name);
      return state && transition(state, { kind: "together", at: wall(), sums }).promotes;
    },
    promote: (name, promotes) => {
      const state = present.states.get(name);
      if (state !== undefined) apply(state, { kind: "promoted", at: wall(), ...promotes });
    },
    ruleStates: currentStates,
    stepBackOf: (name) => {
      const { stepBack, unknown, promotedOperations = [] } = present.states.get(name) ?? {};
      if (stepBack === undefined || unknown !== undefined) return undefined;
      const { phase } = stepBack;
      const promoted = [...promotedOperations];
      return phase.kind === "forward"
        ? { phase: phase.kind, promoted }
        : { phase: phase.kind, cause: phase.cause, promoted };
    },
    confirm: (name, at) => {
      const state = present.states.get(name);
      if (state?.unknown === undefined) return state && false;
      const after = confirmed(state, at);
      present.states.set(name, after.state);
      if (after.report !== undefined) report(after.report);
      return true;
    },
    rules: () => present.rules,
    rule: (name) => present.states.get(name)?.rule,
    states: () =>
      currentStates().map((state) => {
        const status = statusOf(state, present.force, { at: wall(), reading: now() });
        const figures = state.rule.guard.action === "off" ? undefined : watch.figures(state.rule.name);
        if (figures === undefined) return status;
        const evidence = alarmEvidence(state.guard, Math.floor(now() / 1_000));
        return { ...status, guard: { ...status.guard, figures: { ...figures, evidence } } };
      }),
    ownStates: () => currentStates().map((state) => ownStatusOf(state, present.force, { at: wall(), reading: now() })),
    guardCalls: () => watch.calls,
    view: () => ({
      file: present.rules === undefined ? null : { digest: present.rules.digest, rules: present.rules.rules.length },
      force: present.force,
      forcedBy: { file: present.rules?.force ?? "none", ...byHand, commandAt: instant(byHand.commandAt) },
      fallback: present.rules?.fallback ?? "as configured",
      default: mode,
      rules: currentStates().map((state) => viewOf(state, present.force, { at: wall(), reading: now() })),
    }),
    memory: () => ({
      force: byHand,
      lost,
      rules: present.rules === undefined ? restored : [...present.states.values()].map(memoryOf),
      digest: present.rules?.digest ?? restoredDigest,
    }),
    restore: (memory) => {
      restored = memory.rules;
      restoredDigest = memory.digest;
      lost = memory.lost;
      byHand = memory.force;
      present = { ...present, ...forcedOf(present.rules, options, byHand) };
    },
    revision: () => revision,
  };
}

function choiceWithoutRule(mode: CutoverMode, why: "default" | "forced"): ModeDecision {
  // `force` compares nothing.
  return { mode, rule: undefined, shadow: why === "default" && mode === "shadow" ? DEFAULT_SHADOW : NO_SHADOW, why };
}

function rulesInForce(
  rules: Rules | undefined,
  before: Pick<RolloutMemory, "rules" | "lost">,
  { wall, mode, bucketOf, native }: RolloutOptions,
  byHand: ForcedByHand,
  whyNotRefused: WhyNotRefused,
): RulesInForce {
  const at = wall();
  const list = rules?.rules ?? [];
  const stateOf = (rule: Rule): RuleState => {
    const memory = before.rules.find(({ name }) => name === rule.name);
    const state = continuedRuleState(rule, memory, at);
    const isLost = before.lost.has(rule.name) || (memory === undefined && before.lost.has("*"));
    const unknown = isLost ? { entry: before.lost.get(rule.name) ?? null } : state.unknown;
    return unknown === undefined ? state : unknownRuleState(state, { ...unknown, native });
  };
  const states = new Map(list.map((rule) => [rule.name, stateOf(rule)]));
  return {
    rules,
    ...forcedOf(rules, { mode, native }, byHand),
    chooser: createChooser(list, bucketOf, whyNotRefused),
    states,
    checkedAt: at,
    nextExpiry: firstExpiry(states.values(), at),
  };
}

function forcedOf(
  rules: Rules | undefined,
  { mode, native }: Pick<RolloutOptions, "mode" | "native">,
  { command }: ForcedByHand,
): Pick<RulesInForce, "force" | "fixed"> {
  // A command from the time with a native v1 stays without effect as long as there is none.
  const force = command === "native" && native ? "native" : (rules?.force ?? "none");
  if (force !== "none") return { force, fixed: choiceWithoutRule(force, "forced") };
  return { force, fixed: (rules?.rules ?? []).length === 0 ? choiceWithoutRule(mode, "default") : undefined };
}

/** When the next rule expires after `now`; both are milliseconds since 1970, infinite when none will. */
function firstExpiry(states: Iterable<RuleState>, now: number): number {
  let first = Number.POSITIVE_INFINITY;
  for (const { rule } of states) {
    if (rule.expires !== undefined && rule.expires > now) first = Math.min(first, rule.expires);
  }
  return first;
}

/** `command`: what was said by hand just now. */
function forced(from: string, { effective, file }: ForceState, at: number, command?: string): RolloutEvent {
  const ofFile = file === "none" ? "the rules file no longer forces anything" : `the rules file says force: ${file}`;
  const reason = command === undefined ? ofFile : file === "none" ? command : `${command}; ${ofFile}`;
  return { kind: "forced", rule: undefined, at, from, to: effective, reason };
}

/** Names in one part of a sentence. */
const MOST_NAMES = 3;

/** `2 changed (groups, repos)`; nothing without names. */
function groupText(names: readonly string[], word: string): readonly string[] {
  if (names.length === 0) return [];
  const more = names.length > MOST_NAMES ? ", …" : "";
  return [`${names.length} ${word} (${names.slice(0, MOST_NAMES).join(", ")}${more})`];
}

/** `digest`, `memories`: of the rules before, which an earlier process may have had. */
function replaced(
  before: RulesInForce,
  after: RulesInForce,
  { digest, memories }: { readonly digest: string | undefined; readonly memories: readonly RuleMemory[] },
  at: number,
): RolloutEvent {
  const keys = new Map(memories.map(({ name, evidenceKey }) => [name, evidenceKey]));
  const rules = [...after.states.values()].map(({ rule }) => rule);
  const known = rules.filter(({ name }) => keys.has(name));
  const lost = known.filter(({ name, evidenceKey }) => keys.get(name) !== evidenceKey);
  const changed = known.filter((rule) => {
    const identity = before.states.get(rule.name)?.rule.identity ?? rule.identity;
    return identity !== rule.identity || lost.includes(rule);
  });
  const gone = [...keys.keys()].filter((name) => !after.states.has(name));
  const namesOf = (some: readonly Rule[]) => some.map(({ name }) => name);
  const isNew = (rule: Rule) => !known.includes(rule);
  const { fallback, force } = after.rules ?? {};
  const parts = [
    ...groupText(namesOf(rules.filter(isNew)), "new"),
    ...groupText(namesOf(changed), "changed"),
    ...groupText(namesOf(lost), "without the evidence before"),
    ...groupText(gone, "gone"),
    ...(before.rules === undefined || before.rules.fallback === fallback
      ? []
      : [`fallback: ${fallback ?? "as configured"}`]),
    ...(before.rules === undefined || before.rules.force === force ? [] : [`force: ${force}`]),
  ];
  const reason = `${counted(rules.length, "rule")}: ${parts.length === 0 ? (digest === undefined ? "none before" : "as before") : parts.join(", ")}`;
  const [from, to] = [digest ?? "none", after.rules?.digest ?? "none"];
  return { kind: "rules", rule: undefined, at, from, to, reason };
}
