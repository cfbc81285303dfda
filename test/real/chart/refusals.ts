/** Wrong values that users set by mistake. The chart must name each of them. */

/** `where`: the path that the message names. `bare`: without the upstream that every other one has. */
export type Refusal = readonly [what: string, values: Readonly<Record<string, unknown>>, where: string, bare?: boolean];

const rule = (more: object) => ({ rules: [{ name: "a", match: {}, mode: "translate", ...more }] });

function nested(path: readonly string[], value: unknown): Readonly<Record<string, unknown>> {
  const [key = "", ...below] = path;
  return { [key]: below.length === 0 ? value : nested(below, value) };
}

/** Values of the wrong kind or form. */
export const WRONG: readonly Refusal[] = [
  ["a value that there is not", { replicas: 3 }, "replicas"],
  ["a value that there is not, in a map", { image: { name: "carryover" } }, "image"],
  ["a word for a number", { replicaCount: "two" }, "replicaCount"],
  ["fewer pods than none", { replicaCount: -1 }, "replicaCount"],
  ["a pull policy that there is not", { image: { pullPolicy: "Sometimes" } }, "image.pullPolicy"],
  ["half a digest", { image: { digest: "sha256:abc" } }, "image.digest"],
  ["a type of Service that leads nowhere", { service: { type: "ExternalName" } }, "service.type"],
  ["a port beyond the last", { service: { port: 70000 } }, "service.port"],
  ["an address family that there is not", { service: { ipFamilies: ["IPv5"] } }, "service.ipFamilies[0]"],
  ["an option that there is not", { config: { upstream: { v2: { uri: "https://x" } } } }, "config.upstream.v2"],
  ["a section that there is not", { config: { upstreams: {} } }, "config"],
  ["an option's word that there is not", { config: { lists: { require: "most" } } }, "config.lists.require"],
  ["a level of log that there is not", { config: { log: { level: "loud" } } }, "config.log.level"],
  ["a limit beyond its bounds", { config: { limits: { requestSeconds: 600 } } }, "config.limits.requestSeconds"],
  ["a mode that there is not", { rules: rule({ mode: "translated" }) }, "rules.rules[0].mode"],
  ["a rule without a name", { rules: { rules: [{ match: {}, mode: "native" }] } }, "rules.rules[0]"],
  ["a force that there is not", { rules: { force: "v1", rules: [] } }, "rules.force"],
  ["a label that is a number", { podLabels: { tier: 1 } }, "podLabels.tier"],
  ["an annotation that is true", { commonAnnotations: { a: true } }, "commonAnnotations.a"],
  ["a token of two words", { adminToken: { value: "two words" } }, "adminToken.value"],
  ["an emptyDir of no size", { state: { sizeLimit: "lots" } }, "state.sizeLimit"],
  ["a claim of no size", { state: { volumeClaim: { size: "lots" } } }, "state.volumeClaim.size"],
  ["a claim without a way in", { state: { volumeClaim: { accessModes: [] } } }, "state.volumeClaim.accessModes"],
  ["an autoscaler down to nothing", { autoscaling: { enabled: true, minReplicas: 0 } }, "autoscaling.minReplicas"],
  ["a duration without a unit", { serviceMonitor: { enabled: true, interval: "30" } }, "serviceMonitor.interval"],
  ["a timeout in words", { httpRoute: { timeout: "sixty" } }, "httpRoute.timeout"],
  ["more than all requests", { httpRoute: { weight: 101 } }, "httpRoute.weight"],
  ["a controller that the chart does not know", { ingress: { controller: "acme" } }, "ingress.controller"],
  ["a port of nobody", { networkPolicy: { upstreamPorts: [0] } }, "networkPolicy.upstreamPorts[0]"],
  ["a domain with a slash", { routes: { domains: ["/iam"] } }, "routes.domains[0]"],
  ["a store that is a web server", { config: { state: { url: "https://valkey" } } }, "config.state.url"],
  ["a numbered database of the store", { config: { state: { url: "redis://valkey/1" } } }, "config.state.url"],
  ["the password of the store in the configuration", { config: { state: { password: "p" } } }, "config.state"],
  ["the password of the store in the values", { state: { password: "p" } }, "state.password"],
  ["no domain at all", { routes: { domains: [] } }, "routes.domains"],
  ["a variable without a name", { extraEnv: [{ value: "x" }] }, "extraEnv[0]"],
  ["fewer records than none", { sandbox: { records: -1 } }, "sandbox.records"],
  [
    "an eviction policy that there is not",
    { podDisruptionBudget: { unhealthyPodEvictionPolicy: "Never" } },
    "podDisruptionBudget.unhealthyPodEvictionPolicy",
  ],
  ["no time to stop in", { terminationGracePeriodSeconds: 0 }, "terminationGracePeriodSeconds"],
  ["a list for a map", { nodeSelector: ["a"] }, "nodeSelector"],
  ["an empty budget", { podDisruptionBudget: { minAvailable: "" } }, "podDisruptionBudget.minAvailable"],
  ["a budget in letters", { podDisruptionBudget: { maxUnavailable: "abc" } }, "podDisruptionBudget.maxUnavailable"],
  [
    "a budget of more than all",
    { podDisruptionBudget: { maxUnavailable: "101%" } },
    "podDisruptionBudget.maxUnavailable",
  ],
  ["a URL of nobody", { config: { upstream: { v2: { url: "https://" } } } }, "config.upstream.v2.url"],
  ["a repository in capitals", { image: { repository: "Foo/Bar" } }, "image.repository"],
  ["a repository with its tag", { image: { repository: "carryover:1.2" } }, "image.repository"],
  ["a tag of two words", { image: { tag: "1 2" } }, "image.tag"],
  ["a registry with a scheme", { image: { registry: "https://registry.example.com" } }, "image.registry"],
  ["a name of two words", { nameOverride: "Foo Bar" }, "nameOverride"],
  ["a namespace of two words", { namespaceOverride: "b c" }, "namespaceOverride"],
  [
    "a namespace of monitoring in capitals",
    { serviceMonitor: { namespace: "Monitoring" } },
    "serviceMonitor.namespace",
  ],
  ...[
    "configFrom.key",
    "rulesFrom.key",
    "adminToken.key",
    "salt.key",
    "tls.v2.ca.key",
    "tls.v1.client.certKey",
    "tls.sts.client.keyKey",
    "tls.state.ca.key",
    "state.password.key",
  ].map((where): Refusal => [`no key: ${where}`, nested(where.split("."), ""), where]),
];

