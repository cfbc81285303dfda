/** Installs the chart into the test's cluster, and creates the objects that the values name as existing. */
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { CHART, HELM_ENV, type Manifest, objects } from "../chart/chart.ts";
import { brought } from "../chart/given.ts";
import { finderIn } from "../chart/pod.ts";
import { type Outcome, ran, tool } from "../chart/tools.ts";
import { containersOf, workloads } from "../chart/workloads.ts";
import type { Cluster } from "./control-plane.ts";

export interface Release {
  readonly name: string;
  readonly namespace: string;
}

/** Runs helm for a release, whatever comes of it. `values` go in as a file of their own. */
export function helm(
  { kubeconfig }: Cluster,
  { name, namespace }: Release,
  verb: "install" | "upgrade" | "rollback" | "uninstall",
  { values, flags = [] }: { readonly values?: object; readonly flags?: readonly string[] } = {},
): Promise<Outcome> {
  const chart = verb === "install" || verb === "upgrade" ? [CHART] : [];
  const wait = ["--wait", "--timeout", "280s"];
  const given = values === undefined ? [] : ["--values", "-"];
  return ran(tool("helm"), [verb, name, ...chart, "--namespace", namespace, ...wait, ...given, ...flags], {
    env: { ...HELM_ENV, KUBECONFIG: kubeconfig },
    input: values === undefined ? "" : JSON.stringify(values),
  });
}

/** The standard output of a run of helm that must succeed. */
export async function helmed(...args: Parameters<typeof helm>): Promise<string> {
  const { code, out, err } = await helm(...args);
  if (code !== 0) throw new Error(`helm ${args[2]} ended with ${code}:\n${out}${err}`);
  return out;
}

export async function namespaceIn({ kubectl }: Cluster, name: string): Promise<void> {
  await kubectl(["create", "namespace", name]);
}

/** One object, as the API server has it. */
export async function got({ kubectl }: Cluster, namespace: string, what: string): Promise<Manifest> {
  return JSON.parse(await kubectl(["--namespace", namespace, "get", ...what.split(" "), "--output", "json"]));
}

/** `Kind name` of every object in a namespace that anybody can make, but those that Kubernetes makes by itself. */
export async function everythingIn({ kubectl }: Cluster, namespace: string): Promise<readonly string[]> {
  const listed = await kubectl(["api-resources", "--namespaced", "--verbs=list,create", "--output", "name"]);
  const kinds = listed.split("\n").filter((name) => name !== "" && !/^events(\.|$)|^localsubjectaccess/.test(name));
  const text = await kubectl(["--namespace", namespace, "get", kinds.join(","), "--output", "json"]);
  const own = /^(ConfigMap kube-root-ca\.crt|ServiceAccount default|Lease .*)$/;
  return JSON.parse(text)
    .items.map(({ kind, metadata }: Manifest) => `${kind} ${metadata.name}`)
    .filter((name: string) => !own.test(name))
    .sort();
}

