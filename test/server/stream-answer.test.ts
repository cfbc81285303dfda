import { setTimeout as pause } from "node:timers/promises";
import { brotliDecompressSync, constants, gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { HeaderList } from "../../src/model/http.ts";
import { Problem } from "../../src/model/problem.ts";
import type { Signal } from "../../src/model/signal.ts";
import { ask, dial, parse, request, sending, talk } from "./support/client.ts";
import { LIMITS, rig, takeDownAfterEach } from "./support/rig.ts";
import { endless, impatient, list, PAGE, plan, streaming, watched } from "./support/stream.ts";

takeDownAfterEach();

const FINAL = /\r\n0\r\n\r\n$/;
const GET = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";
const LOST = new Problem("DRAIN_INCOMPLETE", "a page is missing");

describe("an answer in pieces", () => {
  it("arrives whole, in chunks, and is counted", async () => {
    const { port, ended } = await rig({ decide: streaming(watched(list(50)).body) });
    const text = await talk(port, request("GET /x", "X-Request-Id: mine\r\n"));
    const answer = parse(text);
    const sent = Buffer.concat(list(50));
    expect(text).toMatch(FINAL);
    expect(answer.body).toBe(sent.toString());
    expect(answer.fields.filter(([name]) => name !== "Date")).toEqual([
      ["content-type", "application/json"],
      ["cache-control", "private, no-store"],
      ["vary", "Authorization"],
      ["x-request-id", "mine"],
      ["vary", "Accept-Encoding"],
      ["Connection", "close"],
      ["Transfer-Encoding", "chunked"],
    ]);
    expect(await ended(1)).toMatchObject({
      status: 200,
      responseBytes: sent.length,
      aborted: false,
      reason: undefined,
    });
  });

  it("that turns out to be empty is an empty answer", async () => {
    const { port } = await rig({ decide: streaming(watched([Buffer.alloc(0)]).body) });
    const text = await talk(port, request("GET /x"));
    expect(text).toMatch(FINAL);
    expect(parse(text).body).toBe("");
  });

  it("leaves its connection to the next request, and waits for the answer before it", async () => {
    const bodies = [watched(list(3)).body, watched(list(2)).body];
    const { port } = await rig({ decide: () => plan(bodies.shift() ?? watched([]).body) });
    const client = await sending(port, GET + GET);
    const text = await client.until((so) => so.split("\r\n0\r\n\r\n").length === 3);
    const [first = "", second = ""] = text.split("\r\n0\r\n\r\n");
    expect(parse(`${first}\r\n0\r\n\r\n`).body).toBe(Buffer.concat(list(3)).toString());
    expect(parse(`${second}\r\n0\r\n\r\n`).body).toBe(Buffer.concat(list(2)).toString());
    client.leave();
  });

  it("to HEAD has no body, and nobody makes one", async () => {
    const { body, asked, returned } = watched(endless());
    const { port } = await rig({ decide: streaming(body) });
    const head = await ask(port, "HEAD /x");
    expect([head.status, head.body]).toEqual([200, ""]);
    expect([asked(), returned()]).toEqual([0, 1]);
  });

  it("T-DRN-16, DIFF-02: to HTTP/1.0 is refused before its first byte, for a cut could not be seen", async () => {
    const { body, asked, returned } = watched(endless());
    const { port, ended } = await rig({ decide: streaming(body) });
    const answer = parse(await talk(port, "GET /x HTTP/1.0\r\nHost: a\r\n\r\n"));
    expect(answer.status).toBe(422);
    expect(answer.json()).toMatchObject({
      code: 9,
      message: expect.stringMatching(/HTTP\/1\.0.*use HTTP\/1\.1.*filter/),
      details: [{ reason: "DRAIN_TOO_LARGE" }],
    });
    expect([asked(), returned()]).toEqual([0, 1]);
    expect((await ended(1)).reason).toBe("DRAIN_TOO_LARGE");
  });
});

describe("a body that fails", () => {
  it.each([
    ["at once", [], {}],
    ["before its first page", [Buffer.from('{"items":[')], {}],
    ["before its first page, for gzip", [Buffer.from('{"items":[')], { "Accept-Encoding": "gzip" }],
  ])("%s is a clean error", async (_, pieces, fields) => {
    const { port, ended } = await rig({ decide: streaming(watched(pieces, LOST).body) });
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
    const answer = await ask(port, "GET /x", lines.join(""));
    expect(answer.status).toBe(502);
    expect(answer.json()).toMatchObject({ code: 14, details: [{ reason: "DRAIN_INCOMPLETE" }] });
    expect(answer.field("content-length")).toBe(String(answer.body.length));
    expect(answer.field("content-encoding")).toBeUndefined();
    expect(await ended(1)).toMatchObject({ status: 502, reason: "DRAIN_INCOMPLETE", notes: [] });
  });

  it.each([
    ["in the middle", list(20).slice(0, -1)],
    ["when only its end is missing", list(20)],
  ])("T-DRN-15, DIFF-01: %s breaks the connection: nothing that came can be taken for whole", async (_, pieces) => {
    const { body, returned } = watched(pieces, LOST);
    const { port, ended } = await rig({ decide: streaming(body) });
    const client = await sending(port, GET);
    const text = await client.closed();
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(text).not.toMatch(FINAL);
    if (_ === "in the middle") expect(() => parse(text).json()).toThrow(SyntaxError);
    expect(await ended(1)).toMatchObject({ status: 200, reason: "DRAIN_INCOMPLETE", aborted: false });
    // It ended by itself.
    expect(returned()).toBe(0);
  });

  it.each([
    ["gzip", gunzipSync],
    ["br", brotliDecompressSync],
  ] as const)("leaves a client of %s without the end of its encoding", async (encoding, decode) => {
    const { port, ended } = await rig({ decide: streaming(watched(list(20).slice(0, -1), LOST).body) });
    const text = await talk(port, request("GET /x", `Accept-Encoding: ${encoding}\r\n`));
    expect(text).not.toMatch(FINAL);
    const bytes = Buffer.from(parse(text).body, "latin1");
    expect(bytes.length).toBeGreaterThan(1_000);
    expect(() => decode(bytes)).toThrow(/unexpected end/);
    expect((await ended(1)).reason).toBe("DRAIN_INCOMPLETE");
  });

  it("by surprise is cut off too, its cause for the log only", async () => {
    const { port, ended } = await rig({
      decide: streaming(watched(list(5).slice(0, -1), new TypeError("secret")).body),
    });
    const text = await talk(port, request("GET /x"));
    expect(text).not.toMatch(FINAL);
    expect(text).not.toContain("secret");
    expect(await ended(1)).toMatchObject({ reason: "INTERNAL", cause: expect.any(TypeError) });
  });
});

describe("a client that asks for compression", () => {
  it.each([
    ["gzip", gunzipSync],
    ["br", brotliDecompressSync],
  ] as const)("gets a long list in %s, as it would a short one", async (encoding, decode) => {
    const { port, ended } = await rig({ decide: streaming(watched(list(50)).body) });
    const text = await talk(port, request("GET /x", `Accept-Encoding: ${encoding}\r\n`));
    const answer = parse(text);
    expect(text).toMatch(FINAL);
    expect(answer.field("content-encoding")).toBe(encoding);
    expect(answer.fields.filter(([name]) => name === "vary").map(([, value]) => value)).toContain("Accept-Encoding");
    const bytes = Buffer.from(answer.body, "latin1");
    expect(decode(bytes).equals(Buffer.concat(list(50)))).toBe(true);
    expect(await ended(1)).toMatchObject({ notes: [encoding], responseBytes: bytes.length });
  });

  it.each([
    ["gzip", (bytes: Buffer) => gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH })],
    ["br", (bytes: Buffer) => brotliDecompressSync(bytes, { finishFlush: constants.BROTLI_OPERATION_FLUSH })],
  ] as const)("in %s can read the first page before the second is there", async (encoding, decode) => {
    const { port } = await rig({ decide: streaming(watched(list(1).slice(0, -1), "wait").body) });
    const client = await sending(port, `GET /x HTTP/1.1\r\nHost: a\r\nAccept-Encoding: ${encoding}\r\n\r\n`);
    const page = `{"items":[${PAGE}`;
    const readable = (text: string) => {
      if (!text.endsWith("\r\n")) return false;
      return decode(Buffer.from(parse(text).body, "latin1")).toString() === page;
    };
    await client.until(readable);
    expect(client.socket.destroyed).toBe(false);
    client.leave();
  });

  it("gets an encoding of the platform's own untouched", async () => {
    const fields: HeaderList = [
      ["content-type", "application/json"],
      ["content-encoding", "zstd"],
    ];
    const encoded = Buffer.from("encoded elsewhere ".repeat(100));
    const { port } = await rig({ decide: () => plan(watched([encoded]).body, fields) });
    const answer = await ask(port, "GET /x", "Accept-Encoding: gzip, zstd\r\n");
    expect([answer.field("content-encoding"), answer.body]).toEqual(["zstd", encoded.toString()]);
  });
});

