import { describe, expect, it } from "vitest";
import { ask, type Client, dial, parse } from "../../server/support/client.ts";
import { ok } from "../../server/support/double.ts";
import { LIMITS, pass, rig, takeDownAfterAll } from "../../server/support/rig.ts";
import { dialMany, dripAll } from "./support.ts";

takeDownAfterAll();

const KIB = 1024;
const pool = { connections: 4 };
const timeouts = { headersMs: 10_000, requestMs: 30_000, keepAliveMs: 60_000, checkMs: 100, sendStallMs: 300 };
/** So that a body of a megabyte is begun before it is here. */
const limits = { ...LIMITS, heldBytes: 64 * KIB };
const post = (fields: string, method = "POST") => `${method} /slow HTTP/1.1\r\nHost: a\r\n${fields}\r\n\r\n`;
const chunk = (bytes: string) => `${bytes.length.toString(16)}\r\n${bytes}\r\n`;

describe("T-SLO-02: a client that has not sent its request yet", () => {
  it.each([
    ["no byte of a body", post("Content-Length: 10")],
    ["all but the last byte of a small body", `${post("Content-Length: 10")}123456789`],
    ["no chunk", post("Transfer-Encoding: chunked")],
    ["chunks without a last one", post("Transfer-Encoding: chunked") + chunk("x".repeat(60 * KIB))],
    ["a long body's beginning", `${post("Content-Length: 1000000")}${"x".repeat(60 * KIB)}`],
    ["all but the end of what is held of a body", `${post("Content-Length: 1000000")}${"x".repeat(900 * KIB)}`],
  ])("but %s takes no connection to the platform from others", async (_, bytes) => {
    const { port, double, listener, seen } = await rig({ timeouts, pool, script: ok() });
    const clients = await dialMany(port, 2 * pool.connections);
    for (const client of clients) client.send(bytes);
    while (listener.inFlight() < clients.length) await new Promise((resolve) => setImmediate(resolve));
    expect((await ask(port, "GET /fast")).status).toBe(200);
    expect(double.received()).not.toContain("/slow");
    for (const client of clients) client.leave();
    while (listener.inFlight() > 0) await new Promise((resolve) => setImmediate(resolve));
    // Nothing was sent to the platform, so no call is recorded either.
    expect(seen.filter(({ path }) => path === "/slow").flatMap(({ calls }) => calls)).toEqual([]);
    expect(double.received()).not.toContain("/slow");
  });

  it("is waited for once invited, and its body arrives as it was sent, counted once and watched", async () => {
    const body = "0123456789abcdef".repeat(4 * KIB - 1);
    const watched: string[] = [];
    const { port, double, ended } = await rig({
      script: ok(),
      decide: ({ target }) => ({
        ...pass(target),
        watch: {
          sent: (some: Uint8Array) => watched.push(String(some)),
          head: () => {},
          data: () => {},
          over: () => {},
        },
      }),
    });
    for (const framing of [`Content-Length: ${body.length}`, "Transfer-Encoding: chunked"]) {
      const client = await dial(port);
      client.send(post(`${framing}\r\nExpect: 100-continue\r\nConnection: close`));
      await client.until((text) => text.includes("100 Continue"));
      for (let at = 0; at < body.length; at += 5_000) {
        const some = body.slice(at, at + 5_000);
        client.send(framing.startsWith("T") ? chunk(some) : some);
      }
      if (framing.startsWith("T")) client.send("0\r\n\r\n");
      expect(parse(await client.closed()).status).toBe(200);
      const request = double.requests.at(-1);
      expect(String(request?.body)).toBe(body);
      expect(request?.head.toLowerCase()).toContain(`content-length: ${body.length}`);
      expect((await ended(double.requests.length)).requestBytes).toBe(body.length);
    }
    expect(watched.join("")).toBe(body + body);
  });
});

