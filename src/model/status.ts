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

/** What an error without a body of the API's is taken for, by its HTTP status. */
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

/** The RPC code of an HTTP status; one that the table lacks is UNKNOWN from 500 on, else FAILED_PRECONDITION. */
export function rpcOfHttp(status: number): RpcCode {
  return RPC_OF_HTTP.get(status) ?? (status >= 500 ? RpcCode.UNKNOWN : RpcCode.FAILED_PRECONDITION);
}
