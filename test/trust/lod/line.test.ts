import { describe, expect, it } from "vitest";
import type { ApiRequest } from "../../../src/model/message.ts";
import { createSend } from "../../../src/upstream/client.ts";
import { createPool } from "../../../src/upstream/pool.ts";
import { ask, dial } from "../../listener/support/client.ts";
import { createDouble, ok } from "../../listener/support/double.ts";
import { later, POOL, rig, takeDownAfterEach } from "../../listener/support/rig.ts";

takeDownAfterEach();

const ONE = { connections: 1, waitMs: 150 };
const never = { signal: new AbortController().signal };

describe("T-LOD-05: where every connection to the platform is taken", () => {
  it.each([
    ["GET", "", ""],
    ["POST", "Content-Length: 2\r\n", "{}"],
  ])(
    "a %s that passes through waits so long and no longer, then is 503 and was never sent",
    async (method, fields, body) => {
      const here = await rig({ script: () => {}, pool: ONE });
      const first = await dial(here.port);
      first.send("GET /first HTTP/1.1\r\nHost: a\r\n\r\n");
      await here.double.until(() => here.double.requests.length === 1);
      const answer = await ask(here.port, `${method} /second`, fields, body);
      expect([answer.status, answer.field("retry-after")]).toEqual([503, "1"]);
      expect(answer.json()).toMatchObject({ code: 14, details: [{ reason: "OVERLOADED", metadata: {} }] });
      expect(here.double.received()).not.toContain("/second");
      expect(here.double.connections()).toBe(1);
      first.leave();
    },
  );

  it("a call that begins a request waits so long, one that goes on with it until its turn", async () => {
    let answer = () => {};
    const double = await createDouble((call, socket) => {
      if (call.line.includes("/first")) answer = () => socket.write(ok());
      else socket.write(ok());
    });
    later(double.close);
    const pool = createPool({ url: double.url, ...POOL, ...ONE });
    later(pool.close);
    const [begin, further] = [false, true].map((patient) => createSend(pool, { maxResponseBytes: 100, patient }));
    const request = (target: string): ApiRequest => ({ method: "GET", target, headers: [] });
    const first = begin?.(request("/first"), never);
    await double.until(() => double.requests.length === 1);
    const waiting = further?.(request("/further"), never);
    await expect(begin?.(request("/begun"), never)).rejects.toMatchObject({ reason: "OVERLOADED", retryAfter: 1 });
    answer();
    expect([(await first)?.status, (await waiting)?.status]).toEqual([200, 200]);
    expect(double.requests.map(({ line }) => line)).toEqual(["GET /first HTTP/1.1", "GET /further HTTP/1.1"]);
  });

  it("those that leave the line cost no connection", async () => {
    let answer = () => {};
    const here = await rig({
      pool: { ...ONE, waitMs: 10_000 },
      script: (call, socket) => {
        if (call.line.includes("/first")) answer = () => socket.write(ok());
        else socket.write(ok());
      },
    });
    const first = ask(here.port, "GET /first");
    await here.double.until(() => here.double.requests.length === 1);
    const clients = await Promise.all(Array.from({ length: 50 }, () => dial(here.port)));
    for (const client of clients) client.send("GET /left HTTP/1.1\r\nHost: a\r\n\r\n");
    while (here.listener.inFlight() < 51) await new Promise((resolve) => setImmediate(resolve));
    for (const client of clients) client.leave();
    await here.ended(50);
    answer();
    expect((await first).status).toBe(200);
    expect((await ask(here.port, "GET /next")).status).toBe(200);
    expect(here.double.requests.map(({ line }) => line)).toEqual(["GET /first HTTP/1.1", "GET /next HTTP/1.1"]);
    expect(here.double.connections()).toBe(1);
  });
});