describe.concurrent("T-SLO-02: clients in the middle of bodies that are longer than what is held", () => {
  it.each([
    ["of known length", "Content-Length: 1000000", (bytes: string) => bytes],
    ["in chunks", "Transfer-Encoding: chunked", chunk],
  ])(
    "hold a quarter of the connections, %s, and the others wait for a place without one",
    async (_, fields, framed) => {
      const { port, double, listener } = await rig({
        timeouts: { ...timeouts, sendStallMs: 30_000 },
        limits,
        pool: { connections: 8 },
        connections: { v2: 8 },
        script: ok(),
      });
      const hogs = await dialMany(port, 12);
      for (const hog of hogs) hog.send(post(fields) + framed("x".repeat(100_000)));
      await double.until(() => double.connections() === 2);
      while (listener.inFlight() < hogs.length) await new Promise((resolve) => setImmediate(resolve));
      expect((await ask(port, "GET /fast")).status).toBe(200);
      expect((await ask(port, "POST /whole", "Content-Length: 60000\r\n", "x".repeat(60_000))).status).toBe(200);
      expect(double.received().split("POST /slow")).toHaveLength(3);
      // A place that becomes free is the next one's.
      hogs[0]?.leave();
      await double.until(() => double.received().split("POST /slow").length === 4);
      for (const hog of hogs) hog.leave();
    },
  );

  it("that send a byte now and then are told so with 408, and their connections are free again", async () => {
    const { port, double, ended, listener } = await rig({
      timeouts: { ...timeouts, sendGraceMs: 400 },
      limits,
      pool,
      script: ok(),
    });
    const hog = await dial(port);
    hog.send(post("Content-Length: 1000000") + "x".repeat(100_000));
    dripAll([hog], "x", 50);
    const answer = parse(await hog.closed());
    expect([answer.status, answer.field("connection")]).toEqual([408, "close"]);
    expect(answer.json()).toMatchObject({
      message: "the client sent its request's body more slowly than 1024 bytes a second",
      details: [{ reason: "REQUEST_TIMEOUT", metadata: { state: "unknown" } }],
    });
    expect(await ended(1)).toMatchObject({ status: 408, aborted: false });
    await double.until(() => double.gone() === 1);
    expect(listener.inFlight()).toBe(0);
  });
});

it.concurrent("T-SLO-02: a client that sends a body of v1 too slowly is told so with 408", async () => {
  const { port, ended } = await rig({
    timeouts: { ...timeouts, sendGraceMs: 300 },
    decide: () => ({ kind: "answer", respond: async () => ({ status: 200, headers: [], body: Buffer.from("{}") }) }),
  });
  const client = await dial(port);
  client.send(post("Content-Length: 1000"));
  dripAll([client], "x", 50);
  const answer = parse(await client.closed());
  expect(answer.json()).toMatchObject({ details: [{ reason: "REQUEST_TIMEOUT", metadata: {} }] });
  expect((await ended(1)).status).toBe(408);
});

describe.concurrent("T-SLO-02: a client in the middle of a long body", () => {
  const begin = async (port: number, method?: string): Promise<Client> => {
    const client = await dial(port);
    client.send(`${post("Content-Length: 1000000", method)}${"x".repeat(100_000)}`);
    return client;
  };

  it.each([
    ["POST", { state: "unknown" }],
    ["GET", {}],
  ])("that stops sending loses its connection to the platform, for %s", async (method, metadata) => {
    const { port, double, ended, listener } = await rig({ timeouts, limits, pool, script: ok() });
    const client = await begin(port, method);
    const answer = parse(await client.closed());
    expect([answer.status, answer.field("connection")]).toEqual([408, "close"]);
    expect(answer.json()).toMatchObject({ details: [{ reason: "REQUEST_TIMEOUT", metadata }] });
    expect(await ended(1)).toMatchObject({ status: 408, reason: "REQUEST_TIMEOUT", aborted: false });
    await double.until(() => double.gone() === 1);
    expect(double.requests).toEqual([]);
    expect(listener.inFlight()).toBe(0);
  });

  it("that is slow but goes on is served", async () => {
    const { port, double } = await rig({ timeouts, limits, pool, script: ok() });
    const client = await dial(port);
    client.send(`${post("Content-Length: 70010\r\nConnection: close")}${"x".repeat(70_000)}`);
    for (let i = 0; i < 10; i++) {
      await new Promise((resolve) => setTimeout(resolve, 60));
      client.send("x");
    }
    expect(parse(await client.closed()).status).toBe(200);
    expect(double.requests[0]?.body).toHaveLength(70_010);
  });

  it("is not to blame while its call waits for a connection, nor while the platform takes nothing", async () => {
    const held: (() => void)[] = [];
    const { port, double, seen } = await rig({
      timeouts,
      limits,
      pool: { connections: 1 },
      script: (_, socket) => held.push(() => socket.write(ok())),
    });
    const first = ask(port, "GET /first");
    await double.until(() => held.length === 1);
    const client = await begin(port);
    await new Promise((resolve) => setTimeout(resolve, 3 * timeouts.sendStallMs));
    expect(seen).toEqual([]);
    held[0]?.();
    await first;
    client.send("x".repeat(900_000));
    await double.until(() => held.length === 2);
    // All has been sent: the rest is the platform's time.
    await new Promise((resolve) => setTimeout(resolve, 3 * timeouts.sendStallMs));
    held[1]?.();
    expect(parse(await client.until((text) => text.endsWith("{}"))).status).toBe(200);
    client.leave();
  });
});
