/** The operator's descriptors: which rpcs there are, and which HTTP request each of them stands for. */

import { type DescMethod, type FileRegistry, getOption, type Message } from "@bufbuild/protobuf";
import type { RouteResult } from "../model/request.ts";
import type { Operation, Resource } from "../model/resource.ts";
import { type IncompleteFile, type LinkedFiles, linkFiles } from "./descriptor-set.ts";
import { type RpcVersion, versionOfService } from "./rpcs.ts";

/** One HTTP request that an rpc may be (`google.api.HttpRule`). */
export interface HttpBinding {
  readonly method: string;
  /** The path in parts: literal text, and variables by the path of their field. */
  readonly path: readonly (string | PathVariable)[];
  /** The field that is the body, `*` for all that the path does not name, empty for none. */
  readonly body: string;
  /** The field of the response that is the body; empty for the whole response. */
  readonly responseBody: string;
}

export interface PathVariable {
  /** Names of fields as the descriptors spell them. */
  readonly field: readonly string[];
  /** It spans segments (`=**`). */
  readonly spans: boolean;
}

export interface Rpc {
  readonly method: DescMethod;
  readonly version: RpcVersion;
  /** The first is the main one; empty where the rpc has no HTTP request. */
  readonly bindings: readonly HttpBinding[];
  /** A target that its main binding may have, and what that is an operation of. */
  readonly example: string;
  readonly route: RouteResult | undefined;
}

export interface Descriptors {
  readonly registry: FileRegistry;
  /** By path: `/SERVICE/METHOD`. */
  readonly rpcs: ReadonlyMap<string, Rpc>;
  /** Files without a service of the API that cannot be used, and why: `a.proto (needs acme.Money)`. */
  readonly leftOut: readonly string[];
}

/** What of the program is known here. */
export interface DescriptorParts {
  /** The API's domains, as packages name them. */
  readonly domains: ReadonlySet<string>;
  /** Says what a target stands for; throws for what there is not. */
  readonly route: (method: string, target: string) => RouteResult;
}

/** Throws Error, with what is wrong and what to do, for bytes that are no descriptors of the API. */
export function readDescriptors(bytes: Uint8Array, { domains, route }: DescriptorParts): Descriptors {
  const { registry, incomplete } = linked(bytes);
  const isNeeded = ({ proto }: IncompleteFile): boolean =>
    proto.service.some(({ name }) => versionOfService(`${proto.package}.${name}`, domains) !== undefined);
  const needed = incomplete.filter(isNeeded);
  if (needed.length > 0) throw new Error(missingText(needed));
  const annotation = registry.getExtension("google.api.http");
  if (annotation === undefined) {
    throw new Error("google/api/annotations.proto is not in it: write it with its imports (protoc --include_imports)");
  }
  const rpcs = new Map<string, Rpc>();
  for (const type of registry) {
    if (type.kind !== "service") continue;
    const version = versionOfService(type.typeName, domains);
    if (version === undefined) continue;
    for (const method of type.methods) {
      const bindings = bindingsOf(getOption(method, annotation) as HttpRule);
      const [main] = bindings;
      const example = main === undefined ? "" : exampleOf(main);
      const found = main === undefined ? undefined : routeOf(() => route(main.method, example));
      rpcs.set(`/${type.typeName}/${method.name}`, { method, version, bindings, example, route: found });
    }
  }
  if (rpcs.size === 0) throw new Error("no service in it belongs to the API: write it from the API's proto files");
  return { registry, rpcs, leftOut: incomplete.map(fileText) };
}

function linked(bytes: Uint8Array): LinkedFiles {
  try {
    return linkFiles(bytes);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`it is not a FileDescriptorSet (${why})`);
  }
}

/** Most names in a message. */
const NAMES = 5;

function fileText({ proto, lacks }: IncompleteFile): string {
  return `${proto.name} (needs ${lacks.slice(0, NAMES).join(", ")})`;
}

function missingText(files: readonly IncompleteFile[]): string {
  const imports = [...new Set(files.flatMap((file) => file.imports))].slice(0, NAMES);
  const shown = files.slice(0, NAMES).map(fileText).join(", ");
  const more = files.length > NAMES ? ` and ${files.length - NAMES} more` : "";
  const named = imports.length === 0 ? "" : `. Imports without a file: ${imports.join(", ")}`;
  return `types are missing: ${shown}${more}${named}. Write it with its imports (protoc --include_imports)`;
}

/** As `google/api/http.proto` declares it. */
interface HttpRule extends Message {
  readonly pattern?: {
    readonly case?: string;
    readonly value?: string | { readonly kind: string; readonly path: string };
  };
  readonly body?: string;
  readonly responseBody?: string;
  readonly additionalBindings?: readonly HttpRule[];
}

function bindingsOf(rule: HttpRule): HttpBinding[] {
  const { pattern, body = "", responseBody = "", additionalBindings = [] } = rule;
  const { value } = pattern ?? {};
  const further = additionalBindings.flatMap(bindingsOf);
  if (value === undefined || pattern?.case === undefined) return further;
  const [method, path] =
    typeof value === "string" ? [pattern.case.toUpperCase(), value] : [value.kind.toUpperCase(), value.path];
  return [{ method, path: pathOf(path), body, responseBody }, ...further];
}

/** `/iam/v1/groups/{parent=**}:verb` in parts. */
function pathOf(template: string): (string | PathVariable)[] {
  return template.split(/(\{[^}]*\})/).flatMap((part): (string | PathVariable)[] => {
    if (!part.startsWith("{")) return part === "" ? [] : [part];
    const [field = "", pattern = "*"] = part.slice(1, -1).split("=");
    return [{ field: field.split("."), spans: pattern.includes("**") }];
  });
}

function exampleOf({ path }: HttpBinding): string {
  return path.map((part) => (typeof part === "string" ? part : "x")).join("");
}

function routeOf(find: () => RouteResult): RouteResult | undefined {
  try {
    return find();
  } catch {
    return undefined;
  }
}

export interface DescriptorGaps {
  /** Unary v1 rpcs that are translated. */
  readonly translated: number;
  /** Operations for which no rpc stands: `group list`. */
  readonly operations: readonly string[];
  /** Fields of records that their messages do not have: `group.createdAt`. */
  readonly fields: readonly string[];
}

export function gapsOf({ rpcs }: Descriptors, resources: readonly Resource[]): DescriptorGaps {
  const served = new Map<Operation, ReadonlySet<string>>();
  for (const { version, route, method } of rpcs.values()) {
    if (version !== "v1" || route?.kind !== "match" || method.methodKind !== "unary") continue;
    served.set(route.match.operation, new Set(method.output.fields.map(({ jsonName }) => jsonName)));
  }
  const operations: string[] = [];
  const fields = new Set<string>();
  for (const { name, operations: all } of resources) {
    for (const operation of all) {
      const members = served.get(operation);
      // v1 had no such operation, over gRPC neither.
      const isExtension = operation.kind === "get" && operation.extension;
      if (members === undefined && operation.kind !== "native" && !isExtension)
        operations.push(`${name} ${operation.name}`);
      if (members === undefined || operation.kind !== "create") continue;
      for (const { v1 } of operation.answer.rows) {
        if (v1 !== undefined && !v1.includes(".") && !members.has(v1)) fields.add(`${name}.${v1}`);
      }
    }
  }
  return { translated: served.size, operations, fields: [...fields] };
}
