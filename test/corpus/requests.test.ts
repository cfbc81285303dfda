import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse, talk } from "../listener/support/client.ts";
import { rig, takeDownAfterEach } from "../listener/support/rig.ts";

interface Entry {
  readonly name: string;
  /** Latin-1: one character is one byte. */
  readonly bytes: string;
  /** Empty: the connection is closed without an answer. */
  readonly status: readonly number[];
}

const entries: readonly Entry[] = JSON.parse(readFileSync(new URL("./requests.json", import.meta.url), "utf8"));

takeDownAfterEach();

describe("a request that another parser could read differently is refused and never reaches the upstream", () => {
  it.each(entries)("$name", async ({ bytes, status }) => {
    const { port, double, listener } = await rig();
    const text = await talk(port, bytes);
    expect(double.received()).toBe("");
    expect(listener.inFlight()).toBe(0);
    if (status.length === 0) {
      expect(text).toBe("");
      return;
    }
    const answer = parse(text);
    expect(status).toContain(answer.status);
    expect(answer.field("content-type")).toBe("application/json");
    const details = answer.status === 501 ? [] : [{ domain: "carryover" }];
    expect(answer.json()).toMatchObject({ code: expect.any(Number), message: expect.any(String), details });
    expect(text.split("HTTP/1.1 ").length).toBe(2);
  });
});
