import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { chart, ciValues, objectsIn, rendered } from "./chart.ts";
import { ran, releases, SCHEMAS, tool } from "./tools.ts";

const RECIPES = resolve(import.meta.dirname, "../../../docs/ingress/kubernetes");
/** What the text of one is called here. */
const recipe = (file: string): string => `recipe ${basename(file, ".yaml")}`;

/** The oldest release that the chart says it is for, and the newest that there are schemas of. */
const OLDEST = /^>=\s*(\d+\.\d+\.\d+)/.exec(chart().kubeVersion)?.[1] ?? "none";
const NEWEST = releases().at(-1) ?? "none";

/** What kubeconform says of one file. */
interface Verdict {
  readonly faults: string[];
  valid: number;
}

/** Judges all texts in one run, which reads each schema once. Both maps are by the names of the texts. */
async function judged(texts: ReadonlyMap<string, string>, kubernetes: string): Promise<ReadonlyMap<string, Verdict>> {
  const folder = mkdtempSync(join(tmpdir(), "schemas-"));
  try {
    for (const [name, text] of texts) writeFileSync(join(folder, `${name}.yaml`), text);
    const { out, err } = await ran(tool("kubeconform"), [
      ...["-strict", "-verbose", "-output", "json", "-kubernetes-version", kubernetes],
      ...["-schema-location", join(SCHEMAS, "{{.NormalizedKubernetesVersion}}/{{.ResourceKind}}{{.KindSuffix}}.json")],
      ...["-schema-location", join(SCHEMAS, "crds/{{.ResourceKind}}-{{.Group}}-{{.ResourceAPIVersion}}.json"), folder],
    ]);
    if (err !== "") throw new Error(err);
    const verdicts = new Map<string, Verdict>([...texts.keys()].map((name) => [name, { faults: [], valid: 0 }]));
    for (const { filename, kind, name, status, msg } of JSON.parse(out).resources) {
      const verdict = verdicts.get(basename(filename, ".yaml")) as Verdict;
      if (status === "statusValid") verdict.valid++;
      else verdict.faults.push(`${kind} ${name}: ${status} ${msg}`);
    }
    return verdicts;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("the chart", () => {
  it("is for a release of Kubernetes that there are schemas of", () => {
    expect(releases()).toEqual(expect.arrayContaining([OLDEST, NEWEST]));
  });
});

describe.each([OLDEST, NEWEST])("Kubernetes %s", (kubernetes) => {
  const texts = new Map<string, string>();
  let verdicts: ReadonlyMap<string, Verdict>;

  beforeAll(async () => {
    for (const { name, path } of ciValues()) texts.set(name, await rendered({ values: path, kubernetes }));
    for (const file of readdirSync(RECIPES)) texts.set(recipe(file), readFileSync(join(RECIPES, file), "utf8"));
    texts.set("unknown field", (texts.get("minimal") ?? "").replace(/^( +)containers:$/m, "$1containerz:"));
    verdicts = await judged(texts, kubernetes);
  });

  it.each([...ciValues().map(({ name }) => name), ...readdirSync(RECIPES).map(recipe)])(
    "takes every object of %s",
    (name) => {
      const objects = objectsIn(texts.get(name) ?? "").length;
      expect(objects).toBeGreaterThan(0);
      expect(verdicts.get(name)).toEqual({ faults: [], valid: objects });
    },
  );

  it("refuses a field that no object has, so that the above says something", () => {
    expect(verdicts.get("unknown field")?.faults).toEqual([expect.stringContaining("containerz")]);
  });
});
