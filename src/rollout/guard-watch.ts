/** Watches what v2 does to clients of each rule, and asks native v1 about the reads that v2 failed. */

import type { Timer } from "../model/clock.ts";
import type { Exchange, NativeOutcome } from "../model/exchange.ts";
import { type FailureKind, failureOfExchange } from "../model/v2-failure.ts";
import type { Rule } from "../rules/rule.ts";
import type { CallerIdentity } from "./evidence-window.ts";
import type { GuardSecond } from "./guard.ts";
import { createGuardFigures, type RuleFigures } from "./guard-figures.ts";
import { createGuardTally, type GuardTally } from "./guard-tally.ts";
import { createNativeWrites } from "./native-writes.ts";
import { createSlownessWatch, type Slowness } from "./slowness.ts";

export interface GuardWatch {
  /** Takes every finished v1 request with the rule that decided on it. */
  observe(exchange: Exchange, rule: Rule | undefined): void;
  /** Calls `learnt` when a pair or a waiting read says something new about a rule. */
  subscribe(learnt: (rule: string) => void): void;
  /** A translated read of `rule` begins; to be followed by `observe`. */
  begins(exchange: Exchange, rule: string): void;
  /** The slowest operation of `rule`, if v2 is much slower than native v1. */
  slowest(rule: string): Slowness | undefined;
  /** What v2 and native v1 did lately with the operations of `rule`, and the slowest of them compared with native v1. */
  figures(rule: string): (RuleFigures & { readonly longest: Slowness | undefined }) | undefined;
  /** The rate limit that v2 named last to clients of `rule`. */
  rateLimit(rule: string): string | undefined;
  /** Forgets how slow v2 was. */
  forgetTimes(rule: string): void;
  /** The seconds of `rule` that are over, oldest first. */
  take(rule: string): readonly GuardSecond[];
  /** Reads repeated on native, by what it did. */
  readonly calls: Readonly<Record<NativeOutcome, number>>;
  /** Forgets rules that are gone. */
  keep(rules: { has(name: string): boolean }): void;
}

interface GuardWatchOptions {
  /** Milliseconds of a clock that is never set. */
  readonly now: () => number;
  readonly later: Timer;
  /** Native v1 has served a request that is over and that v2 failed. */
  readonly blameV2?: ((exchange: Exchange) => void) | undefined;
}

/** A read that waits so long for v2, which has not responded to anything since, counts as a timeout: its own would come later. */
const HUNG_MS = 4_000;
const LOOK_MS = 1_000;
/** Between two successful reads of a rule that native repeats, to compare times. */
const TIMED_EVERY_MS = 10_000;

interface WaitingRead {
  readonly rule: string;
  readonly since: number;
  hung: boolean;
}

/** Reads that are repeated on native, at most, in a second and for a rule. */
const PAIRS_PER_SECOND = 2;

interface WatchedRule {
  readonly tally: GuardTally;
  /** Pairs asked for in `second`. */
  second: number;
  pairs: number;
  /** When native was last asked about a read that v2 served. */
  timedAt: number;
  rateLimit: string | undefined;
}

