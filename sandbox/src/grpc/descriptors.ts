/** The descriptors of all services and messages, made from the notation of the data files: what `protoc` would make of .proto files. */
import {
  create,
  createFileRegistry,
  type FileRegistry,
  type MessageInitShape,
  setExtension,
  toBinary,
} from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  DescriptorProtoSchema,
  type EnumDescriptorProto,
  EnumDescriptorProtoSchema,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldDescriptorProtoSchema,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  file_google_protobuf_any,
  file_google_protobuf_descriptor,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_timestamp,
  MethodOptionsSchema,
  type ServiceDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";
import { GRPC_MESSAGES } from "../data/grpc-messages.ts";
import { V1_MESSAGES } from "../data/v1-messages.ts";
import { V1_RPCS } from "../data/v1-rpcs.ts";
import { V2_MESSAGES } from "../data/v2-messages.ts";
import { V2_RPCS } from "../data/v2-rpcs.ts";
import {
  type EnumTable,
  type Field,
  type FieldType,
  type Message,
  parseSchema,
  type Rpc,
  type Schema,
  type Service,
  V2,
} from "../wire/schema.ts";

type MessageInit = MessageInitShape<typeof DescriptorProtoSchema>;
type FieldInit = MessageInitShape<typeof FieldDescriptorProtoSchema>;
type FileInit = MessageInitShape<typeof FileDescriptorProtoSchema>;
type ServiceInit = MessageInitShape<typeof ServiceDescriptorProtoSchema>;

const Type = FieldDescriptorProto_Type;
const Label = FieldDescriptorProto_Label;

/** The name of the option that holds an rpc's HTTP rule. */
const HTTP_RULE = "google.api.http";

/** Messages that every protobuf library brings along, by what the notation calls them. */
const WELL_KNOWN: ReadonlyMap<string, string> = new Map([
  ["timestamp", "google.protobuf.Timestamp"],
  ["duration", "google.protobuf.Duration"],
  ["mask", "google.protobuf.FieldMask"],
  ["empty", "google.protobuf.Empty"],
  ["any", "google.protobuf.Any"],
]);
const WELL_KNOWN_FILES = [
  file_google_protobuf_descriptor,
  file_google_protobuf_any,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_timestamp,
].map((file) => file.proto);

const SCALAR_TYPES: ReadonlyMap<string, FieldDescriptorProto_Type> = new Map([
  ["string", Type.STRING],
  ["bool", Type.BOOL],
  ["int32", Type.INT32],
  ["uint32", Type.UINT32],
  ["int64", Type.INT64],
  ["bytes", Type.BYTES],
]);

export interface Descriptors {
  /** A FileDescriptorSet with all imports, as `protoc --include_imports` and `buf build` write it. */
  readonly bytes: Uint8Array;
  readonly registry: FileRegistry;
}

/** The descriptors of both faces, of which v2 has the version `version` in its packages and paths. */
export function createDescriptors(version: string): Descriptors {
  const grpc = filesOf(parseSchema(GRPC_MESSAGES), undefined);
  const api = fileNamed(grpc, "google.api");
  api.dependency.push("google/protobuf/descriptor.proto");
  api.extension.push(
    create(FieldDescriptorProtoSchema, {
      name: "http",
      jsonName: "http",
      number: 72295728,
      label: Label.OPTIONAL,
      extendee: ".google.protobuf.MethodOptions",
      type: Type.MESSAGE,
      typeName: ".google.api.HttpRule",
    }),
  );
  const first = registryOf([...WELL_KNOWN_FILES, ...grpc]);
  const v1 = filesOf(parseSchema(V1_MESSAGES + V1_RPCS.slice(1)), first);
  const v2Text = (V2_MESSAGES + V2_RPCS.slice(1)).replaceAll("v2beta1", version);
  const v2 = filesOf(parseSchema(v2Text, new Map([["Capability", V2.enumTable("Capability")]])), first);
  // Messages that both faces share have one package of their own.
  const names = new Set(v1.map((file) => file.name));
  const files = [...WELL_KNOWN_FILES, ...grpc, ...v1, ...v2.filter((file) => !names.has(file.name))];
  const set = create(FileDescriptorSetSchema, { file: importsFirst(files) });
  return { bytes: toBinary(FileDescriptorSetSchema, set), registry: createFileRegistry(set) };
}

