/** Faults on request: latency, failures, rate limits, concurrent writers, terms that the caller has not accepted. */

import { type Context, now } from "../context.ts";
import { VENDOR_TYPES } from "../data/vendor.ts";
import { type ApiRequest, type ApiResponse, header, type SendOptions } from "../http.ts";
import type { JsonObject } from "../json.ts";
import type { SandboxSettings } from "../options.ts";
import { type Refusal, RpcCode, refusalBody, refusalStatus, refuse } from "../refusal.ts";
import { makeRecord } from "../store/collection.ts";
import type { Route } from "./route.ts";

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

// Rate limits.

export interface RateLimiter {
  /** Counts one call of `credential`. Throws 429 with `Retry-After` when it has used up its second. */
  admit(credential: string): void;
}

const MAX_CREDENTIALS = 10_000;

/** At most `perSecond` calls in each second of the clock; without a number there is no limit. */
export function createRateLimiter(perSecond: number | undefined, clock: () => Date): RateLimiter {
  const used = new Map<string, { second: number; calls: number }>();
  return {
    admit(credential) {
      if (perSecond === undefined) return;
      const second = Math.floor(clock().getTime() / 1000);
      const before = used.get(credential);
      const calls = before?.second === second ? before.calls + 1 : 1;
      if (used.size >= MAX_CREDENTIALS) used.clear();
      used.set(credential, { second, calls });
      if (calls > perSecond) throw refuse(RpcCode.RESOURCE_EXHAUSTED, "Too many requests", { retryAfter: 1 });
    },
  };
}

// Concurrent writers.

/** Most groups of the writers' own that exist at a time. */
const ALIVE = 5;

/** Told of every answer, it writes after each n-th page of a v2 list; groups it did not make are left alone. */
export function createChurn(context: Context, root: string): (request: ApiRequest, response: ApiResponse) => void {
  const { churnEveryPages, version } = context.settings;
  const alive: string[] = [];
  let pages = 0;
  let made = 0;
  return (request, response) => {
    const [path = ""] = request.target.split("?");
    const [, , face, , ...rest] = path.split("/");
    const isPage = request.method === "GET" && response.status === 200 && face === version && rest.length === 0;
    if (churnEveryPages === 0 || !isPage) return;
    pages++;
    if (pages % churnEveryPages !== 0) return;
    const groups = context.store.collection("groups");
    const uid = context.store.nextUid(root);
    const time = now(context);
    made++;
    groups.put(makeRecord({ uid, name: `churn-${made}`, createTime: time, updateTime: time }));
    alive.push(uid);
    if (alive.length > ALIVE) groups.remove(alive.shift() ?? "");
  };
}

// Terms that the caller's organisation must accept first.

/** Their `id` keeps its name in both versions. */
const MISSING: readonly JsonObject[] = [
  { id: "terms-2026-01", label: "Terms of service", url: "https://legal.platform.example/terms" },
  { id: "privacy-2025-06", label: "Privacy notice", url: "https://legal.platform.example/privacy" },
];

/** Throws 400, code 9, when the settings gate this call; the type of the detail names the version of the face. */
export function needTerms(settings: SandboxSettings, route: Route, method: string, path: string): void {
  if (settings.gated?.(method, path) === true) throw termsRefusal(route.version);
}

function termsRefusal(version: string): Refusal {
  const segment = version === "v1" ? "" : `${version}.`;
  const detail: JsonObject = {
    "@type": `type.googleapis.com/${VENDOR_TYPES}.iam.${segment}TermsNotAcceptedDetail`,
    missing: [...MISSING],
  };
  const message = "Precondition failed: the terms have not been accepted";
  return refuse(RpcCode.FAILED_PRECONDITION, message, { details: [detail] });
}
