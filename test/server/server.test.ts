import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import type { Decide } from "../../src/model/request.ts";
import { ask, dial, parse, sending, talk } from "./support/client.ts";
import { ok } from "./support/double.ts";
import { rig, takeDownAfterEach } from "./support/rig.ts";

takeDownAfterEach();

/** Responds when released. */
function held(): { decide: Decide; release: () => void; begun: () => Promise<void> } {
  const waiting: (() => void)[] = [];
  let arrived = () => {};
  return {
    decide: () => ({
      kind: "answer",
      respond: () =>
        new Promise((resolve) => {
          waiting.push(() => resolve({ status: 200, headers: [], body: Buffer.from("done") }));
          arrived();
        }),
    }),
    release: () => {
      for (const go of waiting.splice(0)) go();
    },
    begun: () =>
      new Promise((resolve) => {
        arrived = resolve;
      }),
  };
}

describe("limits", () => {
  it.each([
    ["the target", 414, "URI_TOO_LONG", `GET /${"a".repeat(9_000)}`, ""],
    ["the head", 431, "HEADERS_TOO_LARGE", "GET /x", `X: ${"a".repeat(17_000)}\r\n`],
    ["the number of fields", 431, "HEADERS_TOO_LARGE", "GET /x", "X: 1\r\n".repeat(99)],
    [
      "the number of fields, far over it",
      431,
      "HEADERS_TOO_LARGE",
      "GET /x",
      `${"X:1\r\n".repeat(2_100)}Authorization: Bearer t\r\n`,
    ],
  ])("T-SMG-13, DIFF-67: of %s: %i %s", async (_, status, reason, line, fields) => {
    const { port, double } = await rig();
    const answer = await ask(port, line, fields);
    expect(answer.status).toBe(status);
    expect(answer.json()).toMatchObject({ code: 3, details: [{ reason }] });
    expect(double.received()).toBe("");
  });

  it("T-SMG-16: let a long token and a uid of many levels through", async () => {
    const { port } = await rig();
    expect((await ask(port, "GET /x", `Authorization: Bearer ${"a".repeat(15_800)}==\r\n`)).status).toBe(200);
    const uid = `${"0".repeat(40)}${"/0123456789abcdef".repeat(4)}`;
    expect(uid).toHaveLength(108);
    expect((await ask(port, `GET /iam/v2beta1/groups/${uid}`)).status).toBe(200);
  });
});

describe("what an observer sees", () => {
  it("of a request whose head could not be read holds none of its bytes", async () => {
    const { port, ended } = await rig();
    await talk(port, "GET /x HTTP/1.1\r\nAuthorization: Bearer SECRET\r\nbad line\r\n\r\n");
    const exchange = await ended(1);
    expect(exchange).toMatchObject({ status: 400, reason: "INVALID_REQUEST", mode: "refused" });
    expect(JSON.stringify([exchange, String(exchange.cause)])).not.toContain("SECRET");
    expect(Object.keys(exchange.cause as object)).toEqual([]);
  });

  it("of a query is nothing", async () => {
    const { port, ended } = await rig();
    await ask(port, "GET /sts/exchange?identity=SECRET");
    expect(JSON.stringify(await ended(1))).not.toContain("SECRET");
  });

  it("are the calls made and gRPC refused", async () => {
    const { port, ended } = await rig();
    await ask(port, "GET /x?y");
    expect(await ended(1)).toMatchObject({
      status: 200,
      responseBytes: 2,
      calls: [{ upstream: "v2", method: "GET", path: "/x", status: 200 }],
    });
    await ask(port, "POST /x", "Content-Type: application/grpc\r\nContent-Length: 0\r\n");
    expect(await ended(2)).toMatchObject({ status: 415, notes: ["grpc"] });
  });
});

