/** The one wide record of a request, which metrics, log line and ledger read. */
import { type ApiRequest, pathOf } from "./http.ts";
import { type FaultOrigin, PROBLEMS } from "./problem.ts";
import type { TimeSpan } from "./rules.ts";

export type Upstream = "v1" | "v2" | "sts";
/** What served the request: `pass` is untouched v2 or token exchange, `refused` never left carryover. */
export type Mode = "native" | "shadow" | "translate" | "pass" | "refused";
/** What a drain proved about its list, strongest first. */
export const WITNESSES = ["cover", "count", "none"] as const;
export type Witness = (typeof WITNESSES)[number];

/** `incomplete`: its pages made no list; `overloaded`: there was no place for it; `aborted`: the client left. */
export const LIST_OUTCOMES = [
  "complete",
  "incomplete",
  "too-large",
  "too-slow",
  "unproven",
  "overloaded",
  "refused",
  "aborted",
] as const;

/** Oddities of lists that are complete all the same. */
export const LIST_NOTES = [
  "list-read-again",
  "list-repaired",
  "list-page-again",
  "list-order",
  "list-duplicate",
  "list-total",
  "list-skip-ignored",
  "list-token-restarted",
  "list-way-left",
] as const;

/** What else is worth counting of a request. docs/errors.md explains each. */
export const NOTES = [
  // What carryover refused on arrival.
  "shed-in-flight",
  "shed-wait",
  "grpc",
  "odd-header-name",
  // Requests.
  "form-as-get",
  "enum-dropped",
  "enum-sent-on",
  "server-set-dropped",
  "query-unknown",
  // Lists.
  "id-filter-empty",
  ...LIST_NOTES,
  "join-missing",
  // Updates.
  "update-empty",
  "field-left-alone",
  "clear-refused",
  "partial-write",
  "own-words-refused",
  // Responses.
  "answer-shadowed",
  "answer-enum",
  "answer-shape",
  "gzip",
  "br",
] as const;
export type ExchangeNote = (typeof NOTES)[number];

/** One call to an upstream. */
export interface UpstreamCall {
  readonly upstream: Upstream;
  readonly method: string;
  /** Target without its query: queries may hold page tokens and filters. */
  readonly path: string;
  /** HTTP status, or 0 when there was no answer. */
  readonly status: number;
  readonly ms: number;
}

/** Facts about a drained list. */
export interface ListFacts {
  readonly pages: number;
  readonly records: number;
  readonly witness: Witness;
  readonly outcome: (typeof LIST_OUTCOMES)[number];
}

/** Whether native v1 served a request that v2 failed; `unknown`: it was not asked, or carryover's own limits kept it from responding. */
export type NativeOutcome = "served" | "failed" | "unknown";

/** Each step fills in the facts that it learns; observers only read them. */
export interface Exchange {
  readonly requestId: string;
  /** Milliseconds on the monotonic clock that the process was given. */
  readonly startedAt: number;
  /** As it came; GET for a form that runs as one. */
  method: string;
  /** Path without query, as it came. */
  readonly path: string;
  /** With its query, which may hold secrets: for the recording, which redacts it. A function, so that no observer prints it. Of a form that runs as a GET, that GET's. */
  target: () => string;
  apiVersion: "v1" | "v2" | "sts" | "none";
  /** Catalogue name, or `unknown`. */
  resource: string;
  operation: string;
  /** Of an operation that rules may decide on: it changes something. */
  write?: boolean | undefined;
  mode: Mode;
  /** Who asks, as the ledger names it; `unknown` when nothing tells. */
  client: string;
  /** Name of the cutover rule that decided on the mode. */
  rule: string | undefined;
  /** Its `evidenceKey`: a rule that is about other requests now may keep its name. */
  ruleId?: string | undefined;
  /** Digest of the credential, computed on demand: to count, never to show. */
  credential?: (() => string) | undefined;
  /** Of a translated request: the same for identical requests of one caller, to recognise retries. */
  requestKey?: (() => string) | undefined;
  /** Of a translated read: asks native v1 in the background. Called at most once, when the request is over or waits too long. */
  onNative?: (() => Promise<NativeOutcome>) | undefined;
  /** Of a translated read that native v1 may serve: stops waiting for v2. */
  giveUpV2?: (() => void) | undefined;
  /** What native v1 did with it, where it was asked. */
  native?: NativeOutcome | undefined;
  /** v2's status for a read that native v1 served instead. `reason` and `fault` then describe v2's failure. */
  rescued?: number | undefined;
  /** The rate limit that v2 said was reached. */
  rateLimit?: string | undefined;
  status: number;
  /** Reason of carryover's own error, when it answered with one. */
  reason: string | undefined;
  /** Whose fault that error is; `faultOf` reads it. */
  fault?: FaultOrigin | undefined;
  /** The options that change it. */
  options?: readonly string[] | undefined;
  /** The window of the brownout that refused it. */
  brownout?: TimeSpan | undefined;
  /** For the log only: why. */
  cause: unknown;
  requestBytes: number;
  responseBytes: number;
  /** Wall milliseconds spent waiting for upstreams (overlapping calls counted once is not attempted: a sum). */
  upstreamMs: number;
  readonly calls: UpstreamCall[];
  list: ListFacts | undefined;
  /** Fields in no row, by direction; the counter bounds the names. */
  readonly unknownFields: { direction: "request" | "response"; name: string }[];
  /** v1 fields that a PUT left out and so set to zero. */
  readonly defaultedFields: string[];
  /** v1 fields that the platform did not store as asked. */
  readonly mismatches: string[];
  readonly notes: ExchangeNote[];
  /** The client left before its answer was complete. */
  aborted: boolean;
  /** Of a gRPC call: what it calls, and its status. `known`: a descriptor or an upstream knows that name; anybody can invent others. */
  rpc?: { readonly service: string; readonly method: string; code: number; known?: boolean } | undefined;
  /** How many requests this stands for, when more than one: those refused together; this was the first of them. */
  times?: number | undefined;
}

