import fc from "fast-check";
import { expect, it } from "vitest";
import { hasMoreValues } from "../../src/json/tree.ts";

const more = (text: string, most: number) => hasMoreValues(Buffer.from(text), most);

/** Values of a tree, as a body has them. */
function count(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce((sum: number, inner) => sum + count(inner), 1);
}

it("counts values, not the marks inside of strings", () => {
  const text = JSON.stringify({ a: '[[[[,,,,{{{{\\",,,,', b: [1, 2, 3] });
  expect(more(text, 7)).toBe(false);
  expect(more("[1,2,3,4,5,6,7,8]", 8)).toBe(true);
  expect(more("[".repeat(100_000), 5_000)).toBe(false);
  // Whatever is no JSON ends somewhere, too.
  expect(more('{"a', 2)).toBe(false);
  expect(more('{"a\\', 2)).toBe(false);
});

it("never counts fewer than there are, and at most one more for each object and array", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      const values = count(value);
      if (values > 1) expect(more(text, values - 1)).toBe(true);
      expect(more(text, 2 * values)).toBe(false);
    }),
  );
});
