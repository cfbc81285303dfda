/** Renders the chart with given values. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { CACHE, type Outcome, ran, tool } from "./tools.ts";

export const CHART = resolve(import.meta.dirname, "../../../helm");
const CI = join(CHART, "ci");

// biome-ignore lint/suspicious/noExplicitAny: manifests have every shape; tests look into them.
export type Manifest = any;

/** helm keeps what it remembers in a folder of the tests' own, so that a person's settings say nothing here. */
export const HELM_ENV = {
  HELM_CACHE_HOME: join(CACHE, "helm/cache"),
  HELM_CONFIG_HOME: join(CACHE, "helm/config"),
  HELM_DATA_HOME: join(CACHE, "helm/data"),
};

export interface Values {
  readonly name: string;
  readonly path: string;
}

/** Each file of values that the chart is tried with, in `helm/ci`. */
export function ciValues(): readonly Values[] {
  const names = readdirSync(CI).filter((name) => name.endsWith("-values.yaml"));
  if (names.length === 0) throw new Error(`${CI} holds no *-values.yaml`);
  return names.sort().map((name) => ({ name: name.slice(0, -"-values.yaml".length), path: join(CI, name) }));
}

/** Chart.yaml. */
export function chart(): Manifest {
  return parse(readFileSync(join(CHART, "Chart.yaml"), "utf8"));
}

/** Every API that the chart may ask a cluster for. */
const APIS = [
  "monitoring.coreos.com/v1",
  "monitoring.coreos.com/v1/ServiceMonitor",
  "monitoring.coreos.com/v1/PodMonitor",
  "monitoring.coreos.com/v1/PrometheusRule",
  "gateway.networking.k8s.io/v1",
  "gateway.networking.k8s.io/v1/HTTPRoute",
  "gateway.networking.k8s.io/v1/GRPCRoute",
];

export interface Rendering {
  readonly release?: string;
  readonly namespace?: string;
  /** The release of Kubernetes to render for; helm's own when left out. */
  readonly kubernetes?: string;
  /** The file of values; only the chart's own when left out. */
  readonly values?: string;
  /** Further values, over those of the file. */
  readonly set?: Readonly<Record<string, unknown>>;
}

export const RELEASE = "shop";
export const NAMESPACE = "apis";

/** Runs `helm template`, whatever comes of it. */
export function template(rendering: Rendering = {}): Promise<Outcome> {
  const { release = RELEASE, namespace = NAMESPACE, kubernetes, values, set } = rendering;
  const argv = ["template", release, CHART, "--namespace", namespace];
  for (const api of APIS) argv.push("--api-versions", api);
  if (kubernetes !== undefined) argv.push("--kube-version", kubernetes);
  if (values !== undefined) argv.push("--values", values);
  if (set !== undefined) argv.push("--values", "-");
  return ran(tool("helm"), argv, { env: HELM_ENV, input: set === undefined ? "" : JSON.stringify(set) });
}

/** The text that `helm template` renders; throws what helm says when it refuses. */
export async function rendered(rendering: Rendering = {}): Promise<string> {
  const { code, out, err } = await template(rendering);
  if (code !== 0) throw new Error(`helm refuses ${rendering.values ?? "the chart's values"}:\n${err}`);
  return out;
}

/** The objects in a text of several documents. Throws for a key that is there twice, as the API server would. */
export function objectsIn(text: string): readonly Manifest[] {
  return parseAllDocuments(text, { uniqueKeys: true }).flatMap((document) => {
    const [fault] = [...document.errors, ...document.warnings];
    if (fault !== undefined) throw new Error(`not YAML: ${fault.message}`);
    const object: Manifest = document.toJS();
    return object === null ? [] : [object];
  });
}

export async function objects(rendering: Rendering = {}): Promise<readonly Manifest[]> {
  return objectsIn(await rendered(rendering));
}

/** The only object of that kind; throws unless there is just one. */
export function one(of: readonly Manifest[], kind: string, fits: (object: Manifest) => boolean = () => true): Manifest {
  const found = of.filter((object) => object.kind === kind && fits(object));
  if (found.length === 1) return found[0];
  throw new Error(`there are ${found.length} of kind ${kind}, not one`);
}
