import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { carryover } from "../../end-to-end/app/process.ts";
import { takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import type { Manifest } from "../chart/chart.ts";
import { finderIn, type Seen, seenBy } from "../chart/pod.ts";
import { type Cluster, startCluster } from "./control-plane.ts";
import { got, helmed, namespaceIn, type Release, readyPods } from "./helm.ts";
import { started } from "./kubelet.ts";

// Nothing here is about how fast it is: helm says itself when it gives up.
vi.setConfig({ testTimeout: 600_000 });
let cluster: Cluster;

beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster?.stop());
takeDownAfterEach();

/** What kubelet would hand to the first pod of carryover, from what the API server holds now. */
async function handedTo({ namespace }: Release, deployment: string): Promise<Seen> {
  const [name] = await readyPods(cluster, namespace, deployment);
  const pod = await got(cluster, namespace, `pod ${name}`);
  const { items } = await got(cluster, namespace, "configmaps,secrets,persistentvolumeclaims");
  const { items: services } = await got(cluster, namespace, "services");
  const container = pod.spec.containers.find((one: Manifest) => one.name === "carryover");
  return seenBy(container, pod.spec, finderIn(items), services);
}

const PLATFORM = /at (http:\/\/127\.0\.0\.1:\d+)[\s\S]*TOKEN=(\S+)\n/;
const CLIENTS = /v1 clients at (\S+?),[\s\S]*admin at (\S+?),/;

async function ask(url: string, token?: string): Promise<{ status: number; text: string }> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const answer = await fetch(url, { headers, signal: AbortSignal.timeout(60_000) });
  return { status: answer.status, text: await answer.text() };
}

describe("the process of a pod", () => {
  it("becomes ready, serves v1, takes changed rules while it runs, and ends cleanly when told to", async () => {
    const sandbox = carryover(["sandbox", "--listen-port", "0", "--records", "1000"]);
    const [, platform = "", token = ""] = PLATFORM.exec(await sandbox.until(PLATFORM)) ?? [];
    const at = { url: platform };
    const release = { name: "carryover", namespace: "process" };
    const values = {
      config: {
        upstream: { v2: at, v1: at, sts: at },
        log: { level: "info" },
        cutover: { mode: "translate", salt: "s" },
      },
      adminToken: { generate: true },
    };
    await namespaceIn(cluster, release.namespace);
    await helmed(cluster, release, "install", { values });

    const seen = await handedTo(release, "carryover");
    const container = await started(seen);
    const [, url = "", admin = ""] = CLIENTS.exec(await container.process.until(CLIENTS)) ?? [];
    expect(await ask(`${admin}/readyz`)).toMatchObject({ status: 200 });
    expect(await ask(`${admin}/healthz`)).toMatchObject({ status: 200 });

    const list = await fetch(`${url}/iam/v1/groups`, { headers: { authorization: `Bearer ${token}` } });
    expect([list.status, list.headers.get("carryover-mode")]).toEqual([200, "translate"]);
    const { items } = (await list.json()) as { items: unknown[] };
    expect(items.length).toBeGreaterThan(1000);

    // The views accept only the token in the Secret.
    const secret = Buffer.from(seen.files.get("/etc/carryover/admin/token") ?? "").toString();
    expect(await ask(`${admin}/rules`)).toMatchObject({ status: 401 });
    expect(await ask(`${admin}/rules`, secret)).toMatchObject({ status: 200 });

    // An upgrade changes the ConfigMap; kubelet hands it over; the next requests are served by it, in the same process.
    const rules = { rules: [{ name: "back-to-native", match: {}, mode: "native" }] };
    await helmed(cluster, release, "upgrade", { values: { ...values, rules } });
    await container.sync(await handedTo(release, "carryover"));
    const mode = async () => {
      const answer = await fetch(`${url}/iam/v1/roles`, { headers: { authorization: `Bearer ${token}` } });
      await answer.arrayBuffer();
      return answer.headers.get("carryover-mode");
    };
    await expect.poll(mode, { timeout: 60_000 }).toBe("native");
    expect((await ask(`${admin}/rules`, secret)).text).toContain("back-to-native");

    // So it does with names of clients, of all options of the configuration: the pods stay, and so does the process.
    const pods = () => readyPods(cluster, release.namespace, "carryover");
    const before = await pods();
    const config = { ...values.config, clients: { names: ["billing=node"] } };
    await helmed(cluster, release, "upgrade", { values: { ...values, config, rules } });
    expect(await pods()).toEqual(before);
    await container.sync(await handedTo(release, "carryover"));
    await container.process.until(/clients\.names was changed: clients have their new names/);
    await expect
      .poll(async () => (await ask(`${admin}/clients.txt`, secret)).text, { timeout: 60_000 })
      .toContain("billing");

    container.process.stop("SIGTERM");
    expect(await container.process.ended).toEqual({ code: 0, signal: null });
    sandbox.stop("SIGTERM");
    await sandbox.ended;
  });
});
