/** What serves this v1 request now, after rules, force and everything that was learnt? (Design section 7.) */

import type { Comparison } from "../model/comparison.ts";
import type { Exchange } from "../model/exchange.ts";
import type { CutoverMode, ModeDecision, Rule, Rules, ShadowSettings } from "../model/rules.ts";
import { createChooser, type RuleInput } from "./choose.ts";
import { choiceFor, initialRuleState, NO_SHADOW, nextExpiry, type RuleState } from "./rule-state.ts";
import {
  applyStepBackEvent,
  type RolloutEvent,
  recordComparison,
  recordExpiries,
  recordRequest,
} from "./transitions.ts";
import { type RuleStatus, statusOf, transitionView, viewOf } from "./view.ts";

/** How much is compared where `cutover.mode` is `shadow` and no rule says otherwise. */
export const DEFAULT_SHADOW: ShadowSettings = { sample: 0.1, control: 0.1 };
/** What nobody knows v1's answer to, and no rule names: native v1 knows it. */
const GUESSED_CHOICE: ModeDecision = { mode: "native", rule: undefined, shadow: NO_SHADOW, why: "guessed" };
/** How many transitions the view shows. */
const MAX_TRANSITIONS = 50;

export interface RolloutOptions {
  /** Undefined: there is no rules file (yet). */
  readonly rules: Rules | undefined;
  /** What serves a request that no rule matches. */
  readonly mode: CutoverMode;
  /** 0 to 100 by client, sticky (`createBucket`). */
  readonly bucketOf: (client: string) => number;
  /** Milliseconds since 1970. */
  readonly wall: () => number;
  /** Hears of each transition once, when it happens; must not throw. */
  readonly onEvent: (event: RolloutEvent) => void;
}

export interface Rollout {
  /**
   * The mode for a request. Nothing else moves time on: a rule that waits goes on with the first request that asks for it (or
   * its next observation), so there are no timers, and a rule that nobody asks for rests.
   */
  choose(asked: Omit<RuleInput, "at">): ModeDecision;
  /** What the rules file says of operations without a v2 counterpart; undefined: the option `fallback` decides. */
  fallback(): "native" | "refuse" | undefined;
  /**
   * Hears of each request that is over. Passed over are those that no rule decided on, and those that a rule decided on as it
   * was before it was changed: they say nothing of what it is now. What stands for a credential is counted, and shown nowhere.
   */
  observe(exchange: Exchange): void;
  /** Hears of each comparison that is over, and of whose request; passes over as `observe` does. */
  compared(comparison: Comparison, credential: string | undefined): void;
  /** In force from the next request on. Rules of the same name and identity keep what was learnt. */
  replace(rules: Rules): void;
  rules(): Rules | undefined;
  /** The rule of that name, where there is one. */
  rule(name: string): Rule | undefined;
  /** In the order of the file. */
  states(): readonly RuleStatus[];
  /** For `GET /rules`: JSON. */
  view(): unknown;
}

interface RulesInForce {
  readonly rules: Rules | undefined;
  /** Decides without looking at any rule: `force`, or there are none. */
  readonly fixed: ModeDecision | undefined;
  readonly chooser: (asked: RuleInput) => Rule | undefined;
  readonly held: ReadonlyMap<string, RuleState>;
  /** Milliseconds since 1970: rules that expire until `looked` are told of, and the next one expires at `expiry`. */
  looked: number;
  expiry: number;
}

