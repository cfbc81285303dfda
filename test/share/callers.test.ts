import { describe, expect, it } from "vitest";
import { noteCredential, type Visit } from "../../src/listener/visit.ts";
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

describe("the credential of a request", () => {
  it.each([
    ["a read", { apiVersion: "v1", resource: "group" }, [200], true],
    ["a list that failed behind its first page", { apiVersion: "v1", resource: "group" }, [200, 502], true],
    ["a write that it may not do", { apiVersion: "v2", resource: "group" }, [403], true],
    ["a record that is not there, which a gateway may say", { apiVersion: "v1", resource: "group" }, [404], false],
    ["a token exchange", { apiVersion: "sts", resource: "group" }, [200], false],
    ["something open to anybody", { apiVersion: "v2", resource: "unknown" }, [200], false],
  ])("is accepted by what the platform answered to %s: %j, %j: %s", (_, about, statuses, accepted) => {
    const callers = createCallers();
    const exchange = { ...about, calls: statuses.map((status) => ({ status })) };
    noteCredential({ exchange, credential: "a" } as unknown as Visit, callers);
    expect(callers.accepted("a")).toBe(accepted);
  });
});
