import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { loadCatalogue } from "../../src/catalogue/catalogue.ts";
import { configOptions, loadConfig } from "../../src/config/config.ts";
import { readGivenRules } from "../../src/rollout/rules-file.ts";
import { documentedRights } from "../state/shared/account.ts";

const DEPLOY = resolve(import.meta.dirname, "../../deploy");
const read = (path: string) => readFileSync(join(DEPLOY, path), "utf8");
const known = new Map<string, string>([
  ["CARRYOVER_CONFIG", "config"],
  ...configOptions().map(({ variable, path }) => [variable, path] as const),
]);
/** How long a process may take to stop, with the options as they are by default. */
const stopSeconds = () => {
  const { config } = loadConfig({
    flags: { upstreamV2Url: "http://127.0.0.1:9" },
    env: {},
    readFile: () => Buffer.from(""),
  });
  const forBytes = Number(
    /SPARE_SECONDS = (\d+);/.exec(readFileSync(join(DEPLOY, "../src/runtime/app.ts"), "utf8"))?.[1],
  );
  const forTheRest = Number(
    /REST_MS = (\d+)_000;/.exec(readFileSync(join(DEPLOY, "../src/commands/serve.ts"), "utf8"))?.[1],
  );
  return config.listen.shutdownDelaySeconds + config.limits.requestSeconds + forBytes + forTheRest;
};
const named = (text: string) => [...text.matchAll(/\b(CARRYOVER_[A-Z0-9_]+)=/g)].map(([, name]) => name ?? "");

describe("the systemd unit", () => {
  const unit = read("systemd/carryover@.service");
  const value = (key: string) => [...unit.matchAll(new RegExp(`^${key}=(.*)$`, "gm"))].map(([, text]) => text);

  test.each(["systemd/carryover@.service", "systemd/carryover@.service.d/shared-port.conf", "systemd/carryover.env"])(
    "every variable of %s is an option",
    (path) => {
      expect(named(read(path)).length).toBeGreaterThan(2);
      expect(named(read(path)).filter((name) => !known.has(name))).toEqual([]);
    },
  );

  test("its variables are a configuration that is taken", () => {
    const text = `${value("Environment").join("\n")}\n${read("systemd/carryover.env").replace(/^#.*$/gm, "")}`;
    const env = Object.fromEntries(
      [...text.matchAll(/\b([A-Z][A-Z0-9_]+)=(\S+)/g)].map(([, name, set]) => [name, set?.replaceAll("%i", "8080")]),
    );
    const { config, warnings } = loadConfig({ flags: {}, env, readFile: () => Buffer.from("token") });
    expect([config.listen.port, config.admin.port, warnings]).toEqual([8080, 18080, []]);
    expect(config.state.dir).toBe("%S/carryover/8080");
  });

  test("its instances share one port with the drop-in, each with an admin port and a directory of its own, as one user", () => {
    const dropIn = read("systemd/carryover@.service.d/shared-port.conf");
    const lines = [...`${unit}\n${dropIn}`.matchAll(/^Environment=(.*)$/gm)].map(([, text]) => text).join("\n");
    const [first, second] = ["01", "02"].map((instance) => {
      const pairs = lines.replaceAll("%i", instance).matchAll(/\b([A-Z][A-Z0-9_]+)=(\S+)/g);
      const env = {
        ...Object.fromEntries([...pairs].map(([, name, set]) => [name, set])),
        CARRYOVER_CUTOVER_MODE: "translate",
      };
      const flags = { upstreamV2Url: "http://127.0.0.1:9" };
      return loadConfig({ flags, env, readFile: () => Buffer.from("token") }).config;
    });
    expect([first?.listen.reusePort, first?.admin.port, first?.state.dir]).toEqual([true, 18101, "%S/carryover/01"]);
    expect(second).toEqual({
      ...first,
      admin: { ...first?.admin, port: 18102 },
      state: { ...first?.state, dir: "%S/carryover/02" },
    });
    expect(dropIn).toMatch(/^User=carryover$/m);
  });

  test("image and unit start node as the benchmarks do", () => {
    const bench = read("../bench/processes.mjs");
    const flags = [...(/NODE_FLAGS = \[(.*)\]/.exec(bench)?.[1] ?? "").matchAll(/"(.*?)"/g)].map(([, flag]) => flag);
    expect(flags.length).toBeGreaterThan(0);
    expect(value("ExecStart")[0]?.split(" ")).toEqual(expect.arrayContaining(flags));
    const entry = /^ENTRYPOINT (.*)$/m.exec(read("../Dockerfile"))?.[1] ?? "[]";
    expect(JSON.parse(entry)).toEqual(["node", ...flags, "/app/dist/main.js"]);
  });

  test("it waits as long as compose file and docs do, 5 s longer than the process takes, and takes no wrong configuration for a crash", () => {
    const compose = parse(read("compose/compose.yaml")).services.carryover.stop_grace_period;
    const said = [...read("../docs/deploy.md").matchAll(/--stop-timeout (\d+)|Allow (\d+) s/g)];
    const figures = [value("TimeoutStopSec")[0], compose, ...said.map(([, flag, prose]) => flag ?? prose)];
    expect(figures.map((figure) => Number.parseInt(figure, 10))).toEqual(Array(4).fill(stopSeconds() + 5));
    const usage = /USAGE = (\d+)/.exec(readFileSync(join(DEPLOY, "../src/cli.ts"), "utf8"))?.[1];
    expect(value("RestartPreventExitStatus")).toEqual([usage]);
  });
});

