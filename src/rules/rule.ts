/** A rule, and the list of all conditions. Reading, checking, matching and showing `match` derive from that list. */
import type * as z from "zod";
import type { Force, RuleSettings } from "../model/rules.ts";
import { canary } from "./conditions/canary.ts";
import { client } from "./conditions/client.ts";
import type { Asking, RequestedOperation } from "./conditions/condition.ts";
import { subject } from "./conditions/subject.ts";
import { time } from "./conditions/time.ts";

/** A valid rules file. */
export interface Rules {
  /** Overrides every rule and `cutover.mode` from the next request on. */
  readonly force: Force;
  /** Overrides the option `fallback`. */
  readonly fallback: "native" | "refuse" | undefined;
  /** In order: the first that matches decides. */
  readonly rules: readonly Rule[];
  /** Digest of the file's bytes, to tell files apart: 12 hexadecimal digits. */
  readonly digest: string;
}

export interface Rule extends RuleSettings {
  readonly match: RuleMatch;
}

/** The order of the schema, the docs and sentences. */
export const CONDITIONS = [subject, client, canary, time] as const;
type AnyCondition = (typeof CONDITIONS)[number];

/** The order of the tests. */
export const ASKED: readonly AnyCondition[] = [...CONDITIONS].sort(
  (a, b) => Number(a.last ?? false) - Number(b.last ?? false),
);

type Both<U> = (U extends unknown ? (each: U) => void : never) extends (all: infer All) => void ? All : never;
/** All conditions must hold. */
export type RuleMatch = Both<ReturnType<AnyCondition["build"]>>;
type MatchShape = Both<AnyCondition["schema"]>;
export type MatchText = z.output<z.ZodObject<MatchShape>>;

/** When the rule stops matching for good, in milliseconds since 1970; infinite if it never does. */
export function endOf({ expires, match }: Bounded): number {
  return Math.min(expires ?? Number.POSITIVE_INFINITY, match.time?.until ?? Number.POSITIVE_INFINITY);
}

/** A rule, or the text of one. */
interface Bounded {
  readonly expires?: number | undefined;
  readonly match: { readonly time?: { readonly until?: number | undefined } | undefined };
}

/** Set for a rule with `fallback: refuse`: native v1 is off for the client until then, in milliseconds since 1970. */
export function rehearsalOf(rule: Rule) {
  const [client] = rule.match.clients ?? [];
  const until = endOf(rule);
  if (rule.mode !== "translate" || rule.fallback !== "refuse" || client === undefined) return undefined;
  return Number.isFinite(until) ? { client, until } : undefined;
}

/** The keys of `match` in a rules file. */
export const MATCH_SHAPE = Object.assign({}, ...CONDITIONS.map(({ schema }) => schema)) as MatchShape;

/** The order of the values must not change: the state of a rule is saved under a digest of them. */
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

/** `reads of group or repo, client ci-bot, header x-canary: always`; `everything` for a rule that asks for nothing. */
export function matchWords(match: RuleMatch): string {
  return CONDITIONS.flatMap((condition) => condition.words(match)).join(", ") || "everything";
}

/** JSON. */
export function matchView(match: RuleMatch): object {
  return Object.assign({}, ...CONDITIONS.map((condition) => condition.view(match)));
}
