/** Counting the fields of a message before it is decoded, whatever its bytes are. */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { AnySchema, FileDescriptorProtoSchema, StructSchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createWireCounter } from "../../src/grpc/wire.ts";

const count = createWireCounter({ values: 1_000, depth: 100, unknown: 5 });
const VARINT = 0;
const LENGTH = 2;
const GROUP = 3;
const END = 4;
const FIXED32 = 5;

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return Buffer.from([...bytes, rest]);
}
const tag = (number: number, wireType: number): Buffer => varint(number * 8 + wireType);
const field = (number: number, bytes: Uint8Array): Buffer =>
  Buffer.concat([tag(number, LENGTH), varint(bytes.length), bytes]);
const times = (length: number, bytes: Uint8Array): Buffer => Buffer.concat(Array.from({ length }, () => bytes));
const NOTHING = Buffer.alloc(0);
const text = (value: string): Buffer => Buffer.from(value);
/** `SourceCodeInfo.Location.path` is packed, in a list of messages in a message. */
const path = (packed: Uint8Array): Buffer => field(9, field(1, field(1, packed)));

/** `DescriptorProto.nested_type` is a DescriptorProto. */
function nested(levels: number): Buffer {
  return levels === 0 ? NOTHING : field(3, nested(levels - 1));
}

describe("counts", () => {
  it.each([
    ["short texts", times(3, field(3, text("a"))), 3],
    ["empty messages", times(3, field(4, NOTHING)), 3],
    ["elements of a packed list", path(Buffer.from([1, 2, 0x80, 1])), 6],
    ["elements of an unpacked list", times(2, Buffer.concat([tag(10, VARINT), varint(7)])), 2],
    ["unknown varints", times(3, Buffer.concat([tag(999, VARINT), varint(1)])), 3],
    [
      "unknown groups with what is in them",
      times(2, Buffer.concat([tag(99, GROUP), tag(5, VARINT), varint(1), tag(99, END)])),
      4,
    ],
    ["a long text as one", field(1, Buffer.alloc(100_000)), 1],
  ])("%s", (_, bytes, values) => {
    expect(count(FileDescriptorProtoSchema, bytes)?.values).toBe(values);
  });

  it("entries of a map with their keys and values", () => {
    const entry = field(1, Buffer.concat([field(1, text("k")), field(2, field(3, text("v")))]));
    expect(count(StructSchema, times(2, entry))?.values).toBe(8);
  });

  it("each byte of a message that names its own type", () => {
    const any = create(AnySchema, { typeUrl: "t/x", value: new Uint8Array(40) });
    expect(count(AnySchema, toBinary(AnySchema, any))?.values).toBe(42);
    expect(count(AnySchema, toBinary(AnySchema, { ...any, value: new Uint8Array(1_000) }))).toBeUndefined();
  });
});

it.each([
  ["a text", tag(3, VARINT), varint(1), 3],
  ["a message", tag(4, FIXED32), Buffer.alloc(4), 4],
  ["a list of messages, as a group", tag(4, GROUP), Buffer.concat([tag(1, VARINT), varint(1), tag(4, END)]), 4],
])(
  "takes a field with another wire type than that of %s for an unknown one, at any level",
  (_, head, value, number) => {
    const misfit = Buffer.concat([head, value]);
    // `message_type` holds a name, and a message of its own kind.
    const inner = Buffer.concat([
      field(1, text("inner")),
      field(3, Buffer.concat([tag(1, VARINT), varint(7), field(1, text("x"))])),
    ]);
    const message = Buffer.concat([field(1, text("f")), misfit, field(4, inner), field(3, text("d"))]);
    const counted = count(FileDescriptorProtoSchema, message);
    expect(counted?.unknown).toEqual([number, 1]);
    const read = fromBinary(FileDescriptorProtoSchema, counted?.bytes ?? NOTHING);
    expect(read).toMatchObject({
      name: "f",
      dependency: ["d"],
      messageType: [{ name: "inner", nestedType: [{ name: "x" }] }],
    });
    const map = field(
      1,
      Buffer.concat([field(1, text("k")), tag(2, VARINT), varint(5), field(2, field(3, text("v")))]),
    );
    const fields = fromBinary(StructSchema, count(StructSchema, map)?.bytes ?? NOTHING);
    expect(fields).toMatchObject({ fields: { k: { kind: { value: "v" } } } });
  },
);

it("stops at the limit, and remembers no more unknown numbers than it may", () => {
  expect(count(FileDescriptorProtoSchema, times(2_000_000, field(3, NOTHING)))).toBeUndefined();
  expect(count(FileDescriptorProtoSchema, path(Buffer.alloc(4_000_000)))).toBeUndefined();
  const numbers = [905, 904, 904, 903, 902, 901, 900];
  const bytes = Buffer.concat(numbers.map((number) => Buffer.concat([tag(number, VARINT), varint(1)])));
  expect(count(FileDescriptorProtoSchema, bytes)?.unknown).toEqual([905, 904, 903, 902, 901]);
});

it.each([
  ["a field that is longer than its message", field(9, Buffer.from([10, 50]))],
  ["a field that is cut off", Buffer.from([10, 5, 1])],
  ["a packed list that is cut off", path(Buffer.from([1, 0x80]))],
  ["the end of a group without its beginning", tag(99, END)],
  ["a group that ends with another number", Buffer.concat([tag(99, GROUP), tag(98, END)])],
  ["a group without an end", tag(99, GROUP)],
  ["groups in more than 100 levels", Buffer.concat([times(101, tag(99, GROUP)), times(101, tag(99, END))])],
  ["messages in more than 100 levels", field(4, nested(101))],
])("refuses %s", (_, bytes) => {
  expect(() => count(FileDescriptorProtoSchema, bytes)).toThrow(Error);
});

/** Everything in a decoded message that is an object or an element of a list. */
function held(value: unknown): number {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return 1;
  const inner = Object.entries(value).filter(([name]) => !name.startsWith("$"));
  return inner.reduce(
    (sum, [, one]) => sum + (typeof one === "object" ? held(one) : 0),
    Array.isArray(value) ? value.length : 0,
  );
}

it("a message that it lets through never holds more than it counted", () => {
  const part = fc.oneof(
    fc.uint8Array({ maxLength: 6 }),
    fc.constantFrom(
      field(4, NOTHING),
      field(3, text("a")),
      path(Buffer.from([1, 2])),
      tag(99, GROUP),
      tag(99, END),
      tag(4, 5),
    ),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), fc.nat(60), (parts, at) => {
      const bytes = Buffer.concat(parts);
      // A length somewhere that is wrong.
      if (at < bytes.length) bytes[at] = (bytes[at] ?? 0) + 1;
      let counted: ReturnType<typeof count>;
      try {
        counted = count(FileDescriptorProtoSchema, bytes);
      } catch {
        return;
      }
      try {
        const message = fromBinary(FileDescriptorProtoSchema, counted?.bytes ?? NOTHING, { readUnknownFields: false });
        const empty = held(create(FileDescriptorProtoSchema));
        expect(held(message) - empty).toBeLessThanOrEqual(8 * (counted?.values ?? 0));
      } catch (error) {
        if (error instanceof Error && error.name === "AssertionError") throw error;
      }
    }),
    { numRuns: 2_000 },
  );
  expect(count(TimestampSchema, NOTHING)).toMatchObject({ values: 0, unknown: [] });
});
