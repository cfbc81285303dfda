import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { PassThrough, pipeline } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { createTransport, HOP, type HopHeaders } from "../../src/fastify/transport.ts";
import { ask, request, sending } from "../server/support/client.ts";
import { createDouble, type Script } from "../server/support/double.ts";
import { later, listening, takeDownAfterEach } from "./rig.ts";

takeDownAfterEach();

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/** The proxy gets one of them: an error, or the fields of the response. */
type Told = Error | Record<string, string | string[]>;

/** A server in front of `double` that hands each request to the transport, as the proxy does. */
async function transported(script: Script, payload?: () => PassThrough) {
  const double = await createDouble(script);
  later(double.close);
  return { double, ...(await inFrontOf(double.port, payload)) };
}

async function inFrontOf(behind: number, payload?: () => PassThrough) {
  const transport = createTransport(() => ({ host: "127.0.0.1", port: behind }));
  const told: Told[] = [];
  const server = createServer((incoming: IncomingMessage, outgoing: ServerResponse) => {
    const headers: HopHeaders = { ...incoming.headers, [HOP]: { incoming, outgoing } };
    const { method = "" } = incoming;
    transport.request({ method, headers, body: payload?.() }, (error, response) => {
      told.push(error ?? response?.headers ?? {});
      outgoing.statusCode = response?.statusCode ?? 502;
      if (response === undefined) outgoing.end();
      else pipeline(response.body, outgoing, () => {});
    });
  });
  return { told, port: await listening(server) };
}

describe("the transport", () => {
  it("keeps the fields of one connection to it, in both directions", async () => {
    const { double, told, port } = await transported(
      "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=3\r\nProxy-Connection: a\r\nUpgrade: h2c\r\nX-Kept: 1\r\nContent-Length: 2\r\n\r\nok",
    );
    const fields =
      "Keep-Alive: timeout=9\r\nProxy-Connection: a\r\nUpgrade: h2c\r\nExpect: 100-continue\r\nX-Kept: 1\r\n";
    await ask(port, "POST /x", `${fields}Content-Length: 1\r\n`, "a");
    expect(double.requests[0]?.fields.map(([name]) => name.toLowerCase())).toEqual([
      "host",
      "x-kept",
      "content-length",
      "connection",
    ]);
    expect(told.map(Object.keys)).toEqual([["x-kept", "content-length"]]);
  });

  it.each(["DELETE", "GET", "OPTIONS", "POST"])("frames a body in chunks, of %s too", async (method) => {
    const { double, port } = await transported(OK);
    await ask(port, `${method} /x`, "Transfer-Encoding: chunked\r\n", "4\r\nbody\r\n0\r\n\r\n");
    expect(double.requests.map(({ line, body }) => [line, body.toString()])).toEqual([
      [`${method} /x HTTP/1.1`, "body"],
    ]);
  });

  it("tells the proxy once of a response after which the connection breaks", async () => {
    const early = createTcpServer((socket) => {
      socket.once("data", () => socket.write("HTTP/1.1 413 No\r\nContent-Length: 99\r\n\r\nno"));
      globalThis.setTimeout(() => socket.resetAndDestroy(), 50);
    });
    const { told, port } = await inFrontOf(await listening(early));
    const head = request("POST /x", "Transfer-Encoding: chunked\r\n", "4\r\nbody\r\n");
    const client = await sending(port, head);
    await client.until((text) => text.includes("413"));
    const more = setInterval(() => client.send("4\r\nmore\r\n"), 5);
    await client.closed();
    clearInterval(more);
    expect(told).toEqual([{ "content-length": "99" }]);
  });

  it("does not tell the proxy of a client that has left", async () => {
    const { double, told, port } = await transported(() => {});
    const client = await sending(port, request("GET /x"));
    await double.until(() => double.requests.length === 1);
    client.leave();
    await double.until(() => double.gone() === 1);
    await setTimeout(50);
    expect(told).toEqual([]);
  });

  it("ends a request whose body, as the app's hooks have left it, breaks", async () => {
    const { double, told, port } = await transported(OK, () => {
      const payload = new PassThrough();
      payload.write("part");
      globalThis.setTimeout(() => payload.destroy(new Error("not gzip")), 50);
      return payload;
    });
    expect((await ask(port, "POST /x", "Content-Length: 8\r\n", "original")).status).toBe(502);
    expect(told).toEqual([new Error("not gzip")]);
    await vi.waitFor(() => expect(double.gone()).toBe(1));
    expect(double.received()).toMatch(/\r\n\r\npart$/);
  });

  it("sends the body that the client sent where the app has read none", async () => {
    const { double, port } = await transported(OK);
    await ask(port, "POST /x", "Content-Length: 8\r\n", "original");
    expect(double.requests[0]?.body.toString()).toBe("original");
  });
});
