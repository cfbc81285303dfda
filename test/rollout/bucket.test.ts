import { expect, test } from "vitest";
import { createBucket } from "../../src/rollout/callers.ts";
import { stickinessOf } from "./stickiness.ts";

stickinessOf(3_000);

// HMAC-SHA256 of "bucket\0ci-bot" under "salt-1", worked out by another program.
const PLACE = 69.23089743771307;

test("the place of a client is fixed for good: a new version of carryover moves nobody", () => {
  expect(createBucket("salt-1")("ci-bot")).toBeCloseTo(PLACE, 10);
});
