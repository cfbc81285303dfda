import { describe, expect, it } from "vitest";
import { ANONYMOUS } from "../../src/model/callers.ts";
import { createAccepted, createCallers } from "../../src/share/callers.ts";

describe("callers", () => {
  it("are one while the platform has not accepted their credentials, and then each its own", () => {
    const callers = createCallers();
    const [a, b] = ["Bearer a", "Bearer b"];
    expect([callers.of(undefined), callers.of(a), callers.of(b)]).toEqual([ANONYMOUS, ANONYMOUS, ANONYMOUS]);
    callers.served(a);
    callers.served(undefined);
    expect(callers.of(b)).toBe(ANONYMOUS);
    callers.served(b);
    expect(new Set([callers.of(a), callers.of(b), callers.of(undefined)]).size).toBe(3);
    expect(callers.of(a)).not.toContain("Bearer");
  });

  it("of credentials that were accepted long ago are forgotten first", () => {
    const accepted = createAccepted(2);
    for (const credential of ["a", "b", "a", "c"]) accepted.accept(credential);
    expect(["a", "b", "c"].map(accepted.accepted)).toEqual([true, false, true]);
  });
});
