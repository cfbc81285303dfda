/** A simulated cutover request by request, through the tally: clients that retry, and one whose token both versions refuse. */
import type { FailureKind } from "../../src/model/v2-failure.ts";
import type { CallerIdentity } from "../../src/rollout/evidence-window.ts";
import { type GuardState, guardAlarm, initialGuard, stepGuard } from "../../src/rollout/guard.ts";
import { createGuardTally } from "../../src/rollout/guard-tally.ts";

const OPERATION = "groups.list";
/** Milliseconds before each retry, and until native has responded to the pair. */
const RETRIES = [500, 1000, 2000];
const NATIVE_MS = 300;
const PAIRS_PER_SECOND = 2;
/** A client polls with its dead token once per second. */
const DEAD: CallerIdentity = { client: "dead", credential: "dead" };

export interface RequestWorld {
  readonly rate: number;
  /** Share of requests that fail at a time in milliseconds. */
  readonly v2: (at: number) => number;
  readonly native: (at: number) => number;
}

interface Pending {
  readonly at: number;
  readonly who: CallerIdentity;
  readonly key: string;
  readonly attempt: number;
}

/** The second of the first alarm, or undefined. */
export function alarmByRequests({ rate, v2, native }: RequestWorld, seconds: number, random: () => number) {
  const tally = createGuardTally();
  let state: GuardState = initialGuard();
  let retries: Pending[] = [];
  for (let second = 0; second < seconds; second++) {
    const end = (second + 1) * 1000;
    const due = retries.filter(({ at }) => at < end);
    retries = retries.filter(({ at }) => at >= end);
    for (let n = 0; n < rate; n++) {
      const name = `c${Math.floor(random() * 50)}`;
      due.push({
        at: second * 1000 + random() * 1000,
        who: { client: name, credential: name },
        key: `${second} ${n}`,
        attempt: 0,
      });
    }
    due.push({ at: second * 1000 + 500, who: DEAD, key: "dead", attempt: 3 });
    retries.push(...oneSecond(due.toSorted((a, b) => a.at - b.at)));
    for (const seen of tally.take(end, () => ({ served: 0, failed: 0 }))) state = stepGuard(state, seen);
    if (guardAlarm(state) !== undefined) return second;
  }
  return undefined;

  /** Returns the retries. Pairs end within the second of their request, which no later request precedes. */
  function oneSecond(requests: readonly Pending[]): Pending[] {
    const again: Pending[] = [];
    let pairs = 0;
    for (const { at, who, key, attempt } of requests) {
      const isDead = who === DEAD;
      if (!isDead && random() >= v2(at)) {
        tally.served(OPERATION, at, false);
        continue;
      }
      const kind: FailureKind = isDead ? "unauthenticated" : "unavailable";
      const counts = tally.failed({ operation: OPERATION, at, kind, who, requestKey: key });
      if (counts && pairs < PAIRS_PER_SECOND) {
        pairs += 1;
        tally.pair({
          operation: OPERATION,
          at,
          kind,
          who,
          nativeServed: !isDead && random() >= native(at + NATIVE_MS),
        });
      }
      const wait = RETRIES[attempt];
      if (wait !== undefined) again.push({ at: at + wait, who, key, attempt: attempt + 1 });
    }
    return again;
  }
}
