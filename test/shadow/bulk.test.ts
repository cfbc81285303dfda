import { describe, expect, test } from "vitest";
import { MAX_PARSED_BYTES, MAX_PARSED_VALUES, whyNotParsed } from "../../src/shadow/bounded-json.ts";

/** What it says of `text`, and in how many steps. */
function looked(text: string | Uint8Array) {
  const steps = whyNotParsed(Buffer.from(text));
  for (let taken = 1; ; taken++) {
    const { done, value } = steps.next();
    if (done === true) return { says: value, taken };
  }
}

/** An object of `count` members. */
function members(count: number): string {
  return JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [`x${i}`, 1])));
}

describe("bulk", () => {
  test("a text is parsed up to its most bytes, and no further", () => {
    const text = (length: number) => `"${"x".repeat(length - 2)}"`;
    expect(looked(text(MAX_PARSED_BYTES)).says).toBeUndefined();
    expect(looked(text(MAX_PARSED_BYTES + 1)).says).toBe("too-large");
  });

  test("and up to its most members and elements, at all depths", () => {
    expect(looked(members(MAX_PARSED_VALUES)).says).toBeUndefined();
    for (const text of [
      members(MAX_PARSED_VALUES + 1),
      JSON.stringify({ a: Array(MAX_PARSED_VALUES + 1).fill(0) }),
      "[".repeat(MAX_PARSED_VALUES + 1),
      '{"a":'.repeat(MAX_PARSED_VALUES + 1),
      JSON.stringify([JSON.parse(members(MAX_PARSED_VALUES / 2)), JSON.parse(members(MAX_PARSED_VALUES / 2))]),
    ]) {
      expect(looked(text).says).toBe("not-comparable");
    }
  });

  test("what is written inside a text is no member", () => {
    const text = ',[{"\\'.repeat(MAX_PARSED_VALUES);
    expect(looked(JSON.stringify({ [text]: text })).says).toBeUndefined();
    // The quote behind two backslashes ends the text.
    expect(looked(`["\\\\"${",0".repeat(MAX_PARSED_VALUES)}]`).says).toBe("not-comparable");
  });

  test("what is no JSON is looked at as well", () => {
    for (const text of ["", '"', '"\\', "\xff", "}}}}"]) expect(looked(text).says).toBeUndefined();
  });

  test.each([
    ["letters", "x"],
    ["escapes", "\\\\"],
  ])("a step is 64 KiB, whatever is in it: %s", (_name, unit) => {
    const { says, taken } = looked(`"${unit.repeat((MAX_PARSED_BYTES - 2) / unit.length)}"`);
    expect([says, taken]).toEqual([undefined, MAX_PARSED_BYTES / 2 ** 16]);
  });
});