/** What `serve --config PATH` reads in the container of the compose files. */
async function readBy(path: string, env: Readonly<Record<string, string>> = {}) {
  const folders = [
    ["/etc/carryover/", "compose/config/"],
    ["/etc/carryover-rules/", "compose/rules/"],
    ["/etc/carryover-trial/", "compose/trial/"],
  ];
  const readFile = (file: string) => {
    const [folder = "", here = ""] = folders.find(([folder = ""]) => file.startsWith(folder)) ?? [];
    return Buffer.from(here === "" ? "token" : read(file.replace(folder, here)));
  };
  const { config } = loadConfig({ flags: { config: path }, env, readFile });
  const catalogue = await loadCatalogue(config.upstream.v2.version);
  const now = Date.parse("2026-11-22");
  return { config, given: readGivenRules({ file: undefined, config, catalogue, readFile, now, expired: "warn" }) };
}

describe("no shipped example moves v1 traffic by accident", () => {
  type Example = { readonly mode?: string | undefined; readonly rules?: readonly Record<string, unknown>[] };
  /** Moves only clients that ask for it, or back by itself. */
  const isCareful = ({ mode, match, stepBack }: Record<string, unknown>) =>
    mode !== "translate" ||
    stepBack !== undefined ||
    Object.keys(match as object).some((name) => /header|cookie/.test(name));
  const careless = ({ mode, rules = [] }: Example) =>
    [
      mode === "native" || mode === "shadow" ? [] : `cutover.mode: ${mode}`,
      rules.filter((rule) => !isCareful(rule)),
    ].flat();

  test("of deploy", async () => {
    const { config } = await readBy("/etc/carryover/config.yaml");
    const rules = parse(read("compose/rules/rules.yaml")).rules;
    expect([config.cutover.mode, rules]).toEqual(["native", []]);
    expect(careless({ mode: "native", rules: parse(read("compose/trial/rules.yaml")).rules })).toEqual([]);
    expect(/^CARRYOVER_CUTOVER_MODE=(.*)$/m.exec(read("systemd/carryover.env"))?.[1]).toBe("native");
  });

  test.each(
    readdirSync(join(DEPLOY, "../helm/ci")).filter((name) => name.endsWith(".yaml") && !name.startsWith("sandbox")),
  )("of helm/ci: %s", (name) => {
    const { config, configFrom, rules } = parse(read(`../helm/ci/${name}`));
    const mode = configFrom === undefined ? config.cutover?.mode : "native";
    expect(careless({ mode, rules: rules?.rules })).toEqual([]);
  });

  test.each(["deploy.md", "runbook.md", "operations.md", "embedding.md", "../README.md", "../helm/README.md"])(
    "of %s: a command that names the platform names the mode",
    (page) => {
      const commands =
        read(`../docs/${page}`).match(/^.*(?:serve .*upstream-v2-url|helm install(?:.*\\\n)*.*).*$/gm) ?? [];
      expect(commands.filter((command) => !/cutover[.-]mode[ =]native|sandbox\.enabled/.test(command))).toEqual([]);
    },
  );

  test("of docs/rules.md", () => {
    const [, example = ""] = /```yaml\n([\s\S]*?)```/.exec(read("../docs/rules.md")) ?? [];
    expect(careless({ mode: "native", rules: parse(example).rules })).toEqual([]);
  });
});

