/** Watches what v2 does to clients of each rule, and asks native v1 about the reads that v2 failed. */
import type { Exchange, NativeOutcome } from "../model/exchange.ts";
import { isSafe } from "../model/http.ts";
import { type FailureKind, failureOf, failureOfExchange } from "../model/v2-failure.ts";
import type { Rule } from "../rules/rule.ts";
import type { CallerIdentity } from "./evidence-window.ts";
import type { GuardSecond } from "./guard.ts";
import { createGuardTally, type GuardTally } from "./guard-tally.ts";
import { createNativeWrites } from "./native-writes.ts";

export interface GuardWatch {
  /** Takes every finished v1 request with the rule that decided on it. */
  observe(exchange: Exchange, rule: Rule | undefined): void;
  /** The seconds of `rule` that are over, oldest first. */
  take(rule: string): readonly GuardSecond[];
  /** Reads repeated on native, by what it did. */
  readonly calls: Readonly<Record<NativeOutcome, number>>;
  /** Forgets what is no rule any more. */
  keep(rules: { has(name: string): boolean }): void;
}

interface GuardWatchOptions {
  /** Milliseconds of a clock that is never set. */
  readonly now: () => number;
  /** Called when native has responded about a request of `rule`. */
  readonly answered: (rule: string) => void;
}

/** Reads that are repeated on native, at most, in a second and for a rule. */
const PAIRS_PER_SECOND = 2;

interface WatchedRule {
  readonly tally: GuardTally;
  /** Pairs asked for in `second`. */
  second: number;
  pairs: number;
}

export function createGuardWatch({ now, answered }: GuardWatchOptions): GuardWatch {
  const rules = new Map<string, WatchedRule>();
  const writes = createNativeWrites();
  const calls = { served: 0, failed: 0, unknown: 0 };
  const watched = (name: string): WatchedRule => {
    let found = rules.get(name);
    if (found === undefined) {
      found = { tally: createGuardTally(), second: 0, pairs: 0 };
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
      answered(rule);
    };
  };
  const failed = (exchange: Exchange, rule: string, kind: FailureKind): void => {
    const at = now();
    const operation = operationOf(exchange);
    const credential = exchange.credential?.();
    const who = { client: exchange.client, credential };
    const requestKey = `${credential} ${exchange.requestKey?.() ?? `${exchange.method} ${exchange.path}`}`;
    const standIn = isSafe(exchange.method) ? undefined : writes.standIn(operation, credential, rule, at);
    const entry = watched(rule);
    if (!entry.tally.failed({ operation, at, kind, who, requestKey, standIn }) || standIn !== undefined) return;
    const told = pair(rule, { operation, kind, who });
    if (exchange.native !== undefined) told(exchange.native);
    else if (exchange.onNative !== undefined && mayAsk(entry, at)) {
      void exchange.onNative().then((outcome) => {
        calls[outcome] += 1;
        told(outcome);
      });
    }
  };
  const native = (exchange: Exchange): void => {
    const kind = failureOf(exchange.status);
    const isServed = isSuccess(exchange);
    if (!isServed && kind === undefined) return;
    writes.native(operationOf(exchange), exchange.credential?.(), isServed, now());
  };
  return {
    observe(exchange, rule) {
      if (exchange.apiVersion !== "v1" || exchange.operation === "unknown" || exchange.aborted) return;
      const isWrite = !isSafe(exchange.method);
      if (exchange.mode !== "translate") {
        if (isWrite && exchange.calls.length > 0) native(exchange);
        return;
      }
      if (rule === undefined || rule.guard.action === "off") return;
      const kind = failureOfExchange(exchange);
      if (kind !== undefined) failed(exchange, rule.name, kind);
      else if (isSuccess(exchange)) {
        const operation = operationOf(exchange);
        watched(rule.name).tally.served(operation, now(), isWrite);
        if (isWrite) writes.translated(operation, exchange.credential?.(), rule.name, now());
      }
    },
    calls,
    take: (rule) => rules.get(rule)?.tally.take(now(), writes.countsOf) ?? [],
    keep: (names) => {
      for (const name of rules.keys()) if (!names.has(name)) rules.delete(name);
    },
  };
}

function operationOf({ resource, operation }: Exchange): string {
  return `${resource} ${operation}`;
}

/** Other errors of the client, such as 404, 409 and 412, say nothing of v2. */
function isSuccess({ status, reason }: Exchange): boolean {
  return status >= 200 && status < 400 && reason === undefined;
}
