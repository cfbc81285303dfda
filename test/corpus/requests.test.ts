import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dial, parse } from "../server/support/client.ts";
import { createDouble, type Double, ok } from "../server/support/double.ts";
import { type Carryover, startCarryover } from "../support/carryover.ts";
import { figure } from "../support/figures.ts";
import { requests } from "./requests.ts";

let platform: Double;
let carryover: Carryover;

beforeAll(async () => {
  platform = await createDouble(({ line }, socket) => {
    socket.write(line.startsWith("HEAD ") ? "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" : ok());
  });
  carryover = await startCarryover({ v2Url: platform.url });
});
afterAll(async () => {
  figure("T-SMG-01", "requests of the corpus that carryover was sent byte for byte", requests.length, "requests");
  await carryover.close();
  await platform.close();
});

const titled = (passes: boolean) =>
  requests.filter((entry) => entry.passes === passes).map((entry) => [`${entry.id}: ${entry.name}`, entry] as const);

// At a time: several are answered only once the connection has lingered, and none may reach the platform.
describe.concurrent("a request that another parser could read differently is refused and never reaches the platform", () => {
  it.each(titled(false))("%s", async (_, { bytes, status }) => {
    const { text, received } = await send(bytes);
    expect(received).toBe("");
    if (status.length === 0) {
      expect(text).toBe("");
      return;
    }
    const answer = parse(text);
    expect(status).toContain(answer.status);
    expect(answer.field("content-type")).toBe("application/json");
    const details = answer.status === 501 ? [] : [{ domain: "carryover" }];
    expect(answer.json()).toMatchObject({ code: expect.any(Number), message: expect.any(String), details });
    if (answer.status === 401) expect(answer.field("www-authenticate")).toBe("Bearer");
    expect(text.split("HTTP/1.1 ").length).toBe(2);
  });
});

describe("a request that is only unusual reaches the platform once", () => {
  it.each(titled(true))("%s", async (_, { bytes }) => {
    const before = platform.requests.length;
    const { text } = await send(bytes);
    expect(parse(text).status).toBe(200);
    expect(platform.requests.length - before).toBe(1);
    expect(text.split("HTTP/1.1 200 OK")).toHaveLength(2);
  });
});

describe("after all this", () => {
  it("nothing is still under way", async () => {
    const metrics = await fetch(`${carryover.adminUrl}/metrics`);
    expect(await metrics.text()).toMatch(/^carryover_in_flight_requests 0$/m);
  });
});

/** Sends `bytes`, waits for the answer, and says what the platform got meanwhile. */
async function send(bytes: string): Promise<{ text: string; received: string }> {
  const before = platform.received().length;
  const client = await dial(Number(new URL(carryover.url).port));
  client.send(bytes);
  // Some leave the connection open: then the answer is whole by its length.
  const text = await client.until((sofar) => !/^Connection: close\r$/im.test(bytes) && isWhole(sofar));
  client.leave();
  return { text, received: platform.received().slice(before) };
}

function isWhole(text: string): boolean {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0 || /^connection: close\r$/im.test(text.slice(0, end))) return false;
  return parse(text).body.length >= Number(parse(text).field("content-length") ?? 0);
}