/** Everything is in memory: a restart begins with the rules as the file has them. */
export function createRollout(parts: RolloutOptions): Rollout {
  const { wall, bucketOf } = parts;
  const transitions: RolloutEvent[] = [];
  const tell = (event: RolloutEvent): void => {
    transitions.push(event);
    if (transitions.length > MAX_TRANSITIONS) transitions.shift();
    parts.onEvent(event);
  };
  const standard = choiceWithoutRule(parts.mode, "default");
  let present = rulesInForce(parts.rules, new Map(), parts);
  if (parts.rules !== undefined && parts.rules.force !== "none") tell(forced("none", parts.rules.force, wall()));
  const force = (): Rules["force"] => present.rules?.force ?? "none";
  const heldNow = (): readonly RuleState[] => {
    reportExpiries(present, wall(), tell);
    return [...present.held.values()];
  };
  return {
    choose: (asked) => {
      const other = asked.guessed === true ? GUESSED_CHOICE : standard;
      if (present.fixed !== undefined) return present.fixed.why === "default" ? other : present.fixed;
      const at = wall();
      reportExpiries(present, at, tell);
      // Spelled out: a copy by spreading costs more than choosing.
      const { resource, operation, write, guessed, client, headers } = asked;
      const rule = present.chooser({ resource, operation, write, guessed, client, headers, at });
      const held = rule && present.held.get(rule.name);
      if (held === undefined) return other;
      // While it is forward, time alone decides nothing that the next observation would not.
      if (held.stepBack !== undefined && held.stepBack.phase.kind !== "forward")
        applyStepBackEvent(held, { kind: "tick", at }, tell);
      return choiceFor(held, asked, bucketOf);
    },
    fallback: () => present.rules?.fallback,
    observe: (exchange) => {
      const held = decidingRule(present, exchange);
      if (held !== undefined) recordRequest(held, exchange, wall(), tell);
    },
    compared: (comparison, credential) => {
      const held = decidingRule(present, comparison);
      if (held !== undefined) recordComparison(held, { comparison, credential }, wall(), tell);
    },
    replace: (rules) => {
      const before = present;
      present = rulesInForce(rules, before.held, parts);
      const at = wall();
      if (rules.digest !== before.rules?.digest) tell(replaced(before, present, at));
      const was = before.rules?.force ?? "none";
      if (rules.force !== was) tell(forced(was, rules.force, at));
    },
    rules: () => present.rules,
    rule: (name) => present.held.get(name)?.rule,
    states: () => heldNow().map((held) => statusOf(held, force(), wall())),
    view: () => ({
      file: present.rules === undefined ? null : { digest: present.rules.digest, rules: present.rules.rules.length },
      force: force(),
      fallback: present.rules?.fallback ?? "as configured",
      default: parts.mode,
      rules: heldNow().map((held) => viewOf(held, force(), wall())),
      // Latest first.
      transitions: transitions.map(transitionView).reverse(),
    }),
  };
}

/** The rule that decided, if it is still as it was then; whoever names no identity speaks of the rule in force. */
function decidingRule(
  { held }: RulesInForce,
  { rule, ruleId }: Pick<Exchange, "rule" | "ruleId">,
): RuleState | undefined {
  const found = rule === undefined ? undefined : held.get(rule);
  return ruleId === undefined || ruleId === found?.rule.identity ? found : undefined;
}

function choiceWithoutRule(mode: CutoverMode, why: "default" | "forced"): ModeDecision {
  // Forced: nothing but what is asked for happens.
  return { mode, rule: undefined, shadow: why === "default" && mode === "shadow" ? DEFAULT_SHADOW : NO_SHADOW, why };
}

function rulesInForce(rules: Rules | undefined, before: RulesInForce["held"], parts: RolloutOptions): RulesInForce {
  const at = parts.wall();
  const list = rules?.rules ?? [];
  const held = new Map(list.map((rule) => [rule.name, keepState(rule, before.get(rule.name), at)]));
  const force = rules?.force ?? "none";
  const fixed =
    force !== "none"
      ? choiceWithoutRule(force, "forced")
      : list.length === 0
        ? choiceWithoutRule(parts.mode, "default")
        : undefined;
  const expiry = nextExpiry(held.values(), at);
  return { rules, held, fixed, chooser: createChooser(list, parts.bucketOf), looked: at, expiry };
}

/** Rules whose time is over since somebody looked last. Those that were so from the beginning the file's warnings name. */
function reportExpiries(present: RulesInForce, at: number, tell: (event: RolloutEvent) => void): void {
  if (at < present.expiry) return;
  const { held, looked } = present;
  present.looked = at;
  present.expiry = nextExpiry(held.values(), at);
  recordExpiries(held.values(), looked, at, tell);
}

/** What was learnt stays with a rule of which the same is said; its line and its place may be others. */
function keepState(rule: Rule, before: RuleState | undefined, at: number): RuleState {
  const fresh = initialRuleState(rule, at);
  if (before === undefined || before.rule.identity !== rule.identity) return fresh;
  return { ...before, rule, choices: fresh.choices };
}

function forced(from: string, to: string, at: number): RolloutEvent {
  const reason = to === "none" ? "the rules file no longer forces anything" : `the rules file says force: ${to}`;
  return { kind: "forced", rule: undefined, at, from, to, reason };
}

function replaced(before: RulesInForce, after: RulesInForce, at: number): RolloutEvent {
  const names = [...after.held.keys()];
  const added = names.filter((name) => !before.held.has(name)).length;
  const removed = [...before.held.keys()].filter((name) => !after.held.has(name)).length;
  const changed = names.filter((name) => {
    const old = before.held.get(name)?.rule.identity;
    return old !== undefined && old !== after.held.get(name)?.rule.identity;
  }).length;
  const reason = `${names.length} rules: ${added} new, ${changed} changed (begin afresh), ${removed} gone`;
  const [from, to] = [before.rules?.digest ?? "none", after.rules?.digest ?? "none"];
  return { kind: "rules", rule: undefined, at, from, to, reason };
}
