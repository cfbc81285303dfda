/** Ends requests whose time is over. */
import type { Exchange } from "../model/exchange.ts";

/** What has a deadline, on the clock of `Exchange.startedAt`. */
export interface TimedRequest {
  readonly deadline: number;
  readonly exchange: Pick<Exchange, "startedAt">;
}

/** One request's deadline. */
export interface Deadline {
  /** The request is over before its time is. */
  clear(): void;
}

/** Calls `expire` for a request when its time is over, unless it is cleared before. */
export type WatchDeadline<T extends TimedRequest> = (request: T) => Deadline;

/**
 * Requests that have `usualMs` come to their end in the order in which they began, so one timer is enough for all of them: a timer for each
 * would cost more than everything else that is noted about a request. `now`: the clock of `TimedRequest.deadline`.
 */
export function createDeadlines<T extends TimedRequest>(
  usualMs: number,
  now: () => number,
  expire: (request: T) => void,
): WatchDeadline<T> {
  const ring = new QueuedDeadline<T>(undefined);
  let timer: NodeJS.Timeout | undefined;
  const expireAll = (): void => {
    timer = undefined;
    const at = now();
    for (let first = ring.next; first.request !== undefined && first.request.deadline <= at; first = ring.next) {
      first.clear();
      expire(first.request);
    }
    const { request } = ring.next;
    if (request !== undefined) wait(request, at);
  };
  const wait = ({ deadline }: T, at: number): void => {
    // The connections of requests keep the process running, where it should.
    timer = setTimeout(expireAll, Math.max(1, deadline - at)).unref();
  };
  return (request) => {
    const { startedAt } = request.exchange;
    if (endsEarly(request, usualMs)) return new OwnTimer(setTimeout(expire, request.deadline - startedAt, request));
    const queued = new QueuedDeadline(request);
    queued.insertBefore(ring);
    if (timer === undefined) wait(request, startedAt);
    return queued;
  };
}

/** True when the client itself wants its request to end before `usualMs` (Grpc-Timeout). */
export function endsEarly({ deadline, exchange }: TimedRequest, usualMs: number): boolean {
  // The same sum as that of the deadline: a difference would be rounded.
  return deadline < exchange.startedAt + usualMs;
}

class OwnTimer implements Deadline {
  private readonly timer: NodeJS.Timeout;

  constructor(timer: NodeJS.Timeout) {
    this.timer = timer;
  }

  clear(): void {
    clearTimeout(this.timer);
  }
}

/** A place in a ring. What stands at the begin and the end of the queue has no request. */
class QueuedDeadline<T> implements Deadline {
  readonly request: T | undefined;
  next: QueuedDeadline<T> = this;
  private previous: QueuedDeadline<T> = this;

  constructor(request: T | undefined) {
    this.request = request;
  }

  insertBefore(next: QueuedDeadline<T>): void {
    this.next = next;
    this.previous = next.previous;
    next.previous.next = this;
    next.previous = this;
  }

  clear(): void {
    this.previous.next = this.next;
    this.next.previous = this.previous;
    this.next = this;
    this.previous = this;
  }
}
