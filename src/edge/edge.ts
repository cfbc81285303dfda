/** The part of serving a request that no protocol changes: id, trust, checks, admission, deadline, report, end at a shutdown. */
import { CLIENT_LEFT, createExchange, type Exchange } from "../model/exchange.ts";
import { type HeaderList, isSafe, onlyValue } from "../model/http.ts";
import { Problem, type ProblemOption, RpcCode } from "../model/problem.ts";
import { type Admit, type ShedReason, shedProblem } from "./admission.ts";
import { type Crowd, createCrowd } from "./crowd.ts";
import { createDeadlines, type Deadlines, Timed } from "./deadlines.ts";
import { createTrustedProxies, givenRequestId, requestHeaders, shortestTimeout } from "./headers.ts";
import { checkRequest, type UncheckedRequest } from "./request-checks.ts";
import { afterReading, type Later, type SendRateLimits, SendRateWatch } from "./send-rate.ts";

export interface EdgeOptions {
  /** CIDR networks whose `X-Forwarded-*` are believed. */
  readonly trustedProxies: readonly string[];
  readonly limits: { readonly uriBytes: number; readonly inFlight: number; readonly requestSeconds: number };
  /** Those of other ports, too; by default each port is alone. */
  readonly crowd?: Crowd | undefined;
  /** Why a request is not let in, asked before anything is made for it. By default `limits.inFlight` decides. */
  readonly admit?: Admit | undefined;
  /** A keyed digest of an Authorization value. */
  readonly credentialOf?: ((authorization: string) => string) | undefined;
  /** Called once per request, when it is over. */
  readonly observe: (exchange: Exchange) => void;
  /** A fresh random id, best a UUID. */
  readonly newRequestId: () => string;
  /** Monotonic clock, milliseconds. */
  readonly now: () => number;
  /** Told of what should never happen. */
  readonly log?: ((message: string, cause: unknown) => void) | undefined;
}

/** The head of a request. */
export interface ArrivalHead extends UncheckedRequest {
  /** The client's address, as its socket reports it; empty when it is not known. */
  readonly peer: string;
  /** It came by a Unix socket that only this user can reach: it is trusted. */
  readonly isLocal?: boolean | undefined;
  /** Digests as the edge's own: where a connection remembers the last one. */
  readonly credentialOf?: ((authorization: string) => string) | undefined;
}

/** `whole`: its response went out. `left`: its client did. `cut`: carryover broke off a response that had begun. */
export type Outcome = "whole" | "left" | "cut";

/** Shared by the arrivals of a port. */
interface Gate {
  readonly crowd: Crowd;
  readonly deadlines: Deadlines<Timed>;
  readonly now: () => number;
  readonly later: Later;
  readonly report: (exchange: Exchange) => void;
  inFlight: number;
  onEmpty: (() => void) | undefined;
}

/** One request from its head to its report. */
export class Arrival<R> extends Timed {
  readonly exchange: Exchange;
  /** The fields for an upstream. */
  readonly headers: HeaderList;
  /** A keyed digest of it. */
  readonly credential: string;
  /** Until then it may wait in a queue. */
  readonly deadline: number;
  /** A trusted proxy sent it. */
  readonly trusted: boolean;
  /** What changes its time. */
  option: ProblemOption = "limits.requestSeconds";
  /** Why it is not served. */
  problem: Problem | undefined = undefined;
  /** The port's own record of it, set right after its arrival. */
  request: R | undefined = undefined;
  /** Counts as received from its sender. */
  private receiving = false;
  /** A stream. */
  private moves = false;
  private isOver = false;
  private readonly gate: Gate;

  constructor(
    facts: Pick<Arrival<R>, "exchange" | "headers" | "credential" | "trusted">,
    lifeMs: number,
    clientMs: number,
    gate: Gate,
  ) {
    super(facts.exchange.startedAt, lifeMs, facts.exchange.startedAt + clientMs);
    this.exchange = facts.exchange;
    this.headers = facts.headers;
    this.credential = facts.credential;
    this.trusted = facts.trusted;
    this.deadline = facts.exchange.startedAt + Math.min(lifeMs, clientMs);
    this.gate = gate;
  }

  /** It is a stream: it may go on as long as something of it moves at least every `idleMs`, which `option` says, until its client gives it up. */
  stream(idleMs: number, option: ProblemOption): void {
    this.moves = true;
    this.option = option;
    this.gate.deadlines.change(this, idleMs);
  }

  /** A stream whose response has begun. */
  get isUnderWay(): boolean {
    return this.moves && this.exchange.responseBytes > 0;
  }

  /** Something of it has moved. */
  moved(): void {
    if (this.moves) this.aliveAt = this.gate.now();
  }

  /**
   * The client has to send the rest of it, at the lowest rate of `limits`; `tooSlow` is called once, with the reason. Until the watch is
   * `over`, the request counts against its sender.
   */
  waitFor(limits: SendRateLimits, tooSlow: (what: string) => void): SendRateWatch {
    this.receive();
    return new ReceivedBody(limits, this.gate.later, tooSlow, this);
  }

  /** Its response is out, or never will be. The report is made once. */
  end(outcome: Outcome): void {
    if (this.isOver) return;
    this.isOver = true;
    const { gate, exchange } = this;
    this.clear();
    this.received();
    if (outcome !== "whole") noteBroken(exchange, outcome);
    gate.crowd.here--;
    gate.inFlight--;
    gate.report(exchange);
    if (gate.inFlight === 0) gate.onEmpty?.();
  }

  receive(): void {
    if (this.receiving || this.isOver) return;
    this.receiving = true;
    this.gate.crowd.receive(this.credential, 1);
  }

