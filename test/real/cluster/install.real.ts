import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { parse } from "yaml";
import { ciValues, type Manifest, objects, objectsIn, rendered } from "../chart/chart.ts";
import { whatIs, workloads } from "../chart/workloads.ts";
import { type Cluster, startCluster } from "./control-plane.ts";
import { bringAlong, everythingIn, got, helmed, namespaceIn, readyPods } from "./helm.ts";

const RECIPES = resolve(import.meta.dirname, "../../../docs/ingress/kubernetes");
// Nothing here is about how fast it is: helm says itself when it gives up.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });
let cluster: Cluster;

beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster?.stop());

describe.each(ciValues())("helm install with the values of $name", ({ name, path }) => {
  const release = { name: "shop", namespace: `ci-${name}` };
  const values = parse(readFileSync(path, "utf8"));
  let before: readonly string[] = [];
  /** Every namespace that the values put something into. */
  let spaces: ReadonlySet<string> = new Set();
  const everything = async () => {
    const found: string[] = [];
    for (const space of spaces) found.push(...(await everythingIn(cluster, space)));
    // Kubernetes keeps the claims that a StatefulSet made, as the state is meant to be kept.
    return found.filter((what) => !what.startsWith("PersistentVolumeClaim state-"));
  };
  let said = "";

  beforeAll(async () => {
    await namespaceIn(cluster, release.namespace);
    await bringAlong(cluster, release, path);
    const rendering = { values: path, release: release.name, namespace: release.namespace };
    spaces = new Set((await objects(rendering)).map(({ metadata }) => metadata.namespace ?? release.namespace));
    before = await everything();
    said = await helmed(cluster, release, "install", { values });
  });

  it("brings up every pod of every workload", async () => {
    for (const { object } of workloads(
      await objects({ values: path, release: "shop", namespace: release.namespace }),
    )) {
      const { namespace, name: workload } = object.metadata;
      const { spec } = await got(cluster, namespace, `${object.kind} ${workload}`);
      const ready = await readyPods(cluster, namespace, workload, object.kind);
      expect([workload, ready.length]).toEqual([workload, spec.replicas]);
    }
  });

  it("stores what was rendered, field by field: nothing is dropped or changed on the way", async () => {
    const text = await rendered({ values: path, release: release.name, namespace: release.namespace });
    const all = objectsIn(text);
    for (const { metadata } of all) metadata.namespace ??= release.namespace;
    const get = ["get", "--output", "json", "--filename", "-"];
    const { items } = JSON.parse(
      await cluster.kubectl(get, all.map((object) => JSON.stringify(object)).join("\n---\n")),
    );
    const generated = ({ kind }: Manifest) => kind === "Secret" && values.adminToken?.generate === true;
    expect(items).toHaveLength(all.length);
    for (const object of all.filter((one) => !generated(one))) {
      const same = ({ kind, metadata }: Manifest) => kind === object.kind && metadata.name === object.metadata.name;
      expect([whatIs(object), lost(object, items.find(same))]).toEqual([whatIs(object), []]);
    }
  });

  it("says what to do next, and names the release's own objects", () => {
    expect(said).toMatch(/STATUS: deployed/);
    const notes = said.slice(said.indexOf("NOTES:"));
    expect(notes).toContain(values.namespaceOverride ?? release.namespace);
    expect(notes.split("\n").length).toBeGreaterThan(5);
    expect(notes).not.toMatch(/<no value>|<nil>|%!|\{\{/);
  });

  it("is upgraded to itself without a new pod", async () => {
    const { items } = await got(cluster, release.namespace, "pods");
    await helmed(cluster, release, "upgrade", { values });
    const { items: after } = await got(cluster, release.namespace, "pods");
    const uids = (pods: typeof items) => pods.map(({ metadata }: { metadata: { uid: string } }) => metadata.uid).sort();
    expect(uids(after)).toEqual(uids(items));
  });

  it("leaves nothing when it is uninstalled", async () => {
    await helmed(cluster, release, "uninstall");
    await cluster.kubectl(["--namespace", release.namespace, "wait", "--for=delete", "pods", "--all", "--timeout=60s"]);
    // Endpoints go a moment after their Service.
    await expect.poll(everything, { timeout: 60_000 }).toEqual(before);
  });
});

/** What of `wanted` is not as it was in `stored`, by its path. A zero that is left out is one. */
function lost(wanted: unknown, stored: unknown, path = ""): readonly string[] {
  if (typeof wanted === "object" && wanted !== null) {
    const inner = (stored ?? {}) as Record<string, unknown>;
    return Object.entries(wanted).flatMap(([key, value]) => lost(value, inner[key], `${path}/${key}`));
  }
  if (wanted === stored || (stored === undefined && !wanted)) return [];
  return [`${path}: ${JSON.stringify(wanted)} is ${JSON.stringify(stored)}`];
}

describe("the manifests of docs/ingress/kubernetes", () => {
  it.each(readdirSync(RECIPES))("%s is taken", async (name) => {
    const out = await cluster.kubectl(["apply", "--filename", join(RECIPES, name)]);
    expect(
      out
        .trim()
        .split("\n")
        .every((line) => / created$/.test(line)),
    ).toBe(true);
    await cluster.kubectl(["delete", "--filename", join(RECIPES, name)]);
  });

  it("would be refused with a mistake that the schemas let pass", async () => {
    const text = readFileSync(join(RECIPES, "ingress.yaml"), "utf8").replace("pathType: Prefix", "pathType: Prefx");
    await expect(cluster.kubectl(["apply", "--filename", "-"], text)).rejects.toThrow(/pathType.*Prefx/s);
  });
});