export function createGuardWatch({ now, later, blameV2 }: GuardWatchOptions): GuardWatch {
  const rules = new Map<string, WatchedRule>();
  const writes = createNativeWrites();
  const listeners: ((rule: string) => void)[] = [];
  const learnt = (rule: string): void => {
    for (const listener of listeners) listener(rule);
  };
  const slowness = createSlownessWatch();
  const figures = createGuardFigures();
  const waiting = new Map<Exchange, WaitingRead>();
  const v2 = { respondedAt: Number.NEGATIVE_INFINITY, isLooking: false };
  const calls = { served: 0, failed: 0, unknown: 0 };
  const watched = (name: string): WatchedRule => {
    let found = rules.get(name);
    if (found === undefined) {
      found = {
        tally: createGuardTally(),
        second: 0,
        pairs: 0,
        timedAt: Number.NEGATIVE_INFINITY,
        rateLimit: undefined,
      };
      rules.set(name, found);
    }
    return found;
  };
  const mayAsk = (rule: WatchedRule, at: number): boolean => {
    const second = Math.floor(at / 1_000);
    if (rule.second !== second) {
      rule.second = second;
      rule.pairs = 0;
    }
    rule.pairs += 1;
    return rule.pairs <= PAIRS_PER_SECOND;
  };
  const pair = (rule: string, failed: { operation: string; kind: FailureKind; who: CallerIdentity }) => {
    return (outcome: NativeOutcome): void => {
      if (outcome === "unknown") return;
      watched(rule).tally.pair({ ...failed, at: now(), nativeServed: outcome === "served" });
      figures.repeated(failed.operation, rule, outcome === "served", now());
      learnt(rule);
    };
  };
  const failed = (exchange: Exchange, rule: string, kind: FailureKind): void => {
    const at = now();
    const operation = operationOf(exchange);
    const credential = exchange.credential?.();
    const who = { client: exchange.client, credential };
    const requestKey = `${credential} ${exchange.requestKey?.() ?? `${exchange.method} ${exchange.path}`}`;
    const standIn = exchange.write === true ? writes.standIn(operation, credential, rule, at) : undefined;
    const entry = watched(rule);
    if (kind === "limited") entry.rateLimit = exchange.rateLimit;
    if (!entry.tally.failed({ operation, at, kind, who, requestKey, standIn })) return;
    figures.add(operation, rule, kind, at);
    if (standIn !== undefined) return;
    const told = pair(rule, { operation, kind, who });
    if (exchange.native === undefined) ask(exchange, entry, told);
    else told(exchange.native);
  };
  /** Asks native once about a read that v2 failed, if no more are asked about in this second. */
  const ask = (exchange: Exchange, rule: WatchedRule, told: (outcome: NativeOutcome) => void): void => {
    const { onNative } = exchange;
    if (onNative === undefined || !mayAsk(rule, now())) return;
    exchange.onNative = undefined;
    void onNative().then((outcome) => {
      calls[outcome] += 1;
      exchange.native = outcome;
      if (outcome === "served" && !waiting.has(exchange)) blameV2?.(exchange);
      told(outcome);
    });
  };
  /** Where all connections of the clients hang, nothing else fails, so each second of it is evidence. */
  const hangs = (exchange: Exchange, rule: string): void => {
    const entry = watched(rule);
    const operation = operationOf(exchange);
    entry.tally.hangs(operation, now());
    const who = { client: exchange.client, credential: exchange.credential?.() };
    ask(exchange, entry, pair(rule, { operation, kind: "timeout", who }));
  };
  /** Every second while reads wait: looks for those that a silent v2 leaves without a response. */
  const look = (): void => {
    v2.isLooking = false;
    const at = now();
    const failing = new Set<string>();
    for (const [exchange, read] of waiting) {
      if (at - read.since < HUNG_MS || v2.respondedAt >= read.since || exchange.calls.length > 0) continue;
      if (read.hung) hangs(exchange, read.rule);
      else {
        read.hung = true;
        failed(exchange, read.rule, "timeout");
        exchange.giveUpV2?.();
      }
      failing.add(read.rule);
    }
    for (const rule of failing) learnt(rule);
    lookLater();
  };
  const lookLater = (): void => {
    if (v2.isLooking || waiting.size === 0) return;
    v2.isLooking = true;
    later(LOOK_MS, look);
  };
  /** Asks native now and then about a read that v2 served, to know how long it takes. */
  const time = (exchange: Exchange, rule: Rule): void => {
    const entry = watched(rule.name);
    const at = now();
    if (exchange.onNative === undefined || at - entry.timedAt < TIMED_EVERY_MS) return;
    entry.timedAt = at;
    void exchange.onNative().then((outcome) => {
      if (outcome === "served") slowness.took(operationOf(exchange), undefined, now() - at, now());
    });
  };
  const native = (exchange: Exchange): void => {
    const [operation, at] = [operationOf(exchange), now()];
    const isServed = isSuccess(exchange);
    if (isServed) slowness.took(operation, undefined, msOf(exchange), at);
    const kind = failureOfExchange(exchange);
    if (!isServed && kind === undefined) return;
    figures.add(operation, undefined, kind, at);
    if (exchange.write === true) writes.native(operation, exchange.credential?.(), isServed, at);
  };
  return {
    subscribe: (listener) => void listeners.push(listener),
    begins(exchange, rule) {
      waiting.set(exchange, { rule, since: now(), hung: false });
      lookLater();
    },
    slowest: (rule) => slowness.slowest(rule, now()),
    figures: (rule) => {
      const found = figures.of(rule, now());
      return found && { ...found, longest: slowness.longest(rule, now()) };
    },
    rateLimit: (rule) => rules.get(rule)?.rateLimit,
    forgetTimes: slowness.forget,
    observe(exchange, rule) {
      const read = waiting.get(exchange);
      waiting.delete(exchange);
      if (exchange.calls.some(({ upstream, status }) => upstream === "v2" && status > 0)) v2.respondedAt = now();
      if (read?.hung === true) return;
      if (exchange.apiVersion !== "v1" || exchange.operation === "unknown" || exchange.aborted) return;
      const isWrite = exchange.write === true;
      if (exchange.mode !== "translate") {
        native(exchange);
        return;
      }
      if (rule === undefined || rule.guard.action === "off") return;
      const kind = failureOfExchange(exchange);
      if (kind !== undefined) failed(exchange, rule.name, kind);
      else if (isSuccess(exchange)) {
        const operation = operationOf(exchange);
        watched(rule.name).tally.served(operation, now(), isWrite);
        figures.add(operation, rule.name, undefined, now());
        slowness.took(operation, rule.name, msOf(exchange), now());
        if (!isWrite) time(exchange, rule);
        if (isWrite) writes.translated(operation, exchange.credential?.(), rule.name, now());
      }
    },
    calls,
    take: (rule) => rules.get(rule)?.tally.take(now(), writes.countsOf) ?? [],
    keep: (names) => {
      for (const name of rules.keys()) {
        if (names.has(name)) continue;
        rules.delete(name);
        slowness.forget(name);
        figures.forget(name);
      }
    },
  };
}

/** Milliseconds of the longest call: time that the client takes is not counted. */
function msOf({ calls }: Exchange): number {
  return calls.reduce((longest, { ms }) => Math.max(longest, ms), 0);
}

function operationOf({ resource, operation }: Exchange): string {
  return `${resource} ${operation}`;
}

/** Other errors of the client, such as 404, 409 and 412, say nothing of v2. */
function isSuccess({ status, reason }: Exchange): boolean {
  return status >= 200 && status < 400 && reason === undefined;
}
