import { describe, expect, it } from "vitest";
import { createCancels } from "../../src/grpc/cancels.ts";

describe("calls that are cancelled", () => {
  it("make the calls of their caller wait, and no others", () => {
    let now = 0;
    const cancels = createCancels(() => now);
    for (let i = 0; i < 900; i++) expect(cancels.add("hostile")).toBe(true);
    expect([cancels.refuses("hostile", true), cancels.refuses("good", false)]).toEqual([true, false]);
    now = 100;
    expect(cancels.refuses("hostile", true)).toBe(false);
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
