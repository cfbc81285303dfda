/**
 * Orders the files of a FileDescriptorSet so that each comes after the files it needs. Tools agree on the types in such a set, but not on
 * the rest. Go's registry lists files in any order, and under other names than their imports use. Two runs of protoc, one after the other,
 * list a file twice. So files are joined by the types that they need, and file names mean nothing.
 */
import { clone, create, createFileRegistry, type FileRegistry, fromBinary } from "@bufbuild/protobuf";
import type {
  DescriptorProto,
  EnumDescriptorProto,
  FieldDescriptorProto,
  FileDescriptorProto,
} from "@bufbuild/protobuf/wkt";
import * as wkt from "@bufbuild/protobuf/wkt";

/** A file that cannot be used. */
export interface IncompleteFile {
  readonly proto: FileDescriptorProto;
  /** Types that it needs, itself or through others, and that no file defines; with the leading dot of descriptors left out. */
  readonly lacks: readonly string[];
  /** Imports of it, and of files that it needs, that name no file of the set. */
  readonly imports: readonly string[];
}

export interface LinkedFiles {
  readonly registry: FileRegistry;
  readonly incomplete: readonly IncompleteFile[];
}

/** Types that every language brings along, and that Go's registry has only where they are used. */
const WELL_KNOWN: readonly FileDescriptorProto[] = [
  wkt.file_google_protobuf_any,
  wkt.file_google_protobuf_descriptor,
  wkt.file_google_protobuf_duration,
  wkt.file_google_protobuf_empty,
  wkt.file_google_protobuf_field_mask,
  wkt.file_google_protobuf_struct,
  wkt.file_google_protobuf_timestamp,
  wkt.file_google_protobuf_wrappers,
].map(({ proto }) => proto);

interface FileNode {
  readonly proto: FileDescriptorProto;
  readonly needs: ReadonlySet<string>;
  state: "new" | "visiting" | "complete" | "incomplete";
  readonly lacks: Set<string>;
  readonly imports: Set<string>;
  readonly dependencies: Set<FileNode>;
}

/** Throws Error if `bytes` are not a FileDescriptorSet. */
export function linkFiles(bytes: Uint8Array): LinkedFiles {
  const { file: given } = fromBinary(wkt.FileDescriptorSetSchema, bytes);
  const ownerOf = new Map<string, FileNode>();
  const nodes: FileNode[] = [];
  for (const proto of [...given, ...WELL_KNOWN]) {
    const defines = new Set<string>();
    const needs = new Set<string>();
    collect(proto, defines, needs);
    const isKnown = [...defines].every((name) => ownerOf.has(name));
    if (defines.size > 0 && isKnown) continue;
    const node: FileNode = {
      ...{ proto, needs, state: "new", lacks: new Set(), imports: new Set(), dependencies: new Set() },
    };
    for (const name of defines) if (!ownerOf.has(name)) ownerOf.set(name, node);
    nodes.push(node);
  }
  const names = new Set(given.map(({ name }) => name));
  const ordered: FileNode[] = [];
  for (const node of nodes) visit(node, ownerOf, names, ordered);
  return {
    registry: createFileRegistry(create(wkt.FileDescriptorSetSchema, { file: renamed(ordered) })),
    incomplete: nodes
      .filter(({ state }) => state === "incomplete")
      .map(({ proto, lacks, imports }) => ({ proto, lacks: [...lacks], imports: [...imports] })),
  };
}

/** Adds `node` to `ordered`, after all files that it needs; not if a type is missing. */
function visit(
  node: FileNode,
  ownerOf: ReadonlyMap<string, FileNode>,
  names: ReadonlySet<string>,
  ordered: FileNode[],
): void {
  if (node.state !== "new") return;
  node.state = "visiting";
  for (const name of node.needs) {
    const owner = ownerOf.get(name);
    if (owner === undefined) node.lacks.add(name);
    else if (owner !== node) {
      visit(owner, ownerOf, names, ordered);
      node.dependencies.add(owner);
      for (const lacking of owner.lacks) node.lacks.add(lacking);
      for (const missing of owner.imports) node.imports.add(missing);
    }
  }
  if (node.lacks.size === 0) {
    node.state = "complete";
    ordered.push(node);
    return;
  }
  node.state = "incomplete";
  for (const name of node.proto.dependency) if (!names.has(name)) node.imports.add(name);
}

/** Copies with names of their own, and the imports that the types ask for. */
function renamed(nodes: readonly FileNode[]): FileDescriptorProto[] {
  const nameOf = new Map<FileNode, string>();
  const taken = new Set<string>();
  return nodes.map((node, index) => {
    const { name } = node.proto;
    const own = taken.has(name) ? `${index}/${name}` : name;
    taken.add(own);
    nameOf.set(node, own);
    const dependency = [...node.dependencies].map((other) => nameOf.get(other) ?? "");
    const changes = { name: own, dependency, publicDependency: [], weakDependency: [] };
    return Object.assign(clone(wkt.FileDescriptorProtoSchema, node.proto), changes);
  });
}

/** Notes the full names of what a file defines, and of the types that it needs. */
function collect(proto: FileDescriptorProto, defines: Set<string>, needs: Set<string>): void {
  const prefix = proto.package === "" ? "" : `${proto.package}.`;
  const need = (name: string): void => {
    if (name !== "") needs.add(name.replace(/^\./, ""));
  };
  const addFields = (fields: readonly FieldDescriptorProto[]): void => {
    for (const { typeName, extendee } of fields) {
      need(typeName);
      need(extendee);
    }
  };
  const addEnums = (enums: readonly EnumDescriptorProto[], scope: string): void => {
    for (const { name } of enums) defines.add(scope + name);
  };
  const addExtensions = (extensions: readonly FieldDescriptorProto[], scope: string): void => {
    for (const { name } of extensions) defines.add(scope + name);
    addFields(extensions);
  };
  const addMessages = (messages: readonly DescriptorProto[], scope: string): void => {
    for (const { name, field, nestedType, enumType, extension } of messages) {
      const own = `${scope}${name}`;
      defines.add(own);
      addFields(field);
      addMessages(nestedType, `${own}.`);
      addEnums(enumType, `${own}.`);
      addExtensions(extension, `${own}.`);
    }
  };
  addMessages(proto.messageType, prefix);
  addEnums(proto.enumType, prefix);
  addExtensions(proto.extension, prefix);
  for (const { name, method } of proto.service) {
    defines.add(prefix + name);
    for (const { inputType, outputType } of method) {
      need(inputType);
      need(outputType);
    }
  }
}
