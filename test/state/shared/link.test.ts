import { describe, expect, test } from "vitest";
import { initialLink, isUp, type LinkEvent, type LinkState, step } from "../../../src/state/shared/link.ts";

const STORE = { id: "store", version: 1, token: "t" };

function replied(at: number, isIncomplete = false, isWaiting = false): LinkEvent {
  return { kind: "replied", store: STORE, at, isIncomplete, isWaiting };
}

const failed = (at: number): LinkEvent => ({ kind: "failed", fault: "no response", at });

function linkAfter(...events: readonly LinkEvent[]): LinkState {
  return events.reduce(step, initialLink(0));
}

describe("the link of a replica to the shared store", () => {
  test("is connecting until the first response, however often that fails", () => {
    expect(linkAfter(failed(5), failed(9))).toMatchObject({ phase: "connecting", since: 0, fault: "no response" });
    expect(linkAfter(failed(5), replied(9))).toMatchObject({ phase: "in-step", since: 9, fault: undefined });
  });

  test("is away since the first failure after a response", () => {
    const away = linkAfter(replied(1), failed(7), failed(8));
    expect(away).toMatchObject({ phase: "away", since: 7, fault: "no response" });
    expect(isUp(away)).toBe(false);
    expect(step(away, replied(9))).toMatchObject({ phase: "in-step", since: 9 });
  });

  test("refills a store that lost something until nothing waits", () => {
    const refilling = linkAfter(replied(1), replied(2, true, true));
    expect(refilling).toMatchObject({ phase: "refilling", since: 2 });
    expect(step(refilling, replied(3, false, true)).phase).toBe("refilling");
    expect(step(refilling, replied(3)).phase).toBe("in-step");
    // What is new is no loss.
    expect(linkAfter(replied(1), replied(2, false, true)).phase).toBe("in-step");
  });
});
