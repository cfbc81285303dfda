/** Is everything that the chart renders valid by the schemas of Kubernetes and of the custom resources? */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { chart, ciValues, objectsIn, rendered } from "./chart.ts";
import { ran, releases, SCHEMAS, tool } from "./tools.ts";

const RECIPES = resolve(import.meta.dirname, "../../docs/ingress/kubernetes");

/** The oldest release that the chart says it is for, and the newest that there are schemas of. */
const OLDEST = /^>=\s*(\d+\.\d+\.\d+)/.exec(chart().kubeVersion)?.[1] ?? "none";
const NEWEST = releases().at(-1) ?? "none";

interface Verdict {
  readonly code: number | null;
  readonly faults: readonly string[];
  readonly valid: number;
}

async function judged(text: string, kubernetes: string): Promise<Verdict> {
  const { code, out, err } = await ran(
    tool("kubeconform"),
    [
      ...["-strict", "-summary", "-output", "json", "-kubernetes-version", kubernetes],
      ...["-schema-location", join(SCHEMAS, "{{.NormalizedKubernetesVersion}}/{{.ResourceKind}}{{.KindSuffix}}.json")],
      ...["-schema-location", join(SCHEMAS, "crds/{{.ResourceKind}}-{{.Group}}-{{.ResourceAPIVersion}}.json")],
    ],
    { input: text },
  );
  if (err !== "") throw new Error(err);
  const { resources, summary } = JSON.parse(out);
  const faults = resources.map(({ kind, name, msg }: Record<string, string>) => `${kind} ${name}: ${msg}`);
  return { code, faults, valid: summary.valid };
}

describe("the chart", () => {
  it("is for a release of Kubernetes that there are schemas of", () => {
    expect(releases()).toEqual(expect.arrayContaining([OLDEST, NEWEST]));
  });
});

describe.each([OLDEST, NEWEST])("Kubernetes %s", (kubernetes) => {
  it.each(ciValues())("takes every object of $name", async ({ path }) => {
    const text = await rendered({ values: path, kubernetes });
    const { code, faults, valid } = await judged(text, kubernetes);
    expect(faults).toEqual([]);
    expect([code, valid]).toEqual([0, objectsIn(text).length]);
  });

  it.each(readdirSync(RECIPES))("takes every object of docs/ingress/kubernetes/%s", async (name) => {
    const text = readFileSync(join(RECIPES, name), "utf8");
    expect(await judged(text, kubernetes)).toEqual({ code: 0, faults: [], valid: objectsIn(text).length });
  });

  it("refuses a field that no object has, so that the above says something", async () => {
    const [{ path } = { path: "" }] = ciValues();
    const text = (await rendered({ values: path, kubernetes })).replace(/^( +)containers:$/m, "$1containerz:");
    expect((await judged(text, kubernetes)).faults).toEqual([expect.stringContaining("containerz")]);
  });
});
