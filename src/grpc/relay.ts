/** Passes a call through to an upstream, byte for byte and both ways, each side no faster than the other takes it. */
import { type ClientHttp2Stream, constants, type IncomingHttpHeaders } from "node:http2";
import type { Readable, Writable } from "node:stream";
import type { BodyLimits } from "../edge/body-limits.ts";
import { createSweep, type Sweep } from "../edge/deadlines.ts";
import { tooLate } from "../edge/edge.ts";
import { type SendRateWatch, slowSender } from "../edge/send-rate.ts";
import { recordCall, type Upstream } from "../model/exchange.ts";
import { type HeaderList, header } from "../model/http.ts";
import { httpOfRpc, type Problem, RpcCode, rpcOfHttp } from "../model/problem.ts";
import { reportFailure } from "../upstream/breaker.ts";
import type { CallQueue, CallSlot } from "../upstream/call-queue.ts";
import { failure, invalidAnswer, resetFailure } from "../upstream/failure.ts";
import {
  addField,
  endWithTrailers,
  failCall,
  type GrpcCall,
  headersOf,
  http2Headers,
  ownFields,
  recordStatus,
  statusFields,
  writeHead,
} from "./call.ts";
import { createMessagePlace } from "./messages.ts";
import { isReading } from "./rpcs.ts";
import type { GrpcSessions, StreamPlace } from "./sessions.ts";
import { type RpcStatus, statusOfTrailers } from "./status.ts";

/** An upstream that calls pass to. */
export interface RelayTarget {
  readonly name: Upstream;
  readonly sessions: GrpcSessions;
  readonly queue: Pick<CallQueue, "enter"> | undefined;
  /** Calls whose response has not begun. */
  readonly heads: Sweep<AwaitedHead>;
  /** Calls whose request has not ended. */
  readonly unended: Sweep<UnendedRequest>;
  /** Limits of the client's messages. */
  readonly bodies: BodyLimits;
  readonly now: () => number;
}

/** A response's head that is waited for. */
interface AwaitedHead {
  /** When the request ended; Infinity: it has not. */
  since: number;
  readonly late: () => void;
}

export function awaitHeads(ms: number, now: () => number): Sweep<AwaitedHead> {
  return createSweep<AwaitedHead>(
    now,
    ({ since }) => since + ms,
    ({ late }) => late(),
  );
}

/** A request that the platform has not got as a whole. */
interface UnendedRequest {
  readonly since: number;
  readonly slow: () => void;
}

/** A client that takes longer to send its request keeps its call, but no place in the queue that others wait for. */
const REQUEST_MS = 100;

export function awaitRequests(now: () => number): Sweep<UnendedRequest> {
  return createSweep<UnendedRequest>(
    now,
    ({ since }) => since + REQUEST_MS,
    ({ slow }) => slow(),
  );
}

/** What else a call that passes needs. */
export interface RelayPlan {
  /** Fields of carryover's own, added to the response. */
  readonly headers?: HeaderList | undefined;
  /** The whole request, where it has been read. */
  readonly whole?: Uint8Array | undefined;
  /** Sees the response: its bytes, and how it ended (undefined: it was cut off). */
  readonly watch?: { data(chunk: Uint8Array): void; over(status: RpcStatus | undefined): void } | undefined;
  /** The platform answered with that HTTP status. */
  readonly answered: (status: number) => void;
}

/** Fields of gRPC itself that go on as the client sent them. */
const PASSED: ReadonlySet<string> = new Set([
  "grpc-accept-encoding",
  "grpc-encoding",
  "grpc-previous-rpc-attempts",
  "grpc-tags-bin",
  "grpc-timeout",
  "grpc-trace-bin",
]);
/** So much of a request is kept to send it again if the upstream refuses the stream unread. */
const REPEAT_BYTES = 64 * 1024;
const REPEAT_PIECES = 64;

type RawListener = (headers: IncomingHttpHeaders, flags: number, raw: string[]) => void;

/** Ends `call` in every case. */
export function relayCall(call: GrpcCall, target: RelayTarget, plan: RelayPlan): void {
  const relay: Relay = {
    call,
    target,
    plan,
    giveUp: undefined,
    place: undefined,
    slot: undefined,
    up: undefined,
    sent: [],
    done: false,
    repeated: false,
    listens: false,
    awaited: undefined,
    pace: undefined,
    unended: undefined,
  };
  if (plan.whole === undefined) call.stream.pause();
  call.stop = () => settle(relay, undefined);
  attempt(relay);
}

interface Relay {
  readonly call: GrpcCall;
  readonly target: RelayTarget;
  readonly plan: RelayPlan;
  /** Stops waiting. */
  giveUp: (() => void) | undefined;
  place: StreamPlace | undefined;
  slot: CallSlot | undefined;
  up: ClientHttp2Stream | undefined;
  /** The request so far; undefined once it is too long to be kept, or the response has begun. */
  sent: Uint8Array[] | undefined;
  done: boolean;
  repeated: boolean;
  listens: boolean;
  /** Until the response begins. */
  awaited: AwaitedHead | undefined;
  /** Until the request ends. */
  pace: SendRateWatch | undefined;
  /** While the platform waits for the request, and a place is kept for it. */
  unended: UnendedRequest | undefined;
}

