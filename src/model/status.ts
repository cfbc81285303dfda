/** Which HTTP status stands for which RPC code? (Specification section 7; the mapping of stock gateways.) */

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
export type RpcCode = (typeof RpcCode)[keyof typeof RpcCode];

const HTTP_OF_RPC: readonly number[] = [
  200, 499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401,
];

/** The HTTP status of an RPC code; 500 for a code that does not exist. */
export function httpOfRpc(code: number): number {
  return HTTP_OF_RPC[code] ?? 500;
}
