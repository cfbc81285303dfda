import { once } from "node:events";
import { type ClientHttp2Stream, connect, constants, type OutgoingHttpHeaders } from "node:http2";
import { fastify } from "fastify";
import { describe, expect, it, vi } from "vitest";
import carryover from "../../src/fastify/plugin.ts";
import { createDouble } from "../server/support/double.ts";
import { later, takeDownAfterEach } from "./rig.ts";

takeDownAfterEach();

const OK = "HTTP/1.1 200 OK\r\nConnection: X-Hop\r\nX-Hop: 1\r\nContent-Length: 2\r\n\r\nok";

/** Sends requests to an app that speaks HTTP/2, in front of a platform that responds as `script` says. */
async function http2App(script: Parameters<typeof createDouble>[0]) {
  const double = await createDouble(script);
  later(double.close);
  const app = fastify({ http2: true });
  later(async () => void (await app.close()));
  app.register(carryover, { config: { upstream: { v2: { url: double.url } } } });
  const session = connect(await app.listen({ port: 0, host: "127.0.0.1" }));
  later(async () => session.destroy());
  const ask = (headers: OutgoingHttpHeaders = {}, body?: string): ClientHttp2Stream => {
    const stream = session.request({ ":path": "/iam/v2beta1/groups", ...headers }, { endStream: body === undefined });
    if (body !== undefined) stream.end(body);
    return stream;
  };
  return { double, ask };
}

async function responseOf(stream: ClientHttp2Stream): Promise<{ status: number | undefined; text: string }> {
  const [headers] = await once(stream, "response");
  let text = "";
  for await (const chunk of stream.setEncoding("utf8")) text += chunk;
  return { status: headers[":status"], text };
}

describe("through an app that speaks HTTP/2", () => {
  it.each([
    ["with a length", { "content-length": "4" }],
    ["without one", {}],
  ])("a body arrives, %s, with the host and the cookies of its client", async (_, fields) => {
    const { double, ask } = await http2App(OK);
    const headers = { ":method": "POST", ":authority": "v1.example.com", cookie: ["a=1", "b=2"], ...fields };
    expect(await responseOf(ask(headers, "body"))).toEqual({ status: 200, text: "ok" });
    expect(double.requests.map(({ body }) => body.toString())).toEqual(["body"]);
    expect(double.received()).toContain("\r\nx-forwarded-host: v1.example.com\r\n");
    expect(double.received().match(/^cookie: .*(?=\r)/gm)).toEqual(["cookie: a=1", "cookie: b=2"]);
  });

  it("a request without a body has none", async () => {
    const { double, ask } = await http2App(OK);
    expect((await responseOf(ask({ ":method": "DELETE" }))).status).toBe(200);
    expect(double.received()).not.toMatch(/^(?:transfer-encoding|content-length):/im);
  });

  it("a response that breaks off is reset, and never a short one", async () => {
    const { ask } = await http2App((_request, socket) => {
      socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n[1,2,\r\n");
      globalThis.setTimeout(() => socket.destroy(), 100);
    });
    const stream = ask();
    await expect(responseOf(stream)).rejects.toThrow("NGHTTP2_INTERNAL_ERROR");
    expect(stream.rstCode).toBe(constants.NGHTTP2_INTERNAL_ERROR);
  });

  it("the platform notices within a second that a client left", async () => {
    let closed = 0;
    const { double, ask } = await http2App((_request, socket) => {
      socket.on("close", () => {
        closed = performance.now();
      });
    });
    const stream = ask();
    stream.on("error", () => {});
    await vi.waitFor(() => expect(double.requests).toHaveLength(1));
    const left = performance.now();
    stream.close(constants.NGHTTP2_CANCEL);
    await vi.waitFor(() => expect(closed).toBeGreaterThan(0), { timeout: 3_000 });
    expect(closed - left).toBeLessThan(1_000);
  });

  it("a body that is too long is refused early, and the rest of it is dropped", async () => {
    const { ask } = await http2App(OK);
    const fields = { ":method": "POST", ":path": "/iam/v1/groups", "content-type": "application/json" };
    const { status, text } = await responseOf(ask(fields, "a".repeat(4 * 2 ** 20)));
    expect([status, JSON.parse(text).details[0].reason]).toEqual([413, "BODY_TOO_LARGE"]);
  });
});