function registryOf(files: readonly FileDescriptorProto[]): FileRegistry {
  return createFileRegistry(create(FileDescriptorSetSchema, { file: importsFirst(files) }));
}

/** The files, each after those that it imports. */
function importsFirst(files: readonly FileDescriptorProto[]): FileDescriptorProto[] {
  const out = new Set<FileDescriptorProto>();
  const add = (file: FileDescriptorProto): void => {
    for (const name of file.dependency) add(files.find((one) => one.name === name) ?? file);
    out.add(file);
  };
  for (const file of files) add(file);
  return [...out];
}

function fileNamed(files: readonly FileDescriptorProto[], inPackage: string): FileDescriptorProto {
  const file = files.find((one) => one.package === inPackage);
  if (file === undefined) throw new Error(`the sandbox has no descriptors for ${inPackage}`);
  return file;
}

function fileName(inPackage: string): string {
  return `${inPackage.replaceAll(".", "/")}/all.proto`;
}

/** One file for each package of `schema`. `options`: where the extension for HTTP rules is. */
function filesOf(schema: Schema, options: FileRegistry | undefined): FileDescriptorProto[] {
  const names = new Map(WELL_KNOWN);
  for (const { name, package: inPackage, binary } of schema.messages) names.set(name, `${inPackage}.${binary}`);
  for (const [name, { package: inPackage }] of schema.enums) names.set(name, `${inPackage}.${name}`);
  const lookup = (name: string): string => {
    const full = names.get(name);
    if (full === undefined) throw new Error(`the sandbox has no message ${name}`);
    return full;
  };
  const packages = new Set(
    [...schema.messages, ...schema.enums.values(), ...schema.services].map((one) => one.package),
  );
  return [...packages].map((inPackage) => {
    const own = schema.messages.filter((one) => one.package === inPackage && one.binary === one.name);
    const enums = [...schema.enums].filter(([, table]) => table.package === inPackage);
    const services = schema.services.filter((one) => one.package === inPackage);
    const file: FileInit = {
      name: fileName(inPackage),
      package: inPackage,
      syntax: "proto3",
      ...nest(own, enums, lookup),
      service: services.map((service) => serviceInit(service, lookup, options)),
    };
    const made = create(FileDescriptorProtoSchema, file);
    made.dependency = importsOf(made, packages);
    return made;
  });
}

/** The files that `file` needs: of every type that it names and does not hold itself. */
function importsOf(file: FileDescriptorProto, packages: ReadonlySet<string>): string[] {
  const text = JSON.stringify(file, (_, value) => (typeof value === "bigint" ? String(value) : value));
  const types = [...text.matchAll(/"\.([\w.]+)"/g)].map((found) => found[1] ?? "");
  const wellKnown = WELL_KNOWN_FILES.filter((one) =>
    one.messageType.some(({ name }) => types.includes(`${one.package}.${name}`)),
  ).map((one) => one.name);
  const others = [...packages].filter((one) => one !== file.package && types.some((type) => isIn(type, one, packages)));
  const annotated = text.includes(HTTP_RULE) || file.service.some((one) => one.method.some((rpc) => rpc.options));
  return [...wellKnown, ...others.map(fileName), ...(annotated ? [fileName("google.api")] : [])];
}

function isIn(type: string, inPackage: string, packages: ReadonlySet<string>): boolean {
  if (!type.startsWith(`${inPackage}.`)) return false;
  // Not in a package below it.
  return ![...packages].some((one) => one.length > inPackage.length && type.startsWith(`${one}.`));
}

/** Messages and enums in each other as their dotted names say. */
function nest(
  messages: readonly Message[],
  enums: readonly (readonly [string, EnumTable])[],
  lookup: (name: string) => string,
): { messageType: DescriptorProto[]; enumType: EnumDescriptorProto[] } {
  const top = { messageType: [] as DescriptorProto[], enumType: [] as EnumDescriptorProto[] };
  const made = new Map<string, DescriptorProto>();
  const holder = (name: string): DescriptorProto => {
    const found = made.get(name);
    if (found !== undefined) return found;
    const cut = name.lastIndexOf(".");
    const fresh = create(DescriptorProtoSchema, { name: name.slice(cut + 1) });
    made.set(name, fresh);
    (cut < 0 ? top.messageType : holder(name.slice(0, cut)).nestedType).push(fresh);
    return fresh;
  };
  for (const message of messages) fill(holder(message.name), message, lookup);
  for (const [name, table] of enums) {
    const cut = name.lastIndexOf(".");
    const value = [...table.byName].map(([word, number]) => ({ name: word, number }));
    const made = create(EnumDescriptorProtoSchema, { name: name.slice(cut + 1), value });
    (cut < 0 ? top : holder(name.slice(0, cut))).enumType.push(made);
  }
  return top;
}

