/** What is the kernel's own: sixteen bytes at a time, memory that grows, and plans that share it. */
import { describe, expect, it } from "vitest";
import { sharedKernels } from "../../src/json/kernel.ts";
import type { ObjectPlan } from "../../src/json/plan.ts";
import { createPageRewriter, createValueRewriter, rewriteValue } from "../../src/json/rewrite.ts";
import { text, utf8 } from "./documents.ts";

const renaming = (members: ObjectPlan["members"]): ObjectPlan => ({ kind: "object", members });

describe("a string", () => {
  it.each(['"', '\\"', "\\", "\\u0041", "\\x", "\n", "\u007f", "é", "\u{1f600}"])(
    "ends and stops at %j wherever that stands",
    (stop) => {
      const rename = createValueRewriter(renaming(new Map([["name", { rename: "title" }]])));
      for (let length = 0; length < 40; length++) {
        const source = `{"name":"${"x".repeat(length)}${stop}${"y".repeat(40 - length)}","z":"${"z".repeat(length)}"}`;
        let valid = true;
        try {
          JSON.parse(source);
        } catch {
          valid = false;
        }
        if (valid) expect(text(rename(utf8(source)).bytes)).toBe(source.replace("name", "title"));
        else expect(() => rename(utf8(source)), source).toThrow(/at byte/);
      }
    },
  );
});

describe("memory", () => {
  const long = "x".repeat(3_000_000);

  it("grows while a value is exchanged, and what was read before it stays", () => {
    const plan: ObjectPlan = {
      ...renaming(
        new Map([
          ["a", { capture: "a" }],
          ["b", { value: { kind: "convert", convert: () => JSON.stringify(long) } }],
          ["c", { value: { kind: "convert", convert: (raw: Uint8Array) => raw } }],
        ]),
      ),
      finish: (captured, emit) => {
        emit("d", JSON.stringify(long));
        emit("e", captured.get("a") ?? "null");
      },
      emits: ["d", "e"],
    };
    const { bytes } = rewriteValue(utf8('{"a":"kept","b":1,"c":{"as":"it is"}}'), plan);
    expect(text(bytes) === `{"b":"${long}","c":{"as":"it is"},"d":"${long}","e":"kept"}`).toBe(true);
  });

  it("is not enough for all plans at once: those used last are there", () => {
    const all = Array.from({ length: 300 }, (_, i) =>
      createValueRewriter(
        renaming(new Map(Array.from({ length: 30 }, (_, at) => [`from${at}`, { rename: `to-${i}-${at}` }]))),
      ),
    );
    for (let round = 0; round < 2; round++) {
      for (const [i, rewrite] of all.entries()) {
        expect(text(rewrite(utf8('{"from7":1,"more":2}')).bytes)).toBe(`{"to-${i}-7":1,"more":2}`);
      }
    }
  });

  it("has no room for a plan that alone is larger, which is an error each time", () => {
    const values = new Map(Array.from({ length: 20_000 }, (_, i) => [`VALUE_${i}`, `OTHER_${i}`]));
    const rewrite = createValueRewriter({ kind: "enum", names: values });
    for (let i = 0; i < 2; i++) expect(() => rewrite(utf8('"VALUE_1"'))).toThrow(/memory for all plans/);
    expect(text(rewriteValue(utf8('{"a":1}'), renaming(new Map([["a", { rename: "b" }]]))).bytes)).toBe('{"b":1}');
  });
});

it("two kernels are kept, so that a text within a text finds one", () => {
  const taken = [1, 2, 3].map(() => sharedKernels.take());
  for (const kernel of taken) sharedKernels.giveBack(kernel);
  expect([sharedKernels.take(), sharedKernels.take()].every((kernel) => taken.includes(kernel))).toBe(true);
  expect(taken.includes(sharedKernels.take())).toBe(false);
});

it("edits up to 64 members of an object", () => {
  const members = (count: number) =>
    new Map(Array.from({ length: count }, (_, i) => [`from${i}`, { rename: `to${i}` }] as const));
  const most = Object.fromEntries(Array.from({ length: 64 }, (_, i) => [`from${i}`, i]));
  const wanted = Object.fromEntries(Array.from({ length: 64 }, (_, i) => [`to${i}`, i]));
  expect(JSON.parse(text(rewriteValue(utf8(JSON.stringify(most)), renaming(members(64))).bytes))).toEqual(wanted);
  const twice = JSON.stringify(most).replace(/}$/, ',"from63":0}');
  expect(() => rewriteValue(utf8(twice), renaming(members(64)))).toThrow(/repeated member/);
  expect(() => createValueRewriter(renaming(members(65)))).toThrow(/more than 64 members/);
});

it("gives every record of a page that has more of them than one slice, and each its key", () => {
  const rewrite = createPageRewriter({
    items: "items",
    key: "uid",
    record: renaming(new Map([["n", { rename: "m" }]])),
  });
  const uids = Array.from({ length: 5_000 }, (_, i) => `u${i}${"k".repeat(i % 20)}`);
  const page = rewrite(utf8(`{"items":[${uids.map((uid, n) => `{"uid":"${uid}","n":${n}}`).join(" ,\n")}]}`));
  expect(page.keys).toEqual(uids);
  expect(text(page.bytes)).toBe(uids.map((uid, m) => `{"uid":"${uid}","m":${m}}`).join(","));
  expect(text(page.bytes.subarray(page.starts[4_321], page.ends[4_321]))).toBe(`{"uid":"${uids[4_321]}","m":4321}`);
});
