import { describe, expect, it } from "vitest";
import { readHeaders } from "../../src/model/http.ts";
import { givenRequestId, hasTrace, newTrace } from "../../src/server/headers.ts";

describe("a trace", () => {
  it("that carryover begins is one that others can read, from any id", () => {
    for (const id of ["123e4567-e89b-42d3-a456-426614174000", "no uuid"]) {
      const made = newTrace(id);
      expect(hasTrace(readHeaders(["traceparent", made], true))).toBe(true);
    }
    expect(newTrace("123e4567-e89b-42d3-a456-426614174000")).toContain("123e4567e89b42d3a456426614174000");
  });

  it.each([
    ["00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", true],
    ["01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00", true],
    ["ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", false],
    ["00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", false],
    ["00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", false],
    ["", false],
  ])("%j is one: %s", (value, expected) => {
    expect(hasTrace(readHeaders(["Traceparent", value], true))).toBe(expected);
  });
});

describe("a request id", () => {
  it.each([
    [["X-Request-ID", "a"], "a"],
    [["x-request-id", "a", "x-request-id", "b"], undefined],
    [["x-request-id", "a b"], undefined],
    [["x-request-id", "é"], undefined],
    [["x-request-id", ""], undefined],
    [["x-request-id", "x".repeat(128)], "x".repeat(128)],
    [["x-request-id", "x".repeat(129)], undefined],
  ])("of %j is %s", (raw, expected) => {
    expect(givenRequestId(readHeaders(raw, true))).toBe(expected);
  });
});
