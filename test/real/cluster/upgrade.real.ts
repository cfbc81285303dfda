import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { parse } from "yaml";
import { CHART, type Manifest } from "../chart/chart.ts";
import { takes } from "../chart/workloads.ts";
import { type Cluster, startCluster } from "./control-plane.ts";
import { everythingIn, got, helm, helmed, namespaceIn, type Release, readyPods } from "./helm.ts";

// Nothing here is about how fast it is: helm says itself when it gives up.
vi.setConfig({ testTimeout: 900_000 });
let cluster: Cluster;
const counted = { next: 0 };

beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster?.stop());

const VALUES = {
  config: {
    upstream: { v2: { url: "https://api.example.com" }, v1: { url: "https://api.example.com" } },
    cutover: { mode: "native" },
  },
  rules: { rules: [{ name: "reads", match: { operation: "reads" }, mode: "shadow" }] },
};

/** In a namespace of its own. */
async function installed(values: object = VALUES, name = "shop"): Promise<Release> {
  const release = { name, namespace: `upgrade-${counted.next++}` };
  await namespaceIn(cluster, release.namespace);
  await helmed(cluster, release, "install", { values });
  return release;
}

const pods = (release: Release) => readyPods(cluster, release.namespace, `${release.name}-carryover`);
const dataOf = async ({ namespace }: Release, what: string): Promise<Record<string, string>> =>
  (await got(cluster, namespace, what)).data;

describe("an upgrade", () => {
  it("with other configuration replaces every pod, and a rollback brings the old configuration back", async () => {
    const release = await installed();
    const before = await pods(release);
    const was = await dataOf(release, "configmap shop-carryover-config");
    await helmed(cluster, release, "upgrade", {
      values: { ...VALUES, config: { ...VALUES.config, log: { level: "debug" } } },
    });
    const after = await pods(release);
    expect(after).toHaveLength(before.length);
    expect(after.filter((name) => before.includes(name))).toEqual([]);
    expect(await dataOf(release, "configmap shop-carryover-config")).not.toEqual(was);
    await helmed(cluster, release, "rollback", { flags: ["1"] });
    expect(await dataOf(release, "configmap shop-carryover-config")).toEqual(was);
    expect((await pods(release)).filter((name) => after.includes(name))).toEqual([]);
  });

  it("with other rules replaces no pod, and the rules are there for kubelet to hand over", async () => {
    const release = await installed();
    const before = await pods(release);
    const rules = { rules: [{ name: "all", match: {}, mode: "translate" }] };
    await helmed(cluster, release, "upgrade", { values: { ...VALUES, rules } });
    expect(await pods(release)).toEqual(before);
    expect((await dataOf(release, "configmap shop-carryover-rules"))["rules.yaml"]).toContain("name: all");
    const { status } = await got(cluster, release.namespace, "deployment shop-carryover");
    expect(status.observedGeneration).toBe(1);
  });

  it("takes no pod away before its successor is ready", async () => {
    const release = await installed();
    const { spec } = await got(cluster, release.namespace, "deployment shop-carryover");
    expect(spec.strategy).toMatchObject({ type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0 } });
  });

  it("keeps a token that was made by lot", async () => {
    const values = { ...VALUES, adminToken: { generate: true } };
    const release = await installed(values);
    const secrets = async () => {
      const { items } = await got(cluster, release.namespace, "secrets");
      return items.flatMap(({ type, data }: Manifest) => (type === "Opaque" ? [data] : []));
    };
    const [token] = await secrets();
    expect(Buffer.from(String(Object.values(token)[0]), "base64").toString()).toMatch(/^[!-~]{32,}$/);
    const before = await pods(release);
    await helmed(cluster, release, "upgrade", { values });
    await helmed(cluster, release, "upgrade", { values: { ...values, podDisruptionBudget: { enabled: false } } });
    expect(await secrets()).toEqual([token]);
    expect(await pods(release)).toEqual(before);
  });

  it("makes another token for another installation", async () => {
    const tokens: string[] = [];
    for (const { namespace } of [
      await installed({ ...VALUES, adminToken: { generate: true } }),
      await installed({ ...VALUES, adminToken: { generate: true } }),
    ]) {
      const { items } = await got(cluster, namespace, "secrets");
      tokens.push(...items.flatMap(({ type, data }: Manifest) => (type === "Opaque" ? Object.values(data) : [])));
    }
    expect(new Set(tokens).size).toBe(2);
  });
});

