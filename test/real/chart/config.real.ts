import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { loadCatalogue } from "../../../src/catalogue/catalogue.ts";
import { run } from "../../../src/cli.ts";
import { type Config, loadConfig } from "../../../src/config/config.ts";
import { ciValues, type Manifest, objects } from "./chart.ts";
import { finderWith } from "./given.ts";
import { type Seen, seenBy } from "./pod.ts";
import { proxyOf, stringsIn, takes } from "./workloads.ts";

/** As the container's process would read it: nothing but what is mounted. */
const readerOf = (seen: Seen) => (path: string) => {
  const bytes = seen.files.get(path);
  if (bytes === undefined) throw new Error(`ENOENT: no such file in the container, open '${path}'`);
  return bytes;
};

/** The words of `serve` as commander would hand them over. */
function flagsOf(argv: readonly string[]): Record<string, string> {
  const flags: Record<string, string> = {};
  const words = argv.flatMap((word) =>
    /^--[^=]+=/.test(word) ? [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)] : [word],
  );
  for (let at = 1; at < words.length; at += 2) {
    const name = (words[at] ?? "").slice(2).replaceAll(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
    flags[name] = words[at + 1] ?? "";
  }
  return flags;
}

describe.each(ciValues())("$name", ({ path }) => {
  const values: Manifest = parse(readFileSync(path, "utf8"));
  let all: readonly Manifest[] = [];
  let seen: Seen;
  let config: Config;
  let warnings: readonly string[] = [];

  beforeAll(async () => {
    all = await objects({ values: path });
    const { pod, container } = proxyOf(all);
    seen = seenBy(container, pod, finderWith(all, values));
    const { resources } = await loadCatalogue(values.config?.upstream?.v2?.version ?? "v2beta1");
    const names = resources.map(({ name }) => name);
    const input = { flags: flagsOf(seen.argv), env: seen.env, readFile: readerOf(seen), resources: names };
    ({ config, warnings } = loadConfig(input));
  });

  it("is taken, with nothing to warn of but what the values ask for", () => {
    expect(seen.argv[0]).toBe("serve");
    expect(config.upstream.v2.url).toMatch(/^https?:/);
    const plain = /: tokens go to another machine over http/;
    const open = /: without admin.tokenFile the views answer only requests from this machine/;
    const asked = [
      config.admin.token === undefined ? open : [],
      config.upstream.v2.url.startsWith("http:") ? plain : [],
    ];
    expect(warnings.filter((warning) => !asked.flat().some((pattern) => pattern.test(warning)))).toEqual([]);
  });

  it("has rules that `carryover check --rules-only` takes", async () => {
    if (config.cutover.rulesFile === undefined) return expect(values.rules ?? {}).toEqual({});
    const printed: string[] = [];
    const print = (text: string) => void printed.push(text);
    const nothing = () => {};
    const io = {
      env: seen.env,
      readFile: readerOf(seen),
      readStdin: () => new Uint8Array(),
      writeFile: nothing,
      isTerminal: false,
      fetch,
      print,
      warn: print,
      onStop: nothing,
      onReload: nothing,
      onExit: nothing,
    };
    const code = await run(["check", "--rules-only"], io);
    expect([code, code === 0 ? "" : printed.join("\n")]).toEqual([0, ""]);
  });

  it("says everything that the values say", () => {
    // What is written in values arrives under the same path: not one option is lost on the way through templates.
    const file = parse(new TextDecoder().decode(seen.files.get("/etc/carryover/config/config.yaml")));
    if (!values.configFrom) expect(file).toMatchObject(values.config ?? {});
    const rules = seen.files.get("/etc/carryover/rules/rules.yaml");
    if (rules !== undefined && values.rules) {
      expect(parse(new TextDecoder().decode(rules))).toEqual({
        version: "carryover/v1",
        force: "none",
        ...values.rules,
      });
    }
  });

  it("listens on the ports that the objects name", () => {
    const { container, labels } = proxyOf(all);
    const ports = new Map<string, number>(container.ports.map((port: Manifest) => [port.name, port.containerPort]));
    expect([ports.get("http"), ports.get("admin"), ports.get("grpc")]).toEqual([
      config.listen.port,
      config.admin.port,
      config.listen.grpc.port,
    ]);
    const services = all.filter(({ kind, spec }) => kind === "Service" && takes(spec.selector, labels));
    const targets = services.flatMap(({ spec }) => spec.ports.map(({ targetPort }: Manifest) => targetPort));
    const clients = ports.has("grpc") ? ["http", "grpc"] : ["http"];
    expect(targets).toEqual(expect.arrayContaining(clients));
    expect(targets.filter((target) => target !== "admin" && !clients.includes(target))).toEqual([]);
    for (const { spec } of all.filter(
      ({ kind, spec }) => kind === "NetworkPolicy" && takes(spec.podSelector, labels),
    )) {
      const open = spec.ingress.flatMap(({ ports: of = [] }: Manifest) => of.map(({ port }: Manifest) => port));
      for (const port of [...clients, "admin"])
        expect(open.includes(port) || open.includes(ports.get(port))).toBe(true);
    }
  });

  it("answers probes and scrapers from outside, and views to those with the token only", () => {
    expect(["0.0.0.0", "::"]).toContain(config.admin.host);
    expect(["0.0.0.0", "::"]).toContain(config.listen.host);
    const token = values.adminToken ?? {};
    const wanted = Boolean(token.existingSecret || token.value || token.generate);
    expect(typeof config.admin.token).toBe(wanted ? "string" : "undefined");
  });

  it("can write where it is told to, and nowhere else", () => {
    const writable = seen.mounts.filter(({ readOnly }) => !readOnly).map((mount) => mount.path);
    if (config.state.dir === undefined) return;
    expect(config.state.dir).toBe("/var/lib/carryover");
    expect(writable.filter((folder) => config.state.dir === folder)).toHaveLength(1);
  });

  it("lets nobody reach the admin port through an Ingress, a route or a load balancer", () => {
    const backends = stringsIn(
      all.filter(({ kind }) => ["Ingress", "HTTPRoute", "GRPCRoute"].includes(kind)).map(({ spec }) => spec),
    );
    expect([...backends].filter((name) => name === "admin")).toEqual([]);
    const { labels } = proxyOf(all);
    for (const { spec } of all.filter(({ kind, spec }) => kind === "Service" && takes(spec.selector, labels))) {
      if (spec.type !== "ClusterIP")
        expect(spec.ports.map(({ targetPort }: Manifest) => targetPort)).not.toContain("admin");
    }
  });
});
