import { once } from "node:events";
import { connect, type IncomingHttpHeaders } from "node:http2";
import { credentials, Client as GrpcJs, type ServiceError } from "@grpc/grpc-js";
import { describe, expect, it } from "vitest";
import { FRAME, frame, literal, onFrames, PREFACE } from "../grpc/support/frames.mjs";
import { dial } from "./support/client.ts";
import { later, rig, takeDownAfterEach } from "./support/rig.ts";

takeDownAfterEach();

const SETTINGS = frame(FRAME.settings, 0, 0);
const END_HEADERS = 4;
function grpcCall(port: number): Promise<ServiceError | null> {
  const client = new GrpcJs(`127.0.0.1:${port}`, credentials.createInsecure());
  later(async () => client.close());
  const bytes = (message: Buffer) => message;
  return new Promise((done) => {
    client.makeUnaryRequest("/p.S/M", bytes, bytes, Buffer.of(), { deadline: Date.now() + 20_000 }, (error) =>
      done(error),
    );
  });
}

/** One request of HTTP/2: its response and its body. */
async function overHttp2(port: number, headers: Record<string, string>) {
  const session = connect(`http://127.0.0.1:${port}`);
  later(async () => session.destroy());
  const stream = session.request(headers);
  stream.end();
  const [head] = (await once(stream, "response")) as [IncomingHttpHeaders];
  let text = "";
  for await (const piece of stream.setEncoding("utf8")) text += piece;
  return { head, text };
}

describe("T-SMG-39, DIFF-61: on the port for HTTP/1.1", () => {
  it("a gRPC client gets UNIMPLEMENTED with the option that names the port, and the call is counted", async () => {
    const { port, seen, double } = await rig();
    const error = await grpcCall(port);
    expect([error?.code, error?.details]).toEqual([12, expect.stringContaining("listen.grpc.port")]);
    expect(seen).toMatchObject([{ method: "POST", path: "/p.S/M", status: 415, reason: "GRPC_UNSUPPORTED" }]);
    expect(seen[0]?.notes).toEqual(["grpc"]);
    expect(double.received()).toBe("");
  });

  it("100 calls at a time on one connection all get it, and the connection ends", async () => {
    const { port, seen } = await rig();
    const session = connect(`http://127.0.0.1:${port}`);
    later(async () => session.destroy());
    const ended = once(session, "close");
    const calls = Array.from({ length: 100 }, () =>
      session.request(
        { ":method": "POST", ":path": "/p.S/M", "content-type": "application/grpc" },
        { endStream: true },
      ),
    );
    const heads = await Promise.all(calls.map((call) => once(call.resume(), "response")));
    expect(new Set(heads.map(([head]) => head["grpc-status"]))).toEqual(new Set(["12"]));
    expect(seen).toHaveLength(100);
    await ended;
  });

  it("another request over HTTP/2 gets 400 with carryover's own body", async () => {
    const { port, seen, double } = await rig();
    const { head, text } = await overHttp2(port, { ":path": "/iam/v1/groups", authorization: "Bearer t" });
    expect(head).toMatchObject({ ":status": 400, "content-type": "application/json", "x-request-id": "id-1" });
    expect(JSON.parse(text)).toMatchObject({ code: 3, details: [{ reason: "INVALID_REQUEST" }] });
    expect(seen).toMatchObject([{ method: "GET", status: 400, reason: "INVALID_REQUEST" }]);
    expect(double.received()).toBe("");
  });

  it("a client that sends its preface byte by byte gets the server's settings", async () => {
    const { port } = await rig();
    const client = await dial(port);
    client.socket.setNoDelay(true);
    const settings = new Promise<number>((saw) => onFrames(client.socket, saw));
    for (const byte of Buffer.concat([PREFACE, SETTINGS])) {
      client.send(Buffer.of(byte));
      await new Promise(setImmediate);
    }
    expect(await settings).toBe(FRAME.settings);
  });

  it("a preface after a request of HTTP/1.1 gets 400 after the response", async () => {
    const { port } = await rig({ timeouts: { headersMs: 300, checkMs: 50 } });
    const client = await dial(port);
    client.send(`GET /x HTTP/1.1\r\nHost: a\r\n\r\n${PREFACE.toString("latin1")}`);
    expect(await client.closed()).toMatch(/^HTTP\/1\.1 200 [\s\S]+okHTTP\/1\.1 400 /);
  });

  it("a connection with HTTP/2 is closed after the time for a head, with a call that its client leaves open and however busy", async () => {
    const { port } = await rig({ timeouts: { headersMs: 300, checkMs: 50 } });
    const client = await dial(port);
    const head = [
      ":method",
      "POST",
      ":path",
      "/p.S/M",
      ":scheme",
      "http",
      ":authority",
      "a",
      "content-type",
      "application/grpc",
    ];
    const fields = head.flatMap((name, i) => (i % 2 === 0 ? [literal(name, head[i + 1] ?? "")] : []));
    // For the parser of HTTP/1.1 time begins with the first byte, so it ends first.
    client.send(PREFACE.subarray(0, 1));
    await new Promise((resolve) => setTimeout(resolve, 200));
    const rest = PREFACE.subarray(1);
    client.send(Buffer.concat([rest, SETTINGS, frame(FRAME.headers, END_HEADERS, 1, Buffer.concat(fields))]));
    const types: number[] = [];
    onFrames(client.socket, (type) => types.push(type));
    const busy = setInterval(() => client.send(frame(FRAME.ping, 0, 0, Buffer.alloc(8))), 50);
    later(async () => clearInterval(busy));
    const began = performance.now();
    await client.closed();
    expect(types).toContain(FRAME.headers);
    expect(performance.now() - began).toBeLessThan(5_000);
    // Nothing of HTTP/1.1 is said in between.
    expect(client.text()).not.toContain("HTTP/1.1 4");
  });

  it("a shutdown does not wait for a connection with HTTP/2", async () => {
    const { port, listener } = await rig();
    const client = await dial(port);
    client.send(Buffer.concat([PREFACE, SETTINGS]));
    await client.until((text) => text.length > 8);
    const began = performance.now();
    expect(await listener.close(20_000)).toBe(0);
    expect(performance.now() - began).toBeLessThan(5_000);
  });
});
