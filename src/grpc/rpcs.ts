/** Which upstream an rpc belongs to, by the names in its path. */

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

const READS = /^(?:Get|List|BatchGet|Lookup|Search|Check|Watch)(?![a-z])/;

/** True where the name of an rpc says that it changes nothing. */
export function isReading(method: string): boolean {
  return READS.test(method);
}
