/** Names of rpcs: which upstream one belongs to, and which are known. */
import type { Exchange } from "../model/exchange.ts";
import { RpcCode } from "../model/problem.ts";

/** `platform`: health and reflection, which belong to no version. */
export type RpcVersion = "v1" | "v2" | "platform";

/** `sts`: token exchange. `native`: a service of another domain, which only native v1 may have; `named`: one that an option names as native v1's. */
export type RpcOwner = RpcVersion | "sts" | "native" | "named";

/** gRPC's own services, which are for operators: channelz, load balancing. */
const OF_GRPC = "grpc.";
const TOKEN_SERVICE = "SecurityTokenService";
const TOKEN_METHODS: ReadonlySet<string> = new Set(["Exchange", "ExchangeRefreshToken"]);
const OIDC = new Set(["oidc"]);
/** Before an extra service: it is native v1's. */
const OF_V1 = "v1:";
const V2 = /^v2[a-z0-9]*$/;
const VERSION = /^v\d[a-z0-9]*$/;
const PLATFORM: ReadonlySet<string> = new Set([
  "grpc.health.v1.Health",
  "grpc.reflection.v1.ServerReflection",
  "grpc.reflection.v1alpha.ServerReflection",
]);

interface OwnerOptions {
  /** The API's domains, as packages name them. */
  readonly domains: ReadonlySet<string>;
  /** Packages and services (`listen.grpc.extraServices`): `a.b` belongs to v2, `v1:a.b` to native v1, whatever `fallback` is. */
  readonly extraServices: readonly string[];
}

/** Returns the owner of an rpc, or undefined if no upstream serves it. As over HTTP, other domains are native v1's, unless their package names v2. */
export function createOwners({
  domains,
  extraServices,
}: OwnerOptions): (service: string, method: string) => RpcOwner | undefined {
  const extra = extraServices.map((text) => {
    const isV1 = text.startsWith(OF_V1);
    return { name: isV1 ? text.slice(OF_V1.length) : text, owner: isV1 ? ("named" as const) : ("v2" as const) };
  });
  return (service, method) => {
    const version = versionOfService(service, domains);
    if (version !== undefined) return version;
    const named = extra.find(({ name }) => service === name || service.startsWith(`${name}.`));
    if (named !== undefined) return named.owner;
    if (isTokenExchange(service, method)) return "sts";
    const packages = service.split(".").slice(0, -1);
    const isForeign = packages.length === 0 || service.startsWith(OF_GRPC) || packages.some((part) => V2.test(part));
    return isForeign ? undefined : "native";
  };
}

function isTokenExchange(service: string, method: string): boolean {
  const isService = service.slice(service.lastIndexOf(".") + 1) === TOKEN_SERVICE;
  return isService && TOKEN_METHODS.has(method) && versionOfService(service, OIDC) === "v1";
}

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

const READS = /^(?:Get|List|BatchGet|Lookup|Search|Check|Watch)(?![a-z])/;

/** True where the name of an rpc says that it changes nothing. */
export function isReading(method: string): boolean {
  return READS.test(method);
}