/** Makes what the values of `path` name and the chart does not render: as its user would have to, before installing. */
export async function bringAlong(cluster: Cluster, { name, namespace }: Release, path: string): Promise<void> {
  const values = parse(readFileSync(path, "utf8"));
  const rendered = await objects({ values: path, release: name, namespace });
  const wanted = new Map<string, Manifest>();
  const find = finderIn(rendered);
  const want = (kind: string, of: string | undefined, object: () => Manifest) => {
    if (of !== undefined && find(kind, of) === undefined) wanted.set(`${kind} ${of}`, object());
  };
  for (const object of rendered) {
    const elsewhere = object.metadata.namespace ?? namespace;
    if (elsewhere !== namespace) want("Namespace", elsewhere, () => clusterWide("v1", "Namespace", elsewhere));
  }
  for (const workload of workloads(rendered)) {
    const { pod } = workload;
    want("ServiceAccount", pod.serviceAccountName, () => plain("ServiceAccount", pod.serviceAccountName));
    // Kubernetes itself brings those that begin so.
    if (pod.priorityClassName?.startsWith("system-") !== true)
      want("PriorityClass", pod.priorityClassName, () => ({
        ...clusterWide("scheduling.k8s.io/v1", "PriorityClass", pod.priorityClassName),
        value: 1000,
      }));
    want("RuntimeClass", pod.runtimeClassName, () => ({
      ...clusterWide("node.k8s.io/v1", "RuntimeClass", pod.runtimeClassName),
      handler: "runc",
    }));
    for (const volume of pod.volumes ?? []) {
      const { claimTemplate } = volume;
      for (let at = 0; claimTemplate !== undefined && at < workload.object.spec.replicas; at += 1) {
        const volumeName = `${namespace}-${volume.name}-${at}`;
        const { accessModes, storageClassName = "" } = claimTemplate;
        want("PersistentVolume", volumeName, () => ({
          ...clusterWide("v1", "PersistentVolume", volumeName),
          spec: { ...VOLUME, accessModes, storageClassName },
        }));
      }
      const claim = volume.persistentVolumeClaim?.claimName;
      want("PersistentVolume", claim, () => ({ ...clusterWide("v1", "PersistentVolume", claim), spec: VOLUME }));
      want("PersistentVolumeClaim", claim, () => ({
        ...plain("PersistentVolumeClaim", claim),
        spec: { ...CLAIM, volumeName: claim },
      }));
      for (const { configMap, secret } of volume.projected?.sources ?? [volume]) {
        want("ConfigMap", configMap?.name, () => brought("ConfigMap", configMap.name, values));
        const of = secret?.secretName ?? secret?.name;
        want("Secret", of, () => brought("Secret", of, values));
      }
    }
    for (const { env = [], envFrom = [] } of containersOf(workload)) {
      for (const source of [...env.map(({ valueFrom }: Manifest) => valueFrom ?? {}), ...envFrom]) {
        const map = (source.configMapKeyRef ?? source.configMapRef)?.name;
        const secret = (source.secretKeyRef ?? source.secretRef)?.name;
        want("ConfigMap", map, () => brought("ConfigMap", map, values));
        want("Secret", secret, () => brought("Secret", secret, values));
      }
    }
    const labels = Object.entries(pod.nodeSelector ?? {}).map(([key, value]) => `${key}=${value}`);
    if (labels.length > 0) await cluster.kubectl(["label", "nodes", "--all", "--overwrite", ...labels]);
  }
  for (const object of wanted.values()) {
    await cluster.kubectl(["--namespace", namespace, "apply", "--filename", "-"], JSON.stringify(object));
  }
}

const plain = (kind: string, name: string): Manifest => ({ apiVersion: "v1", kind, metadata: { name } });
const clusterWide = (apiVersion: string, kind: string, name: string): Manifest => ({
  apiVersion,
  kind,
  metadata: { name },
});
const VOLUME = {
  accessModes: ["ReadWriteOnce"],
  capacity: { storage: "1Gi" },
  storageClassName: "",
  hostPath: { path: "/nowhere" },
};
const CLAIM = { storageClassName: "", accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };

/** The pods of a Deployment (or `kind`) that are ready, by name. */
export async function readyPods(
  cluster: Cluster,
  namespace: string,
  name: string,
  kind = "deployment",
): Promise<readonly string[]> {
  const { spec } = await got(cluster, namespace, `${kind} ${name}`);
  const selector = Object.entries(spec.selector.matchLabels).map(([key, value]) => `${key}=${value}`);
  const { items } = await got(cluster, namespace, `pods --selector ${selector.join(",")}`);
  const ready = ({ metadata, status }: Manifest) =>
    metadata.deletionTimestamp === undefined &&
    status.conditions?.some((c: Manifest) => c.type === "Ready" && c.status === "True");
  return items
    .filter(ready)
    .map(({ metadata }: Manifest) => metadata.name)
    .sort();
}