/** Notes the upstream's part of a call, once. */
function settle(relay: Relay, status: RpcStatus | undefined, http = 0): void {
  if (relay.done) return;
  relay.done = true;
  relay.pace?.over();
  const { call, target, plan, up } = relay;
  hasCome(relay);
  relay.giveUp?.();
  relay.slot?.done({ status: http });
  relay.place?.leave();
  if (up !== undefined) {
    const { startedAt } = call.exchange;
    recordCall(call.exchange, target.name, { method: "POST", target: call.target }, http, target.now() - startedAt);
    if (http !== 0) plan.answered(http);
    if (status === undefined && !up.destroyed) up.close(constants.NGHTTP2_CANCEL);
    // The upstream has responded, and gets no more of the request.
    else if (!up.writableEnded) up.close(constants.NGHTTP2_NO_ERROR);
  }
  plan.watch?.over(status);
}

function fail(relay: Relay, problem: Problem): void {
  settle(relay, undefined);
  failCall(relay.call, problem);
}

/** Sends the request once there is a stream for it, and a place in the queue: a stream may last, so it comes first. */
function attempt(relay: Relay): void {
  const { call, target } = relay;
  const { credential, deadline, exchange } = call;
  const origin = { credential, kind: "short", begun: relay.repeated, since: exchange.startedAt, deadline } as const;
  const refuse = (problem: Problem): void => fail(relay, problem);
  relay.slot?.done({ status: 0 });
  relay.place = undefined;
  const giveUp = target.sessions.enter(origin, {
    start: (place) => {
      relay.place = place;
      if (target.queue === undefined) return request(relay, place);
      const start = (slot: CallSlot): void => {
        relay.slot = slot;
        request(relay, place);
      };
      relay.giveUp = target.queue.enter(origin, { start, refuse });
    },
    refuse,
  });
  if (relay.place === undefined) relay.giveUp = giveUp;
}

function request(relay: Relay, place: StreamPlace): void {
  const { call, target } = relay;
  const headers = http2Headers(call.headers);
  for (const field of call.received) if (PASSED.has(field[0])) addField(headers, field);
  headers[":method"] = "POST";
  headers[":path"] = call.target;
  headers[":authority"] = target.sessions.authority;
  headers.te = "trailers";
  place.open(headers, {
    begin: (up, beganAt) => {
      if (relay.done) {
        up.close(constants.NGHTTP2_CANCEL);
        return;
      }
      relay.up = up;
      receive(relay, up, beganAt);
      for (const chunk of relay.sent ?? []) up.write(chunk);
      send(relay, up);
    },
    refuse: (problem) => fail(relay, problem),
  });
}

function send(relay: Relay, up: ClientHttp2Stream): void {
  const { call, target, plan } = relay;
  const { stream } = call;
  if (plan.whole !== undefined || stream.readableEnded) {
    up.end(plan.whole);
    requestEnded(relay);
    return;
  }
  // Of a call that is sent again, the client's side has its listeners already.
  if (!relay.listens) {
    relay.listens = true;
    const place = createMessagePlace();
    const pace = call.arrival.waitFor(relay.target.bodies, (what) => fail(relay, slowSender(what, false)));
    relay.pace = pace;
    // Between two messages a stream may be silent.
    const isAwaited = (inMessage: boolean): void => {
      if (inMessage || call.isUnary) pace.waits(true);
      else pace.rests();
    };
    isAwaited(false);
    stream.on("data", (chunk: Uint8Array) => {
      pace.came(chunk.length);
      const inMessage = place.after(chunk);
      call.arrival.moved();
      call.exchange.requestBytes += chunk.length;
      keep(relay, chunk);
      if (write(chunk, relay.up, stream, () => isAwaited(inMessage))) isAwaited(inMessage);
      else pace.rests();
    });
    stream.on("end", () => {
      relay.up?.end();
      requestEnded(relay);
    });
  }
  hasCome(relay);
  relay.unended = {
    since: target.now(),
    slow: () => {
      hasCome(relay);
      relay.slot?.done({ status: 0 });
    },
  };
  target.unended.add(relay.unended);
  stream.resume();
}

function hasCome({ target, unended }: Relay): void {
  if (unended !== undefined) target.unended.delete(unended);
}

/** True for a call that may be repeated, however it ended. */
function isRead({ exchange: { rpc } }: GrpcCall): boolean {
  return isReading(rpc?.method ?? "");
}

/** The time to the response's head counts from here. */
function requestEnded(relay: Relay): void {
  const { awaited, pace, target } = relay;
  hasCome(relay);
  pace?.over();
  if (awaited === undefined) return;
  awaited.since = target.now();
  target.heads.add(awaited);
}

/** Writes a chunk of `from`, which waits until it is taken, and then `goes on`. False: it waits. */
function write(chunk: Uint8Array, to: Writable | undefined, from: Readable, goesOn?: () => void): boolean {
  if (to === undefined || to.write(chunk)) return true;
  from.pause();
  to.once("drain", () => {
    from.resume();
    goesOn?.();
  });
  return false;
}

