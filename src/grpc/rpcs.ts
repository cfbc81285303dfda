/** Names of rpcs: which upstream one belongs to, and which are known. */
import type { Exchange } from "../model/exchange.ts";
import { RpcCode } from "../model/problem.ts";

/** `platform`: health and reflection, which belong to no version. */
export type RpcVersion = "v1" | "v2" | "platform";

const V2 = /^v2[a-z0-9]*$/;
const VERSION = /^v\d[a-z0-9]*$/;
const PLATFORM: ReadonlySet<string> = new Set([
  "grpc.health.v1.Health",
  "grpc.reflection.v1.ServerReflection",
  "grpc.reflection.v1alpha.ServerReflection",
]);

/**
 * The version of a service by its full name: `acme.platform.iam.v2beta1.GroupsService` is v2, `acme.platform.iam.Groups` and
 * `acme.platform.vulnerabilities.v1.Advisories` are v1. Undefined when its package names none of the API's domains.
 */
export function versionOfService(service: string, domains: ReadonlySet<string>): RpcVersion | undefined {
  if (PLATFORM.has(service)) return "platform";
  const parts = service.split(".").slice(0, -1);
  const last = parts.at(-1) ?? "";
  const domain = VERSION.test(last) ? (parts.at(-2) ?? "") : last;
  if (!domains.has(domain)) return undefined;
  return V2.test(last) ? "v2" : "v1";
}

/** Names learned from calls, at most. */
const MOST_LEARNED = 1_000;

/**
 * Makes a function that says whether the rpc of a call that is over is known: `described`, or one that an upstream has served. Only success
 * proves that: a proxy in front of the platform may refuse any name, with any code.
 */
export function createKnownRpcs(described: (path: string) => boolean): (rpc: NonNullable<Exchange["rpc"]>) => boolean {
  const served = new Set<string>();
  return ({ service, method, code }) => {
    const path = `/${service}/${method}`;
    if (described(path) || served.has(path)) return true;
    if (code !== RpcCode.OK || served.size >= MOST_LEARNED) return false;
    served.add(path);
    return true;
  };
}
