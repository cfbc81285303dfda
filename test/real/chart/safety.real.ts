import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { ciValues, type Manifest, objects } from "./chart.ts";
import { finderWith } from "./given.ts";
import { seenBy } from "./pod.ts";
import { proxyOf, type Workload, workloads } from "./workloads.ts";

/** Seconds of one request, by default. */
const LONGEST_REQUEST = 50;
/** How long requests are taken after SIGTERM, by default. */
const DRAIN = 5;
/** Seconds that the program allows itself beside both: for last bytes (src/runtime/app.ts), and to close what is left (src/commands/serve.ts). */
const REST = [
  secondsIn("runtime/app.ts", /SPARE_SECONDS = (\d+);/),
  secondsIn("commands/serve.ts", /REST_MS = (\d+)_000;/),
].reduce((sum, seconds) => sum + seconds);

function secondsIn(file: string, constant: RegExp): number {
  const text = readFileSync(resolve(import.meta.dirname, "../../../src", file), "utf8");
  return Number(constant.exec(text)?.[1]);
}

describe.each(ciValues())("$name", ({ path }) => {
  const values: Manifest = parse(readFileSync(path, "utf8"));
  let all: readonly Manifest[] = [];
  let pods: readonly Workload[] = [];
  /** Without the containers that the user adds. */
  let containers: readonly { readonly what: string; readonly container: Manifest; readonly pod: Manifest }[] = [];

  beforeAll(async () => {
    const bare = { extraObjects: [], extraContainers: [], initContainers: [], extraVolumes: [], extraVolumeMounts: [] };
    // A recording needs a volume of the user.
    const config = { ...values["config"], record: undefined };
    all = await objects({ set: { ...values, ...bare, config } });
    pods = workloads(all);
    containers = pods.flatMap(({ what, pod }) =>
      [...(pod.initContainers ?? []), ...pod.containers].map((container) => ({
        what: `${what}, ${container.name}`,
        container,
        pod,
      })),
    );
  });

  it("runs as a user without rights, on a file system that it cannot write to", () => {
    for (const { what, container, pod } of containers) {
      const context = { ...pod.securityContext, ...container.securityContext };
      expect([what, context]).toEqual([
        what,
        expect.objectContaining({
          runAsNonRoot: true,
          readOnlyRootFilesystem: true,
          allowPrivilegeEscalation: false,
          capabilities: { drop: ["ALL"] },
          seccompProfile: { type: "RuntimeDefault" },
        }),
      ]);
      expect([what, context.runAsUser > 0, context.privileged ?? false]).toEqual([what, true, false]);
    }
    for (const { what, pod } of pods) {
      expect([what, pod.hostNetwork ?? false, pod.hostPID ?? false, pod.hostIPC ?? false]).toEqual([
        what,
        false,
        false,
        false,
      ]);
      expect([what, (pod.volumes ?? []).filter((volume: Manifest) => volume.hostPath !== undefined)]).toEqual([
        what,
        [],
      ]);
      expect([what, pod.automountServiceAccountToken]).toEqual([what, values.serviceAccount?.automount ?? false]);
    }
  });

  it("hands pods no variables of other Services, one of which could be read as an option", () => {
    // A Service called `carryover-listen` would set CARRYOVER_LISTEN_PORT to an address.
    for (const { what, pod } of pods) expect([what, pod.enableServiceLinks]).toEqual([what, false]);
  });

  it("asks for memory and CPU, and limits memory", () => {
    for (const { what, container } of containers) {
      expect([what, container.resources]).toEqual([
        what,
        expect.objectContaining({
          requests: expect.objectContaining({ cpu: expect.anything(), memory: expect.anything() }),
          limits: expect.objectContaining({ memory: expect.anything() }),
        }),
      ]);
    }
  });

  it("probes named ports that the container has, alive at /healthz and ready at /readyz", () => {
    for (const { what, container } of containers) {
      const ports = (container.ports ?? []).map(({ name }: Manifest) => name);
      expect(new Set(ports).size).toBe(ports.length);
      for (const kind of ["startupProbe", "livenessProbe", "readinessProbe"]) {
        const probe = container[kind];
        if (probe === undefined || probe === null) continue;
        const target = probe.httpGet ?? probe.tcpSocket;
        expect([what, kind, ports.includes(target.port)]).toEqual([what, kind, true]);
      }
    }
    const { container } = proxyOf(all);
    expect(container.readinessProbe.httpGet).toMatchObject({ path: "/readyz", port: "admin" });
    expect(container.livenessProbe.httpGet).toMatchObject({ path: "/healthz", port: "admin" });
  });

  it("waits for load balancers without a shell, and then for the longest request", () => {
    const { pod, container } = proxyOf(all);
    const { sleep, exec } = container.lifecycle?.preStop ?? {};
    expect(exec?.command?.[0] ?? "").not.toMatch(/sh$/);
    const longest = values.config?.limits?.requestSeconds ?? LONGEST_REQUEST;
    if (typeof longest === "number") {
      expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual((sleep?.seconds ?? 0) + DRAIN + longest + REST);
    }
  });

  it("mounts every file read-only, and in a folder that changes arrive in", () => {
    const { pod, container } = proxyOf(all);
    const { mounts, env } = seenBy(container, pod, finderWith(all, values));
    const files = mounts.filter(({ kind }) => kind === "files");
    expect(files.filter(({ readOnly }) => !readOnly).map((mount) => mount.path)).toEqual([]);
    // Both are watched while carryover runs, and so are the token and certificates.
    expect(files.filter(({ live }) => !live).map((mount) => mount.path)).toEqual([]);
    const rules = files.filter(({ files: held }) => held.has("rules.yaml") && !held.has("config.yaml"));
    for (const mount of rules) expect(mount.path).toBe("/etc/carryover/rules");
    expect(env["CARRYOVER_CONFIG"]).toBe("/etc/carryover/config/config.yaml");
  });

  it("keeps secrets out of ConfigMaps, variables and arguments", () => {
    const secrets = [values.adminToken?.value, values.salt?.value].filter(
      (secret) => typeof secret === "string" && secret,
    );
    const open = all.filter(({ kind }) => kind !== "Secret").map((object) => JSON.stringify(object));
    for (const secret of secrets) expect(open.filter((text) => text.includes(secret))).toEqual([]);
  });
});
