import { chmodSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { freePort } from "../../../scripts/free-ports.mjs";
import { build, eventually, IMAGE, must, ROOT, TOOLS, tool } from "./podman.ts";

const project = `carryover-${process.pid}`;
let home = "";
let env: Record<string, string> = {};

/** Runs in the folder of the compose file; a variable of it is set as a person would. */
const compose = (...argv: readonly string[]) => {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const which = ["-f", "compose.yaml", "-f", "trial.yaml", "--profile", "monitoring"];
  return must(["env", ...variables, "podman-compose", "-p", project, ...which, ...argv], join(home, "deploy/compose"));
};
const container = (service: string) => `${project}_${service}_1`;

beforeAll(async () => {
  await build();
  // A copy, since secrets are written into the folder.
  home = mkdtempSync(join(tmpdir(), "carryover-compose-"));
  chmodSync(home, 0o755);
  for (const folder of ["deploy/compose", "deploy/nginx", "helm/files"])
    cpSync(join(ROOT, folder), join(home, folder), { recursive: true });
  for (const name of ["admin-token", "grafana-password", "store-password"]) {
    writeFileSync(join(home, "deploy/compose/secrets", name), "a-secret\n", { mode: 0o644 });
  }
  writeFileSync(join(home, "around.conf"), "events {}\nhttp { include /etc/nginx/conf.d/*.conf; }\n");
  env = { CARRYOVER_IMAGE: IMAGE };
  for (const name of ["CARRYOVER_PORT", "CARRYOVER_ADMIN_PORT", "PROMETHEUS_PORT"])
    env[name] = String(await freePort());
  // Grafana's image is the one that cannot be had or made here.
  await compose("up", "-d", "--no-build", "carryover", "sandbox", "prometheus");
});
afterAll(async () => {
  await compose("down", "-v", "-t", "10");
  rmSync(home, { recursive: true });
});

const at = (variable: string, path: string) => `http://127.0.0.1:${env[variable]}${path}`;
const status = (url: string, headers: Record<string, string> = {}) =>
  fetch(url, { headers }).then(
    ({ status }) => status,
    () => 0,
  );

describe("the compose file", () => {
  it("is read by Compose's own loader", async () => {
    const folder = join(home, "deploy/compose");
    const { services } = JSON.parse(
      await must(["compose-config", "-format", "json", "compose.yaml", "trial.yaml"], folder),
    );
    expect(Object.keys(services).toSorted()).toEqual(["carryover", "grafana", "prometheus", "sandbox"]);
    expect(services.carryover).toMatchObject({
      read_only: true,
      stop_grace_period: "70s",
      mem_limit: "512m",
    });
  });

  it("brings up a carryover that is ready, healthy by its own check, and serves v1 from the sandbox", async () => {
    await eventually(
      () => status(at("CARRYOVER_ADMIN_PORT", "/readyz")),
      (code) => code === 200,
    );
    expect((await tool(["podman", "healthcheck", "run", container("carryover")])).code).toBe(0);
    // Ready does not mean that the platform is: the sandbox may be the last to start.
    await eventually(
      async () => {
        const token = /TOKEN=(\S+)/.exec(await must(["podman", "logs", container("sandbox")]))?.[1];
        return status(at("CARRYOVER_PORT", "/iam/v1/groups"), { authorization: `Bearer ${token}` });
      },
      (code) => code === 200,
    );
  });

  it("opens the views to those who have the token of the secret, and to nobody else", async () => {
    expect(await status(at("CARRYOVER_ADMIN_PORT", "/rules"))).toBe(401);
    expect(await status(at("CARRYOVER_ADMIN_PORT", "/rules"), { authorization: "Bearer a-secret" })).toBe(200);
  });

  it("goes back to native v1 by the runbook's command, in the container", async () => {
    const command = /^docker compose exec carryover (.*)$/m.exec(
      readFileSync(join(ROOT, "docs/runbook.md"), "utf8"),
    )?.[1];
    const out = await must(["podman", "exec", container("carryover"), ...(command ?? "").split(" ")]);
    expect(out).toContain("is forced to native v1");
    await must(["podman", "exec", container("carryover"), ...(command ?? "").replace("native", "none").split(" ")]);
  });

  it("has a Prometheus that scrapes carryover and has taken the rules", async () => {
    const ask = async (path: string) => {
      const answer = await fetch(at("PROMETHEUS_PORT", path)).catch(() => undefined);
      return answer === undefined ? undefined : answer.json();
    };
    // biome-ignore lint/suspicious/noExplicitAny: Prometheus's own answer.
    const up = await eventually<any>(
      () => ask("/api/v1/query?query=up%7Bjob%3D%22carryover%22%7D"),
      (answer) => answer?.data.result[0]?.value[1] === "1",
    );
    expect(up.status).toBe("success");
    // biome-ignore lint/suspicious/noExplicitAny: the same.
    const { data }: any = await ask("/api/v1/rules");
    expect(data.groups.length).toBeGreaterThan(1);
  });

  it("keeps its state in a volume that carryover may write to", async () => {
    await must(["podman", "stop", "-t", "70", container("carryover")]);
    const { State } = JSON.parse(await must(["podman", "inspect", container("carryover")]))[0];
    expect(State.ExitCode).toBe(0);
    const logs = await tool(["podman", "logs", container("carryover")]);
    expect(logs.out + logs.err).not.toMatch(/state\.dir/);
    const folder = await must(["podman", "volume", "inspect", "-f", "{{.Mountpoint}}", `${project}_state`]);
    expect(await must(["ls", `${folder}/trial`])).toBe(
      "contributor.json\ncounts.json\nevents.json\nlast-rules.json\nrollout.json\nused.txt",
    );
  });
});

describe("the compose file for a shared port", () => {
  const own = `${project}-shared`;
  const ports = ["CARRYOVER_PORT", "CARRYOVER_ADMIN_PORT_1", "CARRYOVER_ADMIN_PORT_2"] as const;
  const admins = [ports[1], ports[2]];
  const shared = (...argv: readonly string[]) => {
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const words = ["podman-compose", "-p", own, "-f", "shared-port.yaml", ...argv];
    return must(["env", ...variables, ...words], join(home, "deploy/compose"));
  };

  it("is read by Compose's own loader", async () => {
    const folder = join(home, "deploy/compose");
    const { services } = JSON.parse(await must(["compose-config", "-format", "json", "shared-port.yaml"], folder));
    expect(Object.keys(services).toSorted()).toEqual(["carryover-1", "carryover-2"]);
    for (const service of Object.values(services)) {
      expect(service).toMatchObject({ network_mode: "host", read_only: true, stop_grace_period: "70s" });
    }
  });

  it("brings up two carryovers that are healthy by their own checks and share the clients of one port", async () => {
    for (const name of ports) env[name] = String(await freePort());
    try {
      await shared("up", "-d", "--no-build");
      for (const name of admins) {
        await eventually(
          () => status(at(name, "/readyz")),
          (code) => code === 200,
        );
      }
      for (const service of ["carryover-1", "carryover-2"]) {
        expect((await tool(["podman", "healthcheck", "run", `${own}_${service}_1`])).code).toBe(0);
      }
      const requests = 40;
      const headers = { connection: "close" };
      for (let i = 0; i < requests; i++) expect(await status(at("CARRYOVER_PORT", "/none"), headers)).toBe(404);
      const counts = await Promise.all(
        admins.map(async (name) => {
          const text = await (await fetch(at(name, "/metrics"))).text();
          const lines = [...text.matchAll(/^carryover_requests_total\{[^}]*\} (\d+)$/gm)];
          return lines.reduce((sum, [, count]) => sum + Number(count), 0);
        }),
      );
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(requests);
      expect(Math.min(...counts)).toBeGreaterThan(0);
    } finally {
      await shared("down", "-v", "-t", "10");
    }
  });
});

