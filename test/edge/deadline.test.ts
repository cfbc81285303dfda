import { describe, expect, it } from "vitest";
import { clientTimeout } from "../../src/edge/headers.ts";

describe("Grpc-Timeout", () => {
  it.each([
    ["1H", 3_600_000],
    ["2M", 120_000],
    ["3S", 3_000],
    ["4m", 4],
    ["5000u", 5],
    ["6000000n", 6],
    ["0S", 0],
    ["123456789S", undefined],
    ["-1S", undefined],
    ["1", undefined],
    ["1s", undefined],
    ["", undefined],
    [undefined, undefined],
  ])("%s is %s ms", (value, ms) => {
    const got = clientTimeout(value);
    if (ms === undefined) expect(got).toBeUndefined();
    else expect(got).toBeCloseTo(ms);
  });
});
