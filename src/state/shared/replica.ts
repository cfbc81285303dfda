/**
 * This process as one of several that share a store: it sends what it counts and decides, and hears what others decided. One tick per second, one at once
 * after a decision, one command at a time. Nothing here waits for the store but `decide`.
 */
import type { Timer } from "../../model/clock.ts";
import { initialLink, isUp, type LinkState, step } from "./link.ts";
import {
  type Decision,
  type DecisionOutcome,
  type ForceRow,
  type NumberedDecision,
  type ReplicaRow,
  type RuleRow,
  type SharedStore,
  StoreError,
  type TickReply,
  type TickRequest,
} from "./protocol.ts";
import type { Rows } from "./rows.ts";

const TICK_MS = 1_000;
/** The list of replicas is asked for with every second tick. */
const REPLICAS_TICKS = 2;
const DECISIONS_PER_TICK = 16;
/** Decisions that wait while the store is away; one for each rule, so rules beyond this number wait in vain. */
const MOST_DECISIONS = 10_000;
/** Rules of all replicas, those of earlier rules files included. Beyond this number the store holds what others wrote there. */
const MOST_ROWS = 20_000;
/** How long the last tick of a process may take. */
const CLOSE_MS = 1_000;

export interface ReplicaOptions {
  /** Random, one per process. */
  readonly id: string;
  readonly store: SharedStore;
  /** JSON about this process. `isLeaving`: it stops. */
  readonly about: (isLeaving: boolean) => string;
  /** What this process wants the store to have. */
  readonly rows: readonly Rows[];
  /** Milliseconds since 1970. */
  readonly wall: () => number;
  readonly later: Timer;
  /** Called after each tick, once its content is taken. Must not throw. */
  readonly ticked?: (link: LinkState) => void;
  /** Called before each tick: the names of the rows of all owners to ask for. May put rows that are to be sent with it. */
  readonly asks?: () => readonly string[];
  /** Keys that the other replicas are to look at. */
  readonly alerts?: () => readonly string[];
}

interface Waiting {
  readonly decision: NumberedDecision;
  readonly settle: (outcome: DecisionOutcome) => void;
}

export interface ReplicaView {
  readonly link: LinkState;
  /** A fault although the store responds. Undefined if there is none. */
  readonly trouble: string | undefined;
  /** By the clock of the store, milliseconds since 1970; undefined before the first response. */
  readonly at: number | undefined;
  readonly replicas: readonly ReplicaRow[];
}

export type Replica = ReturnType<typeof createReplica>;