describe("the compose file for replicas", () => {
  const own = `${project}-replicas`;
  const cache = join(TOOLS, "..");
  const members = ["carryover-1", "carryover-2"];
  const replicas = (...argv: readonly string[]) => {
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    return must(
      ["env", ...variables, "podman-compose", "-p", own, "-f", "replicas.yaml", ...argv],
      join(home, "deploy/compose"),
    );
  };
  /** The server and nginx as `scripts/install-state-tools.sh` and `scripts/install-bench-tools.sh` installed them, by the names of their images. */
  const standIn = async (image: string, steps: readonly (readonly string[])[]) => {
    const { NODE_VERSION } = Object.fromEntries([
      /^ARG (NODE_VERSION)=(.*)$/m.exec(readFileSync(join(ROOT, "Dockerfile"), "utf8"))?.slice(1) ?? [],
    ]);
    const made = await must([
      "buildah",
      "from",
      "--pull-never",
      `docker.io/library/node:${NODE_VERSION}-bookworm-slim`,
    ]);
    for (const [command = "", ...words] of steps)
      await must(["buildah", command, ...(command === "config" ? [...words, made] : [made, ...words])]);
    await must(["buildah", "commit", "--rm", made, image]);
  };

  it("is read by Compose's own loader", async () => {
    const folder = join(home, "deploy/compose");
    const { services } = JSON.parse(await must(["compose-config", "-format", "json", "replicas.yaml"], folder));
    expect(Object.keys(services).toSorted()).toEqual([...members, "nginx", "valkey"]);
    expect(services.valkey.command[2]).toContain("$(cat /run/secrets/store-password)");
  });

  it("brings up two carryovers that know each other through the store, and serve through nginx", async () => {
    for (const kind of ["state", "bench"]) {
      const installed = existsSync(join(cache, kind === "bench" ? "bench-tools" : kind));
      if (!installed) throw new Error(`run scripts/install-${kind}-tools.sh`);
    }
    const { services } = parse(readFileSync(join(home, "deploy/compose/replicas.yaml"), "utf8"));
    const library = "LD_LIBRARY_PATH=/opt/lib";
    await standIn(services.valkey.image, [
      ["copy", join(cache, "state/bin/valkey-9.1"), "/usr/local/bin/valkey-server"],
      ["copy", join(cache, "state/lib"), "/opt/lib"],
      ["config", "--env", library, "--cmd", "valkey-server"],
    ]);
    await standIn(services.nginx.image, [
      ["copy", join(cache, "bench-tools/usr/sbin/nginx"), "/usr/sbin/nginx"],
      ["copy", join(cache, "bench-tools/usr/lib"), "/opt/usr-lib"],
      ["copy", join(home, "around.conf"), "/etc/nginx/nginx.conf"],
      ["run", "--", "sh", "-c", "mkdir -p /etc/nginx/conf.d /var/log/nginx /var/lib/nginx"],
      [
        "config",
        "--env",
        "LD_LIBRARY_PATH=/opt/usr-lib/x86_64-linux-gnu:/opt/usr-lib/aarch64-linux-gnu",
        "--cmd",
        "nginx",
      ],
    ]);
    for (const name of ["CARRYOVER_PORT", "CARRYOVER_ADMIN_PORT_1", "CARRYOVER_ADMIN_PORT_2"])
      env[name] = String(await freePort());
    try {
      await replicas("up", "-d", "--no-build");
      const headers = { authorization: "Bearer a-secret" };
      // biome-ignore lint/suspicious/noExplicitAny: a view of the admin port.
      const shared = async (name: string): Promise<any> => {
        const response = await fetch(at(name, "/progress"), { headers }).catch(() => undefined);
        // biome-ignore lint/suspicious/noExplicitAny: the same.
        return response?.ok === true ? ((await response.json()) as any).shared : undefined;
      };
      for (const name of ["CARRYOVER_ADMIN_PORT_1", "CARRYOVER_ADMIN_PORT_2"]) {
        await eventually(
          () => shared(name),
          (found) => found?.replicas.length === 2,
        );
      }
      await eventually(
        () => status(at("CARRYOVER_PORT", "/none")),
        (code) => code === 404,
      );
      const words = ["node", "/app/dist/main.js", "check", "--state", "--config", "/etc/carryover/config.yaml"];
      const check = () => tool(["podman", "exec", `${own}_carryover-1_1`, ...words]);
      expect((await check()).out).toContain("the account may run all");
      writeFileSync(join(home, "deploy/compose/secrets/store-password"), "another-secret\n");
      expect((await check()).out).toContain("the server refuses the password");
      const restartedAt = Date.now();
      await must(["podman", "restart", "-t", "1", `${own}_valkey_1`]);
      await eventually(
        () => shared("CARRYOVER_ADMIN_PORT_2"),
        (found) => found?.up === true && found.since > restartedAt,
      );
      expect((await check()).out).toContain("the account may run all");
    } finally {
      await replicas("down", "-v", "-t", "10");
    }
  });
});