describe("a StatefulSet", () => {
  const KEPT = { ...VALUES, state: { volumeClaim: { size: "1Gi" } } };
  const ready = (release: Release) => readyPods(cluster, release.namespace, `${release.name}-carryover`, "statefulset");
  const uidsOf = async ({ namespace }: Release, kind: string): Promise<readonly string[]> =>
    (await got(cluster, namespace, kind)).items.map(({ metadata }: Manifest) => `${metadata.name} ${metadata.uid}`);

  it("takes the Deployment's place, and keeps each pod's claim when the pod is replaced", async () => {
    const release = await installed();
    await volumesFor(release, 2);
    await helmed(cluster, release, "upgrade", { values: KEPT });
    expect(await ready(release)).toEqual(["shop-carryover-0", "shop-carryover-1"]);
    expect((await everythingIn(cluster, release.namespace)).filter((what) => what.startsWith("Deployment "))).toEqual(
      [],
    );
    const [pods, claims] = [await uidsOf(release, "pods"), await uidsOf(release, "pvc")];
    expect(claims.map((claim) => claim.split(" ")[0])).toEqual(["state-shop-carryover-0", "state-shop-carryover-1"]);
    const changed = { ...KEPT, config: { ...VALUES.config, log: { level: "debug" } }, commonLabels: { team: "a" } };
    await helmed(cluster, release, "upgrade", { values: changed });
    expect(await ready(release)).toEqual(["shop-carryover-0", "shop-carryover-1"]);
    expect((await uidsOf(release, "pods")).filter((pod) => pods.includes(pod))).toEqual([]);
    expect(await uidsOf(release, "pvc")).toEqual(claims);
  });

  it("is scaled by its autoscaler, and keeps a pod's claim for its return", async () => {
    const scaling = { resources: { requests: { cpu: "500m" } }, autoscaling: { enabled: true, minReplicas: 2 } };
    const release = { name: "scaled", namespace: `upgrade-${counted.next++}` };
    await namespaceIn(cluster, release.namespace);
    await volumesFor(release, 3);
    await helmed(cluster, release, "install", { values: { ...KEPT, ...scaling } });
    const { spec } = await got(cluster, release.namespace, "hpa scaled-carryover");
    const [kind, name] = [spec.scaleTargetRef.kind, spec.scaleTargetRef.name];
    for (const replicas of [3, 2]) {
      await cluster.kubectl(["--namespace", release.namespace, "scale", `${kind}/${name}`, `--replicas=${replicas}`]);
      await expect.poll(() => ready(release), { timeout: 60_000 }).toHaveLength(replicas);
    }
    expect(await uidsOf(release, "pvc")).toHaveLength(3);
  });
});

/** As a provisioner would make them. */
async function volumesFor({ namespace }: Release, count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    const volume = {
      apiVersion: "v1",
      kind: "PersistentVolume",
      metadata: { name: `${namespace}-${at}` },
      spec: {
        accessModes: ["ReadWriteOnce"],
        capacity: { storage: "1Gi" },
        storageClassName: "",
        hostPath: { path: "/nowhere" },
      },
    };
    await cluster.kubectl(["apply", "--filename", "-"], JSON.stringify(volume));
  }
}

describe("an emergency", () => {
  const rulesOf = async (release: Release) =>
    parse((await dataOf(release, "configmap shop-carryover-rules"))["rules.yaml"] ?? "");
  const values = { ...VALUES, config: { ...VALUES.config, cutover: { mode: "native" } } };
  const blocks = readFileSync(join(CHART, "../docs/runbook.md"), "utf8").split("```");
  const patch = blocks.find((block) => block.startsWith("sh note\nkubectl --namespace legacy patch configmap")) ?? "";

  it("is ended by the runbook's patch, which keeps the rules, and by helm with the same chart afterwards", async () => {
    const release = await installed(values);
    const before = await pods(release);
    const { code, out, err } = await cluster.shell(
      patch.slice("sh note\n".length).replaceAll("namespace legacy", `namespace ${release.namespace}`),
    );
    expect([code, out, err]).toEqual([0, "configmap/shop-carryover-rules patched\n", ""]);
    const forced = { version: "carryover/v1", force: "native", rules: VALUES.rules.rules };
    expect(await rulesOf(release)).toEqual(forced);
    const upgraded = async (set: string, ...more: readonly string[]) => {
      await helmed(cluster, release, "upgrade", { flags: ["--reset-then-reuse-values", "--set", set, ...more] });
      return rulesOf(release);
    };
    // kubectl owns the text as well, until helm takes it back with another.
    expect(await upgraded("rules.force=native")).toEqual(forced);
    await expect(upgraded("rules.force=none")).rejects.toThrow('conflict with "kubectl-patch"');
    expect(await upgraded("rules.force=none", "--force-conflicts")).toEqual({ ...forced, force: "none" });
    expect(await upgraded("rules.fallback=refuse")).toEqual({ ...forced, force: "none", fallback: "refuse" });
    expect(await pods(release)).toEqual(before);
  });
});