function fill(target: DescriptorProto, message: Message, lookup: (name: string) => string): void {
  const fields = message.fields.filter((field) => field.number !== undefined);
  const oneofs = [...new Set(fields.flatMap((field) => field.oneof ?? []))];
  // An optional field is a oneof of its own, which comes after all others. A message has presence without one.
  const optional = fields.filter((field) => field.presence && field.oneof === undefined && !field.nullable);
  const members = [...oneofs, ...optional.map((field) => `_${field.proto}`)];
  const full = lookup(message.name);
  const filled = create(DescriptorProtoSchema, {
    oneofDecl: members.map((name) => ({ name })),
    field: fields.map((field) => {
      const oneofIndex = members.indexOf(field.oneof ?? `_${field.proto}`);
      return {
        ...fieldInit(field, full, lookup),
        ...(oneofIndex < 0 ? {} : { oneofIndex }),
        ...(optional.includes(field) ? { proto3Optional: true } : {}),
      };
    }),
    nestedType: fields.filter((field) => field.label === "map").map((field) => entryOf(field, lookup)),
  });
  target.oneofDecl = filled.oneofDecl;
  target.field = filled.field;
  target.nestedType.push(...filled.nestedType);
}

function fieldInit(field: Field, holder: string, lookup: (name: string) => string): FieldInit {
  const type = field.label === "map" ? { type: Type.MESSAGE, typeName: `.${holder}.${entryName(field)}` } : undefined;
  return {
    name: field.proto,
    jsonName: field.json,
    number: field.number ?? 0,
    label: field.label === "one" ? Label.OPTIONAL : Label.REPEATED,
    ...(type ?? typeInit(field.type, lookup)),
  };
}

function typeInit(type: FieldType, lookup: (name: string) => string): Pick<FieldInit, "type" | "typeName"> {
  const scalar = SCALAR_TYPES.get(type.kind);
  if (scalar !== undefined) return { type: scalar };
  const name = type.ref === "" ? type.kind : type.ref;
  return { type: type.kind === "enum" ? Type.ENUM : Type.MESSAGE, typeName: `.${lookup(name)}` };
}

/** Binary messages have maps as lists of entries. */
function entryOf(field: Field, lookup: (name: string) => string): MessageInit {
  const key = { name: "key", number: 1, type: field.integerKeys ? Type.INT64 : Type.STRING };
  const value = { name: "value", number: 2, ...typeInit(field.type, lookup) };
  return {
    name: entryName(field),
    options: { mapEntry: true },
    field: [key, value].map((one) => ({ ...one, jsonName: one.name, label: Label.OPTIONAL })),
  };
}

function entryName(field: Field): string {
  const words = field.proto.split("_").map((word) => word.slice(0, 1).toUpperCase() + word.slice(1));
  return `${words.join("")}Entry`;
}

function serviceInit(
  service: Service,
  lookup: (name: string) => string,
  options: FileRegistry | undefined,
): ServiceInit {
  return {
    name: service.name,
    method: service.rpcs.map((rpc) => {
      const { requests, responses } = rpc.streams;
      return {
        name: rpc.name,
        inputType: `.${lookup(rpc.request)}`,
        outputType: `.${lookup(rpc.response)}`,
        clientStreaming: requests,
        serverStreaming: responses,
        ...(rpc.http === undefined ? {} : { options: httpOptions(rpc.http, options) }),
      };
    }),
  };
}

function httpOptions({ method, path, body }: NonNullable<Rpc["http"]>, registry: FileRegistry | undefined) {
  const extension = registry?.getExtension(HTTP_RULE);
  if (extension?.fieldKind !== "message") throw new Error("the sandbox has no extension for HTTP rules");
  const options = create(MethodOptionsSchema);
  const pattern = { case: method.toLowerCase(), value: path };
  setExtension(options, extension, create(extension.message, { pattern, body } as never));
  return options;
}