  received(): void {
    if (!this.receiving) return;
    this.receiving = false;
    this.gate.crowd.receive(this.credential, -1);
  }
}

/** What counts against its sender until it is here. */
class ReceivedBody extends SendRateWatch {
  private readonly arrival: Pick<Arrival<unknown>, "received">;

  constructor(
    limits: SendRateLimits,
    later: Later,
    tooSlow: (what: string) => void,
    arrival: Pick<Arrival<unknown>, "received">,
  ) {
    super(limits, later, tooSlow);
    this.arrival = arrival;
  }

  override over(): void {
    super.over();
    this.arrival.received();
  }
}

/** The edge of one port. `R`: the port's own record of a request. */
export type Edge<R> = ReturnType<typeof createEdge<R>>;

/** `giveUp` ends a request whose time is over, and all that are open when carryover stops. Throws RangeError for an invalid proxy network. */
export function createEdge<R>(options: EdgeOptions, giveUp: (request: R, problem: Problem) => void) {
  const { limits, now, crowd = createCrowd(), credentialOf = () => "" } = options;
  const { admit = (here: number) => (here >= limits.inFlight ? "shed-in-flight" : undefined) } = options;
  const trusts = createTrustedProxies(options.trustedProxies);
  const usualMs = limits.requestSeconds * 1_000;
  const end = ({ request }: Arrival<R>, problem: Problem): void => {
    if (request !== undefined) giveUp(request, problem);
  };
  const deadlines = createDeadlines<Arrival<R>>(usualMs, now, (arrival) => {
    end(
      arrival,
      tooLate(arrival.exchange, "the request's time is over", arrival.clientAt <= now() ? [] : [arrival.option]),
    );
  });
  const report = (exchange: Exchange): void => {
    try {
      options.observe(exchange);
    } catch (cause) {
      options.log?.("an observer failed", cause);
    }
  };
  const gate: Gate = {
    crowd,
    deadlines: deadlines as unknown as Deadlines<Timed>,
    now,
    later: afterReading(now),
    report,
    inFlight: 0,
    onEmpty: undefined,
  };
  return {
    /** Why the next request is not let in; `credentialOf` is asked for only where it matters. Undefined: it is. */
    admits: (credential: () => string): ShedReason | undefined => admit(crowd.here, credential),
    /** Lets a request in; `why`, as `admits` said it. Its `problem` is what its client has to be told instead of being served. */
    arrive(head: ArrivalHead, why: ShedReason | undefined): Arrival<R> {
      const { received, peer, method, target } = head;
      const ownId = givenRequestId(received);
      const requestId = ownId ?? options.newRequestId();
      const exchange = createExchange(requestId, now(), method, target);
      const trusted = head.isLocal === true || trusts(peer);
      const { headers, odd } = requestHeaders(received, { requestId, isOwnId: ownId !== undefined, peer, trusted });
      if (odd > 0) exchange.notes.push("odd-header-name");
      const credential = (head.credentialOf ?? credentialOf)(onlyValue(received, "authorization") ?? "");
      const facts = { exchange, headers, credential, trusted };
      const arrival = new Arrival<R>(facts, usualMs, shortestTimeout(received), gate);
      arrival.problem = refusal(head, exchange, limits, why) ?? overAlready(arrival, now());
      crowd.here++;
      gate.inFlight++;
      deadlines.add(arrival);
      return arrival;
    },
    /** Hands an `exchange` without an arrival to the observer. */
    report,
    inFlight: (): number => gate.inFlight,
    /** Ends all open requests; returns their number. */
    cut(): number {
      const all = deadlines.all();
      for (const arrival of all) end(arrival, stopping(arrival));
      return all.length;
    },
    /** `then` is called now or later, each time that nothing is in flight any more. */
    whenEmpty(then: () => void): void {
      gate.onEmpty = then;
      if (gate.inFlight === 0) then();
    },
  };
}

/** The platform may have done a part of it. */
export function tooLate({ method }: Exchange, why: string, options: readonly ProblemOption[]): Problem {
  return new Problem("UPSTREAM_TIMEOUT", why, { metadata: isSafe(method) ? {} : { state: "unknown" }, options });
}

/** A client may leave no time at all (`Grpc-Timeout: 0S`): then nothing is done. */
function overAlready({ deadline }: Pick<Arrival<unknown>, "deadline">, now: number): Problem | undefined {
  if (deadline > now) return undefined;
  return new Problem("UPSTREAM_TIMEOUT", "the request's time is over", { fault: "client", options: [] });
}

/** A client may open its stream again at once. For other requests the platform may have done a part. */
function stopping({ exchange, isUnderWay }: Arrival<unknown>): Problem {
  const why = "carryover is stopping, and the request's time is over";
  return isUnderWay ? new Problem("OVERLOADED", why, { options: [] }) : tooLate(exchange, why, []);
}

/** The checks go first: after some of what they refuse the connection may not go on. */
function refusal(
  head: UncheckedRequest,
  exchange: Exchange,
  limits: EdgeOptions["limits"],
  why: ShedReason | undefined,
): Problem | undefined {
  const faulty = checkRequest(head, limits);
  if (faulty?.reason === "GRPC_UNSUPPORTED") exchange.notes.push("grpc");
  if (faulty !== undefined || why === undefined) return faulty;
  exchange.notes.push(why);
  return shedProblem(why);
}

function noteBroken(exchange: Exchange, outcome: "left" | "cut"): void {
  exchange.aborted = outcome === "left";
  if (exchange.status === 0) exchange.status = CLIENT_LEFT;
  if (exchange.rpc !== undefined && outcome === "left") exchange.rpc.code = RpcCode.CANCELLED;
}
