/** Which values does somebody write by mistake that have the wrong kind or form, and which of them does the chart have to name? */

export interface Refusal {
  readonly what: string;
  readonly values: Readonly<Record<string, unknown>>;
  /** The path that the message names. */
  readonly where: string;
  /** Without the upstream that every other one has. */
  readonly bare?: true;
}

const rule = (more: object) => ({ rules: [{ name: "a", match: {}, mode: "translate", ...more }] });

function nested(path: readonly string[], value: unknown): Readonly<Record<string, unknown>> {
  const [key = "", ...below] = path;
  return { [key]: below.length === 0 ? value : nested(below, value) };
}

export const WRONG: readonly Refusal[] = [
  { what: "a value that there is not", values: { replicas: 3 }, where: "replicas" },
  { what: "a value that there is not, in a map", values: { image: { name: "carryover" } }, where: "image" },
  { what: "a word for a number", values: { replicaCount: "two" }, where: "replicaCount" },
  { what: "fewer pods than none", values: { replicaCount: -1 }, where: "replicaCount" },
  {
    what: "a pull policy that there is not",
    values: { image: { pullPolicy: "Sometimes" } },
    where: "image.pullPolicy",
  },
  { what: "half a digest", values: { image: { digest: "sha256:abc" } }, where: "image.digest" },
  {
    what: "a type of Service that leads nowhere",
    values: { service: { type: "ExternalName" } },
    where: "service.type",
  },
  { what: "a port beyond the last", values: { service: { port: 70000 } }, where: "service.port" },
  {
    what: "an address family that there is not",
    values: { service: { ipFamilies: ["IPv5"] } },
    where: "service.ipFamilies[0]",
  },
  {
    what: "an option that there is not",
    values: { config: { upstream: { v2: { uri: "https://x" } } } },
    where: "config.upstream.v2",
  },
  { what: "a section that there is not", values: { config: { upstreams: {} } }, where: "config" },
  {
    what: "an option's word that there is not",
    values: { config: { lists: { require: "most" } } },
    where: "config.lists.require",
  },
  {
    what: "a level of log that there is not",
    values: { config: { log: { level: "loud" } } },
    where: "config.log.level",
  },
  {
    what: "a limit beyond its bounds",
    values: { config: { limits: { requestSeconds: 600 } } },
    where: "config.limits.requestSeconds",
  },
  { what: "a mode that there is not", values: { rules: rule({ mode: "translated" }) }, where: "rules.rules[0].mode" },
  {
    what: "a rule without a name",
    values: { rules: { rules: [{ match: {}, mode: "native" }] } },
    where: "rules.rules[0]",
  },
  { what: "a force that there is not", values: { rules: { force: "v1", rules: [] } }, where: "rules.force" },
  { what: "a label that is a number", values: { podLabels: { tier: 1 } }, where: "podLabels.tier" },
  { what: "an annotation that is true", values: { commonAnnotations: { a: true } }, where: "commonAnnotations.a" },
  { what: "a token of two words", values: { adminToken: { value: "two words" } }, where: "adminToken.value" },
  { what: "an emptyDir of no size", values: { ledger: { sizeLimit: "lots" } }, where: "ledger.sizeLimit" },
  {
    what: "an autoscaler down to nothing",
    values: { autoscaling: { enabled: true, minReplicas: 0 } },
    where: "autoscaling.minReplicas",
  },
  {
    what: "a duration without a unit",
    values: { serviceMonitor: { enabled: true, interval: "30" } },
    where: "serviceMonitor.interval",
  },
  { what: "a timeout in words", values: { httpRoute: { timeout: "sixty" } }, where: "httpRoute.timeout" },
  { what: "more than all requests", values: { httpRoute: { weight: 101 } }, where: "httpRoute.weight" },
  {
    what: "a controller that the chart does not know",
    values: { ingress: { controller: "acme" } },
    where: "ingress.controller",
  },
  {
    what: "a port of nobody",
    values: { networkPolicy: { upstreamPorts: [0] } },
    where: "networkPolicy.upstreamPorts[0]",
  },
  { what: "a domain with a slash", values: { routes: { domains: ["/iam"] } }, where: "routes.domains[0]" },
  { what: "no domain at all", values: { routes: { domains: [] } }, where: "routes.domains" },
  { what: "a variable without a name", values: { extraEnv: [{ value: "x" }] }, where: "extraEnv[0]" },
  { what: "fewer records than none", values: { sandbox: { records: -1 } }, where: "sandbox.records" },
  {
    what: "an eviction policy that there is not",
    values: { podDisruptionBudget: { unhealthyPodEvictionPolicy: "Never" } },
    where: "podDisruptionBudget.unhealthyPodEvictionPolicy",
  },
  { what: "no time to stop in", values: { terminationGracePeriodSeconds: 0 }, where: "terminationGracePeriodSeconds" },
  { what: "a list for a map", values: { nodeSelector: ["a"] }, where: "nodeSelector" },
  {
    what: "an empty budget",
    values: { podDisruptionBudget: { minAvailable: "" } },
    where: "podDisruptionBudget.minAvailable",
  },
  {
    what: "a budget in letters",
    values: { podDisruptionBudget: { maxUnavailable: "abc" } },
    where: "podDisruptionBudget.maxUnavailable",
  },
  {
    what: "a budget of more than all",
    values: { podDisruptionBudget: { maxUnavailable: "101%" } },
    where: "podDisruptionBudget.maxUnavailable",
  },
  {
    what: "a URL of nobody",
    values: { config: { upstream: { v2: { url: "https://" } } } },
    where: "config.upstream.v2.url",
  },
  { what: "a repository in capitals", values: { image: { repository: "Foo/Bar" } }, where: "image.repository" },
  {
    what: "a repository with its tag",
    values: { image: { repository: "carryover:1.2" } },
    where: "image.repository",
  },
  { what: "a tag of two words", values: { image: { tag: "1 2" } }, where: "image.tag" },
  {
    what: "a registry with a scheme",
    values: { image: { registry: "https://registry.example.com" } },
    where: "image.registry",
  },
  { what: "a name of two words", values: { nameOverride: "Foo Bar" }, where: "nameOverride" },
  { what: "a namespace of two words", values: { namespaceOverride: "b c" }, where: "namespaceOverride" },
  {
    what: "a namespace of monitoring in capitals",
    values: { serviceMonitor: { namespace: "Monitoring" } },
    where: "serviceMonitor.namespace",
  },
  ...[
    "configFrom.key",
    "rulesFrom.key",
    "adminToken.key",
    "salt.key",
    "tls.v2.ca.key",
    "tls.v1.client.certKey",
    "tls.sts.client.keyKey",
  ].map((where) => ({ what: `no key: ${where}`, values: nested(where.split("."), ""), where })),
];