/** A fresh record for a request that just arrived. */
export function createExchange(requestId: string, startedAt: number, method: string, target: string): Exchange {
  return {
    requestId,
    startedAt,
    method,
    path: pathOf(target),
    target: () => target,
    apiVersion: "none",
    resource: "unknown",
    operation: "unknown",
    write: undefined,
    mode: "refused",
    client: "unknown",
    rule: undefined,
    ruleId: undefined,
    credential: undefined,
    requestKey: undefined,
    onNative: undefined,
    giveUpV2: undefined,
    native: undefined,
    rescued: undefined,
    rateLimit: undefined,
    status: 0,
    reason: undefined,
    fault: undefined,
    options: undefined,
    brownout: undefined,
    cause: undefined,
    requestBytes: 0,
    responseBytes: 0,
    upstreamMs: 0,
    calls: [],
    list: undefined,
    unknownFields: [],
    defaultedFields: [],
    mismatches: [],
    notes: [],
    aborted: false,
    rpc: undefined,
    times: undefined,
  };
}

/** Notes a call to an upstream that took `ms`; `status` 0: there was no response. */
export function recordCall(
  exchange: Exchange,
  upstream: Upstream,
  { method, target }: Pick<ApiRequest, "method" | "target">,
  status: number,
  ms: number,
): void {
  exchange.upstreamMs += ms;
  exchange.calls.push({ upstream, method, path: pathOf(target), status, ms });
}

/** Status of a request whose client did not wait for an answer, as servers write it into their logs: no client sees it. */
export const CLIENT_LEFT = 499;

/** Said only to a caller who was recognised. A gateway says 400, 404, 405, 429 and 501 before it looks at any token. */
const RECOGNISED: ReadonlySet<number> = new Set([304, 403, 409, 412]);

/** True for a status that an upstream sends only to an authenticated caller. */
export function isRecognised(status: number): boolean {
  return (status >= 200 && status < 300) || RECOGNISED.has(status);
}

/** True when an upstream gave such an answer. */
export function wasLetIn({ calls }: Pick<Exchange, "calls">): boolean {
  return calls.some(({ status }) => isRecognised(status));
}

/** Reasons of refusals that carryover decides on when it knows whose the request is. */
const KNOWN_ALL_THE_SAME: ReadonlySet<string | undefined> = new Set(["NOT_TRANSLATABLE", "NOT_FOUND", "BROWNOUT"]);

/** True for a request that was refused before carryover knew what serves it, and mostly before it knew whose it is. */
export function isTurnedAway({ mode, reason }: Pick<Exchange, "mode" | "reason">): boolean {
  return mode === "refused" && !KNOWN_ALL_THE_SAME.has(reason);
}

/** Note of an exchange: v2 refused what only carryover can have said. */
export const TRANSLATION_REFUSED_NOTE = "own-words-refused" satisfies ExchangeNote;

const USUAL: ReadonlyMap<string, FaultOrigin> = new Map(
  Object.entries(PROBLEMS).map(([reason, { fault }]) => [reason, fault]),
);

/**
 * Who was at fault as far as the request itself tells, or undefined if nothing went wrong. An error of carryover's own says it. Of an
 * upstream's responses a 5xx is the platform's fault, and a 4xx the client's, unless v2 refused words that only the translation
 * can have put there.
 */
export function firstFaultOf({ reason, fault, status, notes }: Exchange): FaultOrigin | undefined {
  const own = fault ?? usualFault(reason);
  if (own !== undefined) return own;
  if (status === 400 && notes.includes(TRANSLATION_REFUSED_NOTE)) return "translation";
  if (status >= 500) return "platform";
  return status >= 400 ? "client" : undefined;
}

/** Statuses that are the client's fault, unless native v1 served the same request. */
const MAY_BE_OF_V2: ReadonlySet<number> = new Set([401, 403, 429]);

/** Who was at fault, also by what native v1 did with the request where it was asked. */
export function faultOf(exchange: Exchange): FaultOrigin | undefined {
  const fault = firstFaultOf(exchange);
  if (exchange.native !== "served") return fault;
  return fault === "platform" || (fault === "client" && MAY_BE_OF_V2.has(exchange.status)) ? "v2" : fault;
}

/** Whose fault errors of carryover's own with this reason usually are. */
export function usualFault(reason: string | undefined): FaultOrigin | undefined {
  return reason === undefined ? undefined : USUAL.get(reason);
}
