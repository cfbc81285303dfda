/** The descriptors of all services and messages, made from the notation of the data files: what `protoc` would make of .proto files. */
import {
  create,
  createFileRegistry,
  type DescExtension,
  type DescMessage,
  type FileRegistry,
  type MessageInitShape,
  setExtension,
  toBinary,
} from "@bufbuild/protobuf";
import {
  AnySchema,
  type DescriptorProto,
  DescriptorProtoSchema,
  DurationSchema,
  EmptySchema,
  type EnumDescriptorProto,
  EnumDescriptorProtoSchema,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  type FieldDescriptorProtoSchema,
  FieldMaskSchema,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  file_google_protobuf_descriptor,
  MethodOptionsSchema,
  type ServiceDescriptorProtoSchema,
  TimestampSchema,
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
  type Home,
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

/** Messages that every protobuf library brings along, by what the notation calls them. */
const WELL_KNOWN: ReadonlyMap<string, DescMessage> = new Map<string, DescMessage>([
  ["timestamp", TimestampSchema],
  ["duration", DurationSchema],
  ["mask", FieldMaskSchema],
  ["empty", EmptySchema],
  ["any", AnySchema],
]);
const WELL_KNOWN_FILES = [file_google_protobuf_descriptor, ...[...WELL_KNOWN.values()].map(({ file }) => file)].map(
  (file) => file.proto,
);

/** The option that holds an rpc's HTTP rule. */
const HTTP_OPTION = create(FileDescriptorProtoSchema, {
  name: "google/api/annotations.proto",
  package: "google.api",
  syntax: "proto3",
  dependency: ["google/api/http.proto", "google/protobuf/descriptor.proto"],
  extension: [
    {
      name: "http",
      jsonName: "http",
      number: 72295728,
      label: Label.OPTIONAL,
      extendee: ".google.protobuf.MethodOptions",
      type: Type.MESSAGE,
      typeName: ".google.api.HttpRule",
    },
  ],
});

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
  const common = [...WELL_KNOWN_FILES, HTTP_OPTION, ...filesOf(parseSchema(GRPC_MESSAGES), undefined)];
  const httpOption = registryOf(common).getExtension("google.api.http");
  const v1 = filesOf(parseSchema(V1_MESSAGES + V1_RPCS.slice(1)), httpOption);
  const v2Text = (V2_MESSAGES + V2_RPCS.slice(1)).replaceAll("v2beta1", version);
  const v2 = filesOf(parseSchema(v2Text, new Map([["Capability", V2.enumTable("Capability")]])), httpOption);
  // Messages that both faces share are in one file.
  const names = new Set(v1.map((file) => file.name));
  const file = importsFirst([...common, ...v1, ...v2.filter((one) => !names.has(one.name))]);
  const set = create(FileDescriptorSetSchema, { file });
  return { bytes: toBinary(FileDescriptorSetSchema, set), registry: createFileRegistry(set) };
}

function registryOf(files: readonly FileDescriptorProto[]): FileRegistry {
  return createFileRegistry(create(FileDescriptorSetSchema, { file: importsFirst(files) }));
}

/** The files, each after those that it imports. */
function importsFirst(files: readonly FileDescriptorProto[]): FileDescriptorProto[] {
  const out = new Set<FileDescriptorProto>();
  const add = (file: FileDescriptorProto): void => {
    for (const one of files) if (file.dependency.includes(one.name)) add(one);
    out.add(file);
  };
  for (const file of files) add(file);
  return [...out];
}

/** The full name of a type. */
type Lookup = (name: string) => string;

/** The .proto files that `schema` has its messages in. `httpOption` is the extension for HTTP rules. */
function filesOf(schema: Schema, httpOption: DescExtension | undefined): FileDescriptorProto[] {
  const types = new Map(
    [...WELL_KNOWN].map(([name, type]) => [name, { full: type.typeName, file: type.file.proto.name }]),
  );
  const add = (name: string, local: string, home: Home) =>
    types.set(name, { full: `${home.package}.${local}`, file: home.file });
  for (const message of schema.messages) add(message.name, message.binary, message);
  for (const [name, table] of schema.enums) add(name, name, table);
  const homes = [...schema.messages, ...schema.enums.values(), ...schema.services];
  const files = new Map(homes.map((home) => [home.file, home]));
  return [...files.values()].map((home) => {
    const imports = new Set<string>();
    const lookup: Lookup = (name) => {
      const type = types.get(name);
      if (type === undefined) throw new Error(`the sandbox has no message ${name}`);
      if (type.file !== home.file) imports.add(type.file);
      return type.full;
    };
    const isHere = (one: Home): boolean => one.file === home.file;
    const messages = schema.messages.filter((one) => isHere(one) && one.binary === one.name);
    const enums = [...schema.enums].filter(([, table]) => isHere(table));
    const services = schema.services.filter(isHere);
    if (services.some(({ rpcs }) => rpcs.some(({ http }) => http))) imports.add(HTTP_OPTION.name);
    const init: FileInit = {
      name: home.file,
      package: home.package,
      syntax: "proto3",
      ...nest(messages, enums, lookup),
      service: services.map((service) => serviceInit(service, lookup, httpOption)),
    };
    return create(FileDescriptorProtoSchema, { ...init, dependency: [...imports] });
  });
}

/** Messages and enums in each other as their dotted names say. */
function nest(
  messages: readonly Message[],
  enums: readonly (readonly [string, EnumTable])[],
  lookup: Lookup,
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

function fill(target: DescriptorProto, message: Message, lookup: Lookup): void {
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

function fieldInit(field: Field, holder: string, lookup: Lookup): FieldInit {
  const type = field.label === "map" ? { type: Type.MESSAGE, typeName: `.${holder}.${entryName(field)}` } : undefined;
  return {
    name: field.proto,
    jsonName: field.json,
    number: field.number ?? 0,
    label: field.label === "one" ? Label.OPTIONAL : Label.REPEATED,
    ...(type ?? typeInit(field.type, lookup)),
  };
}

function typeInit(type: FieldType, lookup: Lookup): Pick<FieldInit, "type" | "typeName"> {
  const scalar = SCALAR_TYPES.get(type.kind);
  if (scalar !== undefined) return { type: scalar };
  const name = type.ref === "" ? type.kind : type.ref;
  return { type: type.kind === "enum" ? Type.ENUM : Type.MESSAGE, typeName: `.${lookup(name)}` };
}

/** Binary messages have maps as lists of entries. */
function entryOf(field: Field, lookup: Lookup): MessageInit {
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

function serviceInit(service: Service, lookup: Lookup, httpOption: DescExtension | undefined): ServiceInit {
  return {
    name: service.name,
    method: service.rpcs.map((rpc) => ({
      name: rpc.name,
      inputType: `.${lookup(rpc.request)}`,
      outputType: `.${lookup(rpc.response)}`,
      clientStreaming: rpc.streams.requests,
      serverStreaming: rpc.streams.responses,
      ...(rpc.http === undefined ? {} : { options: httpOptions(rpc.http, httpOption) }),
    })),
  };
}

function httpOptions({ method, path, body }: NonNullable<Rpc["http"]>, httpOption: DescExtension | undefined) {
  if (httpOption?.fieldKind !== "message") throw new Error("the sandbox has no option for HTTP rules");
  const options = create(MethodOptionsSchema);
  const pattern = { case: method.toLowerCase(), value: path };
  setExtension(options, httpOption, create(httpOption.message, { pattern, body } as never));
  return options;
}
