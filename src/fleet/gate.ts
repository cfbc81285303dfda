/** May a rule go further? The verdict and its reasons, from what instances tell. */
import { nearest } from "../model/text.ts";
import { changeLines, type Next } from "./change.ts";
import { differentRules, type Fleet, type FleetRule, type SilentInstance, troublesOf } from "./fleet.ts";
import { type GateTerms, judgeRule, placeText, stateText, whomText } from "./judge.ts";
import { merge } from "./merge.ts";
import { stepOfInstances } from "./next.ts";
import { nextOfRule } from "./next-rule.ts";

/** The output of `--json`. */
export interface GateVerdict {
  readonly version: 1;
  readonly rule: string;
  /** `unknown`: an instance did not respond, or no instance has such a rule. */
  readonly mayGoFurther: "yes" | "no" | "unknown";
  /** What further means for this rule; null without such a rule. */
  readonly further: string | null;
  /** What the rule does now, one text for each thing that it does somewhere. */
  readonly now: readonly string[];
  /** Why it may not, or why that is unknown. */
  readonly against: readonly string[];
  /** What speaks for it. */
  readonly evidence: readonly string[];
  /** The next step for this rule; null: there is none, or no instance has the rule. */
  readonly next: Next | null;
  readonly silent: readonly SilentInstance[];
}

export function judgeGate(fleet: Fleet, name: string, terms: GateTerms): GateVerdict {
  const { silent, instances, rules } = fleet;
  const lines = rules.filter((rule) => rule.name === name);
  const [first] = lines;
  const verdict = { version: 1, rule: name, silent } as const;
  if (first === undefined) {
    const names = [...new Set(rules.map((rule) => rule.name))];
    const near = nearest(name, names);
    const others = names.length === 0 ? "there are no rules" : `the rules are called ${names.join(", ")}`;
    const hint = near === undefined ? others : `did you mean ${near}?`;
    const against = instances.length === 0 ? [] : [`there is no rule ${JSON.stringify(name)}: ${hint}`];
    return { ...verdict, mayGoFurther: "unknown", further: null, now: [], against, evidence: [], next: null };
  }
  const judged = lines.map((rule) => judgeRule(rule, terms, knownClients(fleet)));
  const has = new Set(lines.flatMap(({ on }) => on));
  const against = [
    ...instances.flatMap((one) => troublesOf(one).map(({ text }) => text)),
    ...differentRules(instances),
    ...instances.flatMap(({ address }) => (has.has(address) ? [] : [`${address} has no such rule`])),
    ...judged.flatMap(({ lacks }) => lacks.map(({ text }) => text)),
  ];
  return {
    ...verdict,
    mayGoFurther: silent.length > 0 ? "unknown" : against.length > 0 ? "no" : "yes",
    further: furtherText(first),
    now: lines.map((rule) => `${stateText(rule)}: ${whomText(rule)}${placeText(rule, instances.length)}`),
    against: [...new Set(against)],
    evidence: [...new Set(judged.flatMap((one) => one.evidence))],
    next: nextOf(fleet, lines, terms),
  };
}

/** Of all instances together; a client that calls several counts once. */
function knownClients({ instances, gone }: Fleet): number {
  return new Set([...instances, ...gone].flatMap(({ progress }) => progress.ledger.clients.map(({ name }) => name)))
    .size;
}

/** Of the rule's lines, the first that has one. */
function nextOf(fleet: Fleet, lines: readonly FleetRule[], terms: GateTerms): Next | null {
  const { instances, gone, rules } = fleet;
  const merged = merge([...instances, ...gone]);
  if (merged === undefined || lines.some(({ mode }) => mode === "brownout")) return null;
  const first = stepOfInstances(fleet);
  if (first !== undefined) return first;
  const known = { ...merged, rules, counts: merged.rows, clients: merged.ledger.clients };
  return lines.map((rule) => nextOfRule(rule, known, terms)).find((next) => next !== undefined) ?? null;
}

/** What further means. */
function furtherText({ mode, state, evidence }: FleetRule): string {
  if (mode === "brownout") return "none: a brownout goes by its schedule";
  if (mode === "native") return "to compare it with native v1: mode: shadow";
  if (state === "promoted") return "to stay so: write mode: translate into the rules file, it translates by itself now";
  if (mode === "shadow") return "to translate what it compares: mode: translate, for a few clients first (percent)";
  const percentage = evidence?.percent;
  return percentage === undefined || percentage >= 100
    ? "none: it translates for all clients that it matches"
    : `to more clients: a percent above ${percentage}`;
}

/** For a terminal. */
export function gateText(verdict: GateVerdict): string {
  const { rule, mayGoFurther, further, now, against, evidence, silent, next } = verdict;
  const answer = {
    yes: "yes, it may go further",
    no: "no, it may not go further yet",
    unknown: "NOT KNOWN whether it may go further",
  }[mayGoFurther];
  const part = (title: string, texts: readonly string[]) =>
    texts.map((text, at) => `  ${(at === 0 ? title : "").padEnd(9)}${text}`);
  return [
    `${rule}: ${answer}`,
    ...part("further", further === null ? [] : [further]),
    ...part("now", now),
    ...part("against", [...silent.map(({ address, fault }) => `${address} ${fault}`), ...against]),
    ...part("for", evidence),
    ...part("next", next === null ? [] : [next.says, ...changeLines(next.change)]),
  ].join("\n");
}

/** 0: it may; 1: it may not; 2: unknown. */
export function gateExitCode({ mayGoFurther }: GateVerdict): number {
  return { yes: 0, no: 1, unknown: 2 }[mayGoFurther];
}
