import { describe, expect, it } from "vitest";
import { createCancels } from "../../src/grpc/cancels.ts";

describe("calls that are cancelled", () => {
  it("make the calls of their caller wait, and no others", () => {
    let now = 0;
    const cancels = createCancels(() => now, "24.21.0");
    for (let i = 0; i < 900; i++) expect(cancels.add("hostile")).toBe(true);
    expect([cancels.refuses("hostile", true), cancels.refuses("good", false)]).toEqual([true, false]);
    now = 4_100;
    expect(cancels.refuses("hostile", true)).toBe(false);
  });

  it.each([
    // nghttp2 ends a connection after 1,000 resets and 33 more each second. Node 20 cannot change that.
    ["20.20.2", 1_000, 33],
    ["24.21.0", 10_000, 1_000],
  ])("of one caller alone never end a shared connection in Node %s", (node, burst, perSecond) => {
    let now = 0;
    const cancels = createCancels(() => now, node);
    // Each call is cancelled 300 ms after it began.
    const begun: number[] = [];
    let cancelled = 0;
    let left = burst;
    for (; now < 60_000; now++) {
      for (; begun[0] !== undefined && begun[0] + 300 <= now; begun.shift()) {
        cancels.add("hostile");
        cancelled++;
      }
      if (!cancels.refuses("hostile", true)) begun.push(now);
      left = Math.min(left, burst + (now * perSecond) / 1_000 - cancelled);
    }
    expect(cancelled).toBeGreaterThan(500);
    expect(left).toBeGreaterThan(0);
  });

  it("are remembered of the latest callers only", () => {
    const cancels = createCancels(() => 0);
    for (let i = 0; i < 501; i++) cancels.add("first");
    expect(cancels.refuses("first", true)).toBe(true);
    for (let i = 0; i < 1_000; i++) cancels.add(`other-${i}`);
    expect(cancels.refuses("first", true)).toBe(false);
  });

  it("by more callers than anybody has are too many for a connection, where known ones go on", () => {
    const cancels = createCancels(() => 0);
    const isCalm = Array.from({ length: 1_500 }, (_, i) => cancels.add(`invented-${i}`));
    expect([isCalm.indexOf(false), cancels.refuses("new", false), cancels.refuses("known", true)]).toEqual([
      950,
      true,
      false,
    ]);
  });
});
