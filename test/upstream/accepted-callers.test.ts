import { describe, expect, it } from "vitest";
import { recordCredential } from "../../src/edge/record.ts";
import { ANONYMOUS_SHARE } from "../../src/model/credential-shares.ts";
import type { IncomingRequest } from "../../src/server/incoming-request.ts";
import { createAcceptedCallers } from "../../src/upstream/credentials.ts";

describe("callers", () => {
  it("are one while the platform has not accepted their credentials, and then each its own", () => {
    const callers = createAcceptedCallers();
    expect(["", "a", "b"].map(callers.shareOf)).toEqual([ANONYMOUS_SHARE, ANONYMOUS_SHARE, ANONYMOUS_SHARE]);
    callers.answered("a", 200);
    callers.answered("b", 404);
    callers.answered(ANONYMOUS_SHARE, 200);
    expect(["", "a", "b"].map(callers.shareOf)).toEqual([ANONYMOUS_SHARE, "a", ANONYMOUS_SHARE]);
    expect(["", "a", "b"].map(callers.accepted)).toEqual([false, true, false]);
    callers.answered("a", 500);
    expect(callers.accepted("a")).toBe(true);
    callers.answered("a", 401);
    expect(callers.shareOf("a")).toBe(ANONYMOUS_SHARE);
  });

  it("of credentials that were accepted long ago are forgotten first", () => {
    const callers = createAcceptedCallers(2);
    for (const credential of ["a", "b", "a", "c"]) callers.answered(credential, 204);
    expect(["a", "b", "c"].map(callers.shareOf)).toEqual(["a", ANONYMOUS_SHARE, "c"]);
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
    const callers = createAcceptedCallers();
    const exchange = { ...about, calls: statuses.map((status) => ({ status })) };
    recordCredential({ exchange, credential: "a" } as unknown as IncomingRequest, callers);
    expect(callers.accepted("a")).toBe(accepted);
  });
});
