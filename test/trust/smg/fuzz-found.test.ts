/** Inputs that the fuzzer once found to break something, and some new ones, do no harm. (Many more: fuzz-requests.all.ts.) */
import { afterAll, beforeAll, expect, it } from "vitest";
import { requests } from "../../corpus/requests.ts";
import { found } from "../../fuzz/found.ts";
import { faultOf, fuzz } from "../../fuzz/fuzz.ts";
import { wellFormed } from "../../fuzz/requests.ts";
import { createFuzzTarget, type FuzzTarget } from "../../fuzz/target.ts";

const PATIENCE_MS = 5_000;

let target: FuzzTarget;
beforeAll(async () => {
  target = await createFuzzTarget();
});
afterAll(() => target.close());

it.each(found())("T-SMG-33: $file does no harm any more ($why)", async ({ bytes }) => {
  expect(await faultOf(target, bytes, PATIENCE_MS)).toBeUndefined();
  await expect.poll(() => target.inFlight()).toBe(0);
});

it("T-SMG-33: spoilt requests crash and hang nothing, and upstreams get only what may reach them", async () => {
  const [first = "", ...rest] = [...requests.map(({ bytes }) => bytes), ...wellFormed(target.catalogue)];
  const inputs = 400;
  const { tried, failures } = await fuzz(target, {
    ...{ seed: "20261122", inputs, lanes: 20, patienceMs: PATIENCE_MS },
    corpus: [first, ...rest],
  });
  expect([tried, failures]).toEqual([inputs, []]);
  await expect.poll(() => target.inFlight()).toBe(0);
  expect(target.slipped()).toEqual([]);
});
