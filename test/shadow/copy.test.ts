import { describe, expect, test } from "vitest";
import { type ByteReservation, createBoundedCopy, createByteBudget } from "../../src/shadow/capture.ts";

describe("copy", () => {
  test("pieces of any length come out as one, and no more than twice their length is held", () => {
    const memory = createByteBudget(100_000);
    const held = memory.open("ci");
    const copy = createBoundedCopy(held, 50_000);
    const pieces = Array.from({ length: 300 }, (_, i) => Buffer.alloc(i % 7, i));
    let length = 0;
    for (const piece of pieces) {
      expect(copy.add(piece)).toBeUndefined();
      length += piece.length;
      expect(memory.inUse()).toBeLessThanOrEqual(2 * length);
    }
    expect(Buffer.from(copy.bytes())).toEqual(Buffer.concat(pieces));
    copy.drop();
    expect([memory.inUse(), copy.bytes().length]).toEqual([0, 0]);
  });

  test("a growing copy may be as long as its limit, whatever doubling would make of it", () => {
    const copy = createBoundedCopy(createByteBudget(1_000).open("ci"), 100);
    expect([copy.add(Buffer.alloc(60)), copy.add(Buffer.alloc(40))]).toEqual([undefined, undefined]);
    expect(copy.add(Buffer.alloc(1))).toBe("too-large");
    expect([copy.add(Buffer.alloc(0)), copy.bytes().length]).toEqual(["too-large", 0]);
  });

  test("where there is no room for both buffers while it grows, there is no room", () => {
    const memory = createByteBudget(200);
    const copy = createBoundedCopy(memory.open("ci"), 1_000);
    expect(copy.add(Buffer.alloc(60))).toBeUndefined();
    expect(copy.add(Buffer.alloc(1))).toBe("memory");
    expect(memory.inUse()).toBe(0);
  });
});

describe("memory", () => {
  test("each gives back its own, once, and takes nothing afterwards", () => {
    const memory = createByteBudget(100);
    const [one, other, third] = ["a", "b", "c"].map(memory.open) as [ByteReservation, ByteReservation, ByteReservation];
    expect([one.take(50), other.take(51), other.take(50)]).toEqual([true, false, true]);
    one.release();
    one.release();
    one.give(60);
    expect([memory.inUse(), one.take(1), other.take(1), third.take(50)]).toEqual([50, false, false, true]);
    third.release();
    other.release();
    expect(memory.inUse()).toBe(0);
  });
});
