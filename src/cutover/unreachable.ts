/** Which rules can never take a request, because earlier ones always take it first? */
import type { Rule, RuleMatch, Selector } from "../model/rules.ts";
import { canaryOf, NEVER } from "./canary.ts";
import { isAbout, type Subject } from "./subject.ts";
import { coversWeek } from "./window.ts";

/** A rule without effect, and the earlier rules that leave it nothing. */
export interface Unreachable {
  readonly rule: Rule;
  readonly by: readonly Rule[];
}

/** A name that nothing has: it stands for whatever `subjects` does not list. */
const UNLISTED = "\0";

/**
 * Rules for which each operation that they are about is taken by one earlier rule, whoever asks and whenever. `subjects`:
 * every operation of the resources that rules name. Never names a rule that could take something; where several earlier
 * rules leave nothing only together (by client, time or percentage), it stays silent. Rules of 0 percent are switched off
 * on purpose and not named.
 */
export function findUnreachable(rules: readonly Rule[], subjects: readonly Subject[]): readonly Unreachable[] {
  return rules.flatMap((rule, at) => {
    if (rule.match.percent === 0 && rule.match.header === undefined && rule.match.cookie === undefined) return [];
    const earlier = rules.slice(0, at).filter((other) => takesAllOf(other, rule));
    const by = earlier.length === 0 ? undefined : takersOf(rule, earlier, subjects);
    return by === undefined ? [] : [{ rule, by }];
  });
}

/** Those of `earlier` that share out all that `rule` is about; undefined when something is left. */
function takersOf(
  { match }: Rule,
  earlier: readonly Rule[],
  subjects: readonly Subject[],
): readonly Rule[] | undefined {
  const all = [...subjects.filter((subject) => isAbout(match, subject)), ...unlisted(match)];
  const takers = all.map((subject) => earlier.find((other) => isAbout(other.match, subject)));
  const found = new Set(takers.filter((taker) => taker !== undefined));
  return all.length === 0 || takers.includes(undefined) ? undefined : [...found];
}

/** What a rule about all resources is about beside the listed ones. */
function unlisted(match: RuleMatch): readonly Subject[] {
  if (match.resources !== undefined) return [];
  return [UNLISTED, ...(match.operations ?? [])]
    .flatMap((operation) => [true, false].map((write) => ({ resource: UNLISTED, operation, write })))
    .filter((subject) => isAbout(match, subject));
}

/** True when `outer` takes every request that `inner` takes, as far as both are about its resource and operation. */
function takesAllOf(outer: Rule, inner: Rule): boolean {
  return (
    includesClients(outer.match.clients, inner.match.clients) &&
    lasts(outer, inner) &&
    coversWeek(outer.match.time, inner.match.time) &&
    takesCanariesOf(outer.match, inner.match)
  );
}

function includesClients(outer: RuleMatch["clients"], inner: RuleMatch["clients"]): boolean {
  return outer === undefined || (inner !== undefined && [...inner].every((client) => outer.has(client)));
}

/** From instant to instant; the present is not asked, so that a file means the same whenever it is read. */
function lasts(outer: Rule, inner: Rule): boolean {
  return beginOf(outer) <= beginOf(inner) && endOf(outer) >= endOf(inner);
}

function beginOf({ match }: Rule): number {
  return match.time?.from ?? Number.NEGATIVE_INFINITY;
}

/** The instant from which on a rule takes nothing. */
export function endOf({ match, expires }: Pick<Rule, "match" | "expires">): number {
  return Math.min(match.time?.until ?? Number.POSITIVE_INFINITY, expires ?? Number.POSITIVE_INFINITY);
}

/** Tries every kind of request that header, cookie and percentage of the two can tell apart: at most 4^4 times 3. */
function takesCanariesOf(outer: RuleMatch, inner: RuleMatch): boolean {
  if (outer.header === undefined && outer.cookie === undefined && outer.percent === undefined) return true;
  const buckets = [0, outer.percent ?? 0, inner.percent ?? 0].filter((bucket) => bucket < 100);
  for (const headers of statesOf(outer.header, inner.header)) {
    for (const cookies of statesOf(outer.cookie, inner.cookie)) {
      for (const bucket of buckets) {
        const signs = {
          header: (name: string) => headers.get(name),
          cookie: (name: string) => cookies.get(name),
          bucket: () => bucket,
        };
        if (canaryOf(inner, signs).taken && !canaryOf(outer, signs).taken) return false;
      }
    }
  }
  return true;
}

/** What fields of these names may say, as far as it makes a difference; absent stands for every other value. */
function* statesOf(
  one: Selector | undefined,
  other: Selector | undefined,
): Generator<ReadonlyMap<string, string | undefined>> {
  const [first = UNLISTED, second = UNLISTED] = new Set([one, other].flatMap((selector) => selector?.name ?? []));
  const values = [...new Set([undefined, NEVER, one?.value, other?.value])];
  for (const value of values) {
    for (const further of second === UNLISTED ? [undefined] : values) {
      yield new Map([
        [first, value],
        [second, further],
      ]);
    }
  }
}
