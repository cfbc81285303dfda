import { describe, expect, it } from "vitest";
import { ANONYMOUS } from "../../src/model/callers.ts";
import { createCallers } from "../../src/share/callers.ts";

describe("callers", () => {
  it("are one while the platform has not accepted their credentials, and then each its own", () => {
    const callers = createCallers();
    expect(["", "a", "b"].map(callers.of)).toEqual([ANONYMOUS, ANONYMOUS, ANONYMOUS]);
    callers.answered("a", 200);
    callers.answered("b", 404);
    callers.answered(ANONYMOUS, 200);
    expect(["", "a", "b"].map(callers.of)).toEqual([ANONYMOUS, "a", ANONYMOUS]);
    expect(["", "a", "b"].map(callers.accepted)).toEqual([false, true, false]);
    callers.answered("a", 500);
    expect(callers.accepted("a")).toBe(true);
    callers.answered("a", 401);
    expect(callers.of("a")).toBe(ANONYMOUS);
  });

  it("of credentials that were accepted long ago are forgotten first", () => {
    const callers = createCallers(2);
    for (const credential of ["a", "b", "a", "c"]) callers.answered(credential, 204);
    expect(["a", "b", "c"].map(callers.of)).toEqual(["a", ANONYMOUS, "c"]);
  });
});