describe("the compose file", () => {
  const { services, secrets, volumes } = parse(read("compose/compose.yaml"));

  const base = services.carryover;
  const trial = parse(read("compose/trial.yaml")).services.carryover;

  test.each([
    ["by itself", base.command, base.volumes],
    ["with trial.yaml", trial.command, [...base.volumes, ...trial.volumes]],
  ])("its configuration and its rules are valid %s, and name files that are mounted", async (_, command, volumes) => {
    const mounts = [...volumes, "secret:/run/secrets/admin-token"].map((mount: string) => mount.split(":")[1] ?? "");
    const { config, given } = await readBy(command[2], base.environment);
    expect(given?.warnings).toEqual([]);
    for (const path of [command[2], config.cutover.rulesFile, config.admin.tokenFile, config.state.dir]) {
      expect(
        mounts.some((mount) => path?.startsWith(mount)),
        path,
      ).toBe(true);
    }
    expect([config.listen.port, config.admin.port]).toEqual([8080, 8081]);
  });

  test("every file of this repository that it mounts is there", () => {
    // biome-ignore lint/suspicious/noExplicitAny: the shape of a compose file is its own schema's to check.
    const all = Object.values<any>(services)
      .flatMap((service) => service.volumes ?? [])
      .concat(trial.volumes) as string[];
    const own = all.map((mount) => mount.split(":")[0] ?? "").filter((path) => path.startsWith("."));
    expect(own.filter((path) => !existsSync(join(DEPLOY, "compose", path)))).toEqual([]);
    const names = all.map((mount) => mount.split(":")[0] ?? "").filter((path) => !path.startsWith("."));
    expect(names.filter((name) => !(name in volumes))).toEqual([]);
  });

  test("no service that is ours may do what it need not", () => {
    for (const service of [base, parse(read("compose/trial.yaml")).services.sandbox]) {
      expect(service).toMatchObject({ read_only: true, cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] });
    }
    expect(Object.keys(secrets)).toEqual(["admin-token", "grafana-password"]);
  });
});

describe("the compose file for a shared port", () => {
  const { services, secrets, volumes } = parse(read("compose/shared-port.yaml"), { merge: true });
  const base = parse(read("compose/compose.yaml"));
  // biome-ignore lint/suspicious/noExplicitAny: the shape of a compose file is its own schema's to check.
  const all = Object.values<any>(services);
  const withDefaults = (env: Record<string, string>) =>
    Object.fromEntries(Object.entries(env).map(([name, text]) => [name, text.replace(/^\$\{\w+:-(.*)\}$/, "$1")]));

  test("its services share one port, each with an admin port and a directory of its own", async () => {
    const configs = await Promise.all(
      all.map(async ({ command, environment }) => (await readBy(command[2], withDefaults(environment))).config),
    );
    const [first, second] = configs;
    expect(configs.length).toBe(2);
    expect([first?.listen.reusePort, first?.listen.port, first?.admin.host]).toEqual([true, 8080, "127.0.0.1"]);
    expect([first?.admin.port, first?.state.dir]).toEqual([8081, "/var/lib/carryover/1"]);
    expect(second).toEqual({
      ...first,
      admin: { ...first?.admin, port: 8082 },
      state: { ...first?.state, dir: "/var/lib/carryover/2" },
    });
  });

  test("they are as that of compose.yaml otherwise, in the host's network", () => {
    const { environment: _, healthcheck: __, ports: ___, ...rest } = base.services.carryover;
    for (const { environment: _, healthcheck: __, ...service } of all) {
      expect(service).toEqual({ ...rest, network_mode: "host" });
    }
    expect([secrets["admin-token"], Object.keys(volumes)]).toEqual([base.secrets["admin-token"], ["state"]]);
  });
});

