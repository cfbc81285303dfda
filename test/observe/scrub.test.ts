import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { causeText, scrub, scrubPath, stackText } from "../../src/telemetry/scrub.ts";

const JWT = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl";
const OPAQUE = "Q2lRS0lESXpaR0ZtT0dGaVkyUmxabWRvYVdwcmJHMXViM0J4Y25OMGRYWjNlSGw2";

describe("secrets", () => {
  test.each([
    `Authorization: Bearer ${JWT}`,
    "authorization=Basic dXNlcjpodW50ZXIy and more hunter2",
    `{"authorization":["Bearer","${JWT}"]}`,
    "Cookie: sid=hunter2; other=hunter2",
    "set-cookie: sid=hunter2",
    "bearer hunter2",
    "/iam/v2beta1/Bearer%20hunter2",
    `token ${JWT} refused`,
    "GET /iam/v2beta1/groups?page_token=hunter2&page_size=200 failed",
    "https://host/path?hunter2",
    "page_token=hunter2",
    "nextPageToken: hunter2",
    '{"nextPageToken":"hunter2","items":[]}',
    "{'access_token': 'hunter2'}",
    "client_secret = hunter2",
    "identity=hunter2&aud=hunter2",
    "connect to https://user:hunter2@host",
    `cursor ${OPAQUE}`,
    `"password":"hunter2`,
    "x-api_key: hunter2",
  ])("%s leaves nothing secret", (text) => {
    const rest = scrub(text);
    expect(rest).not.toMatch(/hunter2/);
    expect(rest).not.toContain(JWT.slice(0, 20));
    expect(rest).not.toContain(JWT.slice(-12));
    expect(rest).not.toContain(OPAQUE.slice(0, 20));
    expect(rest).toContain("[redacted]");
  });

  test.each([
    "connect ECONNREFUSED 127.0.0.1:9",
    "Unexpected token } in JSON at position 3",
    "is it so? no",
    "the uid 3a5f0d6c1b2e4f708192a3b4c5d6e7f801234567/8899aabbccddeeff is missing",
  ])("%s is left as it is", (text) => {
    expect(scrub(text)).toBe(text);
  });

  test("no token survives, whatever stands around it", () => {
    const word = fc.string({ maxLength: 20 });
    fc.assert(
      fc.property(word, word, (before, after) => {
        expect(scrub(`${before} Bearer ${JWT} ${after}`)).not.toContain("c2lnbmF0dXJl");
      }),
    );
  });

  test("a text of any length is looked at in bounded time and size", () => {
    for (const text of ["token".repeat(1e6), "//".repeat(1e6), "eyJ.".repeat(1e6), '"'.repeat(1e6)]) {
      expect(scrub(text).length).toBeLessThan(20_000);
    }
  });
});

test("a path loses its query, and a token in it", () => {
  expect(scrubPath("/iam/v1/groups?page_token=hunter2")).toBe("/iam/v1/groups");
  expect(scrubPath(`/iam/v1/groups/${JWT}`)).toBe("/iam/v1/groups/[redacted]");
});

describe("causes", () => {
  test("the chain is told from the outside in, codes included", () => {
    const socket = Object.assign(new Error("connect refused"), { code: "ECONNREFUSED" });
    expect(causeText(new TypeError("fetch failed", { cause: socket }))).toBe(
      "TypeError: fetch failed <- Error ECONNREFUSED: connect refused",
    );
    expect(causeText(new AggregateError([socket], "all failed"))).toContain("ECONNREFUSED");
  });

  test("a ring of causes ends", () => {
    const ring = new Error("round");
    ring.cause = ring;
    expect(causeText(ring).split(" <- ")).toHaveLength(5);
  });

  test("what is no error is named by its type, a record is not written out", () => {
    expect(causeText({ token: "hunter2" })).toBe("object");
    expect(causeText("plain")).toBe("plain");
  });

  test("a stack is frames only: the message is scrubbed elsewhere", () => {
    expect(stackText(new Error("hunter2"))).toMatch(/^at /);
    expect(stackText(new Error("hunter2"))).not.toContain("hunter2");
    expect(stackText("x")).toBeUndefined();
  });
});
