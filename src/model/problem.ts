/** RPC codes, their HTTP statuses, and the errors of carryover itself. */

export const RpcCode = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;
export type RpcCode = (typeof RpcCode)[keyof typeof RpcCode];

const HTTP_OF_RPC: readonly number[] = [
  200, 499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401,
];

/** The HTTP status of an RPC code, as gRPC gateways map it; 500 for an unknown code. */
export function httpOfRpc(code: number): number {
  return HTTP_OF_RPC[code] ?? 500;
}

/** The RPC code of an error response without a body of the API. */
export const RPC_OF_HTTP: ReadonlyMap<number, RpcCode> = new Map<number, RpcCode>([
  [400, RpcCode.INVALID_ARGUMENT],
  [401, RpcCode.UNAUTHENTICATED],
  [403, RpcCode.PERMISSION_DENIED],
  [404, RpcCode.NOT_FOUND],
  [405, RpcCode.UNIMPLEMENTED],
  [408, RpcCode.DEADLINE_EXCEEDED],
  [409, RpcCode.ABORTED],
  [413, RpcCode.INVALID_ARGUMENT],
  [414, RpcCode.INVALID_ARGUMENT],
  [415, RpcCode.UNIMPLEMENTED],
  [429, RpcCode.RESOURCE_EXHAUSTED],
  [499, RpcCode.CANCELLED],
  [501, RpcCode.UNIMPLEMENTED],
  [502, RpcCode.UNAVAILABLE],
  [503, RpcCode.UNAVAILABLE],
  [504, RpcCode.DEADLINE_EXCEEDED],
]);

/** For other statuses UNKNOWN from 500, else FAILED_PRECONDITION. */
export function rpcOfHttp(status: number): RpcCode {
  return RPC_OF_HTTP.get(status) ?? (status >= 500 ? RpcCode.UNKNOWN : RpcCode.FAILED_PRECONDITION);
}

/**
 * Who caused an error: the request (`client`), an outage of the `platform`, a limit of this instance (`capacity`), the
 * `translation`: native v1 would have served the request, or `v2`: native v1 was asked and served it.
 */
export const FAULT_ORIGINS = ["client", "platform", "capacity", "translation", "v2"] as const;
export type FaultOrigin = (typeof FAULT_ORIGINS)[number];

/** Every reason with its HTTP status, its RPC code, its usual origin, and the options that change what is refused. */
export const PROBLEMS = {
  INVALID_REQUEST: { http: 400, code: RpcCode.INVALID_ARGUMENT, fault: "client", options: [] },
  INVALID_PATH: { http: 400, code: RpcCode.INVALID_ARGUMENT, fault: "client", options: [] },
  INVALID_BODY: { http: 400, code: RpcCode.INVALID_ARGUMENT, fault: "client", options: ["unknownFields.request"] },
  INVALID_FILTER: { http: 400, code: RpcCode.INVALID_ARGUMENT, fault: "client", options: [] },
  UPGRADE_REFUSED: { http: 400, code: RpcCode.INVALID_ARGUMENT, fault: "client", options: [] },
  BROWNOUT: { http: 400, code: RpcCode.FAILED_PRECONDITION, fault: "client", options: ["cutover.rulesFile"] },
  UNAUTHENTICATED: { http: 401, code: RpcCode.UNAUTHENTICATED, fault: "client", options: ["admin.tokenFile"] },
  UNKNOWN_PATH: {
    http: 404,
    code: RpcCode.NOT_FOUND,
    fault: "client",
    options: ["listen.basePath", "listen.extraPrefixes", "upstream.sts.url"],
  },
  NOT_FOUND: { http: 404, code: RpcCode.NOT_FOUND, fault: "client", options: ["upstream.v1.url"] },
  REQUEST_TIMEOUT: { http: 408, code: RpcCode.DEADLINE_EXCEEDED, fault: "client", options: ["limits.minBodyRate"] },
  ALREADY_EXISTS: { http: 409, code: RpcCode.ALREADY_EXISTS, fault: "client", options: [] },
  CONDITION_UNSUPPORTED: { http: 412, code: RpcCode.FAILED_PRECONDITION, fault: "client", options: [] },
  BODY_TOO_LARGE: { http: 413, code: RpcCode.INVALID_ARGUMENT, fault: "client", options: ["limits.bodyBytes"] },
  MESSAGE_TOO_LARGE: {
    http: 413,
    code: RpcCode.RESOURCE_EXHAUSTED,
    fault: "client",
    options: ["grpc.maxResponseBytes", "grpc.maxRequestBytes", "limits.bodyBytes"],
  },
  URI_TOO_LONG: { http: 414, code: RpcCode.INVALID_ARGUMENT, fault: "client", options: ["limits.uriBytes"] },
  GRPC_UNSUPPORTED: { http: 415, code: RpcCode.UNIMPLEMENTED, fault: "client", options: [] },
  DRAIN_TOO_LARGE: {
    http: 422,
    code: RpcCode.FAILED_PRECONDITION,
    fault: "translation",
    options: ["lists.maxRecords", "lists.maxBytes", "lists.maxPages", "lists.bufferBytes"],
  },
  HEADERS_TOO_LARGE: { http: 431, code: RpcCode.INVALID_ARGUMENT, fault: "client", options: ["limits.headerBytes"] },
  INTERNAL: { http: 500, code: RpcCode.INTERNAL, fault: "translation", options: [] },
  METHOD_NOT_ALLOWED: { http: 501, code: RpcCode.UNIMPLEMENTED, fault: "client", options: [] },
  NOT_TRANSLATABLE: {
    http: 501,
    code: RpcCode.UNIMPLEMENTED,
    fault: "translation",
    options: ["upstream.v1.url", "fallback", "listen.grpc.extraServices", "cutover.rulesFile"],
  },
  LIST_UNPROVEN: {
    http: 502,
    code: RpcCode.UNAVAILABLE,
    fault: "translation",
    options: ["lists.require", "upstream.v2.pageTokens"],
  },
  DRAIN_INCOMPLETE: { http: 502, code: RpcCode.UNAVAILABLE, fault: "translation", options: ["upstream.v2.totals"] },
  UPDATE_INCOMPLETE: { http: 502, code: RpcCode.INTERNAL, fault: "translation", options: ["updates.mismatch"] },
  UPSTREAM_UNREACHABLE: { http: 502, code: RpcCode.UNAVAILABLE, fault: "platform", options: [] },
  UPSTREAM_INVALID: {
    http: 502,
    code: RpcCode.INTERNAL,
    fault: "translation",
    options: ["limits.responseHeaderBytes"],
  },
  OVERLOADED: {
    http: 503,
    code: RpcCode.UNAVAILABLE,
    fault: "capacity",
    options: ["limits.inFlight", "upstream.*.connections", "lists.maxConcurrent"],
  },
  UPSTREAM_UNAVAILABLE: { http: 503, code: RpcCode.UNAVAILABLE, fault: "platform", options: ["upstream.*.breaker"] },
  UPSTREAM_TIMEOUT: {
    http: 504,
    code: RpcCode.DEADLINE_EXCEEDED,
    fault: "platform",
    options: ["upstream.*.timeouts", "lists.maxSeconds", "limits.requestSeconds", "grpc.streamIdleSeconds"],
  },
  LOOP_DETECTED: { http: 508, code: RpcCode.FAILED_PRECONDITION, fault: "platform", options: ["upstream.*.url"] },
} as const;
export type ProblemReason = keyof typeof PROBLEMS;
/** A path in the configuration, where `*` stands for any upstream. */
export type ProblemOption = (typeof PROBLEMS)[ProblemReason]["options"][number];

