import { describe, expect, test } from "vitest";
import {
  elementAt,
  elementsOf,
  membersOf,
  readValue,
  sameBytes,
  type ValueSpan,
  YieldBudget,
} from "../../src/shadow/json-values.ts";
import { driven } from "./compared.ts";

function pausesOf<T>(steps: Generator<void, T>): { pauses: number; value: T } {
  for (let pauses = 0; ; pauses++) {
    const { done, value } = steps.next();
    if (done === true) return { pauses, value };
  }
}

const bytes = (text: string) => new TextEncoder().encode(text);

function read(text: string): ValueSpan {
  const span = driven(readValue(bytes(text), new YieldBudget()));
  if (span === undefined) throw new Error("no JSON");
  return span;
}

describe("steps", () => {
  const nested = `[${Array.from({ length: 60_000 }, (_, i) => `{"id":"${i}","a":[1,2]}`).join(",")}]`;

  test("reading pauses within one value", () => {
    expect(pausesOf(readValue(bytes(nested), new YieldBudget())).pauses).toBeGreaterThan(30);
  });

  test("taking an array or an object apart pauses", () => {
    const pace = new YieldBudget();
    const list = pausesOf(elementsOf(read(nested), pace));
    expect(list.value).toHaveLength(60_000);
    expect(list.pauses).toBeGreaterThan(30);
    const object = `{${Array.from({ length: 60_000 }, (_, i) => `"k${i}":${i}`).join(",")}}`;
    const members = pausesOf(membersOf(read(object), pace));
    expect([...members.value.entries()].length).toBe(60_000);
    expect(members.pauses).toBeGreaterThan(20);
  });

  test.each(["x", "\\n", "\\u00e9", "é"])("a long text pauses, and ends where it ends: %s", (unit) => {
    for (const before of ["", "a", "ab", "abc", "abcd", "abcde"]) {
      const text = `["${before}${unit.repeat(400_000)}","${before}${unit.repeat(40_000)}",{"a":"${unit.repeat(40_000)}"}]`;
      const { pauses, value } = pausesOf(readValue(bytes(text), new YieldBudget()));
      expect(pauses).toBeGreaterThan(3);
      const elements = driven(elementsOf(value as ValueSpan, new YieldBudget()));
      const spans = Array.from({ length: elements.length }, (_, i) => elementAt(elements, i));
      expect(spans.map(({ start, end }) => [text[start], text[end - 1]])).toEqual(
        unit === "é"
          ? expect.anything()
          : [
              ['"', '"'],
              ['"', '"'],
              ["{", "}"],
            ],
      );
    }
    expect(pausesOf(readValue(bytes(`"${unit.repeat(400_000)}"`), new YieldBudget())).pauses).toBeGreaterThan(3);
  });

  test.each(["\\x", "\\u00g0", "\n", "\\"])("a fault in a long text is found: %j", (fault) => {
    const long = "x".repeat(200_000);
    for (const text of [`"${long}${fault}"`, `["${fault}${long}"]`, `["${fault}"]`, `{"a":"${long}${fault}${long}"}`]) {
      expect(driven(readValue(bytes(text), new YieldBudget()))).toBeUndefined();
    }
  });

  test("bytes are compared in pieces, to the last one", () => {
    const [one, other] = [new Uint8Array(3 * 1024 ** 2), new Uint8Array(3 * 1024 ** 2)];
    expect(pausesOf(sameBytes(one, other))).toEqual({ pauses: 12, value: true });
    other[other.length - 1] = 1;
    expect(driven(sameBytes(one, other))).toBe(false);
    expect(driven(sameBytes(one, one.subarray(1)))).toBe(false);
  });
});

describe("characters", () => {
  // Pieces of 256 KiB begin and end in the middle of some of them.
  test.each(["é", "語", "😀"])("%s over the edge of a piece is one character", (character) => {
    for (const before of ["", "a", "ab", "abc"]) {
      const text = `${before}${character.repeat(300_000)}`;
      const span = read(JSON.stringify(text));
      expect(span.text.bytes.toString("utf8", span.start + 1, span.end - 1)).toBe(text);
    }
  });

  test("a broken one is found wherever it is", () => {
    const body = bytes(JSON.stringify("é".repeat(300_000)));
    for (const at of [2, 262_143, 262_144, 262_145, body.length - 2]) {
      const broken = body.slice();
      broken[at] = 0xff;
      expect(driven(readValue(broken, new YieldBudget()))).toBeUndefined();
    }
  });
});