describe("closing", () => {
  it("finishes what is in flight, says that it is the last, and takes no more", async () => {
    const { decide, release, begun } = held();
    const { port, listener } = await rig({ decide });
    const beginning = begun();
    const client = await sending(port, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    await beginning;
    const idle = await dial(port);
    const closed = listener.close(10_000);
    client.send("GET /late HTTP/1.1\r\nHost: a\r\n\r\n");
    await new Promise((resolve) => setTimeout(resolve, 50));
    release();
    await closed;
    const [, first = "", second = ""] = (await client.closed()).split("HTTP/1.1 200 OK");
    expect([first.endsWith("done"), second.endsWith("done"), second.includes("connection: close")]).toEqual(
      Array(3).fill(true),
    );
    await idle.closed();
    await expect(dial(port).then((late) => late.closed()))
      .resolves.toBe("")
      .catch(() => {});
    expect(listener.inFlight()).toBe(0);
  });

  it("sends every byte of an answer that has begun", async () => {
    let go = () => {};
    const { port, listener, double } = await rig({
      script: (_, socket) => {
        socket.write("HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n");
        go = () => socket.write("b".repeat(200_000));
      },
    });
    const client = await sending(port, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    await client.until((text) => text.includes("\r\n\r\n"));
    const closed = listener.close(10_000);
    go();
    await closed;
    expect(parse(await client.closed()).body).toHaveLength(200_000);
    expect(double.requests).toHaveLength(1);
  });

  it("sends every byte of a whole answer to a client that has not read it yet", async () => {
    const body = Buffer.alloc(16 * 1024 * 1024, "b");
    const { port, listener } = await rig({
      decide: () => ({ kind: "answer", respond: async () => ({ status: 200, headers: [], body }) }),
    });
    const client = await dial(port);
    client.socket.pause();
    client.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    await new Promise((resolve) => setTimeout(resolve, 50));
    const closed = listener.close(10_000);
    await new Promise((resolve) => setTimeout(resolve, 50));
    client.socket.resume();
    expect(parse(await client.closed()).body).toHaveLength(body.length);
    expect(await closed).toBe(0);
  });

  it("serves what comes on a connection that was open before", async () => {
    const { port, listener } = await rig({
      script: (_, socket) => {
        setTimeout(() => socket.write(ok()), 200);
      },
    });
    const busy = await sending(port, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    const fresh = await sending(port, "GET /b HTTP/1.1\r\nHost: a\r\nX: ");
    await new Promise((resolve) => setTimeout(resolve, 50));
    const closed = listener.close(10_000);
    fresh.send("1\r\n\r\n");
    const served = parse(await fresh.closed());
    expect([served.status, served.field("connection")]).toEqual([200, "close"]);
    expect(parse(await busy.closed()).status).toBe(200);
    expect(await closed).toBe(0);
  });

  it("ends what is not done when the grace is over, and counts it", async () => {
    const { port, listener, double, ended } = await rig({ script: () => {} });
    const [reader, writer] = [await dial(port), await dial(port)];
    reader.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
    writer.send("DELETE /a HTTP/1.1\r\nHost: a\r\n\r\n");
    await double.until(() => double.requests.length === 2);
    expect(await listener.close(100)).toBe(2);
    const answers = [parse(await reader.closed()), parse(await writer.closed())];
    expect(answers.map(({ status }) => status)).toEqual([504, 504]);
    // Who wrote has to know that it may have been done.
    expect(answers.map((answer) => answer.json().details[0]?.metadata["state"])).toEqual([undefined, "unknown"]);
    expect((await ended(2)).status).toBe(504);
    expect(listener.inFlight()).toBe(0);
  });

  it.each(["1.1", "1.0"])(
    "cuts an answer of HTTP/%s that has begun so that nobody takes it for whole",
    async (http) => {
      const { port, listener } = await rig({
        script: (_, socket) => {
          socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
        },
      });
      const client = await dial(port);
      const errors: string[] = [];
      client.socket.on("error", ({ code }: NodeJS.ErrnoException) => errors.push(code ?? ""));
      client.send(`GET /a HTTP/${http}\r\nHost: a\r\n\r\n`);
      await client.until((text) => text.includes("hello"));
      expect(await listener.close(50)).toBe(1);
      const text = await client.closed();
      // HTTP/1.0 has no chunks: only a reset says that something is missing.
      if (http === "1.0") expect(errors).toEqual(["ECONNRESET"]);
      else expect(text).not.toContain("\r\n0\r\n");
    },
  );

  it("answers every request of a pipeline that was let in, and lets in none behind the last", async () => {
    const { decide, release, begun } = held();
    const { port, listener, seen } = await rig({ decide });
    const beginning = begun();
    const client = await sending(port, "GET /a HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n");
    await beginning;
    while (listener.inFlight() < 2) await new Promise((resolve) => setTimeout(resolve, 1));
    const closed = listener.close(10_000);
    release();
    expect(await closed).toBe(0);
    const text = await client.closed();
    expect(text.split("HTTP/1.1 200 OK")).toHaveLength(3);
    expect(text.match(/connection: close/gi)).toHaveLength(1);
    expect(seen.map(({ status }) => status)).toEqual([200, 200]);
  });

  it("does nothing for a request behind one that was told to be the last", async () => {
    const { port, double, seen } = await rig();
    const client = await sending(port, "GET /a HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n");
    client.send("DELETE /b HTTP/1.1\r\nHost: a\r\n\r\n");
    await client.closed();
    expect(double.requests.filter(({ line }) => line.startsWith("DELETE"))).toEqual([]);
    expect(seen.length).toBeGreaterThan(0);
  });
});

describe("starting", () => {
  it("with room for a crowd that connects at once: none is dropped, to try again after a second", async () => {
    const { port } = await rig();
    const began = performance.now();
    const crowd = Array.from({ length: 900 }, () => connect(port, "127.0.0.1"));
    try {
      await Promise.all(crowd.map((socket) => once(socket, "connect")));
      expect(performance.now() - began).toBeLessThan(1_000);
    } finally {
      for (const socket of crowd) socket.destroy();
    }
  });

  it("on a port that is taken is an error", async () => {
    const { port } = await rig();
    await expect(rig({ port })).rejects.toThrow("EADDRINUSE");
  });
});
