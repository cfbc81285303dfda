/** Long messages become JSON, and JSON long messages, with turns for others in between. */
import { create, createRegistry, fromBinary, fromJson, type JsonValue, toBinary, toJson } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { partsOfList } from "../../src/grpc/list-stream.ts";
import { bytesOfLong, jsonOfLong } from "../../src/grpc/long-messages.ts";

const TYPE = FileDescriptorSetSchema;
const registry = createRegistry();
const file = Array.from({ length: 3_000 }, (_, i) => ({
  name: `f${i} "\\ ü`,
  package: "x".repeat(80),
  dependency: Array.from({ length: i % 4 }, (__, j) => `d${j}`),
  ...(i % 7 === 0 ? { messageType: [{ name: "M" }] } : {}),
}));
const json = { file } as JsonValue;

function turns() {
  let count = 0;
  return { turn: async () => void count++, count: () => count };
}

it("T-RPC-02: a list of thousands of records is converted in slices, and equals one converted at once", async () => {
  const { turn, count } = turns();
  const text = Buffer.from(JSON.stringify(json, undefined, 1));
  const bytes = await bytesOfLong(TYPE, text, registry, turn);
  expect(toJson(TYPE, fromBinary(TYPE, bytes))).toEqual(toJson(TYPE, fromJson(TYPE, json)));
  expect(count()).toBeGreaterThan(text.length / (80 * 1024));

  const back = turns();
  const members = await jsonOfLong(TYPE, bytes, registry, back.turn);
  expect(JSON.parse(members.get("file") ?? "")).toEqual(
    (toJson(TYPE, fromJson(TYPE, json), { alwaysEmitImplicit: true }) as { file: unknown }).file,
  );
  expect(back.count()).toBeGreaterThan(bytes.length / (80 * 1024));
});

it("a short message takes no turn", async () => {
  const { turn, count } = turns();
  const bytes = await bytesOfLong(TYPE, Buffer.from('{"file":[{"name":"a"}]}'), registry, turn);
  expect(bytes).toEqual(toBinary(TYPE, create(TYPE, { file: [{ name: "a" }] })));
  expect([...(await jsonOfLong(TYPE, bytes, registry, turn)).keys()]).toEqual(["file"]);
  expect(count()).toBe(0);
});

it("members that the message does not have are left out of a long one, and a list may be missing or null", async () => {
  const { turn } = turns();
  const long = { unknown: "y".repeat(100_000), more: [1], __proto: {} };
  for (const more of [{}, { file: null }, { file: [] }]) {
    const text = Buffer.from(JSON.stringify({ ...long, ...more }));
    expect(await bytesOfLong(TYPE, text, registry, turn)).toHaveLength(0);
  }
});

it.each([
  ["JSON that is cut off", (text: string) => text.slice(0, -1)],
  ["JSON with something after it", (text: string) => `${text}x`],
  ["a list that is there twice", (text: string) => text.replace(/}$/, ',"file":[]}')],
  ["a number among the records", (text: string) => text.replace(/]}$/, ",7]}")],
  ["invalid UTF-8", (text: string) => text.replace(/x+/, "\ud800")],
  ["a list", (text: string) => `[${text}]`],
])("refuses %s", async (what, spoil) => {
  const bytes = Buffer.from(spoil(JSON.stringify(json)));
  if (what === "invalid UTF-8") bytes[bytes.indexOf(0xef)] = 0xff;
  await expect(bytesOfLong(TYPE, bytes, registry, async () => {})).rejects.toThrow(Error);
});

describe("a list whose JSON comes in pieces", () => {
  const parts = async (text: Uint8Array, size: number) => {
    async function* pieces() {
      for (let at = 0; at < text.length; at += size) yield text.subarray(at, at + size);
    }
    const all: { bytes: Uint8Array; records: number }[] = [];
    for await (const part of partsOfList(TYPE, pieces(), registry, async () => {})) all.push(part);
    return all;
  };

  it.each([7_001, 64 * 1024, 300_000, 10 ** 7])("is converted as it comes, in pieces of %s bytes", async (size) => {
    const text = Buffer.from(
      JSON.stringify({ before: ["x"], ...(json as object), after: { a: [1, "]"] } }, undefined, 1),
    );
    const all = await parts(text, size);
    const bytes = Buffer.concat(all.map((part) => part.bytes));
    expect(toJson(TYPE, fromBinary(TYPE, bytes))).toEqual(toJson(TYPE, fromJson(TYPE, json)));
    expect(all.reduce((sum, { records }) => sum + records, 0)).toBe(file.length);
    expect(all.length > 1).toBe(size < text.length);
  });

  it("T-RPC-03: may be empty, or end in the middle of a record, which is refused", async () => {
    expect(await parts(Buffer.from('{"file":[]}'), 4)).toEqual([{ bytes: new Uint8Array(), records: 0 }]);
    await expect(parts(Buffer.from(JSON.stringify(json).slice(0, 200_000)), 9_000)).rejects.toThrow(Error);
  });
});
