import { describe, expect, test } from "vitest";
import { causeText, stackText } from "../../src/telemetry/cause.ts";

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
