/** Which values contradict each other or miss one another, and which of them does the chart have to name? */
import type { Refusal } from "./refusals.ts";

const rule = (more: object) => ({ rules: [{ name: "a", match: {}, mode: "translate", ...more }] });

export const CONTRADICTING: readonly Refusal[] = [
  { what: "no upstream", values: {}, where: "config.upstream.v2.url", bare: true },
  { what: "an upstream beside the sandbox", values: { sandbox: { enabled: true } }, where: "sandbox.enabled" },
  {
    what: "configuration here and in a ConfigMap",
    values: { configFrom: { existingConfigMap: "c" } },
    where: "configFrom",
  },
  {
    what: "configuration in a ConfigMap and in a Secret",
    values: { configFrom: { existingConfigMap: "c", existingSecret: "s" } },
    where: "configFrom",
    bare: true,
  },
  {
    what: "an existing configuration whose rules nobody speaks of",
    values: { configFrom: { existingConfigMap: "c" }, ledger: { enabled: true } },
    where: "configFrom.ownRules",
    bare: true,
  },
  {
    what: "an existing configuration with rules of its own, and others",
    values: { configFrom: { existingConfigMap: "c", ownRules: true }, rules: rule({}), ledger: { enabled: true } },
    where: "configFrom.ownRules",
    bare: true,
  },
  {
    what: "an existing configuration whose ledger nobody speaks of",
    values: { configFrom: { existingSecret: "s", ownRules: true } },
    where: "ledger.enabled",
    bare: true,
  },
  {
    what: "an existing configuration that is not named",
    values: { configFrom: { ownRules: true } },
    where: "configFrom.ownRules",
  },
  {
    what: "rules here and in a ConfigMap",
    values: { rules: rule({}), rulesFrom: { existingConfigMap: "c" } },
    where: "rulesFrom",
  },
  {
    what: "rules in a ConfigMap and in a Secret",
    values: { rulesFrom: { existingConfigMap: "c", existingSecret: "s" } },
    where: "rulesFrom",
  },
  {
    what: "a token and a Secret with one",
    values: { adminToken: { existingSecret: "s", value: "t" } },
    where: "adminToken.existingSecret",
  },
  {
    what: "a token and a token made by lot",
    values: { adminToken: { value: "t", generate: true } },
    where: "adminToken.generate",
  },
  {
    what: "a salt and a Secret with one",
    values: { config: { cutover: { salt: "s" } }, salt: { existingSecret: "s" } },
    where: "salt.existingSecret",
  },
  {
    what: "authorities as text and in a ConfigMap",
    values: { tls: { v2: { ca: { pem: "x", existingConfigMap: "c" } } } },
    where: "tls.v2.ca",
  },
  {
    what: "authorities for an upstream that there is not",
    values: { tls: { v1: { ca: { existingSecret: "s" } } } },
    where: "tls.v1",
  },
  {
    what: "an address that the chart sets",
    values: { config: { admin: { host: "127.0.0.1" } } },
    where: "config.admin.host",
  },
  {
    what: "rules here and in a file of one's own",
    values: { config: { cutover: { rulesFile: "/r.yaml" } }, rules: rule({}) },
    where: "config.cutover.rulesFile",
  },
  {
    what: "a token here and in a file of one's own",
    values: { config: { admin: { tokenFile: "/t" } }, adminToken: { existingSecret: "s" } },
    where: "config.admin.tokenFile",
  },
  {
    what: "authorities here and in a file of one's own",
    values: { config: { upstream: { v2: { tls: { caFile: "/c" } } } }, tls: { v2: { ca: { existingSecret: "s" } } } },
    where: "tls.v2.ca",
  },
  {
    what: "a ledger here and in a file of one's own",
    values: { config: { clients: { file: "/l" } } },
    where: "config.clients.file",
  },
  {
    what: "one port for both sides",
    values: { config: { listen: { port: 9000 }, admin: { port: 9000 } } },
    where: "config.admin.port",
  },
  { what: "native v1 without one", values: { rules: rule({ mode: "native" }) }, where: "config.upstream.v1.url" },
  {
    what: "native v1 by default without one",
    values: { config: { cutover: { mode: "native" } } },
    where: "config.upstream.v1.url",
  },
  {
    what: "two kinds of monitor",
    values: { serviceMonitor: { enabled: true }, podMonitor: { enabled: true } },
    where: "podMonitor.enabled",
  },
  {
    what: "a ServiceMonitor without its Service",
    values: { serviceMonitor: { enabled: true }, adminService: { enabled: false } },
    where: "adminService.enabled",
  },
  { what: "a route of no Gateway", values: { httpRoute: { enabled: true } }, where: "httpRoute.parentRefs" },
  {
    what: "a share of requests for nobody",
    values: { httpRoute: { enabled: true, parentRefs: [{ name: "g" }], weight: 10 } },
    where: "httpRoute.platform.name",
  },
  {
    what: "a canary without another side",
    values: { httpRoute: { enabled: true, parentRefs: [{ name: "g" }], canaryHeader: "x-canary" } },
    where: "httpRoute.platform.name",
  },
  {
    what: "a route that gives up before carryover does",
    values: { httpRoute: { enabled: true, parentRefs: [{ name: "g" }], timeout: "30s" } },
    where: "httpRoute.timeout",
  },
  {
    what: "a host for gRPC without a Service",
    values: { ingress: { enabled: true, grpc: { hosts: ["g.example.com"] } } },
    where: "ingress.grpc.name",
  },
  {
    what: "a budget said twice",
    values: { podDisruptionBudget: { minAvailable: 1, maxUnavailable: 1 } },
    where: "podDisruptionBudget",
  },
  {
    what: "a budget that lets no pod go",
    values: { podDisruptionBudget: { minAvailable: 2 } },
    where: "podDisruptionBudget.minAvailable",
  },
  {
    what: "a budget of none",
    values: { podDisruptionBudget: { maxUnavailable: 0 } },
    where: "podDisruptionBudget.maxUnavailable",
  },
  {
    what: "more pods at least than at most",
    values: { autoscaling: { enabled: true, minReplicas: 5, maxReplicas: 3 } },
    where: "autoscaling.maxReplicas",
  },
  {
    what: "an autoscaler that looks at nothing",
    values: { autoscaling: { enabled: true, targetCPUUtilizationPercentage: null } },
    where: "autoscaling",
  },
  {
    what: "a share of a CPU request that there is not",
    values: { autoscaling: { enabled: true }, resources: { requests: { cpu: null } } },
    where: "resources.requests.cpu",
  },
  { what: "two writers of one file", values: { ledger: { existingClaim: "c" } }, where: "ledger.existingClaim" },
  {
    what: "two writers while one is replaced",
    values: { replicaCount: 1, ledger: { existingClaim: "c" }, strategy: { type: "RollingUpdate" } },
    where: "strategy",
  },
  {
    what: "less time to stop in than a request takes",
    values: { terminationGracePeriodSeconds: 20 },
    where: "terminationGracePeriodSeconds",
  },
  {
    what: "two hooks before the stop",
    values: { lifecycle: { preStop: { sleep: { seconds: 1 } } } },
    where: "preStopSleepSeconds",
  },
  { what: "a node port of a Service without one", values: { service: { nodePort: 30080 } }, where: "service.type" },
  {
    what: "a variable that the chart sets",
    values: { extraEnv: [{ name: "CARRYOVER_CONFIG", value: "/x" }] },
    where: "extraEnv",
  },
  { what: "a flag that the chart sets", values: { extraArgs: { "admin-port": "9" } }, where: "extraArgs" },
  {
    what: "a volume of the chart's own name",
    values: { extraVolumes: [{ name: "config", emptyDir: {} }] },
    where: "extraVolumes",
  },
  {
    what: "an alert that there is not, left out",
    values: { prometheusRule: { enabled: true, disabled: ["CarryoverSpeltWrong"] } },
    where: "prometheusRule",
  },
  {
    what: "an alert that there is not, changed",
    values: { prometheusRule: { enabled: true, overrides: { CarryoverSpeltWrong: { for: "1m" } } } },
    where: "prometheusRule",
  },
  {
    what: "two writers while one is replaced, by a strategy without a type",
    values: { replicaCount: 1, ledger: { existingClaim: "c" }, strategy: { rollingUpdate: { maxSurge: 1 } } },
    where: "strategy.type",
  },
  {
    what: "a network closed to an upstream of a variable",
    values: {
      extraEnv: [{ name: "CARRYOVER_UPSTREAM_V1_URL", value: "https://b:8443" }],
      networkPolicy: { enabled: true },
    },
    where: "networkPolicy.upstreamPorts",
  },
  {
    what: "a share of pods that is rounded up to all",
    values: { podDisruptionBudget: { minAvailable: "51%" } },
    where: "podDisruptionBudget.minAvailable",
  },
  {
    what: "a share of the fewest pods that is rounded up to all",
    values: { podDisruptionBudget: { minAvailable: "90%" }, autoscaling: { enabled: true }, replicaCount: 10 },
    where: "podDisruptionBudget.minAvailable",
  },
  {
    what: "a Service of IPv6 before a listener of IPv4",
    values: { service: { ipFamilies: ["IPv6"] }, config: { listen: { host: "0.0.0.0" } } },
    where: "config.listen.host",
  },
  {
    what: "a Service of two stacks before an admin side of IPv4",
    values: { service: { ipFamilyPolicy: "RequireDualStack" }, config: { admin: { host: "0.0.0.0" } } },
    where: "config.admin.host",
  },
  {
    what: "less time to stop in than a request takes by a flag",
    values: { terminationGracePeriodSeconds: 56, extraArgs: { "limits-request-seconds": "59s" } },
    where: "terminationGracePeriodSeconds",
  },
  {
    what: "a password that everybody could read",
    values: { config: { upstream: { v2: { url: "https://user:pw@api.example.com" } } } },
    where: "config.upstream.v2.url",
  },
  {
    what: "a list that takes longer than its request may",
    values: { config: { lists: { maxSeconds: "55s" } } },
    where: "config.lists.maxSeconds",
  },
];