describe("the compose file for replicas", () => {
  const { services, secrets } = parse(read("compose/replicas.yaml"), { merge: true });
  const base = parse(read("compose/compose.yaml"));
  const members = [services["carryover-1"], services["carryover-2"]];
  const withDefaults = (text: string) => text.replaceAll(/\$\{\w+:-([^}]*)\}/g, "$1");
  const addressOf = (service: { networks: { default: { ipv4_address: string } } }) =>
    withDefaults(service.networks.default.ipv4_address);

  test("its carryovers share a store, and differ in their directories only", async () => {
    const [first, second] = await Promise.all(
      members.map(async ({ command, environment }) => {
        const env = Object.entries<string>(environment).map(([name, text]) => [name, withDefaults(text)]);
        return (await readBy(command[2], Object.fromEntries(env))).config;
      }),
    );
    expect(first?.state).toMatchObject({ url: "redis://valkey:6379", username: "carryover", prefix: "carryover" });
    expect(first?.listen.trustedProxies).toEqual([addressOf(services.nginx)]);
    expect(second).toEqual({ ...first, state: { ...first?.state, dir: "/var/lib/carryover/2" } });
  });

  test("they are as that of compose.yaml otherwise", () => {
    const { environment: _, ports: __, secrets: ___, ...rest } = base.services.carryover;
    for (const { environment: _, ports: __, networks: ___, secrets: names, ...service } of members) {
      expect(service).toEqual(rest);
      expect(names).toEqual(["admin-token", "store-password"]);
    }
    expect(Object.keys(secrets)).toEqual(["admin-token", "store-password"]);
  });

  test("nginx spreads over the addresses of both", () => {
    const [, pairs = ""] = /^sed '(.*)' /.exec(withDefaults(services.nginx.command[2])) ?? [];
    const replaced = pairs.split("; ").map((pair) => pair.split("/").slice(1, 3));
    const servers = [...read("nginx/carryover.conf").matchAll(/^ *server ([\d.]+:\d+)/gm)].map(
      ([, address]) => address,
    );
    expect(replaced.map(([from]) => from)).toEqual(servers);
    expect(replaced.map(([, to]) => to)).toEqual(members.map((one) => `${addressOf(one)}:8080`));
  });

  test("the account of the store has the documented permissions", () => {
    const [, rights] = /user carryover on >\S+ \S+ (.*)" >>/.exec(services.valkey.command[2]) ?? [];
    expect(rights?.split(" ")).toEqual(documentedRights());
    expect(services.valkey).toMatchObject({ read_only: true, cap_drop: ["ALL"] });
  });
});

describe("the Dockerfile", () => {
  const dockerfile = readFileSync(join(DEPLOY, "../Dockerfile"), "utf8");

  test("labels the image with the version of the package", () => {
    const { version } = JSON.parse(readFileSync(join(DEPLOY, "../package.json"), "utf8"));
    expect(/^ARG VERSION=(.*)$/m.exec(dockerfile)?.[1]).toBe(version);
    expect(read("compose/compose.yaml")).toContain(`localhost/carryover:${version}`);
  });

  test("copies only what .dockerignore lets through", () => {
    const open = readFileSync(join(DEPLOY, "../.dockerignore"), "utf8")
      .split("\n")
      .filter((line) => line.startsWith("!"));
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(
      ([, paths]) => paths?.split(" ") ?? [],
    );
    expect([...new Set(copied)].map((path) => `!${path}`).toSorted()).toEqual(open.toSorted());
  });

  test("holds nothing that is of one processor architecture only", () => {
    expect(dockerfile).not.toMatch(/amd64|x86_64|x64|arm64|aarch64/);
  });
});