describe("two releases in one namespace", () => {
  it("live side by side, each Service with its own pods, and one goes without the other", async () => {
    const first = await installed();
    const second = { ...first, name: "other" };
    await helmed(cluster, second, "install", { values: VALUES });
    const { items } = await got(cluster, first.namespace, "pods");
    for (const { name } of [first, second]) {
      const { spec } = await got(cluster, first.namespace, `service ${name}-carryover`);
      const taken = items.filter(({ metadata }: Manifest) => takes(spec.selector, metadata.labels));
      expect(taken.map(({ metadata }: Manifest) => metadata.name)).toEqual([
        expect.stringMatching(`^${name}-`),
        expect.stringMatching(`^${name}-`),
      ]);
    }
    const before = await pods(first);
    await helmed(cluster, second, "uninstall");
    expect(await pods(first)).toEqual(before);
    const left = async () => (await everythingIn(cluster, first.namespace)).filter((name) => name.includes(" other"));
    // Endpoints go a moment after their Service.
    await expect.poll(left, { timeout: 60_000 }).toEqual([]);
  });
});

describe("an eviction", () => {
  const evict = ({ namespace }: Release, name: string) =>
    cluster.kubectl(
      ["create", "--raw", `/api/v1/namespaces/${namespace}/pods/${name}/eviction`, "--filename", "-"],
      JSON.stringify({ apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace } }),
    );

  it("of a second pod is held back while the first one's successor is not ready", async () => {
    const release = await installed();
    const [one = "", two = ""] = await pods(release);
    // Where nothing can be scheduled, no successor comes up.
    await cluster.kubectl(["cordon", "--selector", "kubernetes.io/os=linux"]);
    await evict(release, one);
    await expect(evict(release, two)).rejects.toThrow(/disruption budget/);
    await cluster.kubectl(["uncordon", "--selector", "kubernetes.io/os=linux"]);
    await cluster.kubectl([
      "--namespace",
      release.namespace,
      "rollout",
      "status",
      "deployment/shop-carryover",
      "--timeout=60s",
    ]);
    await expect.poll(() => evict(release, two).then(() => "evicted", String), { timeout: 60_000 }).toBe("evicted");
  });

  it("by a drain of every node in turn ends, with a pod ready all the time", async () => {
    const release = await installed(VALUES, "drained");
    for (const node of ["node-0", "node-1", "node-2"]) {
      const only = "--pod-selector=app.kubernetes.io/instance=drained";
      await cluster.kubectl(["drain", node, "--delete-emptydir-data", only, "--timeout=120s"]);
      expect((await pods(release)).length).toBeGreaterThanOrEqual(1);
      await cluster.kubectl(["uncordon", node]);
    }
  });
});

describe("wrong values", () => {
  const WRONG: readonly (readonly [what: string, values: object, says: RegExp])[] = [
    ["of the wrong form", { ...VALUES, replicaCount: "two" }, /replicaCount/],
    ["an option that there is not", { config: { upstream: { v2: { uri: "https://x" } } } }, /uri/],
    ["without an upstream", {}, /config\.upstream\.v2\.url/],
    ["contradicting", { ...VALUES, adminToken: { value: "t", existingSecret: "s" } }, /adminToken/],
  ];

  it.each(WRONG)("%s are refused before anything is made", async (_, values, says) => {
    const release = { name: "shop", namespace: `wrong-${counted.next++}` };
    await namespaceIn(cluster, release.namespace);
    const { code, err } = await helm(cluster, release, "install", { values });
    expect([code === 0, err]).toEqual([false, expect.stringMatching(says)]);
    expect(await everythingIn(cluster, release.namespace)).toEqual([]);
  });

  it("leave a release as it is when it is upgraded to them", async () => {
    const release = await installed();
    const before = await everythingIn(cluster, release.namespace);
    const { code } = await helm(cluster, release, "upgrade", { values: { ...VALUES, service: { port: 70000 } } });
    expect(code).not.toBe(0);
    expect(await everythingIn(cluster, release.namespace)).toEqual(before);
  });

  it("with `checkExisting`, a Secret that is not there, or lacks its key, is named", async () => {
    const release = { name: "shop", namespace: `wrong-${counted.next++}` };
    await namespaceIn(cluster, release.namespace);
    const values = { ...VALUES, checkExisting: true, adminToken: { existingSecret: "views", key: "token" } };
    const missing = await helm(cluster, release, "install", { values });
    expect([missing.code === 0, missing.err]).toEqual([false, expect.stringMatching(/adminToken[\s\S]*views/)]);
    const secret = ["create", "secret", "generic", "views", "--from-literal=other=x"];
    await cluster.kubectl(["--namespace", release.namespace, ...secret]);
    const lacking = await helm(cluster, release, "install", { values });
    expect([lacking.code === 0, lacking.err]).toEqual([false, expect.stringMatching(/adminToken[\s\S]*token/)]);
    expect(await everythingIn(cluster, release.namespace)).toEqual(["Secret views"]);
    const right = { ...values, adminToken: { existingSecret: "views", key: "other" } };
    expect(await helm(cluster, release, "install", { values: right })).toMatchObject({ code: 0 });
  });
});
