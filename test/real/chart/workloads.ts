/** Finds the pods of a rendering, and the objects that select them. */
import { expect } from "vitest";
import type { Manifest } from "./chart.ts";

export interface Workload {
  readonly object: Manifest;
  /** `Deployment shop-carryover`. */
  readonly what: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly pod: Manifest;
}

const WITH_TEMPLATE = ["Deployment", "StatefulSet", "DaemonSet", "Job", "ReplicaSet"];

export const whatIs = (object: Manifest): string => `${object.kind} ${object.metadata.name}`;

export function workloads(objects: readonly Manifest[]): readonly Workload[] {
  return objects.flatMap((object): Workload[] => {
    if (object.kind === "Pod") {
      return [{ object, what: whatIs(object), labels: object.metadata.labels ?? {}, pod: object.spec }];
    }
    if (!WITH_TEMPLATE.includes(object.kind)) return [];
    const { metadata, spec } = object.spec.template;
    // A StatefulSet gives its pods a volume for each claim that it makes.
    const claims = (object.spec.volumeClaimTemplates ?? []).map((claim: Manifest) => ({
      name: claim.metadata.name,
      claimTemplate: claim.spec,
    }));
    const pod = { ...spec, volumes: [...(spec.volumes ?? []), ...claims] };
    return [{ object, what: whatIs(object), labels: metadata?.labels ?? {}, pod }];
  });
}

/** The Deployment or StatefulSet of carryover itself: the only workload that clients' requests reach. */
export function proxyOf(objects: readonly Manifest[]): Workload & { readonly container: Manifest } {
  const found = workloads(objects).flatMap((workload) => {
    const container = workload.pod.containers.find(
      ({ args = [], ports = [] }: Manifest) =>
        !args.includes("sandbox") && ports.some(({ name }: Manifest) => name === "admin"),
    );
    return ["Deployment", "StatefulSet"].includes(workload.object.kind) && container !== undefined
      ? [{ ...workload, container }]
      : [];
  });
  expect(found.map(({ what }) => what)).toHaveLength(1);
  const [proxy] = found;
  if (proxy === undefined) throw new Error("unreachable");
  return proxy;
}

export const containersOf = ({ pod }: Workload): readonly Manifest[] => [
  ...(pod.initContainers ?? []),
  ...pod.containers,
];

/** Does a selector of `matchLabels` (or the bare map of a Service) take what has these labels? An empty one takes everything. */
export function takes(selector: Manifest, labels: Readonly<Record<string, string>>): boolean {
  const wanted: Record<string, string> = selector.matchLabels ?? (selector.matchExpressions ? {} : selector);
  const met = (selector.matchExpressions ?? []).every(({ key, operator, values = [] }: Manifest) => {
    const has = Object.hasOwn(labels, key);
    if (operator === "Exists") return has;
    if (operator === "DoesNotExist") return !has;
    return values.includes(labels[key] ?? "") === (operator === "In");
  });
  return met && Object.entries(wanted).every(([key, value]) => labels[key] === value);
}

/** Every string anywhere in a value. */
export function stringsIn(value: unknown): ReadonlySet<string> {
  if (typeof value === "string") return new Set([value]);
  if (typeof value !== "object" || value === null) return new Set();
  return new Set(Object.values(value).flatMap((inner) => [...stringsIn(inner)]));
}
