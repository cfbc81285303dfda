import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NameTable } from "../../src/shadow/json-values.ts";

const MANY = 30_000;

function tableOf(names: readonly string[]) {
  const table = new NameTable<number>();
  for (const [i, name] of names.entries()) table.set(name, i);
  return table;
}

describe("a table", () => {
  const name = fc.oneof(fc.constantFrom("a", "b", "", "__proto__"), fc.string({ maxLength: 3 }));
  const change = fc.record({ name, value: fc.nat(), removed: fc.boolean() });

  test.each([0, MANY])("holds what a map would, beside %i other names", (others) => {
    const table = tableOf(Array.from({ length: others }, (_, i) => `other ${i}`));
    const map = new Map(Array.from({ length: others }, (_, i) => [`other ${i}`, i]));
    fc.assert(
      fc.property(fc.array(change, { maxLength: 50 }), (changes) => {
        for (const each of changes) {
          if (each.removed) {
            table.delete(each.name);
            map.delete(each.name);
          } else {
            table.set(each.name, each.value);
            map.set(each.name, each.value);
          }
          expect(table.get(each.name)).toBe(map.get(each.name));
        }
      }),
    );
    const all = [...table.entries()];
    expect(all).toHaveLength(map.size);
    expect(new Map(all)).toEqual(map);
  });

  test.each([
    ["counted", (i: number) => `name-${i}`],
    ["counted in front", (i: number) => `${i}-name`],
    ["long ones that differ in the middle", (i: number) => `${"x".repeat(100)}${i}${"x".repeat(100)}`],
  ])("keeps no map of more than some thousand names: %s", (_, nameOf) => {
    const table = tableOf(Array.from({ length: MANY * 4 }, (_, i) => nameOf(i)));
    expect(Math.max(...table.maps().map(({ size }) => size))).toBeLessThan(10_000);
  });
});
