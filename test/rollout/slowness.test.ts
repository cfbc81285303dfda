import { describe, expect, it } from "vitest";
import { createSlownessWatch } from "../../src/rollout/slowness.ts";

function watched(v2: number, native: number, responses = 20) {
  const watch = createSlownessWatch();
  for (let at = 0; at < responses; at++) {
    watch.took("role list", "r", v2, at);
    watch.took("role list", undefined, native, at);
  }
  return watch;
}

describe("v2 is much slower than native v1", () => {
  it("at three times and 500 ms more, with twenty responses of each", () => {
    expect(watched(760, 250).slowest("r", 20)).toEqual({ operation: "role list", v2Ms: 760, nativeMs: 250 });
    expect(watched(740, 250).slowest("r", 20)).toBeUndefined();
    expect(watched(550, 60).slowest("r", 20)).toBeUndefined();
    expect(watched(5_000, 10, 19).slowest("r", 20)).toBeUndefined();
  });

  it("and names the operation that takes longest beside native v1, slow or not", () => {
    const watch = watched(30, 20);
    for (let at = 0; at < 20; at++) {
      watch.took("group list", "r", 90, at);
      watch.took("group list", undefined, 30, at);
    }
    expect(watch.longest("r", 20)).toEqual({ operation: "group list", v2Ms: 90, nativeMs: 30 });
    expect(watch.slowest("r", 20)).toBeUndefined();
    expect(watched(30, 20, 19).longest("r", 20)).toBeUndefined();
  });

  it("by the times of the last ten minutes, and of the rule in question", () => {
    expect(watched(5_000, 10).slowest("r", 600_020)).toBeUndefined();
    expect(watched(5_000, 10).slowest("other", 20)).toBeUndefined();
  });
});
