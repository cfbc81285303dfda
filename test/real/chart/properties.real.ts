import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { ciValues, type Manifest, NAMESPACE, objects, RELEASE } from "./chart.ts";
import { finderWith } from "./given.ts";
import { seenBy } from "./pod.ts";
import { containersOf, proxyOf, stringsIn, takes, type Workload, whatIs, workloads } from "./workloads.ts";

const FEWEST = {
  name: "the fewest values",
  path: undefined,
  values: { config: { upstream: { v2: { url: "https://api.example.com" } } } },
};

describe.each([FEWEST, ...ciValues()])("$name", ({ path }) => {
  let all: readonly Manifest[] = [];
  /** Without what the user hands it as whole objects. */
  let own: readonly Manifest[] = [];
  let pods: readonly Workload[] = [];
  let values: Manifest = {};
  const ofKind = (...kinds: string[]) => own.filter(({ kind }) => kinds.includes(kind));

  beforeAll(async () => {
    values = path === undefined ? FEWEST.values : parse(readFileSync(path, "utf8"));
    all = await objects({ set: values });
    own = await objects({ set: { ...values, extraObjects: [] } });
    pods = workloads(own);
  });

  it("has no two objects of the same kind and name", () => {
    const names = all.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? NAMESPACE} ${metadata.name}`);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  });

  it("puts the common labels on every object, and each into a namespace that was asked for", () => {
    const asked = stringsIn([
      values.namespaceOverride,
      values.serviceMonitor,
      values.podMonitor,
      values.prometheusRule,
    ]);
    const namespaces = new Set([...asked, ...stringsIn(values.dashboard), values.namespaceOverride || NAMESPACE]);
    for (const object of own) {
      const { labels, name, namespace } = object.metadata;
      expect([whatIs(object), labels]).toEqual([whatIs(object), expect.objectContaining(commonLabels(values))]);
      expect([whatIs(object), namespaces.has(namespace)]).toEqual([whatIs(object), true]);
      expect(name).toMatch(/^(?=.{1,63}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);
    }
    for (const { what, labels } of pods) {
      expect([what, labels]).toEqual([what, expect.objectContaining(values.commonLabels ?? {})]);
    }
  });

  it("has workloads that take their own pods and no others", () => {
    for (const { object, what, labels } of pods.filter(({ object }) => object.spec.selector !== undefined)) {
      expect([what, takes(object.spec.selector, labels)]).toEqual([what, true]);
      const others = pods.filter((other) => other.what !== what && takes(object.spec.selector, other.labels));
      expect([what, others.map((other) => other.what)]).toEqual([what, []]);
      // The version in a selector would make every upgrade fail: it cannot be changed.
      expect(Object.keys(object.spec.selector.matchLabels)).not.toContain("app.kubernetes.io/version");
      expect(Object.keys(object.spec.selector.matchLabels)).not.toContain("helm.sh/chart");
    }
  });

  it("has Services, budgets and policies that take the pods of one workload each", () => {
    for (const object of ofKind("Service", "PodDisruptionBudget", "NetworkPolicy", "PodMonitor")) {
      const selector = object.spec.podSelector ?? object.spec.selector;
      const taken = pods.filter(({ labels }) => takes(selector, labels)).map(({ what }) => what);
      expect([whatIs(object), taken]).toEqual([whatIs(object), [expect.any(String)]]);
    }
    for (const { pod, labels, what } of pods) {
      for (const { labelSelector } of pod.topologySpreadConstraints ?? []) {
        expect([what, takes(labelSelector, labels)]).toEqual([what, true]);
      }
    }
  });

  it("is scraped once a pod, at a port that is there", () => {
    for (const { spec } of ofKind("ServiceMonitor")) {
      const services = ofKind("Service").filter(({ metadata }) => takes(spec.selector, metadata.labels));
      const ports = services.flatMap((service) => service.spec.ports.map(({ name }: Manifest) => name));
      for (const { port } of spec.endpoints) expect(ports.filter((name) => name === port)).toEqual([port]);
      expect(spec.namespaceSelector?.matchNames ?? [NAMESPACE]).toEqual([proxyOf(own).object.metadata.namespace]);
    }
    for (const { spec } of ofKind("PodMonitor")) {
      const names = proxyOf(own).container.ports.map(({ name }: Manifest) => name);
      for (const { port } of spec.podMetricsEndpoints) expect(names).toContain(port);
      expect(spec.namespaceSelector?.matchNames ?? [NAMESPACE]).toEqual([proxyOf(own).object.metadata.namespace]);
    }
    expect(ofKind("ServiceMonitor", "PodMonitor").length).toBeLessThanOrEqual(1);
  });

  it("leaves the number of pods to the autoscaler where there is one", () => {
    for (const { spec } of ofKind("HorizontalPodAutoscaler")) {
      const { object, what, container } = proxyOf(own);
      expect(`${spec.scaleTargetRef.kind} ${spec.scaleTargetRef.name}`).toBe(what);
      expect(object.spec.replicas).toBeUndefined();
      // A share of a request that is not there can never be computed.
      for (const { resource } of spec.metrics.filter(({ type }: Manifest) => type === "Resource")) {
        expect(container.resources.requests).toHaveProperty(resource.name);
      }
    }
  });

  it("refers to nothing that is not there or said to be", () => {
    const find = finderWith(all, values);
    const there = (kind: string, name: string) => stringsIn(values).has(name) || find(kind, name) !== undefined;
    for (const workload of pods) {
      const { pod, what } = workload;
      const account = pod.serviceAccountName ?? "default";
      expect([what, account, account === "default" || there("ServiceAccount", account)]).toEqual([what, account, true]);
      for (const { persistentVolumeClaim: claim } of pod.volumes ?? []) {
        if (claim !== undefined) expect(there("PersistentVolumeClaim", claim.claimName)).toBe(true);
      }
      for (const { name } of pod.imagePullSecrets ?? []) expect(there("Secret", name)).toBe(true);
      for (const container of containersOf(workload)) expect(() => seenBy(container, pod, find)).not.toThrow();
      const mounted = new Set(containersOf(workload).flatMap(({ volumeMounts = [] }) => namesOf(volumeMounts)));
      const extra = stringsIn(values.extraVolumes ?? []);
      expect(namesOf(pod.volumes ?? []).filter((name) => !mounted.has(name) && !extra.has(name))).toEqual([]);
    }
  });

  it("makes no object that nothing refers to", () => {
    const meant = stringsIn(pods.map(({ pod }) => pod));
    const unused = ofKind("ConfigMap", "Secret", "ServiceAccount", "PersistentVolumeClaim").filter(
      ({ metadata }) => !meant.has(metadata.name) && !isDashboard(metadata.labels, values),
    );
    expect(unused.map(whatIs)).toEqual([]);
  });
});

const namesOf = (things: readonly Manifest[]): readonly string[] => things.map(({ name }) => name);

const isDashboard = (labels: Manifest, values: Manifest): boolean =>
  labels[values.dashboard?.label ?? "grafana_dashboard"] === (values.dashboard?.labelValue ?? "1");

const commonLabels = (values: Manifest): Readonly<Record<string, unknown>> => ({
  "app.kubernetes.io/name": values.nameOverride || "carryover",
  "app.kubernetes.io/instance": RELEASE,
  "app.kubernetes.io/version": expect.stringMatching(/^\d+\.\d+\.\d+/),
  "app.kubernetes.io/managed-by": "Helm",
  "helm.sh/chart": expect.stringMatching(/^carryover-\d+\.\d+\.\d+/),
  ...values.commonLabels,
});
