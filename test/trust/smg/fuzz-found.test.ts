/** Do inputs that the fuzzer once found to break something still do no harm? (A failure becomes a file, and the file a test.) */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { found } from "../../fuzz/found.ts";
import { faultOf } from "../../fuzz/fuzz.ts";
import { createFuzzTarget, type FuzzTarget } from "../../fuzz/target.ts";

let target: FuzzTarget;
beforeAll(async () => {
  target = await createFuzzTarget();
});
afterAll(() => target.close());

describe("what the fuzzer found", () => {
  it.each(found())("T-SMG-33: $file does no harm any more ($why)", async ({ bytes }) => {
    expect(await faultOf(target, bytes, 5_000)).toBeUndefined();
    await expect.poll(() => target.inFlight()).toBe(0);
  });
});
