/**
 * The test for requests that v2 fails and native v1 would have served: a pure state and its reducer. It sees one operation for one second
 * at a time.
 *
 * Two tests must agree. The first, a restarted likelihood ratio (CUSUM; Page 1954, Lorden 1971), asks whether more requests are lost than
 * independent errors explain. Its mean time between false alarms is at least e^`ALARM` requests. The second, a sequential probability
 * ratio, asks whether native fails less often than v2: few pairs say little, and both versions may be equally sick.
 *
 * Writes are never repeated, so they have no pairs. What native did with similar writes replaces the pairs, and several callers must have failed.
 */
import { FAILURE_KINDS, type FailureKind } from "../model/v2-failure.ts";
import { type CallerIdentity, countCallers, type DistinctCallers, NO_CALLERS, withCaller } from "./evidence-window.ts";

export type FailureCounts = Readonly<Partial<Record<FailureKind, number>>>;

/**
 * Failed writes by what was known when they failed: native serves such writes of other callers (`others`), it served one of the caller
 * within the hour (`hour`), this rule served them the day before (`ownDay`), native fails them too, or nothing is known.
 */
export interface StandInCounts {
  readonly others: number;
  readonly hour: number;
  readonly ownDay: number;
  readonly fails: number;
  readonly unknown: number;
}

export const NO_STAND_INS: StandInCounts = { others: 0, hour: 0, ownDay: 0, fails: 0, unknown: 0 };

/** One second of one operation. */
export interface GuardSecond {
  readonly operation: string;
  /** Whole seconds of a clock that never goes back. */
  readonly second: number;
  readonly served: number;
  /** Identical requests of one credential count once. */
  readonly failed: number;
  /** Failures of earlier seconds that last: reads that still wait for a v2 which responds to nobody. */
  readonly hanging?: number | undefined;
  readonly kinds: FailureCounts;
  /** Callers with a failure; at most `CALLERS_KEPT` of them. */
  readonly callers: DistinctCallers;
  /** Failed reads that were repeated on native, by what native did. Of a write: native's own writes of this operation in this second. */
  readonly pairedServed: number;
  readonly pairedFailed: number;
  /** Defined for writes, and only for them. */
  readonly standIn?: StandInCounts | undefined;
}

/** An independent error of both versions loses at most this share of requests. */
export const USUAL = 0.01;
/** The share that is to be noticed. */
const SICK = 0.05;
/** Evidence that raises an alarm: e^27 requests at 5,000 per second, each counted twice, are 1.7 years. */
export const ALARM = 27;
/** Evidence of one second, at most: an outage of 3 s touches 4 seconds, and leaves three sevenths for the noise before and after it. */
export const MOST_PER_SECOND = ALARM / 7;
/** Trouble is reported from this much evidence that v2 fails, whatever native does. */
export const TROUBLE = (ALARM * 2) / 3;
/** Evidence that native fails at most a quarter as often as v2. When both are equally sick it is wrong at most once in 200 times. */
export const NATIVE_SERVES = Math.log(200);

const PER_LOSS = Math.log(SICK / USUAL);
const PER_SERVED = Math.log1p(-SICK) - Math.log1p(-USUAL);

/** Pairs that say what native does now: the last `MOST_PAIRS`, at most `PAIR_SECONDS` old. A failure waits for its pair as long. */
const MOST_PAIRS = 10;
const PAIR_SECONDS = 10;
/** The share of failures is estimated from between half of this and all of it. */
const RECENT_REQUESTS = 100;
/** With a smaller share the second test would compare two kinds of health. */
const LEAST_SHARE = 0.02;
/** Below `TROUBLE`, failures are shown from this number on, if they are this share of the requests. */
const LIKELY_FAILURES = 5;
const LIKELY_SHARE = 0.2;
/** Trouble is over after this time without a failure, in seconds. */
export const QUIET_SECONDS = 900;
/** Failed writes of fewer callers raise no alarm: one credential may lack a permission. */
export const CALLERS_NEEDED = 2;
/** When nothing but the rule's own writes of the day before shows that they were served. */
const CALLERS_NEEDED_OWN_DAY = 3;
export const CALLERS_KEPT = 10;
const MOST_OPERATIONS = 256;

