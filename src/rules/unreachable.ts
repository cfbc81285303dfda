/** Finds rules that can never match because earlier rules always match first. */

import { coversWeek, isAbout, type RequestedOperation } from "./match.ts";
import type { Rule, RuleMatch, TimeWindow } from "./rule.ts";

/** A rule without effect, and the earlier rules that leave it nothing. */
export interface UnreachableRule {
  readonly rule: Rule;
  readonly by: readonly Rule[];
}

/** A name that nothing has: it stands for whatever `subjects` does not list. */
const UNLISTED = "\0";

/**
 * Rules for which each operation that they are about is taken by one earlier rule, for every client and at any time. `subjects`:
 * every operation of the resources that rules name. Never names a rule that could take something; where several earlier
 * rules leave nothing only together (by client, time or percentage), it stays silent. Rules of 0 percent are switched off
 * on purpose and not named. Of more than a hundred different hours of the week
 * it compares no further ones, and stays silent about them.
 */
export function findUnreachable(
  rules: readonly Rule[],
  subjects: readonly RequestedOperation[],
): readonly UnreachableRule[] {
  const named = new Set(rules.flatMap(({ match }) => [...(match.operations ?? [])]));
  const all = [...subjects, ...unlisted(named)];
  const covers = createWeeks();
  return rules.flatMap((rule, at) => {
    if (rule.match.percent === 0 && rule.match.header === undefined && rule.match.cookie === undefined) return [];
    let left = all.filter((subject) => concerns(rule.match, subject));
    if (left.length === 0) return [];
    const by: Rule[] = [];
    for (const other of rules.slice(0, at)) {
      if (!takesAllOf(other, rule, covers)) continue;
      const rest = left.filter((subject) => !isAbout(other.match, subject));
      if (rest.length < left.length) by.push(other);
      left = rest;
      if (left.length === 0) return [{ rule, by }];
    }
    return [];
  });
}

/** Whether `match` is about `subject`. An operation of no listed resource concerns only rules that name it. */
function concerns(match: RuleMatch, subject: RequestedOperation): boolean {
  if (!isAbout(match, subject)) return false;
  const { resource, operation } = subject;
  return resource !== UNLISTED || operation === UNLISTED || match.operations?.has(operation) === true;
}

/** What a rule about all resources is about beside the listed ones. */
function unlisted(operations: ReadonlySet<string>): readonly RequestedOperation[] {
  return [UNLISTED, ...operations].flatMap((operation) =>
    [true, false].map((write) => ({ resource: UNLISTED, operation, write })),
  );
}

/** True when `outer` takes every request that `inner` takes, as far as both are about its resource and operation. */
function takesAllOf(outer: Rule, inner: Rule, covers: typeof coversWeek): boolean {
  return (
    coversCanary(outer.match, inner.match) &&
    lasts(outer, inner) &&
    includesClients(outer.match.clients, inner.match.clients) &&
    covers(outer.match.time, inner.match.time)
  );
}

/** Comparisons of two windows: they are the dearest, and few files have more than some hours. */
const MAX_WEEKS = 10_000;

/** `coversWeek`, once for equal windows; false after `MAX_WEEKS` different questions. */
function createWeeks(): typeof coversWeek {
  const windows = new Map<TimeWindow, number>();
  const numbers = new Map<string, number>();
  const numberOf = (window: TimeWindow | undefined): number => {
    if (window === undefined) return 0;
    const { days, hours } = window;
    const text = () => `${days && [...days].sort()} ${hours?.begin} ${hours?.end}`;
    return remembered(windows, window, () => remembered(numbers, text(), () => numbers.size + 1));
  };
  const known = new Map<number, boolean>();
  return (outer, inner) => {
    if (outer?.days === undefined && outer?.hours === undefined) return true;
    const question = numberOf(outer) * 2 ** 24 + numberOf(inner);
    return remembered(known, question, () => known.size < MAX_WEEKS && coversWeek(outer, inner));
  };
}

function remembered<Key, Value>(known: Map<Key, Value>, key: Key, work: () => Value): Value {
  const found = known.get(key) ?? work();
  known.set(key, found);
  return found;
}

function includesClients(outer: RuleMatch["clients"], inner: RuleMatch["clients"]): boolean {
  if (outer === undefined || inner === undefined) return outer === undefined;
  if (outer.size < inner.size) return false;
  for (const client of inner) if (!outer.has(client)) return false;
  return true;
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

type CanaryMatch = Pick<RuleMatch, "header" | "cookie" | "percent">;

/**
 * True when every request that `inner` takes by header, cookie or percentage is taken by `outer` too. Follows the order of
 * `canaryOf`: a value that `inner` takes by itself is to be taken by the rest of `outer`, and `never` ends it for both.
 */
export function coversCanary(outer: CanaryMatch, inner: CanaryMatch): boolean {
  if (outer.header === undefined && outer.cookie === undefined && shareOf(outer, false) >= 100) return true;
  if (outer.header !== undefined) {
    // A request with never in this field is lost to the outer rule alone.
    if (outer.header.name !== inner.header?.name) return false;
    if (outer.header.value !== inner.header.value) return takesRest(outer);
  } else if (inner.header !== undefined) {
    return false;
  }
  return coversFromCookie(outer, inner, outer.header !== undefined);
}

/** The same where no header field spoke. `selects`: both rules have a header. */
function coversFromCookie(outer: CanaryMatch, inner: CanaryMatch, selects: boolean): boolean {
  if (outer.cookie !== undefined) {
    if (inner.cookie === undefined) return shareOf(inner, selects) === 0;
    if (outer.cookie.name !== inner.cookie.name) return false;
    if (outer.cookie.value !== inner.cookie.value) return shareOf(outer, true) >= 100;
    return shareOf(outer, true) >= shareOf(inner, true);
  }
  if (inner.cookie !== undefined) return shareOf(outer, selects) >= 100;
  return shareOf(outer, selects) >= shareOf(inner, selects);
}

/** Whether whatever the header leaves open is taken. */
function takesRest(match: CanaryMatch): boolean {
  return match.cookie === undefined && shareOf(match, true) >= 100;
}

/** Percentage of clients that are taken when neither header nor cookie spoke. */
function shareOf({ percent }: CanaryMatch, selects: boolean): number {
  return percent ?? (selects ? 0 : 100);
}
