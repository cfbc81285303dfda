/** `google.rpc.Status` and the standard types of its details, whose field numbers are public. */
import { create, createFileRegistry, type FileRegistry } from "@bufbuild/protobuf";
import {
  AnySchema,
  type DescriptorProto,
  DescriptorProtoSchema,
  DurationSchema,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  file_google_protobuf_any,
  file_google_protobuf_duration,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from "@bufbuild/protobuf/wkt";

/** `string`, `int32`, `map` (of texts), or a message's name after a dot; `[]` repeats it. */
type FieldRow = readonly [name: string, type: string];

const ANY = `.${AnySchema.typeName}`;
const DURATION = `.${DurationSchema.typeName}`;

/** Fields are numbered in order, from 1. */
const MESSAGES: Readonly<Record<string, readonly FieldRow[]>> = {
  Status: [
    ["code", "int32"],
    ["message", "string"],
    ["details", `${ANY}[]`],
  ],
  ErrorInfo: [
    ["reason", "string"],
    ["domain", "string"],
    ["metadata", "map"],
  ],
  RetryInfo: [["retry_delay", DURATION]],
  DebugInfo: [
    ["stack_entries", "string[]"],
    ["detail", "string"],
  ],
  QuotaFailure: [["violations", ".google.rpc.QuotaFailure.Violation[]"]],
  "QuotaFailure.Violation": [
    ["subject", "string"],
    ["description", "string"],
  ],
  PreconditionFailure: [["violations", ".google.rpc.PreconditionFailure.Violation[]"]],
  "PreconditionFailure.Violation": [
    ["type", "string"],
    ["subject", "string"],
    ["description", "string"],
  ],
  BadRequest: [["field_violations", ".google.rpc.BadRequest.FieldViolation[]"]],
  "BadRequest.FieldViolation": [
    ["field", "string"],
    ["description", "string"],
    ["reason", "string"],
    ["localized_message", ".google.rpc.LocalizedMessage"],
  ],
  RequestInfo: [
    ["request_id", "string"],
    ["serving_data", "string"],
  ],
  ResourceInfo: [
    ["resource_type", "string"],
    ["resource_name", "string"],
    ["owner", "string"],
    ["description", "string"],
  ],
  Help: [["links", ".google.rpc.Help.Link[]"]],
  "Help.Link": [
    ["description", "string"],
    ["url", "string"],
  ],
  LocalizedMessage: [
    ["locale", "string"],
    ["message", "string"],
  ],
};

export function createErrorRegistry(): FileRegistry {
  const file = create(FileDescriptorProtoSchema, {
    name: "google/rpc/error_details_and_status.proto",
    package: "google.rpc",
    syntax: "proto3",
    dependency: [file_google_protobuf_any.proto.name, file_google_protobuf_duration.proto.name],
    messageType: Object.keys(MESSAGES)
      .filter((name) => !name.includes("."))
      .map(messageOf),
  });
  const files: FileDescriptorProto[] = [file_google_protobuf_any.proto, file_google_protobuf_duration.proto, file];
  return createFileRegistry(create(FileDescriptorSetSchema, { file: files }));
}

function messageOf(path: string): DescriptorProto {
  const nested = Object.keys(MESSAGES).filter((name) => name.startsWith(`${path}.`));
  const rows = MESSAGES[path] ?? [];
  return create(DescriptorProtoSchema, {
    name: path.split(".").at(-1) ?? "",
    field: rows.map(([name, type], at) => {
      const word = type.replace("[]", "");
      const isRepeated = type.endsWith("[]") || type === "map";
      const isMessage = type.startsWith(".") || type === "map";
      return {
        name,
        jsonName: name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
        number: at + 1,
        label: isRepeated ? Label.REPEATED : Label.OPTIONAL,
        type: isMessage ? Type.MESSAGE : word === "int32" ? Type.INT32 : Type.STRING,
        ...(isMessage ? { typeName: type === "map" ? `.google.rpc.${path}.${mapEntry(name)}` : word } : {}),
      };
    }),
    nestedType: [
      ...nested.map(messageOf),
      ...rows.filter(([, type]) => type === "map").map(([name]) => entryOf(mapEntry(name))),
    ],
  });
}

/** The message that stands for an entry of the map `name`, as protoc calls it. */
function mapEntry(name: string): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}Entry`;
}

function entryOf(name: string): DescriptorProto {
  const field = (name: string, number: number) => ({
    name,
    jsonName: name,
    number,
    label: Label.OPTIONAL,
    type: Type.STRING,
  });
  return create(DescriptorProtoSchema, {
    name,
    field: [field("key", 1), field("value", 2)],
    options: { mapEntry: true },
  });
}