/** Failures since the evidence was last 0. Seconds on the clock of the observations. */
export interface Episode {
  readonly since: number;
  readonly lastFailure: number;
  readonly requests: number;
  readonly failures: number;
  readonly kinds: FailureCounts;
  readonly callers: DistinctCallers;
  readonly pairedServed: number;
  readonly pairedFailed: number;
  readonly standIn?: StandInCounts | undefined;
  /** The evidence that v2 fails has reached `TROUBLE`. */
  readonly troubled: boolean;
}

/** Evidence, and what the present second adds to it: several observations of one second may not add more than `MOST_PER_SECOND`. */
interface Evidence {
  readonly before: number;
  readonly now: number;
}

interface Suspicion {
  readonly second: number;
  /** Of this second. `lost`: failures that native would have served. */
  readonly requests: number;
  readonly failed: number;
  readonly lost: number;
  /** That v2 fails, and that it loses what native would have served. */
  readonly failing: Evidence;
  readonly losing: Evidence;
  /** That native fails less often than v2: from -`NATIVE_SERVES` to `NATIVE_SERVES`. */
  readonly native: number;
  /** About the last requests, to estimate the share that fails. */
  readonly recent: { readonly requests: number; readonly failed: number };
  readonly episode?: Episode | undefined;
}

interface PairCounts {
  readonly second: number;
  readonly served: number;
  readonly failed: number;
}

interface OperationGuard extends Suspicion {
  readonly operation: string;
  /** Oldest first. */
  readonly pairs: readonly PairCounts[];
  /** Failures without a pair so far, oldest first. */
  readonly waiting: readonly { readonly second: number; readonly failed: number }[];
}

/** Plain JSON. */
export interface GuardState {
  readonly operations: readonly OperationGuard[];
  /** Of all operations together. */
  readonly reads: Suspicion;
  readonly writes: Suspicion;
  /** Stays until the guard begins again. */
  readonly alarm?: CountedFailures | undefined;
  /** The latest reads, or writes, whose failures were certain, also when they are over. */
  readonly past?: CountedFailures | undefined;
}

/** Failures of one operation, or of several together. */
export interface CountedFailures extends Omit<Episode, "troubled" | "callers"> {
  /** Undefined: all reads, or all writes, together. */
  readonly operation?: string | undefined;
  readonly write: boolean;
  /** Distinct callers, and some of their names. */
  readonly callers: number;
  readonly clients: readonly string[];
}

/** Present failures, for status. */
export interface GuardTrouble {
  readonly since: number;
  readonly lastFailure: number;
  /** Operations that fail, most failures first. */
  readonly operations: readonly CountedFailures[];
  /** The evidence has reached `TROUBLE`. Otherwise a few failures make it likely. */
  readonly isCertain: boolean;
  /** Undefined if no alarm was raised. */
  readonly alarm: CountedFailures | undefined;
}

const NO_EVIDENCE: Evidence = { before: 0, now: 0 };
const UNSUSPECTED: Suspicion = {
  second: 0,
  requests: 0,
  failed: 0,
  lost: 0,
  failing: NO_EVIDENCE,
  losing: NO_EVIDENCE,
  native: 0,
  recent: { requests: 0, failed: 0 },
  episode: undefined,
};

/** Also of a rule that translates again. */
export function initialGuard(): GuardState {
  return { operations: [], reads: UNSUSPECTED, writes: UNSUSPECTED, alarm: undefined };
}

/**
 * The state after one more second of an operation. Seconds of one operation must not come out of order. `translated`: how many clients a
 * returning rule translates; where they are few, that many callers are enough.
 */
