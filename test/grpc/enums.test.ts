/** Names of enum values that v1 does not have, in responses that become messages. */
import { create, createFileRegistry, fromJson, type JsonObject } from "@bufbuild/protobuf";
import {
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from "@bufbuild/protobuf/wkt";
import { expect, it } from "vitest";
import { createEnumNumbers } from "../../src/grpc/enums.ts";

const file = (name: string, enums: Record<string, readonly string[]>): FileDescriptorProto =>
  create(FileDescriptorProtoSchema, {
    name: `${name}.proto`,
    package: name,
    syntax: "proto3",
    enumType: Object.entries(enums).map(([own, values]) => ({
      name: own,
      value: values.map((value) => ({ name: value.split("=")[0] ?? "", number: Number(value.split("=")[1]) })),
    })),
  });
const v1 = file("v1", { Kind: ["NONE=0", "OLD=1", "OTHER=4"] });
const field = (name: string, number: number, isList: boolean, typeName: string, type: Type) =>
  ({ name, jsonName: name, number, type, typeName, label: isList ? Label.REPEATED : Label.OPTIONAL }) as const;
v1.messageType = create(FileDescriptorProtoSchema, {
  messageType: [
    {
      name: "Record",
      field: [
        field("kind", 1, false, ".v1.Kind", Type.ENUM),
        field("kinds", 2, true, ".v1.Kind", Type.ENUM),
        field("inner", 3, true, ".v1.Record", Type.MESSAGE),
      ],
    },
  ],
}).messageType;
const v2 = file("v2", {
  Kind: ["KIND_NONE=0", "NEW=2", "TAKEN=4", "TWICE=5"],
  Another: ["ANOTHER_NONE=0", "NEW=7", "ELSEWHERE=8", "SPLIT=9"],
  Third: ["THIRD_NONE=0", "SPLIT=10", "OLD=11"],
});
// Values of one package share its namespace in C++ only.
const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: [v1, v2] }));
const record = registry.getMessage("v1.Record");
if (record === undefined) throw new Error("no message");
const numbered = createEnumNumbers(registry);

function read(json: JsonObject): { readonly json: JsonObject; readonly lost: readonly string[] } {
  const lost: string[] = [];
  numbered(record as NonNullable<typeof record>, json, (name) => lost.push(name));
  fromJson(record as NonNullable<typeof record>, json, { registry, ignoreUnknownFields: true });
  return { json, lost };
}

it.each([
  ["that v1 has, as it is", "OLD", "OLD"],
  ["that v2 has in the enum of the same name, by its number there", "NEW", 2],
  ["that v2 has in another enum only, by its number there", "ELSEWHERE", 8],
])("a name %s", (_, name, value) => {
  const inner = [{ kind: name }];
  expect(read({ kind: name, kinds: ["OLD", name], inner })).toEqual({
    json: { kind: value, kinds: ["OLD", value], inner: [{ kind: value }] },
    lost: [],
  });
});

it.each([
  ["whose number means something else in v1", "TAKEN"],
  ["that enums number differently", "SPLIT"],
  ["that no enum has", "NOWHERE"],
])("a name %s is counted, and becomes zero", (_, name) => {
  expect(read({ kind: name }).lost).toEqual(["kind"]);
});
