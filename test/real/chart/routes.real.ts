import { describe, expect, it } from "vitest";
import { type Manifest, objects, one } from "./chart.ts";
import { proxyOf, takes } from "./workloads.ts";

const UPSTREAM = { upstream: { v2: { url: "https://p.example.com" }, sts: { url: "https://s.example.com" } } };
const V1 = ["/iam/v1/groups", "/iam/v1/groups/a/b", "/registry/v1/repos", "/vulnerabilities/v1/advisories"];
const NOT_V1 = ["/", "/iam/v2beta1/groups", "/iam/v10/groups", "/events/v1/subscriptions", "/x/iam/v1/groups"];

/** Both APIs: whole segments, an exact path before a prefix, a longer prefix before a shorter one. 0: does not match. */
function rank(type: string, value: string, path: string): number {
  if (type === "Exact") return path === value ? 1_000 : 0;
  const prefix = value.endsWith("/") ? value : `${value}/`;
  return `${path}/`.startsWith(prefix) ? value.length : 0;
}

describe("the Ingress", () => {
  const values = {
    config: UPSTREAM,
    ingress: {
      enabled: true,
      className: "nginx",
      controller: "nginx",
      hosts: ["api.example.com"],
      platform: { name: "platform" },
    },
  };

  async function leads(all: readonly Manifest[], path: string): Promise<string | undefined> {
    const [rule] = one(all, "Ingress").spec.rules;
    const ranked = rule.http.paths.map((entry: Manifest) => ({
      ...entry,
      score: rank(entry.pathType, entry.path, path),
    }));
    const [best] = ranked
      .filter(({ score }: Manifest) => score > 0)
      .sort((a: Manifest, b: Manifest) => b.score - a.score);
    return best?.backend.service.name;
  }

  it("leads v1 and token exchange to carryover, the rest to the platform", async () => {
    const all = await objects({ set: values });
    const { labels } = proxyOf(all);
    for (const path of [...V1, "/sts/exchange"]) {
      const name = await leads(all, path);
      const service = one(all, "Service", ({ metadata }) => metadata.name === name);
      expect([path, takes(service.spec.selector, labels)]).toEqual([path, true]);
    }
    for (const path of NOT_V1) expect([path, await leads(all, path)]).toEqual([path, "platform"]);
  });

  it("leads nothing else anywhere when the platform is another Ingress's matter", async () => {
    const all = await objects({ set: { ...values, ingress: { ...values.ingress, platform: { name: "" } } } });
    for (const path of NOT_V1) expect([path, await leads(all, path)]).toEqual([path, undefined]);
  });

  it("leads v2 to carryover too when told to", async () => {
    const all = await objects({ set: { ...values, routes: { v2: true } } });
    expect(await leads(all, "/iam/v2beta1/groups")).toBe(await leads(all, "/iam/v1/groups"));
  });

  it("tells ingress-nginx to stream, to repeat nothing and to wait longer than carryover", async () => {
    const { annotations } = one(await objects({ set: values }), "Ingress").metadata;
    expect(annotations).toMatchObject({
      "nginx.ingress.kubernetes.io/proxy-buffering": "off",
      "nginx.ingress.kubernetes.io/proxy-next-upstream": "off",
      "nginx.ingress.kubernetes.io/proxy-body-size": expect.any(String),
    });
    expect(Number(annotations["nginx.ingress.kubernetes.io/proxy-read-timeout"])).toBeGreaterThan(50);
    const own = { ...values.ingress, annotations: { "nginx.ingress.kubernetes.io/proxy-read-timeout": "120" } };
    const { metadata } = one(await objects({ set: { ...values, ingress: own } }), "Ingress");
    expect(metadata.annotations["nginx.ingress.kubernetes.io/proxy-read-timeout"]).toBe("120");
  });
});

describe("the HTTPRoute", () => {
  const route = {
    enabled: true,
    parentRefs: [{ name: "gateway" }],
    weight: 10,
    canaryHeader: "x-canary",
    platform: { name: "platform" },
    grpc: { name: "platform-grpc" },
  };

  /** The backends of the rule that the API says matches best, with their weights. */
  async function leads(
    httpRoute: object,
    path: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const all = await objects({ set: { config: UPSTREAM, httpRoute } });
    const fits = one(all, "HTTPRoute").spec.rules.flatMap(({ matches = [{}], backendRefs }: Manifest) =>
      matches.flatMap(
        ({ path: { type, value } = { type: "PathPrefix", value: "/" }, headers: wanted = [] }: Manifest) => {
          const met = wanted.every(({ name, value: said }: Manifest) => headers[name] === said);
          const score = rank(type, value, path) * 100 + wanted.length;
          return score >= 100 && met ? [{ score, backendRefs }] : [];
        },
      ),
    );
    const [best] = fits.sort((a: Manifest, b: Manifest) => b.score - a.score);
    return (best?.backendRefs ?? []).map(({ name, weight }: Manifest) => `${name} ${weight ?? 1}`).join(", ");
  }

  it("divides v1 by weight, and by header before weight", async () => {
    for (const path of V1) {
      expect(await leads(route, path)).toBe("shop-carryover 10, platform 90");
      expect(await leads(route, path, { "x-canary": "always" })).toMatch(/^shop-carryover \d+$/);
      expect(await leads(route, path, { "x-canary": "never" })).toMatch(/^platform \d+$/);
    }
    expect(await leads(route, "/sts/exchange")).toMatch(/^shop-carryover \d+$/);
  });

  it("leads v2, everything else and gRPC past carryover", async () => {
    for (const path of NOT_V1) {
      expect(await leads(route, path, { "x-canary": "always" })).toMatch(/^platform \d+$/);
      for (const type of ["application/grpc", "application/grpc+proto"]) {
        expect(await leads(route, path, { "content-type": type })).toMatch(/^platform-grpc \d+$/);
      }
    }
  });

  it("leads all of v1 to carryover when there is no platform beside it", async () => {
    const alone = { enabled: true, parentRefs: [{ name: "gateway" }] };
    for (const path of V1) expect(await leads(alone, path)).toMatch(/^shop-carryover \d+$/);
    for (const path of NOT_V1) expect(await leads(alone, path)).toBe("");
  });

  it("waits longer than carryover wherever it leads there, and repeats nothing", async () => {
    const { rules } = one(await objects({ set: { config: UPSTREAM, httpRoute: route } }), "HTTPRoute").spec;
    const toCarryover = rules.filter(({ backendRefs }: Manifest) => backendRefs[0].name === "shop-carryover");
    expect(toCarryover.length).toBeGreaterThan(0);
    for (const { timeouts, retry } of toCarryover) {
      expect(Number.parseInt(timeouts.request, 10)).toBeGreaterThan(50);
      expect(retry).toBeUndefined();
    }
  });
});