export function stepGuard(state: GuardState, seen: GuardSecond, translated = Number.POSITIVE_INFINITY): GuardState {
  const known = state.operations.find(({ operation }) => operation === seen.operation);
  const kind = seen.standIn === undefined ? "reads" : "writes";
  if (hasNothingToSay(seen) && isUnsuspected(known) && isUnsuspected(state[kind])) return state;
  const before = known ?? { ...UNSUSPECTED, operation: seen.operation, pairs: [], waiting: [] };
  const { lost, pairs, waiting } = lostIn(before, seen);
  const operation: OperationGuard = { ...withSecond(before, seen, lost), operation: seen.operation, pairs, waiting };
  const together = withSecond(state[kind], seen, lost);
  const others = state.operations.filter((one) => one !== known && isStillOf(one, seen.second));
  const alarm =
    state.alarm ??
    (isAlarming(operation, state.reads, translated) ? causeOf(operation, seen.operation) : undefined) ??
    (isAlarming(together, state.reads, translated) ? causeOf(together, undefined) : undefined);
  const past = together.episode?.troubled === true ? causeOf(together, undefined) : state.past;
  return { ...state, operations: [...others, operation].slice(-MOST_OPERATIONS), [kind]: together, alarm, past };
}

/** Returns why the rule must step back, or undefined if it need not. */
export function guardAlarm({ alarm }: GuardState): CountedFailures | undefined {
  return alarm;
}

/** Returns what fails at second `now`, whether or not native would have served it, or undefined if too little does. */
export function trouble(state: GuardState, now: number): GuardTrouble | undefined {
  const { alarm } = state;
  const operations = state.operations.filter((one) => presentEpisode(one, now) !== undefined);
  const troubled = [state.reads, state.writes, ...operations]
    .flatMap((one) => presentEpisode(one, now) ?? [])
    .filter((episode) => episode.troubled || isLikely(episode));
  if (troubled.length === 0 && alarm === undefined) return undefined;
  return {
    since: Math.min(...troubled.map(({ since }) => since), alarm?.since ?? Number.POSITIVE_INFINITY),
    lastFailure: Math.max(...troubled.map(({ lastFailure }) => lastFailure), alarm?.lastFailure ?? 0),
    operations: operations
      .flatMap((one) => causeOf(one, one.operation) ?? [])
      .toSorted((a, b) => b.failures - a.failures),
    isCertain: alarm !== undefined || troubled.some((episode) => episode.troubled),
    alarm,
  };
}

/** How near the evidence is to an alarm: 0 to 1. Native v1 has a say in the alarm besides. */
export function alarmEvidence(state: GuardState, now: number): number {
  const present = [state.reads, state.writes, ...state.operations].filter((one) => presentEpisode(one, now));
  return Math.min(1, Math.max(0, ...present.map(({ losing }) => losing.now)) / ALARM);
}

/** Returns failures that are over, as long as nothing shows that v2 is well again: for `QUIET_SECONDS`. */
export function pastTrouble({ past }: GuardState, now: number): CountedFailures | undefined {
  return past !== undefined && now - past.lastFailure < QUIET_SECONDS ? past : undefined;
}

/** Of a few requests, too: an operator who looks should see it, although it may be luck or a short outage. */
function isLikely({ failures, requests }: Episode): boolean {
  return failures >= LIKELY_FAILURES && failures >= LIKELY_SHARE * requests;
}

function presentEpisode(suspicion: Suspicion, now: number): Episode | undefined {
  const { episode } = suspicion;
  if (episode === undefined || isUnsuspected(suspicion) || now - episode.lastFailure >= QUIET_SECONDS) return undefined;
  return episode;
}

/** `counts` and `more` together. */
export function addKinds(counts: FailureCounts, more: FailureCounts): FailureCounts {
  const sum: Partial<Record<FailureKind, number>> = { ...counts };
  for (const kind of FAILURE_KINDS) if (more[kind] !== undefined) sum[kind] = (sum[kind] ?? 0) + more[kind];
  return sum;
}

function hasNothingToSay({ failed, hanging = 0, pairedServed, pairedFailed }: GuardSecond): boolean {
  return failed + hanging + pairedServed + pairedFailed === 0;
}

/** True when requests that are served would change nothing. */
function isUnsuspected(suspicion: Suspicion | undefined): boolean {
  return suspicion === undefined || (suspicion.failing.now === 0 && suspicion.losing.now === 0);
}

function isStillOf(one: OperationGuard, second: number): boolean {
  return !isUnsuspected(one) || second - one.second <= PAIR_SECONDS;
}

