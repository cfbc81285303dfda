import { expect, test } from "vitest";
import { bucketOfDigest } from "../../src/model/rule-match.ts";
import { createBucket } from "../../src/rollout/callers.ts";
import { stickinessOf } from "./stickiness.ts";

stickinessOf(3_000);

// HMAC-SHA256 of "bucket\0ci-bot" under "salt-1", worked out by another program.
const PLACE = 69.23089743771307;

test("the place of a client is fixed for good: a new version of carryover moves nobody", () => {
  expect(createBucket("salt-1")("ci-bot")).toBeCloseTo(PLACE, 10);
});

test("digests are spread from 0 to below 100, and short ones refused", () => {
  expect(bucketOfDigest(new Uint8Array(32))).toBe(0);
  expect(bucketOfDigest(new Uint8Array(6).fill(255))).toBeLessThan(100);
  expect(bucketOfDigest(Uint8Array.of(128, 0, 0, 0, 0, 0))).toBe(50);
  expect(() => bucketOfDigest(new Uint8Array(5))).toThrow("too short");
});
