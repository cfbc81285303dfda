/** Who gets the next stream to an upstream: the queue of calls once more, with streams in it, which may last. */
import type { Timer } from "../model/clock.ts";
import type { CallOrigin } from "../upstream/call-queue.ts";
import { createFairQueue, type FairQueueEntry } from "../upstream/fair-queue.ts";

/** Whose stream it is, and how long it may wait. */
export type StreamOrigin = Pick<CallOrigin, "credential" | "begun" | "since" | "deadline">;

export interface StreamQueueOptions {
  /** Streams that may be open at present. */
  readonly places: () => number;
  /** Streams that may be open with all connections that are allowed. */
  readonly most: () => number;
  /** Credentials that the platform has accepted go before the others. */
  readonly accepted: (credential: string) => boolean;
  readonly now: () => number;
  readonly later: Timer;
  /** Streams wait, and further connections may help. */
  readonly wanted: () => void;
}

/** One credential may hold so many times what is free (dynamic thresholds, Choudhury and Hahne): alone 8/9 of all. */
const CREDENTIAL_SHARE = 8;
/** What credentials may hold together that the platform has not accepted: anybody can invent them. */
const UNACCEPTED_SHARE = 0.75;
const TICK_MS = 100;

/** A stream that waits, or has its place. */
export class QueuedStream<W> implements FairQueueEntry {
  readonly kind = "short";
  readonly credential: string;
  readonly begun: boolean;
  readonly since: number;
  readonly deadline: number;
  readonly work: W;
  at = 0;
  startedAt = 0;
  cost = 0;
  state: "waits" | "started" | "over" = "waits";
  /** The platform had accepted its credential when it began. */
  isKnown = false;

  constructor({ credential, begun, since, deadline }: StreamOrigin, work: W) {
    this.credential = credential;
    this.begun = begun;
    this.since = since;
    this.deadline = deadline;
    this.work = work;
  }
}

/** `start` and `late` are called for each stream that has its place, or that has waited as long as it may. */
export function createStreamQueue<W>(
  { places, most, accepted, now, later, wanted }: StreamQueueOptions,
  start: (stream: QueuedStream<W>) => void,
  late: (stream: QueuedStream<W>) => void,
) {
  // Streams have no usual length: no estimate refuses one, and `places` is the only bound.
  const queue = createFairQueue<QueuedStream<W>>({
    capacity: Number.POSITIVE_INFINITY,
    kept: 0,
    longestMs: 1,
    places,
    mostOf: (credential, taken) => {
      if (!accepted(credential) && strangers >= Math.max(1, most() * UNACCEPTED_SHARE)) return 0;
      return Math.max(1, (most() - taken - 1) * CREDENTIAL_SHARE);
    },
    accepted,
  });
  /** Streams of credentials that were not accepted when they began. */
  let strangers = 0;
  let ticking = false;
  const begin = (stream: QueuedStream<W>): void => {
    stream.state = "started";
    stream.isKnown = accepted(stream.credential);
    if (!stream.isKnown) strangers++;
    start(stream);
  };
  const pump = (): void => {
    if (queue.waiting() === 0) return;
    const at = now();
    for (let next = queue.next(at); next !== undefined; next = queue.next(at)) begin(next);
  };
  const watch = (): void => {
    if (ticking || queue.waiting() === 0) return;
    ticking = true;
    later(TICK_MS, () => {
      ticking = false;
      for (const stream of queue.expire(now())) {
        stream.state = "over";
        late(stream);
      }
      if (queue.waiting() > 0) wanted();
      watch();
    });
  };
  return {
    /** Starts `work` at once, or later. */
    enter(origin: StreamOrigin, work: W): QueuedStream<W> {
      const stream = new QueuedStream(origin, work);
      if (queue.enter(stream, now()) === "started") begin(stream);
      else {
        watch();
        wanted();
      }
      return stream;
    },
    /** Its stream is over, or is not wanted any more. */
    leave(stream: QueuedStream<W>): void {
      if (stream.state === "over") return;
      if (stream.state === "waits") queue.cancel(stream);
      else {
        if (!stream.isKnown) strangers--;
        queue.leave(stream, now());
      }
      stream.state = "over";
      pump();
    },
    /** There may be more places than before. */
    pump,
    /** Takes all out that wait. */
    takeWaiting: (): readonly QueuedStream<W>[] => {
      const all = queue.expire(Number.POSITIVE_INFINITY);
      for (const stream of all) stream.state = "over";
      return all;
    },
    waiting: (): number => queue.waiting(),
    /** Streams that `credential` has or waits for. */
    usedBy: queue.usedBy,
  };
}
