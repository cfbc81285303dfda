import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { z } from "zod";

const FOLDER = resolve(import.meta.dirname, "../../docs/ingress/kubernetes");

function documents<T>(file: string, form: z.ZodType<T>): T[] {
  return parseAllDocuments(readFileSync(join(FOLDER, file), "utf8")).map((document) => {
    expect([document.errors, document.warnings]).toEqual([[], []]);
    return form.parse(document.toJS());
  });
}

const NAME = z.string().regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);
const PORT = z.number().int().min(1).max(65535);
const PATH = z.string().regex(/^\//);

const HTTP_ROUTE = z.strictObject({
  apiVersion: z.literal("gateway.networking.k8s.io/v1"),
  kind: z.literal("HTTPRoute"),
  metadata: z.strictObject({ name: NAME }),
  spec: z.strictObject({
    parentRefs: z.array(z.strictObject({ name: NAME })).min(1),
    hostnames: z.array(z.string()).min(1),
    rules: z
      .array(
        z.strictObject({
          matches: z
            .array(
              z.strictObject({
                path: z.strictObject({ type: z.enum(["Exact", "PathPrefix"]), value: PATH }),
                headers: z.array(z.strictObject({ name: z.string(), value: z.string() })).optional(),
              }),
            )
            .min(1)
            .max(64),
          timeouts: z.strictObject({ request: z.string().regex(/^\d+s$/) }).optional(),
          backendRefs: z.array(z.strictObject({ name: NAME, port: PORT, weight: z.number().optional() })).min(1),
        }),
      )
      .max(16),
  }),
});

const INGRESS = z.strictObject({
  apiVersion: z.literal("networking.k8s.io/v1"),
  kind: z.literal("Ingress"),
  metadata: z.strictObject({
    name: NAME,
    // Whatever an annotation says is a string; the API server refuses numbers and booleans.
    annotations: z.record(z.string().regex(/^nginx\.ingress\.kubernetes\.io\/[a-z-]+$/), z.string()),
  }),
  spec: z.strictObject({
    ingressClassName: z.literal("nginx"),
    rules: z
      .array(
        z.strictObject({
          host: z.string(),
          http: z.strictObject({
            paths: z.array(
              z.strictObject({
                path: PATH,
                pathType: z.enum(["Exact", "Prefix"]),
                backend: z.strictObject({
                  service: z.strictObject({ name: NAME, port: z.strictObject({ number: PORT }) }),
                }),
              }),
            ),
          }),
        }),
      )
      .length(1),
  }),
});

/** Both APIs: whole segments, an exact path before a prefix, a longer prefix before a shorter one. 0: does not match. */
function rank(type: string, value: string, path: string): number {
  if (type === "Exact") return path === value ? 1_000 : 0;
  const prefix = value.endsWith("/") ? value : `${value}/`;
  return `${path}/`.startsWith(prefix) ? value.length : 0;
}

const V1 = ["/iam/v1/groups", "/iam/v1/groups/a/b", "/registry/v1/repos", "/vulnerabilities/v1/advisories"];
const NOT_V1 = ["/", "/iam/v2beta1/groups", "/iam/v10/groups", "/events/v1/subscriptions", "/x/iam/v1/groups"];

describe("httproute.yaml", () => {
  const [route, ...more] = documents("httproute.yaml", HTTP_ROUTE);

  /** The backends of the rule that the API says matches best, with their weights. */
  function backends(path: string, headers: Readonly<Record<string, string>> = {}): string {
    const fits = (route?.spec.rules ?? []).flatMap(({ matches, backendRefs }) =>
      matches.flatMap((match) => {
        const wanted = match.headers ?? [];
        const score = rank(match.path.type, match.path.value, path) * 100 + wanted.length;
        const met = wanted.every(({ name, value }) => headers[name] === value);
        return score >= 100 && met ? [{ score, backendRefs }] : [];
      }),
    );
    const [best] = fits.toSorted((a, b) => b.score - a.score);
    return (best?.backendRefs ?? [])
      .map(({ name, port, weight }) => `${name}:${port}${weight === undefined ? "" : ` by ${weight}`}`)
      .join(", ");
  }

  it("is one route", () => expect([route?.metadata.name, more]).toEqual(["api", []]));

  it("sends v1 by weight, and by header before weight", () => {
    for (const path of V1) {
      expect(backends(path)).toBe("carryover:8080 by 10, platform:80 by 90");
      expect(backends(path, { "x-canary": "always" })).toBe("carryover:8080");
      expect(backends(path, { "x-canary": "never" })).toBe("platform:80");
    }
    expect(backends("/sts/exchange")).toBe("carryover:8080");
  });

  it("sends gRPC to carryover's port for it, v2 and everything else past carryover", () => {
    for (const path of NOT_V1) {
      expect(backends(path, { "x-canary": "always" })).toBe("platform:80");
      expect(backends(path, { "content-type": "application/grpc" })).toBe("carryover:8082");
      expect(backends(path, { "content-type": "application/grpc+proto" })).toBe("carryover:8082");
    }
  });

  it("waits longer than carryover, wherever it waits at all", () => {
    const waits = (route?.spec.rules ?? []).flatMap(({ timeouts }) =>
      timeouts === undefined ? [] : [timeouts.request],
    );
    expect(new Set(waits)).toEqual(new Set(["60s"]));
  });
});

describe("ingress.yaml", () => {
  const [main, canary, ...more] = documents("ingress.yaml", INGRESS);

  function service(of: typeof main, path: string): string | undefined {
    const paths = of?.spec.rules[0]?.http.paths ?? [];
    const ranked = paths.map((one) => ({ ...one, score: rank(one.pathType, one.path, path) }));
    const [best] = ranked.filter(({ score }) => score > 0).toSorted((a, b) => b.score - a.score);
    return best?.backend.service.name;
  }

  it("is the ingress and its canary, for the same host", () => {
    expect([main?.metadata.name, canary?.metadata.name, more]).toEqual(["api", "api-carryover", []]);
    expect(canary?.spec.rules[0]?.host).toBe(main?.spec.rules[0]?.host);
  });

  it("has a canary through carryover for v1, by weight and by header, and for nothing else", () => {
    const said = Object.entries(canary?.metadata.annotations ?? {}).map(
      ([name, value]) => `${name.split("/")[1]}: ${value}`,
    );
    expect(said).toEqual(expect.arrayContaining(["canary: true", "canary-by-header: x-canary", "canary-weight: 10"]));
    for (const path of V1) expect([service(main, path), service(canary, path)]).toEqual(["platform", "carryover"]);
    for (const path of NOT_V1) expect([service(main, path), service(canary, path)]).toEqual(["platform", undefined]);
    expect(service(main, "/sts/exchange")).toBe("carryover");
  });

  it("has a main path for each path of the canary, or it would not count", () => {
    const paths = (of: typeof main) => of?.spec.rules[0]?.http.paths.map(({ path }) => path) ?? [];
    expect(paths(main)).toEqual(expect.arrayContaining(paths(canary)));
  });

  it("streams, repeats nothing and waits longer than carryover in both", () => {
    for (const { metadata } of [main, canary].filter((one) => one !== undefined)) {
      expect(metadata.annotations).toMatchObject({
        "nginx.ingress.kubernetes.io/proxy-buffering": "off",
        "nginx.ingress.kubernetes.io/proxy-next-upstream": "off",
        "nginx.ingress.kubernetes.io/proxy-read-timeout": "60",
      });
    }
  });
});
