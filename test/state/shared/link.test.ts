import { describe, expect, test } from "vitest";
import { initialLink, isUp, type LinkEvent, type LinkState, nextBatch, step } from "../../../src/state/shared/link.ts";
import type { TickReply } from "../../../src/state/shared/protocol.ts";

const STORE = { id: "store", version: 1, token: "t" };

function replied(status: TickReply["status"], last: number, at = 0): LinkEvent {
  const nothing = { isDiverged: false, rules: [], force: undefined, outcomes: [], replicas: undefined, sums: [] };
  return { kind: "replied", at, reply: { status, last, store: STORE, at: 0, ...nothing } };
}

const MADE: LinkEvent = { kind: "made" };
const failed = (at: number): LinkEvent => ({ kind: "failed", fault: "no response", at });

function linkAfter(...events: readonly LinkEvent[]): LinkState {
  return events.reduce(step, initialLink(0));
}

/** In step after five batches. */
const FIVE = [replied("ok", 0), MADE, MADE, MADE, MADE, MADE, replied("ok", 5)] as const;

describe("the link of a replica to the shared store", () => {
  test("is connecting until the first response, however often that fails", () => {
    expect(linkAfter(failed(5), failed(9))).toMatchObject({ phase: "connecting", since: 0, fault: "no response" });
    expect(linkAfter(failed(5), replied("ok", 0, 9))).toMatchObject({ phase: "in-step", since: 9, fault: undefined });
  });

  test("is away since the first failure after a response", () => {
    const away = linkAfter(...FIVE, failed(7), failed(8));
    expect(away).toMatchObject({ phase: "away", since: 7, fault: "no response" });
    expect(isUp(away)).toBe(false);
    expect(step(away, replied("ok", 5, 9))).toMatchObject({ phase: "in-step", since: 9 });
  });

  test("has a next batch only while the store lacks one", () => {
    expect(nextBatch(linkAfter(...FIVE))).toBeUndefined();
    expect(nextBatch(linkAfter(...FIVE, MADE))).toBe(6);
    expect(nextBatch(linkAfter(...FIVE, MADE, replied("dup", 6)))).toBeUndefined();
  });

  test("sends acknowledged batches again that the store lost", () => {
    const gap = linkAfter(...FIVE, replied("gap", 2));
    expect([gap.phase, nextBatch(gap)]).toEqual(["gap", 3]);
    const later = step(gap, replied("ok", 3));
    expect([later.phase, nextBatch(later)]).toEqual(["gap", 4]);
    expect(step(step(later, replied("ok", 4)), replied("ok", 5)).phase).toBe("in-step");
  });

  test("seeds when a batch that the store lost is no longer held", () => {
    const state = linkAfter(...FIVE, { kind: "forgot", oldest: 4 }, replied("gap", 2));
    expect(state).toMatchObject({ phase: "seeding", mustSeed: true });
    expect(nextBatch(state)).toBeUndefined();
    expect(linkAfter(...FIVE, { kind: "forgot", oldest: 4 }, replied("gap", 3)).phase).toBe("gap");
  });

  test("seeds another store, from a number above all before", () => {
    const begun = linkAfter(...FIVE, replied("foreign", 0), { kind: "seeded", batches: 2, at: 0 });
    expect(begun).toMatchObject({ phase: "seeding", made: 7, oldest: 6 });
    expect(nextBatch(begun)).toBe(6);
    const half = step(begun, replied("ok", 6));
    expect([half.phase, nextBatch(half)]).toEqual(["seeding", 7]);
    expect(step(half, replied("ok", 7))).toMatchObject({ phase: "in-step", seed: undefined });
  });

  test("goes on with the first batch of a contribution, whatever the store has by then", () => {
    const begun = linkAfter(...FIVE, replied("foreign", 0), { kind: "seeded", batches: 1, at: 0 }, failed(1));
    expect(nextBatch(step(begun, replied("gap", 0)))).toBe(6);
  });

  test("seeds again when a failover loses the first batch of a contribution", () => {
    const seeded = linkAfter(...FIVE, replied("foreign", 0), { kind: "seeded", batches: 2, at: 0 }, replied("ok", 6));
    expect(step(seeded, replied("gap", 3))).toMatchObject({ phase: "seeding", mustSeed: true });
  });

  test("seeds when the store has a batch that never was", () => {
    expect(linkAfter(...FIVE, replied("dup", 9))).toMatchObject({ mustSeed: true, made: 9 });
  });
});