/**
 * Failures that native would have served, judged by the recent pairs or the stand-ins. Native responds later, so a failure without a
 * recent pair waits for one. Then it is forgotten: without a pair native is not known to serve.
 */
function lostIn(
  before: OperationGuard,
  { second, failed: begun, hanging = 0, pairedServed, pairedFailed, standIn }: GuardSecond,
): Pick<OperationGuard, "pairs" | "waiting"> & { lost: number } {
  if (standIn !== undefined) return { lost: standIn.others + standIn.hour + standIn.ownDay, pairs: [], waiting: [] };
  const failed = begun + hanging;
  if (failed + pairedServed + pairedFailed + before.waiting.length === 0) return { ...before, lost: 0 };
  const pairs = recentPairs(before.pairs, { second, served: pairedServed, failed: pairedFailed });
  const earlier = before.waiting.filter((one) => second - one.second < PAIR_SECONDS && one.second !== second);
  const present = before.waiting.find((one) => one.second === second)?.failed ?? 0;
  const waiting = failed + present === 0 ? earlier : [...earlier, { second, failed: failed + present }];
  if (pairs.length === 0) return { lost: 0, pairs, waiting };
  const served = pairs.reduce((sum, one) => sum + one.served, 0);
  const all = pairs.reduce((sum, one) => sum + one.served + one.failed, 0);
  return { lost: (waiting.reduce((sum, one) => sum + one.failed, 0) * served) / all, pairs, waiting: [] };
}

function recentPairs(pairs: readonly PairCounts[], more: PairCounts): readonly PairCounts[] {
  const kept = pairs.filter(({ second }) => more.second - second < PAIR_SECONDS);
  if (more.served + more.failed === 0) return kept;
  kept.push(more);
  let all = kept.reduce((sum, one) => sum + one.served + one.failed, 0);
  for (let first = kept[0]; first !== undefined && kept.length > 1; first = kept[0]) {
    all -= first.served + first.failed;
    if (all < MOST_PAIRS) break;
    kept.shift();
  }
  return kept;
}

function withSecond(before: Suspicion, seen: GuardSecond, lost: number): Suspicion {
  const isSame = seen.second <= before.second;
  // An episode ends with the second that took the evidence back to 0.
  const isOver = !isSame && isUnsuspected(before);
  const bad = seen.failed + (seen.hanging ?? 0);
  const requests = (isSame ? before.requests : 0) + seen.served + bad;
  const failed = (isSame ? before.failed : 0) + bad;
  const allLost = (isSame ? before.lost : 0) + lost;
  const failing = withEvidence(before.failing, isSame, failed, requests);
  const losing = withEvidence(before.losing, isSame, allLost, requests);
  const recent = withRecent(isOver ? UNSUSPECTED.recent : before.recent, seen);
  return {
    second: Math.max(before.second, seen.second),
    requests,
    failed,
    lost: allLost,
    failing,
    losing,
    native: withPairs(isOver ? 0 : before.native, seen, recent),
    recent,
    episode: withEpisode(isOver ? undefined : before.episode, seen, failing.now >= TROUBLE),
  };
}

function withEvidence({ before, now }: Evidence, isSame: boolean, bad: number, requests: number): Evidence {
  const from = isSame ? before : now;
  const more = bad * PER_LOSS + Math.max(0, requests - bad) * PER_SERVED;
  return { before: from, now: Math.min(ALARM, Math.max(0, from + Math.min(MOST_PER_SECOND, more))) };
}

function withRecent(recent: Suspicion["recent"], { served, failed }: GuardSecond): Suspicion["recent"] {
  const requests = recent.requests + served + failed;
  const halvings = Math.max(0, Math.ceil(Math.log2(requests / RECENT_REQUESTS)));
  return { requests: requests / 2 ** halvings, failed: (recent.failed + failed) / 2 ** halvings };
}

