/** Which rules can never take a request, because earlier ones always take it first? */
import { EVERY_REQUEST, type Rule, type RuleMatch, type TimeWindow } from "../model/rules.ts";
import { coversCanary } from "./covers.ts";
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
 * on purpose and not named. Of more than a hundred different hours of the week
 * it compares no further ones, and stays silent about them.
 */
export function findUnreachable(rules: readonly Rule[], subjects: readonly Subject[]): readonly Unreachable[] {
  const about = createAbout(rules, subjects);
  const covers = createWeeks();
  const taken = rules.map(({ match }) => about.named(match));
  return rules.flatMap((rule, at) => {
    if (rule.match.percent === 0 && rule.match.header === undefined && rule.match.cookie === undefined) return [];
    const left = about.asked(rule.match);
    if (left.every((word) => word === 0)) return [];
    const by: Rule[] = [];
    for (const [place, other] of rules.slice(0, at).entries()) {
      const bits = taken[place] ?? left;
      if (!takesAllOf(other, rule, covers) || !meets(left, bits)) continue;
      by.push(other);
      left.forEach((word, of) => {
        left[of] = word & ~(bits[of] ?? 0);
      });
      if (left.every((word) => word === 0)) return [{ rule, by }];
    }
    return [];
  });
}

/** One bit for each of many subjects. */
type Bits = Uint32Array;

function meets(one: Bits, other: Bits): boolean {
  return one.some((word, place) => (word & (other[place] ?? 0)) !== 0);
}

/** Which subjects rules are about; worked out once for all rules that name the same. */
function createAbout(rules: readonly Rule[], subjects: readonly Subject[]) {
  const operations = new Set(rules.flatMap(({ match }) => [...(match.operations ?? [])]));
  const all = [...subjects, ...unlisted(operations)];
  const known = new Map<string, Bits>();
  const named = (match: RuleMatch): Bits => {
    const key = JSON.stringify([match.resources, match.operations].map((names) => names && [...names]));
    const bits = known.get(key) ?? bitsOf(all, (subject) => isAbout(match, subject));
    known.set(key, bits);
    return bits;
  };
  /** A fresh copy. Operations that nobody lists and only other rules name are no question to this one. */
  const asked = ({ resources, operations: own }: RuleMatch): Bits => {
    const bits = named({ ...EVERY_REQUEST, resources, operations: own }).slice();
    all.forEach(({ resource, operation }, at) => {
      if (resource !== UNLISTED || operation === UNLISTED || own?.has(operation) === true) return;
      bits[at >>> 5] = (bits[at >>> 5] ?? 0) & ~(1 << (at & 31));
    });
    return bits;
  };
  return { named, asked };
}

function bitsOf(all: readonly Subject[], is: (subject: Subject) => boolean): Bits {
  const bits = new Uint32Array(Math.ceil(all.length / 32));
  all.forEach((subject, at) => {
    if (is(subject)) bits[at >>> 5] = (bits[at >>> 5] ?? 0) | (1 << (at & 31));
  });
  return bits;
}

/** What a rule about all resources is about beside the listed ones. */
function unlisted(operations: ReadonlySet<string>): readonly Subject[] {
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