export function createReplica(options: ReplicaOptions) {
  const { id, store, about, wall, later, asks = () => [], alerts = () => [] } = options;
  const rules = new Map<string, RuleRow>();
  let force: ForceRow | undefined;
  let link = initialLink(wall());
  let replicas: readonly ReplicaRow[] = [];
  const answers = new Map<string, TickReply["answers"][number]>();
  let alerted: ReadonlySet<string> = new Set();
  let at: number | undefined;
  let trouble: string | undefined;
  let queue: Waiting[] = [];
  let decided = 0;
  let ticks = 0;
  /** The store refused rows for want of memory: the next tick has none. */
  let isFull = false;
  let isLeaving = false;
  let running: Promise<void> | undefined;
  let isStarted = false;
  let cancel = (): void => {};

  const enqueue = (decision: Decision): Promise<DecisionOutcome> => {
    decided += 1;
    const numbered: NumberedDecision = { ...decision, number: decided };
    return new Promise((settle) => {
      const target = targetOf(decision);
      // An earlier decision about the same thing that was not sent yet is out of date.
      const old = queue.filter((one) => targetOf(one.decision) === target);
      for (const one of old) one.settle("stale");
      queue = [...queue.filter((one) => !old.includes(one)), { decision: numbered, settle }].slice(-MOST_DECISIONS);
    });
  };
  /** The decision with what this replica saw by now: a store that lost that must not take an older decision for a newer one. */
  const outranking = (decision: NumberedDecision): NumberedDecision => {
    if (decision.kind === "force") return { ...decision, after: force?.number ?? 0 };
    if (decision.kind !== "rule" || decision.what !== "back") return decision;
    return { ...decision, generation: rules.get(decision.key)?.generation ?? 0 };
  };
  const restore = (reply: TickReply): void => {
    const theirs = new Map(reply.rules.map((row) => [row.key, row]));
    for (const row of rules.values()) {
      const other = theirs.get(row.key);
      const isLost = (other?.generation ?? 0) < row.generation;
      const isOther = other?.generation === row.generation && row.what === "back" && other.what !== "back";
      if (isLost || isOther) void enqueue({ kind: "restore-rule", row });
    }
    if (force !== undefined && (reply.force?.number ?? 0) < force.number) {
      void enqueue({ kind: "restore-force", row: force });
    }
  };
  const take = (reply: TickReply, request: TickRequest, sent: readonly Waiting[]): void => {
    at = reply.at;
    const { isForeign } = reply;
    if (reply.isDiverged || isForeign) restore(reply);
    for (const row of reply.rules) {
      if (!rules.has(row.key) && rules.size >= MOST_ROWS) continue;
      if ((rules.get(row.key)?.generation ?? 0) <= row.generation) rules.set(row.key, row);
    }
    if (reply.force !== undefined && reply.force.number >= (force?.number ?? 0)) ({ force } = reply);
    if (reply.replicas !== undefined) ({ replicas } = reply);
    alerted = new Set(reply.alerts);
    answers.clear();
    for (const [i, name] of request.asks.entries()) answers.set(name, reply.answers[i] ?? []);
    let isIncomplete = isForeign;
    for (const [i, own] of options.rows.entries()) {
      const contribution = request.contributions[i];
      if (isForeign || contribution === undefined) own.lost();
      else if (!own.taken(contribution, reply.revisions[i] ?? 0)) isIncomplete = true;
    }
    if (!isForeign) {
      queue = queue.filter((one) => !sent.includes(one));
      for (const [i, one] of sent.entries()) one.settle(reply.outcomes[i] ?? "stale");
    }
    link = step(link, { kind: "replied", store: reply.store, isIncomplete, isWaiting: isWaiting(), at: wall() });
  };
  const isWaiting = (): boolean => options.rows.some((own) => own.isWaiting());
  const roundTrip = async (): Promise<void> => {
    const sent = queue.slice(0, DECISIONS_PER_TICK);
    // Decisions do not wait for rows, which a full store refuses.
    const isBare = sent.length > 0 || isFull;
    const now = wall();
    const asked = asks();
    const request: TickRequest = {
      replica: id,
      seen: link.seen,
      about: about(isLeaving),
      contributions: options.rows.map((own) => own.next(now, isBare)),
      decisions: sent.map(({ decision }) => outranking(decision)),
      wantsReplicas: ticks++ % REPLICAS_TICKS === 0,
      asks: asked,
      alerts: alerts(),
    };
    try {
      take(await store.tick(request), request, sent);
      if (!isBare) trouble = undefined;
      isFull = false;
    } catch (error) {
      if (error instanceof StoreError && error.kind === "full" && !isBare) {
        isFull = true;
        trouble = `the store is full, and counts wait: ${error.message}`;
        return roundTrip();
      }
      isFull = false;
      const fault = error instanceof Error ? error.message : String(error);
      link = step(link, { kind: "failed", fault, at: wall() });
    }
    options.ticked?.(link);
  };
  const tick = (): Promise<void> => {
    running ??= roundTrip().finally(() => {
      running = undefined;
    });
    return running;
  };
  /** True if another tick should follow at once. */
  const isBehind = (): boolean => isUp(link) && queue.length > 0;
  const run = (): void => {
    const begun = wall();
    void tick().then(() => {
      if (!isStarted) return;
      cancel();
      const rest = Math.min(TICK_MS, Math.max(0, TICK_MS - (wall() - begun)));
      cancel = later(isBehind() ? 0 : rest, run);
    });
  };
  return {
    id,
    /** Resolves once the store has the decision, which may be never. Sends it at once. */
    decide: (decision: Decision): Promise<DecisionOutcome> => {
      const outcome = enqueue(decision);
      if (isStarted && running === undefined) {
        cancel();
        run();
      }
      return outcome;
    },
    /** True while a decision about the rule waits to be sent. */
    isDeciding: (key: string): boolean => queue.some(({ decision }) => targetOf(decision) === key),
    rules: (): ReadonlyMap<string, RuleRow> => rules,
    force: (): ForceRow | undefined => force,
    /** The rows in the last response, by the name that was asked for. */
    answers: (): ReadonlyMap<string, TickReply["answers"][number]> => answers,
    /** The keys that some replica named within the last minute, by the last response. */
    alerted: (): ReadonlySet<string> => alerted,
    view: (): ReplicaView => ({ link, trouble, at, replicas }),
    /** One round trip, for tests; shares one that is in flight. Never rejects. */
    tick,
    start: (): void => {
      isStarted = true;
      run();
    },
    /** Sends what is left, says that this process leaves, and ends the connection. Takes a second at most, and never rejects. */
    close: async (): Promise<void> => {
      isStarted = false;
      cancel();
      isLeaving = true;
      await inTime(leave(), later);
      await store.close();
    },
  };
  async function leave(): Promise<void> {
    await running;
    do await tick();
    while (isUp(link) && trouble === undefined && (queue.length > 0 || isWaiting()));
  }
}

/** Decisions of the same target replace each other. */
function targetOf(decision: Decision): string {
  if (decision.kind === "rule") return decision.key;
  return decision.kind === "restore-rule" ? `restore ${decision.row.key}` : decision.kind;
}

async function inTime(work: Promise<void>, later: Timer): Promise<void> {
  let cancel = (): void => {};
  const late = new Promise<void>((resolve) => {
    cancel = later(CLOSE_MS, resolve);
  });
  await Promise.race([work, late]);
  cancel();
}
