/** Values of an enum that the catalogue may not list: v2 grows, and its reads show names that v1 never had. */

import type { EnumTable, EnumValue } from "../model/resource.ts";

/** Longer names are not in v2's spelling. */
const LONGEST_NAME = 200;
const UPPER_SNAKE = /^[A-Z][A-Z0-9_]*$/;
/** Enum numbers are 32 bits. */
const LAST_NUMBER = 2 ** 31 - 1;

/** One enum, prepared for looking up. */
export type EnumLookup = ReturnType<typeof enumLookup>;

export function enumLookup({ values, unknown }: EnumTable) {
  const byV1 = new Map<string | number, EnumValue>();
  const unnamedInV1 = new Set<string>();
  const named = new Set<string>();
  const v2Numbers = new Set<number>();
  // The first of several values wins.
  for (const value of values) {
    const [v1, v1Number, v2, v2Number] = value;
    v2Numbers.add(v2Number);
    // A zero is not a value that reads show.
    if (v2 !== null) (v1 === null && v2Number !== 0 ? unnamedInV1 : named).add(v2);
    if (v1 === null) continue;
    if (!byV1.has(v1)) byV1.set(v1, value);
    // Below zero: v1 has no number for it. Capabilities were texts.
    if (v1Number >= 0 && unknown === "drop" && !byV1.has(v1Number)) byV1.set(v1Number, value);
  }
  const prefix = sharedPrefix(values.flatMap(([, , v2, number]) => (v2 === null || number === 0 ? [] : [v2])));
  return {
    /** The value that a v1 client names, by name or number; undefined for what v1 does not know. */
    known: (given: string | number): EnumValue | undefined => byV1.get(given),
    /** True for a name that reads show and v1 never had: one without a v1 name, or an unlisted one with the prefix that v2's names share. */
    isNewName: (name: string): boolean =>
      unnamedInV1.has(name) ||
      (prefix !== "" &&
        name.startsWith(prefix) &&
        name.length <= LONGEST_NAME &&
        UPPER_SNAKE.test(name) &&
        !named.has(name)),
    /** True for a number that the catalogue has no v2 name for, so that it cannot be taken for another value. */
    isNewNumber: (number: number): boolean =>
      Number.isInteger(number) && number >= 0 && number <= LAST_NUMBER && !v2Numbers.has(number),
  };
}

/** `CATALOG_TIER_`: v2's style guide has each name begin with its enum's; the zero value may differ. */
function sharedPrefix([first = "", ...others]: readonly string[]): string {
  let length = first.lastIndexOf("_") + 1;
  while (length > 0 && !others.every((name) => name.startsWith(first.slice(0, length)))) {
    length = first.lastIndexOf("_", length - 2) + 1;
  }
  return first.slice(0, length);
}

/** True for a v2 value, a name or a number, that the catalogue does not list. */
export function isUnlisted({ values }: EnumTable, value: unknown): boolean {
  return !values.some(([, , v2, number]) => v2 === value || (number >= 0 && number === value));
}

/** True when a stored v2 value cannot be said in v1's numbers, which is all that gRPC has: its clients read zero. */
export function isNumberless({ values }: EnumTable, value: unknown): boolean {
  return !values.some(
    ([v1, v1Number, v2, number]) => v1 !== null && v1Number >= 0 && (v2 === value || (number >= 0 && number === value)),
  );
}

/**
 * Numbers without a v2 name that v1 has another name for: shown as they are, a client would take them for that. Texts mean
 * nothing in v1, and can be sent back.
 */
export function misleadingNumbers({ values }: EnumTable): readonly number[] {
  const inV2 = new Set(values.map(([, , , number]) => number));
  return values.flatMap(([, number]) => (number >= 0 && !inV2.has(number) ? [number] : []));
}
