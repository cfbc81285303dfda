/** What a container finds in its environment and files when kubelet starts it from the given objects. */
import { posix } from "node:path";
import type { Manifest } from "./chart.ts";

export interface Seen {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** By absolute path in the container. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** What is mounted where, with the files of each. Those that can change while the container runs are `live`. */
  readonly mounts: readonly Mount[];
}

export interface Mount {
  readonly path: string;
  readonly readOnly: boolean;
  readonly live: boolean;
  readonly kind: "files" | "empty" | "claim";
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** The objects that a pod may refer to. Gives undefined for what is not there. */
export type Find = (kind: string, name: string) => Manifest | undefined;

export function finderIn(objects: readonly Manifest[]): Find {
  const all = new Map(objects.map((object) => [`${object.kind}/${object.metadata.name}`, object]));
  return (kind, name) => all.get(`${kind}/${name}`);
}

/** Data of a ConfigMap or a Secret, as bytes. */
function dataOf(object: Manifest): ReadonlyMap<string, Uint8Array> {
  const text = (key: string) => Object.entries<string>(object[key] ?? {});
  const encoded = object.kind === "Secret" ? text("data") : text("binaryData");
  const plain = object.kind === "Secret" ? text("stringData") : text("data");
  const data = new Map<string, Uint8Array>();
  for (const [key, value] of encoded) data.set(key, Buffer.from(value, "base64"));
  for (const [key, value] of plain) data.set(key, Buffer.from(value));
  return data;
}

interface Source {
  readonly kind: "ConfigMap" | "Secret";
  readonly name: string;
  readonly optional?: boolean;
  readonly items?: readonly { readonly key: string; readonly path: string }[];
}

function filesOf(source: Source, find: Find, where: string): ReadonlyMap<string, Uint8Array> {
  const object = find(source.kind, source.name);
  if (object === undefined) {
    if (source.optional === true) return new Map();
    throw new Error(`${where} wants the ${source.kind} ${source.name}, which is not there`);
  }
  const data = dataOf(object);
  if (source.items === undefined) return data;
  const files = new Map<string, Uint8Array>();
  for (const { key, path } of source.items) {
    const value = data.get(key);
    if (value === undefined && source.optional !== true)
      throw new Error(`${where} wants ${key} of the ${source.kind} ${source.name}, which has ${[...data.keys()]}`);
    if (value !== undefined) files.set(path, value);
  }
  return files;
}

function sourcesOf(volume: Manifest): readonly Source[] {
  const of = ({ configMap, secret }: Manifest): Source[] => {
    if (configMap !== undefined) return [{ ...configMap, kind: "ConfigMap" }];
    if (secret !== undefined) return [{ ...secret, kind: "Secret", name: secret.secretName ?? secret.name }];
    return [];
  };
  return volume.projected === undefined ? of(volume) : volume.projected.sources.flatMap(of);
}

function mountOf(mount: Manifest, pod: Manifest, find: Find): Mount {
  const where = `the mount ${mount.mountPath}`;
  const volume = (pod.volumes ?? []).find(({ name }: Manifest) => name === mount.name);
  if (volume === undefined) throw new Error(`${where} wants the volume ${mount.name}, which is not there`);
  const rest = { path: mount.mountPath, readOnly: mount.readOnly === true };
  if (volume.emptyDir !== undefined) return { ...rest, kind: "empty", live: false, files: new Map() };
  if (volume.persistentVolumeClaim !== undefined || volume.claimTemplate !== undefined)
    return { ...rest, kind: "claim", live: false, files: new Map() };
  const files = new Map(sourcesOf(volume).flatMap((source) => [...filesOf(source, find, where)]));
  if (mount.subPath === undefined) return { ...rest, kind: "files", live: true, files };
  // kubelet never changes what is mounted by subPath.
  const single = files.get(mount.subPath);
  if (single === undefined) throw new Error(`${where} wants ${mount.subPath} of the volume ${mount.name}`);
  return { ...rest, kind: "files", live: false, files: new Map([["", single]]) };
}

/** Names as kubelet makes them of Services: `my-api` is MY_API. */
function linksTo(service: Manifest): [string, string][] {
  const prefix = service.metadata.name.toUpperCase().replaceAll("-", "_");
  const address = service.spec.clusterIP ?? "10.96.0.10";
  const ports: Manifest[] = service.spec.ports ?? [];
  if (address === "None" || ports[0] === undefined) return [];
  const first = ports[0].port;
  return [
    [`${prefix}_SERVICE_HOST`, address],
    [`${prefix}_SERVICE_PORT`, String(first)],
    [`${prefix}_PORT`, `tcp://${address}:${first}`],
    ...ports.flatMap(({ name, port }): [string, string][] => [
      ...(name === undefined
        ? []
        : ([[`${prefix}_SERVICE_PORT_${name.toUpperCase().replaceAll("-", "_")}`, String(port)]] as [
            string,
            string,
          ][])),
      [`${prefix}_PORT_${port}_TCP`, `tcp://${address}:${port}`],
      [`${prefix}_PORT_${port}_TCP_ADDR`, address],
      [`${prefix}_PORT_${port}_TCP_PORT`, String(port)],
      [`${prefix}_PORT_${port}_TCP_PROTO`, "tcp"],
    ]),
  ];
}

/** What the downward API would say; the fields that a chart may ask for. */
const FIELDS: ReadonlyMap<string, string> = new Map([
  ["metadata.name", "shop-carryover-0"],
  ["metadata.namespace", "legacy"],
  ["metadata.uid", "2f0d0c6e-0000-4000-8000-000000000000"],
  ["spec.nodeName", "node-1"],
  ["status.podIP", "10.0.0.7"],
  ["status.hostIP", "10.0.0.1"],
]);

function textOf(entry: Manifest, find: Find): string | undefined {
  if (entry.valueFrom === undefined) return entry.value ?? "";
  const { configMapKeyRef, secretKeyRef, fieldRef, resourceFieldRef } = entry.valueFrom;
  if (resourceFieldRef !== undefined) return "1";
  if (fieldRef !== undefined) {
    const value = FIELDS.get(fieldRef.fieldPath);
    if (value === undefined) throw new Error(`${entry.name} wants the field ${fieldRef.fieldPath}`);
    return value;
  }
  const reference = configMapKeyRef ?? secretKeyRef;
  const kind = configMapKeyRef === undefined ? "Secret" : "ConfigMap";
  const items = [{ key: reference.key, path: "value" }];
  const files = filesOf({ ...reference, kind, items }, find, `the variable ${entry.name}`);
  const value = files.get("value");
  return value === undefined ? undefined : new TextDecoder().decode(value);
}

function envOf(container: Manifest, pod: Manifest, find: Find, services: readonly Manifest[]): Record<string, string> {
  const env = new Map<string, string>();
  if (pod.enableServiceLinks !== false) {
    for (const service of services) for (const [name, value] of linksTo(service)) env.set(name, value);
  }
  for (const { prefix = "", configMapRef, secretRef } of container.envFrom ?? []) {
    const source = configMapRef ?? secretRef;
    const kind = configMapRef === undefined ? "Secret" : "ConfigMap";
    for (const [key, value] of filesOf({ ...source, kind }, find, "envFrom")) {
      env.set(`${prefix}${key}`, new TextDecoder().decode(value));
    }
  }
  for (const entry of container.env ?? []) {
    const value = textOf(entry, find);
    // $(NAME) is filled in from what stands before it; $$ is a dollar.
    const known = (text: string) =>
      text.replaceAll(/\$\$|\$\(([^)]+)\)/g, (whole, name) => (name === undefined ? "$" : (env.get(name) ?? whole)));
    if (value !== undefined) env.set(entry.name, entry.valueFrom === undefined ? known(value) : value);
  }
  return Object.fromEntries(env);
}

/** Throws for what kubelet would not start: a reference to what is not there, unless it is optional. */
export function seenBy(container: Manifest, pod: Manifest, find: Find, services: readonly Manifest[] = []): Seen {
  const mounts: Mount[] = (container.volumeMounts ?? []).map((mount: Manifest) => mountOf(mount, pod, find));
  const files = mounts.flatMap(({ path, files: below }) =>
    [...below].map(([name, bytes]): [string, Uint8Array] => [name === "" ? path : posix.join(path, name), bytes]),
  );
  return {
    argv: [...(container.args ?? [])],
    env: envOf(container, pod, find, services),
    files: new Map(files),
    mounts,
  };
}
