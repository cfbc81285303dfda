/** All conditions that a rule can have: the one list from which `match` is read, checked, decided and shown. */
import type * as z from "zod";
import { canary } from "./conditions/canary.ts";
import { client } from "./conditions/client.ts";
import type { Asking, RequestedOperation, RuleCircumstances, RuleRemark } from "./conditions/condition.ts";
import { subject } from "./conditions/subject.ts";
import { time } from "./conditions/time.ts";

/** In the order of schema, pages and sentences. */
export const CONDITIONS = [subject, client, canary, time] as const;
type AnyCondition = (typeof CONDITIONS)[number];

/** The order in which they are asked. */
export const ASKED: readonly AnyCondition[] = [...CONDITIONS].sort(
  (a, b) => Number(a.last ?? false) - Number(b.last ?? false),
);

type Both<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;
/** All conditions must hold. */
export type RuleMatch = Both<ReturnType<AnyCondition["build"]>>;
type MatchShape = Both<AnyCondition["schema"]>;
export type MatchText = z.output<z.ZodObject<MatchShape>>;

/** The keys of `match` in a rules file. */
export const MATCH_SHAPE = Object.assign({}, ...CONDITIONS.map(({ schema }) => schema)) as MatchShape;

/** The values are in the order in which conditions are asked: digests of rules, which are saved, depend on it. */
export function buildMatch(text: MatchText, resources: ReadonlySet<string> | undefined): RuleMatch {
  return Object.assign({}, ...ASKED.map((condition) => condition.build(text, resources)));
}

/** Matches every request. */
export const EVERY_REQUEST: RuleMatch = Object.freeze(buildMatch({}, undefined));

/** Which requests a rule is about, whenever and for however many clients. */
export function subjectOf(match: RuleMatch): object {
  const amounts = new Set<string>(CONDITIONS.flatMap((condition) => condition.amounts ?? []));
  return Object.fromEntries(Object.entries(match).filter(([key]) => !amounts.has(key)));
}

/** Whether `outer` takes every request for `operation` that `inner` takes. */
export function covers(outer: Asking<RuleMatch>, inner: Asking<RuleMatch>, operation: RequestedOperation): boolean {
  return CONDITIONS.every((condition) => condition.covers(outer, inner, operation));
}

/** What is wrong with the conditions of a rule. */
export function matchRemarks(text: Asking<MatchText>, given: RuleCircumstances): readonly RuleRemark[] {
  return CONDITIONS.flatMap((condition) => condition.remarks?.(text, given) ?? []);
}

/** `reads of group or repo, client ci-bot, header x-canary: always`; `everything` for a rule that asks for nothing. */
export function matchWords(match: RuleMatch): string {
  return CONDITIONS.flatMap((condition) => condition.words(match)).join(", ") || "everything";
}

/** JSON. */
export function matchView(match: RuleMatch): object {
  return Object.assign({}, ...CONDITIONS.map((condition) => condition.view(match)));
}