/** Values that contradict each other or miss one another. */
export const CONTRADICTING: readonly Refusal[] = [
  ["no upstream", {}, "config.upstream.v2.url", true],
  ["an upstream beside the sandbox", { sandbox: { enabled: true } }, "sandbox.enabled"],
  ["configuration here and in a ConfigMap", { configFrom: { existingConfigMap: "c" } }, "configFrom"],
  [
    "configuration in a ConfigMap and in a Secret",
    { configFrom: { existingConfigMap: "c", existingSecret: "s" } },
    "configFrom",
    true,
  ],
  ["rules here and in a ConfigMap", { rules: rule({}), rulesFrom: { existingConfigMap: "c" } }, "rulesFrom"],
  ["rules in a ConfigMap and in a Secret", { rulesFrom: { existingConfigMap: "c", existingSecret: "s" } }, "rulesFrom"],
  ["a token and a Secret with one", { adminToken: { existingSecret: "s", value: "t" } }, "adminToken.existingSecret"],
  ["a dashboard whose recording rules nothing loads", { dashboard: { enabled: true } }, "dashboard.enabled"],
  ["a token and a token made by lot", { adminToken: { value: "t", generate: true } }, "adminToken.generate"],
  [
    "a salt and a Secret with one",
    { config: { cutover: { salt: "s" } }, salt: { existingSecret: "s" } },
    "salt.existingSecret",
  ],
  [
    "authorities as text and in a ConfigMap",
    { tls: { v2: { ca: { pem: "x", existingConfigMap: "c" } } } },
    "tls.v2.ca",
  ],
  ["authorities for an upstream that there is not", { tls: { v1: { ca: { existingSecret: "s" } } } }, "tls.v1"],
  ["an address that the chart sets", { config: { admin: { host: "127.0.0.1" } } }, "config.admin.host"],
  [
    "rules here and in a file of one's own",
    { config: { cutover: { rulesFile: "/r.yaml" } }, rules: rule({}) },
    "config.cutover.rulesFile",
  ],
  [
    "a token here and in a file of one's own",
    { config: { admin: { tokenFile: "/t" } }, adminToken: { existingSecret: "s" } },
    "config.admin.tokenFile",
  ],
  [
    "authorities here and in a file of one's own",
    { config: { upstream: { v2: { tls: { caFile: "/c" } } } }, tls: { v2: { ca: { existingSecret: "s" } } } },
    "tls.v2.ca",
  ],
  ["a state here and in a directory of one's own", { config: { state: { dir: "/l" } } }, "config.state.dir"],
  ["one port for both sides", { config: { listen: { port: 9000 }, admin: { port: 9000 } } }, "config.admin.port"],
  ["native v1 without one", { rules: rule({ mode: "native" }) }, "config.upstream.v1.url"],
  ["native v1 by default without one", { config: { cutover: { mode: "native" } } }, "config.upstream.v1.url"],
  ["two kinds of monitor", { serviceMonitor: { enabled: true }, podMonitor: { enabled: true } }, "podMonitor.enabled"],
  [
    "a ServiceMonitor without its Service",
    { serviceMonitor: { enabled: true }, adminService: { enabled: false } },
    "adminService.enabled",
  ],
  ["a route of no Gateway", { httpRoute: { enabled: true } }, "httpRoute.parentRefs"],
  [
    "a share of requests for nobody",
    { httpRoute: { enabled: true, parentRefs: [{ name: "g" }], weight: 10 } },
    "httpRoute.platform.name",
  ],
  [
    "a canary without another side",
    { httpRoute: { enabled: true, parentRefs: [{ name: "g" }], canaryHeader: "x-canary" } },
    "httpRoute.platform.name",
  ],
  [
    "a route that gives up before carryover does",
    { httpRoute: { enabled: true, parentRefs: [{ name: "g" }], timeout: "30s" } },
    "httpRoute.timeout",
  ],
  [
    "a host for gRPC without a Service",
    { ingress: { enabled: true, grpc: { hosts: ["g.example.com"] } } },
    "ingress.grpc.name",
  ],
  ["a budget said twice", { podDisruptionBudget: { minAvailable: 1, maxUnavailable: 1 } }, "podDisruptionBudget"],
  ["a budget that lets no pod go", { podDisruptionBudget: { minAvailable: 2 } }, "podDisruptionBudget.minAvailable"],
  ["a budget of none", { podDisruptionBudget: { maxUnavailable: 0 } }, "podDisruptionBudget.maxUnavailable"],
  [
    "more pods at least than at most",
    { autoscaling: { enabled: true, minReplicas: 5, maxReplicas: 3 } },
    "autoscaling.maxReplicas",
  ],
  [
    "an autoscaler that looks at nothing",
    { autoscaling: { enabled: true, targetCPUUtilizationPercentage: null } },
    "autoscaling",
  ],
  [
    "a share of a CPU request that there is not",
    { autoscaling: { enabled: true }, resources: { requests: { cpu: null } } },
    "resources.requests.cpu",
  ],
  [
    "an existing claim and others",
    { replicaCount: 1, state: { existingClaim: "c", volumeClaim: { size: "1Gi" } } },
    "state.volumeClaim.size",
  ],
  [
    "a StatefulSet that stops all pods at once",
    { state: { volumeClaim: { size: "1Gi" } }, strategy: { type: "Recreate" } },
    "strategy",
  ],
  ["percents of a request that any load takes", { autoscaling: { enabled: true } }, "resources.requests.cpu"],
  ["two writers of one directory", { state: { existingClaim: "c" } }, "state.existingClaim"],
  [
    "two writers while one is replaced",
    { replicaCount: 1, state: { existingClaim: "c" }, strategy: { type: "RollingUpdate" } },
    "strategy",
  ],
  [
    "a recording on a file system that is read-only",
    { config: { record: { file: "/r.jsonl" } } },
    "config.record.file",
  ],
  [
    "a recording on a volume that is read-only",
    {
      config: { record: { file: "/recording/requests.jsonl" } },
      extraVolumes: [{ name: "recording", emptyDir: {} }],
      extraVolumeMounts: [{ name: "recording", mountPath: "/recording", readOnly: true }],
    },
    "config.record.file",
  ],
  ["less time to stop in than a request takes", { terminationGracePeriodSeconds: 20 }, "terminationGracePeriodSeconds"],
  ["two hooks before the stop", { lifecycle: { preStop: { sleep: { seconds: 1 } } } }, "preStopSleepSeconds"],
  ["a node port of a Service without one", { service: { nodePort: 30080 } }, "service.type"],
  ["a variable that the chart sets", { extraEnv: [{ name: "CARRYOVER_CONFIG", value: "/x" }] }, "extraEnv"],
  ["a flag that the chart sets", { extraArgs: { "admin-port": "9" } }, "extraArgs"],
  ["a volume of the chart's own name", { extraVolumes: [{ name: "config", emptyDir: {} }] }, "extraVolumes"],
  [
    "an alert that there is not, left out",
    { prometheusRule: { enabled: true, disabled: ["CarryoverSpeltWrong"] } },
    "prometheusRule",
  ],
  [
    "an alert that there is not, changed",
    { prometheusRule: { enabled: true, overrides: { CarryoverSpeltWrong: { for: "1m" } } } },
    "prometheusRule",
  ],
  [
    "two writers while one is replaced, by a strategy without a type",
    { replicaCount: 1, state: { existingClaim: "c" }, strategy: { rollingUpdate: { maxSurge: 1 } } },
    "strategy.type",
  ],
  [
    "a network closed to an upstream of a variable",
    {
      extraEnv: [{ name: "CARRYOVER_UPSTREAM_V1_URL", value: "https://b:8443" }],
      networkPolicy: { enabled: true },
    },
    "networkPolicy.upstreamPorts",
  ],
  [
    "a share of pods that is rounded up to all",
    { podDisruptionBudget: { minAvailable: "51%" } },
    "podDisruptionBudget.minAvailable",
  ],
  [
    "a share of the fewest pods that is rounded up to all",
    { podDisruptionBudget: { minAvailable: "90%" }, autoscaling: { enabled: true }, replicaCount: 10 },
    "podDisruptionBudget.minAvailable",
  ],
  [
    "a Service of IPv6 before a listener of IPv4",
    { service: { ipFamilies: ["IPv6"] }, config: { listen: { host: "0.0.0.0" } } },
    "config.listen.host",
  ],
  [
    "a Service of two stacks before an admin side of IPv4",
    { service: { ipFamilyPolicy: "RequireDualStack" }, config: { admin: { host: "0.0.0.0" } } },
    "config.admin.host",
  ],
  [
    "less time to stop in than a request takes by a flag",
    { terminationGracePeriodSeconds: 56, extraArgs: { "limits-request-seconds": "59s" } },
    "terminationGracePeriodSeconds",
  ],
  [
    "a password that everybody could read",
    { config: { upstream: { v2: { url: "https://user:pw@api.example.com" } } } },
    "config.upstream.v2.url",
  ],
  [
    "a password for the store that everybody could read",
    { config: { state: { url: "redis://user:pw@valkey:6379" } } },
    "config.state.url",
  ],
  [
    "an account of the store without a password",
    { config: { state: { url: "rediss://valkey", username: "shop" } } },
    "config.state.username",
  ],
  ["a password without a store", { state: { password: { existingSecret: "s" } } }, "state.password.existingSecret"],
  [
    "a password of the store in a Secret and in a file of one's own",
    { config: { state: { url: "rediss://a", passwordFile: "/p" } }, state: { password: { existingSecret: "s" } } },
    "state.password.existingSecret",
  ],
  [
    "a password of the store by a variable",
    {
      config: { state: { url: "rediss://a" } },
      state: { password: { existingSecret: "s" } },
      extraEnv: [{ name: "CARRYOVER_STATE_PASSWORD_FILE", value: "/p" }],
    },
    "state.password",
  ],
  ["authorities without a store", { tls: { state: { ca: { existingSecret: "s" } } } }, "tls.state"],
  [
    "authorities for a store without TLS",
    { config: { state: { url: "redis://a" } }, tls: { state: { ca: { existingSecret: "s" } } } },
    "tls.state",
  ],
  [
    "authorities of the store here and in a file of one's own",
    {
      config: { state: { url: "rediss://a", tls: { caFile: "/c" } } },
      tls: { state: { ca: { existingSecret: "s" } } },
    },
    "tls.state.ca",
  ],
  [
    "a network closed to a store of a variable",
    { extraEnv: [{ name: "CARRYOVER_STATE_URL", value: "rediss://a:7000" }], networkPolicy: { enabled: true } },
    "networkPolicy.storePorts",
  ],
  ["a way to a store that is not there", { networkPolicy: { enabled: true, store: [{}] } }, "networkPolicy.store"],
  [
    "a list that takes longer than its request may",
    { config: { lists: { maxSeconds: "55s" } } },
    "config.lists.maxSeconds",
  ],
];
