/** Errors of the platform: their codes, messages and bodies. */
import type { JsonObject } from "./json.ts";

/** RPC codes by name. */
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

const HTTP_OF_RPC: readonly number[] = [
  200, 499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401,
];

/** The HTTP status of an RPC code; 500 for a code that does not exist. */
export function httpOfRpc(code: number): number {
  return HTTP_OF_RPC[code] ?? 500;
}

/** What a refusal says beside its code. */
export interface RefusalFacts {
  /** The wrong field, in v2's words; shown as a BadRequest and as the prefix of the message. */
  readonly field?: string;
  /** Typed details other than ErrorInfo and BadRequest. */
  readonly details?: readonly JsonObject[];
  /** True for what the HTTP layer itself refuses: no details at all. */
  readonly bare?: boolean;
  /** Seconds for `Retry-After`. */
  readonly retryAfter?: number;
}

/** An answer other than success, thrown by whoever finds the reason. */
export interface Refusal extends Error, RefusalFacts {
  readonly refusal: true;
  readonly code: number;
}

/** Makes something to throw. `message` is free text; with `field` it becomes `Invalid argument: field: message`. */
export function refuse(code: number, message: string, facts: RefusalFacts = {}): Refusal {
  return Object.assign(new Error(message), { refusal: true as const, code, ...facts });
}

/** True for what `refuse` made. */
export function isRefusal(thrown: unknown): thrown is Refusal {
  return thrown instanceof Error && "refusal" in thrown && thrown.refusal === true;
}

/** Refused by routing or decoding, before any handler: the body has no details. */
export function gatewayRefusal(code: number, message: string): Refusal {
  return refuse(code, message, { bare: true });
}

/** A field is wrong. */
export function invalid(field: string, description: string): Refusal {
  return refuse(RpcCode.INVALID_ARGUMENT, description, { field });
}

/** No such record. `type` is its kind as v2 names it, for example `Group`. */
export function notFound(type: string, uid: string): Refusal {
  const info: JsonObject = {
    "@type": "type.googleapis.com/google.rpc.ResourceInfo",
    resourceType: type,
    resourceName: uid,
    owner: "",
    description: `${type} does not exist`,
  };
  return refuse(RpcCode.NOT_FOUND, `Not found: ${type} ${uid}`, { details: [info] });
}

/** The caller may not do that there. */
export function forbidden(capability = "a capability"): Refusal {
  return refuse(RpcCode.PERMISSION_DENIED, `Permission denied: the caller lacks ${capability} on this resource`);
}

/** The state of the platform forbids it. */
export function precondition(type: string, subject: string, description: string): Refusal {
  const failure: JsonObject = {
    "@type": "type.googleapis.com/google.rpc.PreconditionFailure",
    violations: [{ type, subject, description }],
  };
  return refuse(RpcCode.FAILED_PRECONDITION, `Precondition failed: ${description}`, { details: [failure] });
}

/** A name is taken. */
export function alreadyExists(type: string, name: string): Refusal {
  return refuse(RpcCode.ALREADY_EXISTS, `Already exists: ${type} ${name}`);
}

const REASONS = new Map<number, string>(Object.entries(RpcCode).map(([name, code]) => [code, name]));

/** The message a client sees. */
export function refusalMessage(refusal: Refusal, field: string | undefined = refusal.field): string {
  return field === undefined ? refusal.message : `Invalid argument: ${field}: ${refusal.message}`;
}

/**
 * The error body: always an ErrorInfo of `domain` unless the HTTP layer refused; zero members are emitted.
 * `rename` turns v2's field names into the caller's.
 */
export function refusalBody(refusal: Refusal, domain: string, rename: (field: string) => string): string {
  const field = refusal.field === undefined ? undefined : rename(refusal.field);
  const details: JsonObject[] = [];
  if (refusal.bare !== true) {
    const reason = REASONS.get(refusal.code) ?? "UNKNOWN";
    details.push({ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain, metadata: {} });
  }
  if (field !== undefined) {
    const violation = { field, description: refusal.message, reason: "", localizedMessage: null };
    details.push({ "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations: [violation] });
  }
  details.push(...(refusal.details ?? []));
  return JSON.stringify({ code: refusal.code, message: refusalMessage(refusal, field), details });
}

/** The HTTP status of a refusal. */
export function refusalStatus(refusal: Refusal): number {
  return httpOfRpc(refusal.code);
}
