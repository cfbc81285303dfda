/** gRPC calls that pass through carryover: bytes, headers, trailers, streams both ways, and how they end. */
import { connect, type ServerHttp2Stream } from "node:http2";
import { gzipSync } from "node:zlib";
import { describe, expect, it, vi } from "vitest";
import { VENDOR_TYPES } from "../../sandbox/src/data/vendor.ts";
import { seededSandbox } from "../../sandbox/test/seeded.ts";
import { createStatusCodec } from "../../src/grpc/status.ts";
import { later, takeDownAfterEach } from "../support/take-down.ts";
import { FRAME, frame, literal } from "./support/frames.mjs";
import { inFrontOf, passing } from "./support/passing.ts";
import { rawPlatform } from "./support/raw.ts";
import { answered, call, framed, open, platform, session, unary } from "./support/rpc.ts";
import { fileWith } from "./support/translating.ts";

takeDownAfterEach();

const V2 = "/acme.platform.iam.v2beta1.GroupsService/ListGroups";
/** Node 20 drops fields with such values, and has no option for it. */
const KEEPS_SPACES = Number(process.versions.node.split(".")[0]) >= 24;
const V1 = "/acme.platform.iam.Groups/List";

describe("a unary call", () => {
  it("T-RPC-08, T-RPC-22: arrives byte for byte, and so do the response's bytes, headers and trailers", async () => {
    const details = "CAUSAm5vGgA";
    const { rpc, exchanges, behind } = await inFrontOf(
      unary(
        (request) => [request, framed(Buffer.from([1, 2, 3]))],
        {
          "grpc-status": "0",
          "x-cost": "7",
          "grpc-status-details-bin": details,
        },
        { "x-shard": ["a", "b"] },
      ),
    );
    await call(rpc, V2, undefined, { authorization: "eyJh.eyJz.c2ln" });
    expect(behind.heads[0]?.headers).toMatchObject({ authorization: "eyJh.eyJz.c2ln" });
    expect(Object.keys(behind.heads[0]?.headers ?? {})).not.toContain("traceparent");
    behind.heads.length = 0;
    exchanges.length = 0;
    const sent = framed(Buffer.from([0, 255, 10, 13]));
    const answer = await call(rpc, V2, sent, {
      authorization: "Bearer abc",
      "x-meta": ["1", "2"],
      "trace-bin": "AAEC",
      "my_key.x": "1",
      traceparent: "01-later",
      constructor: "1",
      "user-agent": "grpc-go/1.70",
      "grpc-timeout": "5S",
      "grpc-accept-encoding": "gzip",
      "x-forwarded-for": "6.6.6.6",
    });
    expect(answer.body).toEqual(Buffer.concat([sent, framed(Buffer.from([1, 2, 3]))]));
    expect(answer.trailers).toMatchObject({ "grpc-status": "0", "x-cost": "7", "grpc-status-details-bin": details });
    expect(answer.head).toMatchObject({ "content-type": "application/grpc", "x-shard": "a, b" });
    expect(Object.entries(behind.heads[0]?.headers ?? {})).toContainEqual(["constructor", "1"]);
    expect(answer.head["x-request-id"]).toBe(behind.heads[0]?.headers["x-request-id"]);
    expect(behind.heads[0]?.headers).toMatchObject({
      ":method": "POST",
      ":path": V2,
      authorization: "Bearer abc",
      "x-meta": "1, 2",
      "trace-bin": "AAEC",
      "my_key.x": "1",
      traceparent: "01-later",
      "content-type": "application/grpc",
      te: "trailers",
      "grpc-timeout": "5S",
      "grpc-accept-encoding": "gzip",
      "x-forwarded-for": "127.0.0.1",
    });
    expect(exchanges).toMatchObject([
      {
        apiVersion: "v2",
        mode: "pass",
        status: 200,
        client: "grpc-go",
        rpc: { service: "acme.platform.iam.v2beta1.GroupsService", method: "ListGroups", code: 0 },
        requestBytes: 9,
        responseBytes: 17,
        calls: [{ upstream: "v2", path: V2, status: 200 }],
      },
    ]);
  });

  it("T-RPC-30: keeps fields of metadata that node:http2 sends only once, as one list", async () => {
    const twice = ["date", "etag"].flatMap((name) => [literal(name, "a"), literal(name, "b")]);
    const head = Buffer.concat([literal(":status", "200"), literal("content-type", "application/grpc"), ...twice]);
    const trailers = Buffer.concat([literal("grpc-status", "5"), ...twice]);
    const behind = await rawPlatform((socket, stream) => {
      socket.write(Buffer.concat([frame(FRAME.headers, 4, stream, head), frame(FRAME.headers, 5, stream, trailers)]));
    });
    const { rpc } = await passing({ v2Url: behind.url });
    const answer = await call(rpc, V2);
    expect(answer).toMatchObject({ status: 5 });
    for (const fields of [answer.head, answer.trailers]) expect(fields).toMatchObject({ date: "a, b", etag: "a, b" });
  });

  it.runIf(KEEPS_SPACES)("keeps spaces at the ends of its message and its metadata", async () => {
    const fields = [
      ["grpc-status", "5"],
      ["grpc-message", " m "],
      ["x-a", " a "],
    ] as const;
    const head = [[":status", "200"], ["content-type", "application/grpc"], ...fields] as const;
    const behind = await rawPlatform((socket, stream) => {
      socket.write(frame(FRAME.headers, 5, stream, Buffer.concat(head.map(([name, value]) => literal(name, value)))));
    });
    const { rpc } = await passing({ v2Url: behind.url });
    const on = connect(rpc, { strictFieldWhitespaceValidation: false } as object);
    later(async () => on.destroy());
    const stream = open(on, V2);
    stream.end();
    expect((await answered(stream)).head).toMatchObject({ "grpc-message": "%20m%20", "x-a": " a " });
  });

  it("T-RPC-30: keeps its status where its details are longer than its client takes, or than can be sent", async () => {
    const violations = Array.from({ length: 390 }, () => ({ field: "f", description: "d".repeat(60) }));
    const details = [{ "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations: violations }];
    const { details: bytes } = createStatusCodec(undefined).ofJson(400, Buffer.from(JSON.stringify({ details })));
    // Lists in two parts of a message are one list.
    const half = Buffer.from(bytes ?? []);
    const trailers = {
      "grpc-status": "3",
      "grpc-message": "bad",
      "grpc-status-details-bin": Buffer.concat([half, half]).toString("base64"),
    };
    for (const messages of [[], [framed(new Uint8Array())]]) {
      const behind = await platform(
        unary(() => messages, trailers),
        { maxSendHeaderBlockLength: 2 ** 20 },
      );
      const { rpc } = await passing({ v2Url: behind.url }, { limitsResponseHeaderBytes: "256KiB" });
      for (const [announced, sent] of [
        [undefined, 61_440],
        [8_192, 8_192],
      ] as const) {
        const on = connect(rpc, announced === undefined ? {} : { settings: { maxHeaderListSize: announced } });
        later(async () => on.destroy());
        await new Promise((resolve) => on.once("localSettings", resolve));
        const stream = open(on, V2);
        stream.end(framed(new Uint8Array()));
        const answer = await answered(stream);
        expect(answer).toMatchObject({
          status: 3,
          message: expect.stringMatching(/^bad \(without \d+ entries of its details/),
        });
        const fields = { ...answer.head, ...answer.trailers };
        const size = Object.entries(fields).reduce(
          (sum, [name, value]) => sum + name.length + String(value).length + 32,
          0,
        );
        expect(size / sent).toBeGreaterThan(0.9);
        expect(size).toBeLessThan(sent + 256);
      }
    }
  });

  it("DIFF-134: has any subtype, and a deadline that can be read", async () => {
    const { rpc, behind } = await inFrontOf(unary((request) => [request]));
    const json = { "content-type": "application/grpc+json" };
    expect((await call(rpc, V2, undefined, json)).status).toBe(0);
    expect(behind.heads[0]?.headers).toMatchObject(json);
    const own = await call(rpc, "/evil.v2.Service/Do", undefined, json);
    expect(own).toMatchObject({ status: 12, head: json });
    for (const timeout of ["5", "S", "123456789S", "1x", "-1S", "1.5S"]) {
      expect(await call(rpc, V2, undefined, { "grpc-timeout": timeout })).toMatchObject({
        status: 13,
        message: "malformed grpc-timeout",
      });
    }
    expect(await call(rpc, V2, undefined, { "grpc-timeout": ["5S", "x"] })).toMatchObject({ status: 13 });
    expect(behind.heads).toHaveLength(1);
  });

  it("T-RPC-06: keeps an error that is trailers only, with its details", async () => {
    const trailers = { "grpc-status": "5", "grpc-message": "no %C3%A9", "grpc-status-details-bin": "CAU" };
    const { rpc, exchanges } = await inFrontOf(unary(() => [], trailers));
    const answer = await call(rpc, V2);
    expect(answer.trailers).toBeUndefined();
    expect(answer.head).toMatchObject(trailers);
    expect(exchanges).toMatchObject([{ status: 404, rpc: { code: 5 }, reason: undefined }]);
  });

  it("of v1 goes to native v1, and says so", async () => {
    const v1 = await platform(unary((request) => [request]));
    const v2 = await platform(unary(() => []));
    const { rpc, exchanges } = await passing({ v2Url: v2.url, v1Url: v1.url }, { cutoverMode: "native" });
    const answer = await call(rpc, V1);
    expect(answer).toMatchObject({ status: 0, head: { "carryover-mode": "native" } });
    expect(v2.heads).toHaveLength(0);
    expect(exchanges).toMatchObject([{ apiVersion: "v1", mode: "native", calls: [{ upstream: "v1" }] }]);
  });

  it("passes health checks and reflection, which no client has to move", async () => {
    const { rpc, exchanges } = await inFrontOf(unary((request) => [request]));
    expect((await call(rpc, "/grpc.health.v1.Health/Check")).status).toBe(0);
    expect((await call(rpc, "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo")).status).toBe(0);
    expect(exchanges).toMatchObject([{ apiVersion: "none", client: "unknown" }, { apiVersion: "none" }]);
  });

  it("T-RPC-04: is sent again when the upstream refused the stream unread, and only then", async () => {
    let refusals = 1;
    const echo = unary((request) => [request]);
    const { rpc, behind } = await inFrontOf((stream) => {
      if (refusals-- > 0) stream.close(7);
      else echo(stream);
    });
    const sent = framed(Buffer.from("once"));
    expect(await call(rpc, V2, sent)).toMatchObject({ status: 0, body: sent });
    refusals = 2;
    expect(await call(rpc, V2, sent)).toMatchObject({ status: 14 });
    expect(behind.heads).toHaveLength(4);
  });

  it("is not sent again when more of it went out than is kept", async () => {
    let seen = 0;
    const { rpc, behind } = await inFrontOf((stream) => {
      stream.on("data", (chunk: Buffer) => {
        seen += chunk.length;
        if (seen > 80_000) stream.close(7);
      });
    });
    expect(await call(rpc, V2, framed(Buffer.alloc(200_000)))).toMatchObject({ status: 14 });
    expect(behind.heads).toHaveLength(1);
  });
});

describe("a service of another domain", () => {
  const OTHER = "/acme.platform.tenant.Records/List";
  const NEW = "/acme.platform.tenant.v2.Records/List";

  it("goes to native v1, or to the upstream that the operator names", async () => {
    const [v1, v2] = [await platform(unary((request) => [request])), await platform(unary((request) => [request]))];
    const { rpc, exchanges } = await passing(
      { v2Url: v2.url, v1Url: v1.url },
      { cutoverMode: "translate", listenGrpcExtraServices: "acme.platform.tenant.v2" },
    );
    const sent = framed(Buffer.from("x"));
    expect(await call(rpc, OTHER, sent)).toMatchObject({
      status: 0,
      body: sent,
      head: { "carryover-mode": "native" },
    });
    expect(await call(rpc, NEW, sent)).toMatchObject({ status: 0, body: sent });
    expect([v1.heads.length, v2.heads.length]).toEqual([1, 1]);
    expect(exchanges).toMatchObject([
      { apiVersion: "v1", mode: "native", resource: "unknown", calls: [{ upstream: "v1" }] },
      { apiVersion: "v2", mode: "pass", calls: [{ upstream: "v2" }] },
    ]);
  });

  it.each([
    ["refuse", undefined, 12],
    ["native", "refuse", 12],
    ["refuse", "native", 0],
  ])(
    "with fallback %s, and %s in the rules file, has the status %s, as a v1 call that is not described",
    async (fallback, file, status) => {
      const v1 = await platform(unary((request) => [request]));
      const rules = file && fileWith(`version: carryover/v1\nfallback: ${file}\nrules: []\n`);
      const flags = { cutoverMode: "native", fallback, ...(rules && { cutoverRulesFile: rules }) };
      const { rpc } = await passing({ v2Url: v1.url, v1Url: v1.url }, flags);
      expect([(await call(rpc, OTHER)).status, (await call(rpc, V1)).status]).toEqual([status, status]);
      expect(v1.heads).toHaveLength(status === 0 ? 2 : 0);
    },
  );

  it("with fallback refuse, reaches native v1 where listen.grpc.extraServices says so", async () => {
    const v1 = await platform(unary((request) => [request]));
    const [service = ""] = OTHER.slice(1).split("/");
    const flags = { cutoverMode: "native", fallback: "refuse", listenGrpcExtraServices: `v1:${service}` };
    const { rpc } = await passing({ v2Url: v1.url, v1Url: v1.url }, flags);
    expect([(await call(rpc, OTHER)).status, (await call(rpc, V1)).status]).toEqual([0, 12]);
  });
});

it.each([
  ["the success of a v2 call", V2, 0, 0],
  ["the success of a v1 call", V1, 0, 0],
  ["no error", V2, 7, 14],
  ["no success of another domain", "/acme.platform.tenant.v2.Records/List", 0, 14],
])("without descriptors, %s says whether its credential is known", async (_what, path, code, then) => {
  const end = unary(() => [], { "grpc-status": String(code) });
  const behind = await platform((stream, headers) => {
    if (headers.authorization === "Bearer good") end(stream);
  });
  const flags = { limitsInFlight: "8", cutoverMode: "native", listenGrpcExtraServices: "acme.platform.tenant.v2" };
  const { rpc } = await passing({ v2Url: behind.url, v1Url: behind.url }, flags);
  const good = () => call(rpc, path, undefined, { authorization: "Bearer good" });
  expect((await good()).status).toBe(code);
  for (let i = 0; i < 6; i++) open(session(rpc), V2, { authorization: `Bearer invented-${i}` });
  await expect.poll(() => behind.heads.length).toBe(7);
  expect((await good()).status).toBe(then);
});

describe("token exchange", () => {
  const EXCHANGE = "/acme.platform.oidc.SecurityTokenService/Exchange";
  const field = (number: number, text: string) =>
    Buffer.concat([Buffer.from([(number << 3) | 2, Buffer.byteLength(text)]), Buffer.from(text)]);
  const FLAGS = {
    listenPublicUrl: "https://api.acme.example",
    upstreamV2Audience: `https://v2.acme.example/${"x".repeat(120)}`,
  };
  const echo = () => platform(unary((request) => [request]));

  it("T-RPC-14: passes to the token service, with the platform's audience in place of carryover's own, and nothing else changed", async () => {
    const [v2, sts] = [await echo(), await echo()];
    const lines: string[] = [];
    const { rpc, exchanges } = await passing(
      { v2Url: v2.url, stsUrl: sts.url },
      { ...FLAGS, logLevel: "debug" },
      { logLine: (line) => void lines.push(line) },
    );
    const others = [field(4, "id"), Buffer.from([0xf8, 0x3f, 1]), field(9, "https://api.acme.example")];
    const message = (audience: Buffer) =>
      framed(Buffer.concat([field(1, "https://other.example"), audience, ...others, audience]));
    const to = FLAGS.upstreamV2Audience;
    const long = Buffer.concat([Buffer.from([10, 0x80 | (to.length & 0x7f), to.length >> 7]), Buffer.from(to)]);
    const headers = { authorization: "Bearer oidc-token-secret" };
    const answer = await call(rpc, EXCHANGE, message(field(1, "https://api.acme.example/")), headers);
    expect(answer).toMatchObject({ status: 0, body: message(long) });
    for (const unchanged of [message(field(1, "https://api.acme.example.org")), framed(Buffer.from([10, 9, 1]))]) {
      expect(await call(rpc, EXCHANGE, unchanged, headers)).toMatchObject({ status: 0, body: unchanged });
    }
    expect(v2.heads).toEqual([]);
    expect(sts.heads[0]?.headers).toMatchObject({ authorization: "Bearer oidc-token-secret" });
    expect(exchanges[0]).toMatchObject({
      apiVersion: "sts",
      operation: "exchange",
      mode: "pass",
      client: "unknown",
      calls: [{ upstream: "sts" }],
    });
    expect(lines.join()).toContain("SecurityTokenService/Exchange");
    expect(lines.join()).not.toMatch(/secret|acme\.example/);
  });

  it("reads a compressed message, and sends it on as it came where nothing changes", async () => {
    const sts = await echo();
    const { rpc } = await passing({ v2Url: sts.url, stsUrl: sts.url }, { ...FLAGS, upstreamV2Audience: "v2" });
    const headers = { "grpc-encoding": "gzip" };
    const own = gzipSync(field(1, "https://api.acme.example"));
    expect((await call(rpc, EXCHANGE, framed(own, 1), headers)).body).toEqual(framed(field(1, "v2")));
    const other = gzipSync(field(1, "https://other.example"));
    expect((await call(rpc, EXCHANGE, framed(other, 1), headers)).body).toEqual(framed(other, 1));
  });

  it("of a message above limits.bodyBytes is refused", async () => {
    const sts = await echo();
    const { rpc } = await passing({ v2Url: sts.url, stsUrl: sts.url }, { ...FLAGS, limitsBodyBytes: "2KiB" });
    expect(await call(rpc, EXCHANGE, framed(Buffer.alloc(3_000)), {})).toMatchObject({ status: 8 });
    expect(sts.heads).toEqual([]);
  });

  it("goes to v2 without a token service of its own, as it came without a public URL", async () => {
    const v2 = await echo();
    const { rpc } = await passing({ v2Url: v2.url });
    const sent = Buffer.concat([framed(field(1, "a")), framed(field(1, "b"))]);
    const refresh = "/acme.platform.oidc.SecurityTokenService/ExchangeRefreshToken";
    expect(await call(rpc, refresh, sent)).toMatchObject({ status: 0, body: sent });
    expect(v2.heads).toHaveLength(1);
  });
});

describe("a call that the platform resets", () => {
  const WRITE = "/acme.platform.iam.v2beta1.GroupsService/UpdateGroup";
  const readsThen = (end: (stream: ServerHttp2Stream) => void) => (stream: ServerHttp2Stream) => {
    stream.resume().on("end", () => end(stream));
  };

  it.each([
    ["NO_ERROR", 0, 13],
    ["PROTOCOL_ERROR", 1, 13],
    ["INTERNAL_ERROR", 2, 13],
    ["CANCEL", 8, 1],
    ["ENHANCE_YOUR_CALM", 11, 8],
    ["INADEQUATE_SECURITY", 12, 7],
  ])("T-RPC-24: with %s has the status of the specification", async (_name, http2Code, status) => {
    const { rpc, exchanges, behind } = await inFrontOf(readsThen((stream) => stream.close(http2Code)));
    expect((await call(rpc, WRITE)).status).toBe(status);
    expect(exchanges).toMatchObject([{ fault: "platform", reason: "UPSTREAM_INVALID" }]);
    expect(behind.heads).toHaveLength(1);
  });

  it("T-RPC-04, DIFF-116: by losing the connection is UNAVAILABLE where it only reads, and UNKNOWN where it may have written", async () => {
    const { rpc } = await inFrontOf(readsThen(({ session }) => session?.destroy()));
    expect((await call(rpc, V2)).status).toBe(14);
    const { status, head } = await call(rpc, WRITE);
    expect(status).toBe(2);
    const details = Buffer.from(String(head["grpc-status-details-bin"]), "base64").toString("latin1");
    expect(details).toMatch(/UPSTREAM_UNREACHABLE.*state.*unknown/s);
  });

  it.each([
    ["above the last stream that it names is sent again", 0, 0, 2],
    ["below it has an unknown state", 1, 2, 1],
  ])("T-RPC-04, T-RPC-25: by GOAWAY with an error %s", async (_what, last, status, calls) => {
    let arrived = 0;
    const done = [literal(":status", "200"), literal("content-type", "application/grpc"), literal("grpc-status", "0")];
    const behind = await rawPlatform((socket, stream, connection) => {
      arrived++;
      if (connection === 1) socket.end(frame(FRAME.goaway, 0, 0, Buffer.from([0, 0, 0, last, 0, 0, 0, 2])));
      else socket.write(frame(FRAME.headers, 5, stream, Buffer.concat(done)));
    });
    const { rpc } = await passing({ v2Url: behind.url });
    expect((await call(rpc, WRITE)).status).toBe(status);
    expect(arrived).toBe(calls);
  });
});

describe("a stream", () => {
  it("T-RPC-08: flows both ways at once", async () => {
    const { rpc } = await inFrontOf((stream) => {
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      stream.once("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      stream.on("data", (chunk: Buffer) => stream.write(chunk));
      stream.on("end", () => stream.end());
    });
    const stream = open(session(rpc), V2);
    const over = answered(stream);
    for (const text of ["one", "two", "three"]) {
      const echoed = new Promise((resolve) => stream.once("data", resolve));
      stream.write(framed(Buffer.from(text)));
      expect(await echoed).toEqual(framed(Buffer.from(text)));
    }
    stream.end();
    expect((await over).status).toBe(0);
  });

  it("T-RPC-34: is read no faster than its client takes it", async () => {
    let written = 0;
    const { rpc } = await inFrontOf((stream) => {
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      const more = (): void => {
        while (!stream.destroyed && written < 64 * 2 ** 20) {
          written += 65_536;
          if (!stream.write(Buffer.alloc(65_536))) {
            stream.once("drain", more);
            return;
          }
        }
      };
      more();
    });
    const stream = open(session(rpc), V2);
    await new Promise((resolve) => stream.once("response", resolve));
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(written).toBeLessThan(2 * 2 ** 20);
    stream.close(8);
  });

  it("T-RPC-36: that its client cancels is cancelled at the upstream", async () => {
    const cancelled = new Promise<number>((resolve) => {
      void platform((stream) => {
        stream.respond({ ":status": 200, "content-type": "application/grpc" });
        stream.on("close", () => resolve(stream.rstCode));
      }).then(async (behind) => {
        const { rpc, exchanges } = await passing({ v2Url: behind.url });
        const stream = open(session(rpc), V2);
        stream.once("response", () => stream.close(8));
        stream.once("close", () =>
          setTimeout(() => expect(exchanges).toMatchObject([{ status: 499, aborted: true }]), 50),
        );
      });
    });
    expect(await cancelled).toBe(8);
  });
});

describe("what goes wrong", () => {
  it.each([
    ["after its messages", 1],
    ["in a head that is all of the response", 0],
  ])("T-RPC-07: that an upstream ends without a status, %s, is INTERNAL", async (_where, messages) => {
    const { rpc } = await inFrontOf(unary((request) => [request].slice(0, messages), {}));
    expect(await call(rpc, V2)).toMatchObject({ status: 13 });
  });

  it("T-RPC-31: with the client's deadline is DEADLINE_EXCEEDED, and the upstream's call is cancelled", async () => {
    const closed: number[] = [];
    const { rpc } = await inFrontOf((stream) => stream.on("close", () => closed.push(stream.rstCode)));
    const answer = await call(rpc, V2, undefined, { "grpc-timeout": "100m" });
    expect(answer.status).toBe(4);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(closed).toEqual([8]);
  });

  it("that the platform resets when the client's deadline is over is DEADLINE_EXCEEDED", async () => {
    const { rpc } = await inFrontOf((stream) => {
      const over = performance.now() + 100;
      const wait = (): void => void (performance.now() < over ? setImmediate(wait) : stream.close(8));
      wait();
    });
    // Carryover's own timer comes late.
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    try {
      expect(await call(rpc, V2, undefined, { "grpc-timeout": "100m" })).toMatchObject({ status: 4 });
      expect(await call(rpc, V2, undefined, { "grpc-timeout": "9S" })).toMatchObject({ status: 1 });
    } finally {
      vi.useRealTimers();
    }
  });

  it("T-RPC-32: without a response's head in time is DEADLINE_EXCEEDED; the time counts from the end of the request", async () => {
    const behind = await platform((stream, headers) => {
      if (headers["x-slow"] === undefined) return;
      stream.resume().on("end", () => setTimeout(() => stream.respond({ "grpc-status": 0 }, { endStream: true }), 250));
    });
    const { rpc, exchanges } = await passing(
      { v2Url: behind.url },
      { upstreamV2TimeoutsHeadersSeconds: "0.6", grpcDescriptors: fileWith(seededSandbox().descriptors()) },
    );
    const described = `/${VENDOR_TYPES}.iam.v2beta1.GroupsService/ListGroups`;
    const slow = open(session(rpc), described, { "x-slow": "1" });
    // Longer than the head may take, in one message and no faster than it must.
    const message = framed(Buffer.alloc(3_000));
    slow.write(message.subarray(0, 1_500));
    setTimeout(() => slow.end(message.subarray(1_500)), 900);
    const [answer, none] = await Promise.all([answered(slow), call(rpc, described)]);
    expect([answer.status, none.status]).toEqual([0, 4]);
    expect(exchanges.map(({ reason }) => reason).toSorted()).toEqual(["UPSTREAM_TIMEOUT", undefined]);
  });

  it("with a late response's head has its session pinged at once, though it may be a stream", async () => {
    let pings = 0;
    const { rpc } = await inFrontOf(
      (stream) => {
        stream.session?.on("ping", () => pings++);
      },
      { upstreamV2TimeoutsHeadersSeconds: "0.1" },
    );
    const stream = open(session(rpc), V2);
    stream.end(framed(Buffer.from("x")));
    // Silence alone is looked at after three seconds.
    await expect.poll(() => pings, { timeout: 2_000 }).toBe(1);
    expect(stream.closed).toBe(false);
  });

  it("T-RPC-32: that may be a stream is silent for as long as the operator says, whatever time a response's head has", async () => {
    const behind = await platform(() => {});
    const urls = { v2Url: behind.url };
    const head = { upstreamV2TimeoutsHeadersSeconds: "0.1", limitsRequestSeconds: "1100ms", listsMaxSeconds: "1" };
    const timed = async (leastMs: number, flags: Record<string, string>, fields: Record<string, string> = {}) => {
      const { rpc, exchanges } = await passing(urls, { ...head, ...flags });
      const began = performance.now();
      const { status } = await call(rpc, V2, undefined, fields);
      return { status, early: performance.now() - began < leastMs, options: exchanges[0]?.options };
    };
    const [usual, longer, own] = await Promise.all([
      timed(1_100, {}),
      timed(1_400, { grpcStreamIdleSeconds: "1400ms" }),
      timed(1_700, { grpcStreamIdleSeconds: "0" }, { "grpc-timeout": "1700m" }),
    ]);
    expect([usual, longer, own]).toMatchObject(Array(3).fill({ status: 4, early: false }));
    expect([usual.options, longer.options, own.options]).toEqual([
      ["grpc.streamIdleSeconds"],
      ["grpc.streamIdleSeconds"],
      [],
    ]);
  });

  it("T-RPC-33: whose client stops in the middle of a message is ended, and one that is silent between messages is not", async () => {
    const { rpc, exchanges } = await inFrontOf(
      (stream) => void stream.resume(),
      {},
      { grpcTimeouts: { sendStallMs: 500, lingerMs: 100 } },
    );
    const on = session(rpc);
    const [stalled, silent] = [open(on, V2), open(on, V2)];
    stalled.write(framed(Buffer.alloc(4_000)).subarray(0, 10));
    silent.write(framed(Buffer.alloc(10)));
    await new Promise((resolve) => stalled.once("close", resolve));
    const isOpen = !silent.closed;
    await new Promise(setImmediate);
    silent.close(8);
    await expect.poll(() => exchanges.length).toBe(2);
    expect([isOpen, exchanges.map(({ reason }) => reason)]).toEqual([true, ["REQUEST_TIMEOUT", undefined]]);
  });

  it("without a native v1 is UNIMPLEMENTED, and so is a service of no known domain", async () => {
    const { rpc, exchanges, behind } = await inFrontOf(unary((request) => [request]));
    expect(await call(rpc, V1)).toMatchObject({ status: 12, message: expect.stringContaining("Groups/List") });
    expect(await call(rpc, "/evil.v2.Service/Do")).toMatchObject({ status: 12, message: "unknown service" });
    expect(exchanges.map(({ reason }) => reason)).toEqual(["NOT_TRANSLATABLE", "METHOD_NOT_ALLOWED"]);
    expect(behind.heads).toHaveLength(0);
  });

  it("DIFF-135, T-RPC-22: through carryover a second time is refused, and never reaches the platform", async () => {
    const { rpc, behind } = await inFrontOf(unary((request) => [request]));
    expect(await call(rpc, V2, undefined, { via: "1.1 carryover" })).toMatchObject({ status: 9 });
    expect(behind.heads).toHaveLength(0);
  });

  it("T-RPC-16: is 415 for another media type than gRPC, and 405 for another method than POST", async () => {
    const { rpc } = await passing({ v2Url: "http://127.0.0.1:1" });
    expect((await call(rpc, V2, undefined, { "content-type": "application/json" })).head[":status"]).toBe(415);
    expect((await call(rpc, V2, undefined, { ":method": "GET" })).head[":status"]).toBe(405);
  });

  it("is UNIMPLEMENTED for a path that does not name a method", async () => {
    const { rpc } = await passing({ v2Url: "http://127.0.0.1:1" });
    const odd = ["//a.B/C", "/a.B//C", "/a.B/C/", "/a.B", "/a.B/", "/a.B/C?x=1", "/a.B/%43", "/a.B/../a.B/C"];
    for (const path of [...odd, `/a.B/${"C".repeat(9_000)}`]) {
      const message = expect.stringContaining("malformed method name");
      expect(await call(rpc, path), path).toMatchObject({ status: 12, message });
    }
  });
});

it("calls whose request does not end hold up no others, however few calls the platform takes at a time", async () => {
  const { rpc, behind } = await inFrontOf(
    unary((request) => [request]),
    { upstreamV2Connections: "4" },
  );
  const hostile = session(rpc);
  const unended = Array.from({ length: 8 }, () => open(hostile, V2, { authorization: "Bearer hostile" }));
  await expect.poll(() => behind.heads.length).toBeGreaterThanOrEqual(4);
  expect(await call(rpc, V2, undefined, { authorization: "Bearer good", "grpc-timeout": "3S" })).toMatchObject({
    status: 0,
  });
  expect(unended.map(({ destroyed }) => destroyed)).toEqual(unended.map(() => false));
});

it("T-RPC-25: an upstream that says GOAWAY finishes its calls, and new ones go over a new session", async () => {
  const waiting: (() => void)[] = [];
  const echo = unary((request) => [request]);
  const { rpc, behind } = await inFrontOf((stream) => {
    if (waiting.length > 0) echo(stream);
    else {
      waiting.push(() => echo(stream));
      stream.session?.close();
    }
  });
  const first = call(rpc, V2);
  await expect.poll(() => waiting.length).toBe(1);
  expect(await call(rpc, V2)).toMatchObject({ status: 0 });
  waiting[0]?.();
  expect(await first).toMatchObject({ status: 0 });
  expect(behind.sessions()).toBe(2);
});

it("T-RPC-41: a shutdown lets calls finish, tells clients with GOAWAY, and cuts what outlasts its time", async () => {
  const streams: (() => void)[] = [];
  const echo = unary((request) => [request]);
  const { rpc, close } = await inFrontOf((stream) => void streams.push(() => echo(stream)));
  const on = session(rpc);
  const goaway = new Promise((resolve) => on.once("goaway", resolve));
  const quick = open(on, V2);
  const finished = answered(quick);
  quick.end(framed(Buffer.from("q")));
  await expect.poll(() => streams.length).toBe(1);
  const slow = open(on, V2);
  const cut = answered(slow);
  slow.end(framed(Buffer.from("s")));
  await expect.poll(() => streams.length).toBe(2);
  const closed = close();
  expect(await goaway).toBe(0);
  streams[0]?.();
  expect((await finished).status).toBe(0);
  expect(await cut).toMatchObject({ status: 4, message: expect.stringContaining("stopping") });
  await closed;
});
