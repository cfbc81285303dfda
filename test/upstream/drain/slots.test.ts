import { describe, expect, it } from "vitest";
import { Problem } from "../../../src/model/problem.ts";
import { createSlots } from "../../../src/upstream/drain/slots.ts";

const LIMITS = { maxConcurrent: 3, maxConcurrentPerCredential: 2 };

function refusal(act: () => unknown): Problem {
  try {
    act();
  } catch (thrown) {
    if (thrown instanceof Problem) return thrown;
  }
  throw new Error("not refused");
}

describe("slots", () => {
  it("one credential over its limit is told when to come back, others are served", () => {
    const slots = createSlots(LIMITS);
    slots.claim("a");
    slots.claim("a");
    const problem = refusal(() => slots.claim("a"));
    expect(problem).toMatchObject({ reason: "OVERLOADED", http: 503, metadata: { limit: "2", scope: "credential" } });
    expect(problem.retryAfter).toBeGreaterThan(0);
    expect(() => slots.claim("b")).not.toThrow();
    expect(slots.inUse()).toEqual({ drains: 3, credentials: 2 });
  });

  it("the process has a limit over all credentials", () => {
    const slots = createSlots(LIMITS);
    for (const credential of ["a", "b", "c"]) slots.claim(credential);
    expect(refusal(() => slots.claim("d")).metadata).toEqual({ limit: "3", scope: "process" });
  });

  it("a refused claim takes nothing", () => {
    const slots = createSlots({ maxConcurrent: 1, maxConcurrentPerCredential: 1 });
    const release = slots.claim("a");
    refusal(() => slots.claim("a"));
    refusal(() => slots.claim("b"));
    release();
    expect(slots.inUse()).toEqual({ drains: 0, credentials: 0 });
    slots.claim("b")();
    slots.claim("a")();
    expect(slots.inUse()).toEqual({ drains: 0, credentials: 0 });
  });

  it("a slot given back is free again, and giving it back twice frees no other", () => {
    const slots = createSlots(LIMITS);
    const first = slots.claim("a");
    slots.claim("a");
    first();
    first();
    expect(slots.inUse()).toEqual({ drains: 1, credentials: 1 });
    slots.claim("a");
    expect(refusal(() => slots.claim("a")).metadata["scope"]).toBe("credential");
  });

  it("a credential is remembered only while it holds a slot", () => {
    const slots = createSlots(LIMITS);
    for (let i = 0; i < 100; i++) slots.claim(`credential-${i}`)();
    expect(slots.inUse()).toEqual({ drains: 0, credentials: 0 });
  });

  it("no text of a refusal names the credential", () => {
    const slots = createSlots({ maxConcurrent: 1, maxConcurrentPerCredential: 1 });
    slots.claim("digest-of-a");
    const problem = refusal(() => slots.claim("digest-of-a"));
    expect(JSON.stringify([problem.message, problem.metadata])).not.toContain("digest");
  });
});