function keep(relay: Relay, chunk: Uint8Array): void {
  if (relay.sent === undefined) return;
  relay.sent.push(chunk);
  const bytes = relay.call.exchange.requestBytes;
  if (bytes > REPEAT_BYTES || relay.sent.length > REPEAT_PIECES) relay.sent = undefined;
}

function receive(relay: Relay, up: ClientHttp2Stream, beganAt: number): void {
  const { call, target, plan } = relay;
  const { stream } = call;
  const { session } = up;
  /** Node closes the streams of a lost session, too, with an HTTP/2 code. */
  const lost = (): boolean => session === undefined || session.destroyed;
  let head: HeaderList | undefined;
  let http = 0;
  let trailers: HeaderList = [];
  const awaited: AwaitedHead = {
    since: Number.POSITIVE_INFINITY,
    late: () => {
      target.heads.delete(awaited);
      target.sessions.suspect(up);
      // A stream may be silent for as long as it likes: only its session has to be alive.
      if (!call.isUnary) return;
      const error = Object.assign(new Error("no response head"), { code: "UND_ERR_HEADERS_TIMEOUT" });
      broken(failure(error, facts));
    },
  };
  relay.awaited = awaited;
  const facts = { method: isRead(call) ? "GET" : "POST", sent: true };
  const stopWaiting = (): void => {
    target.heads.delete(awaited);
    if (relay.awaited === awaited) relay.awaited = undefined;
  };
  const broken = (problem: Problem): void => {
    stopWaiting();
    if (relay.done || relay.up !== up) return;
    if (head === undefined) reportFailure(target.sessions.breaker, beganAt, problem);
    fail(relay, problem);
  };
  const closed = (error: unknown): void => {
    stopWaiting();
    if (relay.done || relay.up !== up) return;
    const unread = head === undefined && target.sessions.wasRefused(up);
    // Servers in Go reset a call whose deadline is over, and may do so before it is noticed here.
    if (up.rstCode === constants.NGHTTP2_CANCEL && !lost() && call.deadline <= target.now()) {
      fail(relay, tooLate(call.exchange, "the request's time is over", []));
    } else if (!unread) {
      broken(lost() ? failure(error, facts) : resetFailure(up.rstCode, facts));
    } else if (!relay.repeated && (relay.sent !== undefined || plan.whole !== undefined)) {
      relay.repeated = true;
      relay.up = undefined;
      stream.pause();
      attempt(relay);
    } else broken(failure(error, { ...facts, sent: false }));
  };
  up.on("error", closed);
  up.on("close", () => {
    stopWaiting();
    // An error takes microseconds, and most streams close because they are done.
    if (!relay.done) closed(new Error("the stream was closed early"));
  });
  up.on("response", ((headers, flags, raw) => {
    stopWaiting();
    if (relay.done) return;
    target.sessions.breaker.answered();
    relay.sent = undefined;
    head = ownFields(headersOf(raw), call.exchange.requestId, plan.headers ?? []);
    http = Number(headers[":status"]);
    call.arrival.moved();
    const isLast = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
    // A place is for one call until it is answered: a stream may last.
    relay.slot?.done({ status: http });
    // Before the last of the response goes out, since the call is reported then.
    if (isLast) {
      if (lacksStatus(http, head)) return fail(relay, invalidAnswer("no grpc-status", facts));
      over(relay, http, head);
    }
    try {
      writeHead(call, http, isLast ? statusFields(call, head) : http2Headers(head), isLast);
    } catch (cause) {
      fail(relay, invalidAnswer("fields that cannot be passed on", facts, cause));
    }
  }) satisfies RawListener as never);
  up.on("trailers", ((_headers, _flags, raw) => {
    trailers = headersOf(raw);
  }) satisfies RawListener as never);
  up.on("data", (chunk: Uint8Array) => {
    call.arrival.moved();
    call.exchange.responseBytes += chunk.length;
    plan.watch?.data(chunk);
    write(chunk, stream, up);
  });
  up.on("end", () => {
    if (relay.done || head === undefined) return;
    if (lacksStatus(http, trailers)) {
      fail(relay, invalidAnswer("no grpc-status", facts));
      return;
    }
    over(relay, http, trailers);
    endWithTrailers(call, statusFields(call, trailers));
  });
}

/** Where HTTP says OK, the status of the call is in the `last` fields only. */
function lacksStatus(http: number, last: HeaderList): boolean {
  return http === 200 && header(last, "grpc-status") === undefined;
}

/** The whole response has passed; `last`: the fields that hold its status. */
function over(relay: Relay, http: number, last: HeaderList): void {
  const { call } = relay;
  const status = statusOfTrailers((name) => header(last, name)) ?? {
    code: http === 200 ? RpcCode.UNKNOWN : rpcOfHttp(http),
    message: "",
  };
  recordStatus(call.exchange, status.code);
  settle(relay, status, http === 200 ? httpOfRpc(status.code) : http);
}