/** Compares two hypotheses: native fails a quarter as often as v2 does now, or as often. */
function withPairs(native: number, { pairedServed, pairedFailed }: GuardSecond, recent: Suspicion["recent"]): number {
  if (pairedServed + pairedFailed === 0) return native;
  // One standard error less, since a share that is taken for too high makes each served pair say too much.
  const seen = recent.failed / (recent.requests + 2);
  const share = Math.min(0.9, Math.max(LEAST_SHARE, seen - Math.sqrt((seen * (1 - seen)) / (recent.requests + 2))));
  const perServed = Math.log1p(-share / 4) - Math.log1p(-share);
  const sum = native + pairedServed * perServed - pairedFailed * Math.log(4);
  return Math.min(NATIVE_SERVES, Math.max(-NATIVE_SERVES, sum));
}

function withEpisode(before: Episode | undefined, seen: GuardSecond, troubled: boolean): Episode | undefined {
  if (before === undefined && seen.failed === 0) return undefined;
  const { second, failed, hanging = 0 } = seen;
  const episode = before ?? emptyEpisode(second);
  return {
    since: episode.since,
    lastFailure: failed + hanging > 0 ? second : episode.lastFailure,
    requests: episode.requests + seen.served + failed,
    failures: episode.failures + failed,
    kinds: failed > 0 ? addKinds(episode.kinds, seen.kinds) : episode.kinds,
    callers: failed > 0 ? mergeCallers(episode.callers, seen.callers) : episode.callers,
    pairedServed: episode.pairedServed + seen.pairedServed,
    pairedFailed: episode.pairedFailed + seen.pairedFailed,
    standIn: seen.standIn && addStandIns(episode.standIn ?? NO_STAND_INS, seen.standIn),
    troubled: episode.troubled || troubled,
  };
}

function emptyEpisode(second: number): Episode {
  return {
    since: second,
    lastFailure: second,
    requests: 0,
    failures: 0,
    kinds: {},
    callers: NO_CALLERS,
    pairedServed: 0,
    pairedFailed: 0,
    standIn: undefined,
    troubled: false,
  };
}

/** Both together; at most `CALLERS_KEPT`. */
export function mergeCallers(callers: DistinctCallers, more: DistinctCallers): DistinctCallers {
  const merge = (some: readonly string[], others: readonly string[]): readonly string[] =>
    some.length >= CALLERS_KEPT || others.every((one) => some.includes(one))
      ? some
      : [...new Set([...some, ...others])].slice(0, CALLERS_KEPT);
  return {
    clients: merge(callers.clients, more.clients),
    credentials: merge(callers.credentials, more.credentials),
  };
}

export function addStandIns(counts: StandInCounts, more: StandInCounts): StandInCounts {
  return {
    others: counts.others + more.others,
    hour: counts.hour + more.hour,
    ownDay: counts.ownDay + more.ownDay,
    fails: counts.fails + more.fails,
    unknown: counts.unknown + more.unknown,
  };
}

function isAlarming(suspicion: Suspicion, reads: Suspicion, translated: number): boolean {
  const { losing, native, episode } = suspicion;
  if (losing.now < ALARM || episode === undefined) return false;
  const { standIn, callers } = episode;
  if (standIn === undefined) return native >= NATIVE_SERVES;
  const { others, hour, ownDay } = standIn;
  const needed = others + hour > 0 ? CALLERS_NEEDED : CALLERS_NEEDED_OWN_DAY;
  if (countCallers([callers]) < Math.min(needed, Math.max(1, translated))) return false;
  // What native did before says nothing of an accident that hits both. Its present writes say something, or else its reads.
  return others >= hour + ownDay && isNativeWriting(suspicion, episode) ? native >= NATIVE_SERVES : reads.native >= 0;
}

/** Native has writes of its own, or too little time has passed to tell. */
function isNativeWriting({ second }: Suspicion, { since, pairedServed, pairedFailed }: Episode): boolean {
  return pairedServed + pairedFailed > 0 || second - since < PAIR_SECONDS;
}

function causeOf({ episode }: Suspicion, operation: string | undefined): CountedFailures | undefined {
  if (episode === undefined) return undefined;
  const { troubled: _, callers, ...rest } = episode;
  return {
    ...rest,
    operation,
    write: episode.standIn !== undefined,
    callers: countCallers([callers]),
    clients: callers.clients,
  };
}

/** `callers` with one more. */
export function withFailing(callers: DistinctCallers, who: CallerIdentity): DistinctCallers {
  return withCaller(callers, who, CALLERS_KEPT);
}
