import { describe, expect, it } from "vitest";
import { createExchange } from "../../src/model/exchange.ts";
import { createCallRecorder } from "../../src/upstream/client.ts";

describe("a timed Send", () => {
  it("notes each call without its query, answered or not", async () => {
    const exchange = createExchange("id", 0, "GET", "/");
    let clock = 0;
    let answered = false;
    const send = createCallRecorder(
      exchange,
      "v2",
      () => clock,
    )(async () => {
      clock += 5;
      if (answered) throw new Error("gone");
      answered = true;
      return { status: 404, headers: [], body: new Uint8Array(0) };
    });
    const { signal } = new AbortController();
    await send({ method: "GET", target: "/a?page_token=secret", headers: [] }, { signal });
    await expect(send({ method: "PATCH", target: "/b", headers: [] }, { signal })).rejects.toThrow("gone");
    expect(exchange.calls).toEqual([
      { upstream: "v2", method: "GET", path: "/a", status: 404, ms: 5 },
      { upstream: "v2", method: "PATCH", path: "/b", status: 0, ms: 5 },
    ]);
    expect(exchange.upstreamMs).toBe(10);
  });
});
