/** How does the sandbox come to be slow or to fail on request? (Design section 9.) */
import type { ApiRequest, ApiResponse, SendOptions } from "../http.ts";
import { header } from "../http.ts";
import { type Refusal, RpcCode, refusalBody, refusalStatus, refuse } from "../refusal.ts";

const UNITS: ReadonlyMap<string, number> = new Map([
  ["H", 3_600_000],
  ["M", 60_000],
  ["S", 1_000],
  ["m", 1],
  ["u", 0.001],
  ["n", 0.000001],
]);

/** Milliseconds that a `Grpc-Timeout` header leaves, or infinity. */
export function grpcTimeoutMs(request: ApiRequest): number {
  const [, digits, unit = ""] = /^(\d{1,8})([HMSmun])$/.exec(header(request.headers, "grpc-timeout") ?? "") ?? [];
  const factor = UNITS.get(unit);
  return digits === undefined || factor === undefined ? Number.POSITIVE_INFINITY : Number(digits) * factor;
}

/** Waits `ms`; rejects with the signal's reason when it aborts first. */
export function pause(ms: number, options: SendOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const gone = () => {
      clearTimeout(timer);
      reject(options.signal.reason);
    };
    const timer = setTimeout(() => {
      options.signal.removeEventListener("abort", gone);
      resolve();
    }, ms);
    if (options.signal.aborted) gone();
    else options.signal.addEventListener("abort", gone, { once: true });
  });
}

function answer(refusal: Refusal): ApiResponse {
  const body = new TextEncoder().encode(refusalBody(refusal, "iam.platform.example", (field) => field));
  return { status: refusalStatus(refusal), headers: [["content-type", "application/json"]], body };
}

/** 503: nothing was done. */
export function unavailable(): ApiResponse {
  return answer(refuse(RpcCode.UNAVAILABLE, "Unavailable: try again"));
}

/** 504: the time that the caller gave is over; nothing was done. */
export function deadlineExceeded(): ApiResponse {
  return answer(refuse(RpcCode.DEADLINE_EXCEEDED, "Deadline exceeded", { bare: true }));
}
