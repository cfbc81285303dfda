import { describe, expect, it } from "vitest";
import { givenRequestId } from "../../src/edge/headers.ts";
import { readHeaders } from "../../src/model/http.ts";

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
