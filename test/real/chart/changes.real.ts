import { describe, expect, it } from "vitest";
import { CERTIFICATE } from "./certificate.ts";
import { type Manifest, objects, one, type Rendering } from "./chart.ts";
import { proxyOf } from "./workloads.ts";

const VALUES = {
  config: {
    upstream: { v2: { url: "https://api.example.com" }, v1: { url: "https://api.example.com" } },
    cutover: { mode: "native" },
  },
  rules: { rules: [{ name: "reads", match: { operation: "reads" }, mode: "shadow" }] },
  adminToken: { value: "first-token" },
};

const trusting = (pem: string) => ({ tls: { v2: { ca: { pem } } } });

const templateOf = async (rendering: Rendering): Promise<Manifest> =>
  proxyOf(await objects(rendering)).object.spec.template;

const withRules = (rules: readonly object[], more: object = {}) => ({ set: { ...VALUES, rules: { rules, ...more } } });

describe("the pod template", () => {
  it("stays the same when rules change, or come up for the first time: they reach running pods", async () => {
    const before = await templateOf({ set: VALUES });
    expect(await templateOf(withRules([{ name: "all", match: {}, mode: "translate" }]))).toEqual(before);
    expect(await templateOf(withRules([], { force: "native" }))).toEqual(before);
    const { rules: _, ...without } = VALUES;
    expect(await templateOf({ set: without })).toEqual(before);
  });

  it.each([
    ["an option of the configuration", { log: { level: "debug" } }],
    ["an option beside the names of clients", { clients: { hash: true } }],
    ["the salt", { cutover: { mode: "native", salt: "another" } }],
  ])("changes with %s, which waits for a restart", async (_, config) => {
    const before = await templateOf({ set: VALUES });
    expect(await templateOf({ set: { ...VALUES, config: { ...VALUES.config, ...config } } })).not.toEqual(before);
  });

  it.each([
    ["the first names of clients", {}, { config: { ...VALUES.config, clients: { names: ["a=b"] } } }],
    ["the admin token", {}, { adminToken: { value: "second-token" } }],
    ["the text of an authority", trusting(CERTIFICATE), trusting(CERTIFICATE + CERTIFICATE)],
  ])("stays the same with %s: it reaches running pods", async (_, before, change) => {
    const was = await templateOf({ set: { ...VALUES, ...before } });
    expect(await templateOf({ set: { ...VALUES, ...change } })).toEqual(was);
  });

  it("stays the same with what is no pod's matter", async () => {
    const before = await templateOf({ set: VALUES });
    const change = {
      service: { port: 80 },
      podDisruptionBudget: { enabled: false },
      serviceMonitor: { enabled: true },
      replicaCount: 5,
    };
    expect(await templateOf({ set: { ...VALUES, ...change } })).toEqual(before);
  });
});

describe("the selector", () => {
  it("stays the same whatever changes, since an upgrade cannot change it", async () => {
    const selector = async (set: object) => proxyOf(await objects({ set: { ...VALUES, ...set } })).object.spec.selector;
    const before = await selector({});
    for (const change of [{ image: { tag: "9.9.9" } }, { commonLabels: { team: "a" } }, { podLabels: { team: "b" } }]) {
      expect(await selector(change)).toEqual(before);
    }
  });
});

describe("two releases in one namespace", () => {
  it("share no object, and neither selects the other's pods", async () => {
    const [first, second] = [await objects({ set: VALUES }), await objects({ set: VALUES, release: "other" })];
    const names = (all: readonly Manifest[]) => all.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(names(first).filter((name) => names(second).includes(name))).toEqual([]);
    const service = one(first, "Service", ({ spec }) => spec.clusterIP !== "None").spec.selector;
    const { labels } = proxyOf(second);
    expect(Object.entries(service).every(([key, value]) => labels[key] === value)).toBe(false);
  });
});