/** One invalid field of a request, by its v1 name. */
export interface FieldViolation {
  readonly field: string;
  readonly description: string;
}

/** Names are in lower case. */
type ProblemHeaders = readonly (readonly [name: string, value: string, spelling?: string | undefined])[];

export interface ProblemOptions {
  /** Details for the client: a limit, a count, `state: unknown`. Never an address, a token or the text of a cause. */
  readonly metadata?: Readonly<Record<string, string | undefined>>;
  readonly fieldViolations?: readonly FieldViolation[];
  /** Seconds, for `Retry-After`. */
  readonly retryAfter?: number;
  /** The HTTP status, if it is not the usual one. */
  readonly http?: number;
  /** Further fields of the response: as headers over HTTP, as metadata over gRPC. */
  readonly headers?: ProblemHeaders;
  /** The RPC code, if it is not the usual one. */
  readonly code?: RpcCode;
  /** The origin, if it is not the usual one. */
  readonly fault?: FaultOrigin;
  /** The options that change this refusal, if they are not all of the reason's. */
  readonly options?: readonly ProblemOption[];
  /** For the log only. */
  readonly cause?: unknown;
}

/** An error of carryover itself. The server turns it into a response. */
export class Problem extends Error {
  readonly reason: ProblemReason;
  readonly code: number;
  readonly metadata: Readonly<Record<string, string | undefined>>;
  readonly fieldViolations: readonly FieldViolation[];
  readonly retryAfter: number | undefined;
  readonly http: number;
  readonly headers: ProblemHeaders;
  readonly fault: FaultOrigin;
  readonly options: readonly ProblemOption[];

  /** `message` is for the client: what is wrong, where, what is expected. */
  constructor(reason: ProblemReason, message: string, options: ProblemOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "Problem";
    this.reason = reason;
    this.code = options.code ?? PROBLEMS[reason].code;
    this.metadata = options.metadata ?? {};
    this.fieldViolations = options.fieldViolations ?? [];
    this.retryAfter = options.retryAfter;
    this.http = options.http ?? PROBLEMS[reason].http;
    this.headers = options.headers ?? [];
    this.fault = options.fault ?? PROBLEMS[reason].fault;
    this.options = options.options ?? PROBLEMS[reason].options;
  }

  /** Any other error becomes the cause of `INTERNAL`, whose text does not reveal it. */
  static from(thrown: unknown): Problem {
    if (thrown instanceof Problem) return thrown;
    return new Problem("INTERNAL", "internal error", { cause: thrown });
  }
}

/** For a request body of more than `limit` bytes. */
export function tooLarge(limit: number): Problem {
  return new Problem("BODY_TOO_LARGE", `the request body is longer than ${limit} bytes`, {
    metadata: { limit: String(limit) },
  });
}

/** The result of `read`; undefined when it throws a Problem. */
export function unlessProblem<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof Problem) return undefined;
    throw thrown;
  }
}

/** Errors that the platform's own gateway returns without details. */
const GATEWAY: ReadonlySet<ProblemReason> = new Set(["NOT_FOUND", "METHOD_NOT_ALLOWED"]);

/** The JSON body of the response. */
export function problemBody(problem: Problem): string {
  const details: unknown[] = [];
  if (!GATEWAY.has(problem.reason)) {
    details.push({
      "@type": "type.googleapis.com/google.rpc.ErrorInfo",
      reason: problem.reason,
      domain: "carryover",
      metadata: { ...problem.metadata, option: problem.options.length === 0 ? undefined : problem.options.join(", ") },
    });
  }
  if (problem.fieldViolations.length > 0) {
    details.push({
      "@type": "type.googleapis.com/google.rpc.BadRequest",
      fieldViolations: problem.fieldViolations,
    });
  }
  return JSON.stringify({ code: problem.code, message: problem.message, details });
}
