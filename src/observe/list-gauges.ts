/** How many calls and lists wait, and what limits them at present? (Design section 5, limits of parallelism.) */
import type { Upstream } from "../model/exchange.ts";
import type { Maker, Reading } from "./maker.ts";

/** The queue of calls to one upstream, read when somebody asks for metrics. */
export interface QueueGauges {
  state(): {
    readonly waiting: Readonly<Record<string, number>>;
    readonly waits: Readonly<Record<string, { readonly count: number; readonly seconds: number }>>;
    readonly longestMs: number;
    readonly limit: number;
    readonly reading: number;
    /** Milliseconds until all may read pages again, and until every credential may. */
    readonly gatedMs: number;
    readonly pausedMs: number;
  };
}

/** Lists of more than one page. */
export type ListState = () => { readonly reading: number; readonly waiting: number };

/** Shows the queues of calls by upstream and kind, and of v2's pages what limits them. */
export function createQueueGauges(make: Maker, queues: ReadonlyMap<Upstream, QueueGauges>): void {
  const byKind = (of: (state: ReturnType<QueueGauges["state"]>) => Readonly<Record<string, number>>) =>
    function* (): Iterable<Reading> {
      for (const [upstream, { state }] of queues)
        for (const [kind, value] of Object.entries(of(state()))) yield [[upstream, kind], value];
    };
  make.gauge(
    "queue_waiting",
    byKind(({ waiting }) => waiting),
  );
  make.counter(
    "queue_calls_total",
    byKind(({ waits }) => mapped(waits, ({ count }) => count)),
  );
  make.counter(
    "queue_wait_seconds_total",
    byKind(({ waits }) => mapped(waits, ({ seconds }) => seconds)),
  );
  make.gauge("queue_longest_wait_seconds", function* () {
    for (const [upstream, { state }] of queues) yield [[upstream], state().longestMs / 1_000];
  });
  const v2 = (of: (state: ReturnType<QueueGauges["state"]>) => number) =>
    function* (): Iterable<Reading> {
      const state = queues.get("v2")?.state();
      if (state !== undefined) yield [[], of(state)];
    };
  make.gauge(
    "list_readers_limit",
    v2(({ limit }) => limit),
  );
  make.gauge(
    "list_readers",
    v2(({ reading }) => reading),
  );
  make.gauge(
    "list_readers_waiting",
    v2(({ waiting }) => waiting["page"] ?? 0),
  );
  // The platform asks one credential to wait as well as everybody: a client that is alone would show nothing else.
  make.gauge(
    "list_readers_paused_seconds",
    v2(({ gatedMs, pausedMs }) => Math.max(gatedMs, pausedMs) / 1_000),
  );
}

export function createListGauges(make: Maker, lists: ListState): void {
  make.gauge("lists_in_progress", () => [[[], lists().reading]]);
  make.gauge("lists_waiting", () => [[[], lists().waiting]]);
}

function mapped<Value>(of: Readonly<Record<string, Value>>, one: (value: Value) => number): Record<string, number> {
  return Object.fromEntries(Object.entries(of).map(([key, value]) => [key, one(value)]));
}
