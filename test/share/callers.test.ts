import { describe, expect, it } from "vitest";
import { ANONYMOUS } from "../../src/model/callers.ts";
import { createCallers } from "../../src/share/callers.ts";

describe("callers", () => {
  it("are one while the platform has not accepted their credentials, and then each its own", () => {
    const callers = createCallers();
    expect(["", "a", "b"].map(callers.of)).toEqual([ANONYMOUS, ANONYMOUS, ANONYMOUS]);
    callers.served("a");
    callers.served(ANONYMOUS);
    expect(["", "a", "b"].map(callers.of)).toEqual([ANONYMOUS, "a", ANONYMOUS]);
  });

  it("of credentials that were accepted long ago are forgotten first", () => {
    const callers = createCallers(2);
    for (const credential of ["a", "b", "a", "c"]) callers.served(credential);
    expect(["a", "b", "c"].map(callers.of)).toEqual(["a", ANONYMOUS, "c"]);
  });
});
