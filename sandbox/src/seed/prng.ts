/** A pseudo-random generator that gives the same values for the same seed. */

export interface Random {
  /** A number from 0 up to, not including, `below`. */
  int(below: number): number;
  /** True in `share` (0 to 1) of all calls. */
  chance(share: number): boolean;
  /** One of `items`. */
  pick<T>(items: readonly [T, ...T[]]): T;
  /** `length` hex digits. */
  hex(length: number): string;
}

/** A small generator (mulberry32 over a hash of `seed`): not for secrets. */
export function createRandom(seed: string): Random {
  let state = 0x811c9dc5;
  for (const letter of seed) state = Math.imul(state ^ (letter.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
  const int = (below: number) => Math.floor(next() * below);
  return {
    int,
    chance: (share) => next() < share,
    pick: (items) => items[int(items.length)] ?? items[0],
    hex(length) {
      let text = "";
      while (text.length < length) text += int(0x1_0000_0000).toString(16).padStart(8, "0");
      return text.slice(0, length);
    },
  };
}
