import { describe, expect, test } from "vitest";
import { createBucket } from "../../src/control/bucket.ts";
import { bucketOfDigest, isTaken } from "../../src/cutover/bucket.ts";

const CLIENTS = Array.from({ length: 100_000 }, (_, at) => `client-${at}@example.com`);
const SALTS = Array.from({ length: 10 }, (_, at) => (at === 0 ? "" : `salt-${at}`));
/** 0, then growing to 100, most steps where operators take them. */
const PERCENTAGES = [0, 0.1, 1, 2, 5, 10, 25, 50, 75, 100];

const placed = SALTS.map((salt) => CLIENTS.map(createBucket(salt)));
const takenAt = (percent: number) => (bucket: number) => isTaken(bucket, percent);
const share = (part: number) => `${((100 * part) / CLIENTS.length).toFixed(2)} %`;

describe("100,000 clients under 10 salts and 10 growing percentages", () => {
  test("a growing percentage never moves a client back", () => {
    let back = 0;
    for (const buckets of placed) {
      for (const bucket of buckets) {
        const sides = PERCENTAGES.map((percent) => isTaken(bucket, percent));
        back += sides.filter((taken, at) => !taken && sides.slice(0, at).includes(true)).length;
      }
    }
    console.log(
      `stickiness: ${CLIENTS.length} clients x ${SALTS.length} salts x ${PERCENTAGES.length} percentages: ${back} moved back`,
    );
    expect(back).toBe(0);
    expect(placed.every((buckets) => buckets.every((bucket) => bucket >= 0 && bucket < 100))).toBe(true);
  });

  test("two replicas agree on every client", () => {
    let apart = 0;
    SALTS.forEach((salt, at) => {
      const replica = createBucket(salt);
      CLIENTS.forEach((client, place) => {
        if (replica(client) !== placed[at]?.[place]) apart += 1;
      });
    });
    expect(apart).toBe(0);
  }, 60_000);

  test("a percentage takes that share of clients, within five standard deviations", () => {
    for (const percent of PERCENTAGES) {
      const found = placed.map((buckets) => buckets.filter(takenAt(percent)).length);
      const expected = (CLIENTS.length * percent) / 100;
      const deviation = Math.sqrt(expected * (1 - percent / 100));
      console.log(`percent ${percent}: took ${share(Math.min(...found))} to ${share(Math.max(...found))}`);
      for (const count of found) expect(Math.abs(count - expected)).toBeLessThanOrEqual(5 * deviation);
    }
  });

  test("another salt chooses other clients", () => {
    // Two salts at 10 % share 1 % of all clients by chance.
    for (let at = 1; at < placed.length; at++) {
      const both = CLIENTS.filter((_, client) => [0, at].every((salt) => isTaken(placed[salt]![client]!, 10))).length;
      expect(both).toBeGreaterThan(800);
      expect(both).toBeLessThan(1200);
    }
  });
});

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