/** Waits until `value` has not changed for a while, and gives it. */
async function settled(value: () => number): Promise<number> {
  for (let last = -1; last !== value(); ) {
    last = value();
    await pause(150);
  }
  return value();
}

describe("a client that is slow", () => {
  it.each([["identity"], ["gzip"]])("delays the making (%s)", async (encoding) => {
    // What cannot be made smaller, so that gzip fills the connection as soon.
    const noise = Buffer.from(Array.from({ length: 60_000 }, (_, i) => (Math.imul(i, 2654435761) >>> 13) & 255));
    const { body, asked, stopped } = watched(endless(noise));
    const { port } = await rig({ decide: streaming(body) });
    const client = await dial(port);
    client.socket.pause();
    client.send(`GET /x HTTP/1.1\r\nHost: a\r\nAccept-Encoding: ${encoding}\r\n\r\n`);
    while (asked() === 0) await pause(5);
    const before = await settled(asked);
    client.socket.resume();
    while (asked() < before + 20) await pause(5);
    client.leave();
    await stopped;
  });

  it("DIFF-68: and takes nothing is left, in words for the operator", async () => {
    const { body, stopped } = watched(endless());
    const { port, ended } = await impatient(body, 200);
    const client = await dial(port);
    client.socket.pause();
    client.send(GET);
    await stopped;
    expect(await ended).toMatchObject({ status: 200, reason: "REQUEST_TIMEOUT", aborted: false });
    client.socket.resume();
    expect(await client.closed()).not.toMatch(FINAL);
  });

  it("but takes something is not left, however long one write lasts", async () => {
    const piece = Buffer.alloc(16 * 1024 * 1024, "a");
    const { port, ended } = await impatient(watched([piece]).body, 800);
    const client = await dial(port);
    let took = 0;
    const began = performance.now();
    client.socket.removeAllListeners("data");
    client.socket.on("data", (chunk: Buffer) => {
      took += chunk.length;
      client.socket.pause();
      setTimeout(() => client.socket.resume(), 6);
    });
    client.send(GET.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"));
    await client.closed();
    expect(performance.now() - began).toBeGreaterThan(800);
    expect(took).toBeGreaterThan(piece.length);
    expect(await ended).toMatchObject({ reason: undefined, aborted: false, responseBytes: piece.length });
  });

  it("is not meant when the next page takes longer than that", async () => {
    const body = (async function* () {
      yield* list(1).slice(0, -1);
      await pause(600);
      yield Buffer.from("]}");
    })();
    const { port, ended } = await impatient(body, 150);
    const text = await talk(port, request("GET /x"));
    expect(parse(text).body).toBe(Buffer.concat(list(1)).toString());
    expect((await ended).reason).toBeUndefined();
  });
});

describe("a client that leaves", () => {
  it("stops the making, even while a page is being waited for", async () => {
    const { body, returned, stopped } = watched(list(3).slice(0, -1), "wait");
    const { port, ended, listener } = await rig({ decide: streaming(body) });
    const client = await sending(port, GET);
    await client.until((text) => text.split("record-1499").length > 3);
    client.leave();
    await stopped;
    expect(await ended(1)).toMatchObject({ status: 200, aborted: true, reason: undefined });
    expect(returned()).toBe(1);
    expect(listener.inFlight()).toBe(0);
  });

  it("before there is an answer never has one made", async () => {
    const { body, asked, stopped } = watched(endless());
    let answer = () => {};
    const called = new Promise<void>((arrive) => {
      answer = arrive;
    });
    let go = () => {};
    const { port, ended } = await rig({
      decide: () => ({
        kind: "answer",
        respond: async () => {
          answer();
          await new Promise<void>((resolve) => {
            go = resolve;
          });
          return { status: 200, headers: [], body };
        },
      }),
    });
    const client = await sending(port, GET);
    await called;
    client.leave();
    await ended(1);
    go();
    await stopped;
    expect(asked()).toBe(0);
  });

  it("leaves nothing behind, and neither do sixty", async () => {
    const bodies: ReturnType<typeof watched>[] = [];
    const open = new Set<() => void>();
    const follow = (signal: Signal) => {
      const add = signal.addEventListener.bind(signal);
      const remove = signal.removeEventListener.bind(signal);
      Object.assign(signal, {
        addEventListener: (type: "abort", listener: () => void) => {
          open.add(listener);
          add(type, listener);
        },
        removeEventListener: (type: "abort", listener: () => void) => {
          open.delete(listener);
          remove(type, listener);
        },
      });
    };
    const { port, listener, seen, ended } = await rig({
      limits: { ...LIMITS, inFlight: 500 },
      decide: () => ({
        kind: "answer",
        respond: async (_, signal) => {
          follow(signal);
          const body = watched(endless());
          bodies.push(body);
          return { status: 200, headers: [["content-type", "application/json"]], body: body.body };
        },
      }),
    });
    const visit = async (i: number) => {
      const client = await sending(
        port,
        `GET /x HTTP/1.1\r\nHost: a\r\nAccept-Encoding: ${["identity", "gzip", "br"][i % 3]}\r\n\r\n`,
      );
      await client.until((text) => text.length > 3_000);
      client.leave();
    };
    await Promise.all(Array.from({ length: 60 }, (_, i) => visit(i)));
    await ended(60);
    await Promise.all(bodies.map(({ stopped }) => stopped));
    // What was on its way through an encoder comes back first.
    while (open.size > 0) await pause(10);
    const asked = bodies.map((body) => body.asked());
    await pause(50);
    expect(bodies.map((body) => body.asked())).toEqual(asked);
    expect(bodies.map((body) => body.returned())).toEqual(Array(60).fill(1));
    expect(seen.every(({ aborted, reason }) => aborted && reason === undefined)).toBe(true);
    expect(listener.inFlight()).toBe(0);
  });
});

describe("an answer in pieces is cut off", () => {
  it.each([["identity"], ["gzip"]])("when the request's time is over (%s)", async (encoding) => {
    const { body, stopped } = watched(list(3).slice(0, -1), "wait");
    const { port, ended } = await rig({ decide: streaming(body), limits: { ...LIMITS, requestSeconds: 0.4 } });
    const text = await talk(port, request("GET /x", `Accept-Encoding: ${encoding}\r\n`));
    await stopped;
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(text).not.toMatch(FINAL);
    expect(await ended(1)).toMatchObject({ status: 200, reason: "UPSTREAM_TIMEOUT", aborted: false });
  });

  it("when the listener stops and the grace is over, and not before", async () => {
    const { body, stopped } = watched(list(1).slice(0, -1), "wait");
    const { port, listener } = await rig({ decide: streaming(body) });
    const client = await sending(port, GET);
    await client.until((text) => text.includes("record-1499"));
    await listener.close(200);
    await stopped;
    expect(await client.closed()).not.toMatch(FINAL);
    expect(listener.inFlight()).toBe(0);
  });
});

it("a deadline before the first page is 504, and the making is stopped", async () => {
  const { body, stopped } = watched([Buffer.from('{"items":[')], "wait");
  const { port } = await rig({ decide: streaming(body), limits: { ...LIMITS, requestSeconds: 0.2 } });
  expect((await ask(port, "GET /x")).status).toBe(504);
  await stopped;
});
