import { describe, expect, it } from "vitest";
import { ask, parse, sending, talk } from "./support/client.ts";
import { ok } from "./support/double.ts";
import { rig, takeDownAfterEach } from "./support/rig.ts";

takeDownAfterEach();

const fieldsOf = (fields: readonly (readonly [string, string])[], name: string) =>
  fields.filter(([key]) => key.toLowerCase() === name).map(([, value]) => value);

describe("T-SMG-29: the request target arrives byte for byte", () => {
  it.each([
    "/iam/v2beta1/groups?order_by=name%20desc&page_token=a+b/c=%2B",
    "/iam/v2beta1/groups/a%2Fb%2fc",
    "/iam/v2beta1/groups?",
    "/iam/v2beta1/groups?x='|{}^`\"<>\\",
    "/iam/v2beta1/groups?a=1&a=2&&=&b",
    "/iam/v2beta1/groups?x=/../..//y",
    "/iam/v2beta1/groups/%zz?%zz",
    "/iam/v2beta1/groups/%252e%252e/x",
    "/iam/v2beta1//groups/...",
    "/iam/v2beta1/groups/a:b;c=d/",
    "/iam/v2beta1/groups/{uid}|'",
    `/iam/v2beta1/groups/${"0123456789abcdef/".repeat(6)}ffffff`,
  ])("%s", async (target) => {
    const { port, double } = await rig();
    expect((await ask(port, `GET ${target}`)).status).toBe(200);
    expect(double.requests.map(({ line }) => line)).toEqual([`GET ${target} HTTP/1.1`]);
  });

  it("behind the base path of the upstream, and without the base path of the listener", async () => {
    const double = await rig();
    const { port } = await rig({ basePath: "/front", pool: { url: `${double.double.url}/back/` } });
    await ask(port, "GET /front/x?y");
    await ask(port, "GET /front?y");
    await ask(port, "GET /frontier");
    expect(double.double.requests.map(({ line }) => line)).toEqual(["GET /back/x?y HTTP/1.1", "GET /back/?y HTTP/1.1"]);
  });
});

describe("the fields of a request", () => {
  it("keep name, value, spelling and the order of repeats", async () => {
    const { port, double } = await rig();
    await ask(
      port,
      "GET /x",
      'X-B: 1\r\nX-a: \xe9\r\nx-b: 2\r\nAccept-Encoding: gzip\r\nX-B: 3\r\nIf-None-Match: "e"\r\nX_Key.1: 1\r\n',
    );
    const { fields } = double.requests[0]!;
    const ours = new Set(["host", "connection"]);
    expect(fields.filter(([name]) => !ours.has(name.toLowerCase())).slice(0, 7)).toEqual([
      ["X-B", "1"],
      ["X-a", "\xe9"],
      ["x-b", "2"],
      ["Accept-Encoding", "gzip"],
      ["X-B", "3"],
      ["If-None-Match", '"e"'],
      ["X_Key.1", "1"],
    ]);
  });

  it.each(["eyJh.eyJz.c2ln", "Bearer eyJh.eyJz.c2ln", "Negotiate", "Bearer a b", 'Digest a="b", c=d', ""])(
    "Authorization: %s arrives as it was sent",
    async (value) => {
      const { port, double } = await rig();
      expect((await ask(port, "GET /x", `Authorization: ${value}\r\n`)).status).toBe(200);
      expect(fieldsOf(double.requests[0]!.fields, "authorization")).toEqual([value]);
    },
  );

  it("of a trace arrive as they were sent, and none is added", async () => {
    const { port, double } = await rig();
    await ask(port, "GET /x");
    const sent = [
      ["Traceparent", "01-4BF92F-later-version-01-extra"],
      ["traceparent", "two"],
      ["TraceState", "a=1, b=2"],
      ["b3", "80f198ee56343ba864fe8b2a57d3eff7-e457b5a2e4d86bd1-1"],
      ["X-B3-TraceId", "80f198ee56343ba864fe8b2a57d3eff7"],
      ["X-B3-Sampled", "1"],
      ["baggage", "k=v;p=1,l=w"],
    ];
    await ask(port, "GET /x", sent.map((field) => `${field.join(": ")}\r\n`).join(""));
    const traced = /^(?:trace|b3$|x-b3-|baggage)/i;
    const [without, withTrace] = double.requests.map(({ fields }) => fields.filter(([name]) => traced.test(name)));
    expect(without).toEqual([]);
    expect(withTrace).toEqual(sent);
  });

  it("T-SMG-19, T-SMG-15, T-SMG-21, DIFF-59, DIFF-79: that belong to the connection, or look like a field of carryover's own, do not reach the upstream", async () => {
    const { port, double } = await rig();
    const fields = [
      "Connection: X-Named",
      "X-Named: 1",
      "Keep-Alive: timeout=5",
      "Upgrade: websocket",
      "Proxy-Connection: keep-alive",
      "Proxy-Authorization: Basic eA==",
      "TE: trailers",
      "Trailer: X-T",
      "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA",
      "X-HTTP-Method-Override: DELETE",
      "X-HTTP-Method: DELETE",
      "X-Method-Override: DELETE",
      ...["Cookie: a", "Host: evil", "Forwarded: for=1.2.3.4", "X-Forwarded-For: 1.2.3.4", "X-Real-IP: 1.2.3.4"].map(
        (field) => `Grpc-Metadata-${field}`,
      ),
      ...["Te: a", "Connection: a", "Content-Length: 7", "Content-Type: a", "Grpc-Timeout: 1n"].map(
        (field) => `Grpc-Metadata-${field}`,
      ),
      ...["X_Forwarded_For: 1.2.3.4", "Auth_orization: a", "Grpcgateway-Authorization: a", ": a"].map(
        (field) => `Grpc-Metadata-${field}`,
      ),
      "Grpc_Metadata_X: 1",
      "Grpc-Timeout: 9S",
      "X_Forwarded_For: 1.2.3.4",
      "Content_Length: 7",
      "X.Real.IP: 1.2.3.4",
      "X-Forwarded-For: 1.2.3.4",
      "X-Forwarded-Prefix: /evil",
      "Forwarded: for=1.2.3.4",
      "X-Real-IP: 1.2.3.4",
    ];
    const answer = await ask(port, "POST /x", `${fields.join("\r\n")}\r\nContent-Length: 0\r\n`);
    expect(answer.status).toBe(200);
    const { line, fields: sent } = double.requests[0]!;
    expect(line).toBe("POST /x HTTP/1.1");
    expect(sent.map(([name]) => name.toLowerCase()).sort()).toEqual([
      "connection",
      "content-length",
      "host",
      "via",
      "x-forwarded-for",
      "x-forwarded-host",
      "x-forwarded-proto",
      "x-request-id",
    ]);
    expect(fieldsOf(sent, "x-forwarded-for")).toEqual(["127.0.0.1"]);
    expect(fieldsOf(sent, "x-forwarded-host")).toEqual(["api.example"]);
    expect(fieldsOf(sent, "host")).toEqual([`127.0.0.1:${double.port}`]);
  });

  it("DIFF-79: that a gateway hands on as metadata arrive as they were sent, repeats and spelling included", async () => {
    const { port, double } = await rig();
    const sent = ["Grpc-Metadata-X-Cache: no", "grpc-metadata-x-cache: no", "Grpc-Metadata-My_Key.x-Bin: AAEC"];
    await ask(port, "GET /x", `${sent.join("\r\n")}\r\n`);
    const { fields } = double.requests[0]!;
    expect(fields.filter(([name]) => /^grpc/i.test(name)).map((field) => field.join(": "))).toEqual(sent);
  });

  it("T-SMG-17: named by Connection are dropped before ours are added", async () => {
    const { port, double } = await rig();
    const named = "close, authorization, x-request-id, x-forwarded-for, via";
    await talk(
      port,
      `GET /x HTTP/1.1\r\nHost: a\r\nConnection: ${named}\r\nAuthorization: Bearer t\r\nX-Request-Id: mine\r\n\r\n`,
    );
    const { fields } = double.requests[0]!;
    expect(fieldsOf(fields, "authorization")).toEqual([]);
    expect(fieldsOf(fields, "x-forwarded-for")).toEqual(["127.0.0.1"]);
    expect(fieldsOf(fields, "x-request-id")).toEqual(["mine"]);
    expect(fieldsOf(fields, "via")).toEqual(["1.1 carryover"]);
  });

  it("T-SMG-15: of a trusted proxy are kept, and the peer is added to the chain", async () => {
    const { port, double } = await rig({ trustedProxies: ["127.0.0.0/8"] });
    const given =
      "X-Forwarded-For: 1.2.3.4\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: api.public\r\nX-Forwarded-Port: 443\r\n";
    await ask(port, "GET /x", given);
    const { fields } = double.requests[0]!;
    expect(fieldsOf(fields, "x-forwarded-for")).toEqual(["1.2.3.4, 127.0.0.1"]);
    expect(fieldsOf(fields, "x-forwarded-proto")).toEqual(["https"]);
    expect(fieldsOf(fields, "x-forwarded-host")).toEqual(["api.public"]);
    expect(fieldsOf(fields, "x-forwarded-port")).toEqual(["443"]);
  });

  it("T-SMG-15: of a trusted proxy, with names that could pass for others, are dropped", async () => {
    const { port, double } = await rig({ trustedProxies: ["127.0.0.0/8"] });
    const odd = "X-Forwarded-For_: 6.6.6.6\r\nX-Forwarded-Pr.oto: https\r\nX-Forwarded-Host%2f: evil\r\n";
    await ask(port, "GET /x", `X-Forwarded-Port: 443\r\n${odd}`);
    const names = double.requests[0]?.fields.map(([name]) => name.toLowerCase()) ?? [];
    expect(names.filter((name) => name.startsWith("x-forwarded-")).toSorted()).toEqual([
      "x-forwarded-for",
      "x-forwarded-host",
      "x-forwarded-port",
      "x-forwarded-proto",
    ]);
  });
});

describe("an answer", () => {
  it("keeps status, reason, fields, their order and its bytes", async () => {
    const fields =
      'Set-Cookie: a=1\r\nX-B: 1\r\nset-cookie: b=2\r\nX-b: \xe9\r\nETag: W/"1"\r\nGrpc-Metadata-Content-Type: application/grpc\r\n';
    const { port } = await rig({
      script: `HTTP/1.1 207 Some Thing\r\n${fields}Content-Length: 3\r\n\r\n\x00\xff\n`.replace("\xff", "y"),
    });
    const answer = await ask(port, "GET /x");
    expect(answer.line).toBe("HTTP/1.1 207 Some Thing");
    expect(answer.fields.slice(0, 7)).toEqual([
      ["Set-Cookie", "a=1"],
      ["X-B", "1"],
      ["set-cookie", "b=2"],
      ["X-b", Buffer.from("\xe9").toString("latin1")],
      ["ETag", 'W/"1"'],
      ["Grpc-Metadata-Content-Type", "application/grpc"],
      ["Content-Length", "3"],
    ]);
    expect(answer.body).toBe("\x00y\n");
    const added = answer.fields.slice(7).map(([name]) => name.toLowerCase());
    expect(added).toEqual(["via", "x-request-id", "connection"]);
  });

  it("T-SMG-20: loses what belongs to the upstream's connection", async () => {
    const hop = [
      "Connection: X-Hop, close",
      "X-Hop: secret",
      "Keep-Alive: timeout=5",
      "Upgrade: h2c",
      "Proxy-Authenticate: Basic",
      "Proxy-Connection: keep-alive",
      "TE: trailers",
      "Trailer: X-T",
    ];
    const { port } = await rig({
      script: `HTTP/1.1 200 OK\r\n${hop.join("\r\n")}\r\nX-Kept: 1\r\nContent-Length: 2\r\n\r\nok`,
    });
    const answer = await ask(port, "GET /x");
    expect(answer.fields.map(([name]) => name.toLowerCase())).toEqual([
      "x-kept",
      "content-length",
      "via",
      "x-request-id",
      "connection",
    ]);
    expect(answer.field("connection")).toBe("close");
  });

  it.each([
    ["a length", "GET /x HTTP/1.1", "HTTP/1.1 200 OK\r\nTrailer: X\r\nContent-Length: 2\r\n\r\nok", "ok"],
    [
      "chunks",
      "GET /x HTTP/1.1",
      "HTTP/1.1 200 OK\r\nTrailer: X\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX: 1\r\n\r\n",
      "ok",
    ],
    [
      "chunks, for HTTP/1.0",
      "GET /x HTTP/1.0",
      "HTTP/1.1 200 OK\r\nTrailer: X\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX: 1\r\n\r\n",
      "ok",
    ],
    ["no body, for HEAD", "HEAD /x HTTP/1.1", "HTTP/1.1 200 OK\r\nTrailer: X\r\nContent-Length: 2\r\n\r\n", ""],
    ["status 204", "GET /x HTTP/1.1", "HTTP/1.1 204 No Content\r\nTrailer: X\r\n\r\n", ""],
    [
      "status 304 and a length",
      "GET /x HTTP/1.1",
      "HTTP/1.1 304 Not Modified\r\nTrailer: X\r\nContent-Length: 7\r\n\r\n",
      "",
    ],
  ])("T-FLT-20: with Trailer and %s is served", async (_, line, script, body) => {
    const { port, seen } = await rig({ script });
    const answer = parse(await talk(port, `${line}\r\nHost: a\r\nTE: trailers\r\nConnection: close\r\n\r\n`));
    expect(answer.line.split(" ")[1]).toBe(script.split(" ")[1]);
    expect(answer.body).toBe(body);
    expect(answer.field("trailer")).toBeUndefined();
    expect(seen).toMatchObject([{ reason: undefined, aborted: false }]);
  });

  it("T-FLT-11: after 103 Early Hints is the final one", async () => {
    const { port } = await rig({ script: `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${ok('{"a":1}')}` });
    expect((await ask(port, "GET /x")).body).toBe('{"a":1}');
  });

  it("T-SMG-38: with a Location inside the platform leads back through the listener; any other is left alone", async () => {
    const place = (double: () => string) => rig({ basePath: "/front", script: (_, socket) => socket.write(double()) });
    let location = "";
    const { port, double } = await place(
      () => `HTTP/1.1 302 Found\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`,
    );
    location = `${double.url}/iam/x?y`;
    expect((await ask(port, "GET /front/a")).field("location")).toBe("/front/iam/x?y");
    location = "http://169.254.169.254/latest/";
    expect((await ask(port, "GET /front/a")).field("location")).toBe("http://169.254.169.254/latest/");
    expect(double.requests).toHaveLength(2);
  });
});

describe("a body", () => {
  it("T-SMG-30: arrives byte for byte, whatever its declared type", async () => {
    const { port, double } = await rig();
    const body = '{ "a" :1.0,"b":12345678901234567890}\x00\xff';
    for (const type of [
      "application/json",
      "application/json ; charset=utf-8",
      "weird//;;",
      "application/json\ta",
      "text/plain",
    ]) {
      expect(
        (await ask(port, "POST /x", `Content-Type: ${type}\r\nContent-Length: ${body.length}\r\n`, body)).status,
      ).toBe(200);
    }
    expect(double.requests.map((request) => request.body.toString("latin1"))).toEqual(Array(5).fill(body));
  });

  it("T-SMG-23: in chunks arrives whole, its trailers and their announcement do not", async () => {
    const { port, double } = await rig();
    const chunks = "5\r\nhello\r\n1\r\n!\r\n0\r\nAuthorization: Bearer evil\r\n\r\n";
    await ask(port, "PUT /x", "Transfer-Encoding: chunked\r\nTrailer: Authorization\r\n", chunks);
    expect(double.requests[0]!.body.toString()).toBe("hello!");
    expect(double.received().toLowerCase()).not.toContain("authorization");
    expect(double.received().toLowerCase()).not.toContain("trailer");
  });

  it("T-SMG-22: of a GET that looks like a request is never one", async () => {
    const { port, double } = await rig();
    const inner = "GET /evil HTTP/1.1\r\nHost: a\r\n\r\n";
    await ask(port, "GET /x", `Content-Length: ${inner.length}\r\n`, inner);
    expect(double.requests.map(({ line }) => line)).toEqual(["GET /x HTTP/1.1"]);
  });

  it("T-SMG-18: is asked for when the client expects that", async () => {
    const { port, double } = await rig();
    const client = await sending(
      port,
      "POST /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 2048\r\n\r\n",
    );
    await client.until((text) => text.includes("HTTP/1.1 100 Continue\r\n\r\n"));
    client.send("b".repeat(2048));
    expect(parse(await client.closed()).status).toBe(200);
    expect(double.requests[0]!.body).toHaveLength(2048);
    expect(double.received().toLowerCase()).not.toContain("expect");
  });
});

describe("a connection", () => {
  it("T-SMG-40: that offers HTTP/2 is answered in HTTP/1.1, and closed before bytes could be lost behind the offer", async () => {
    const { port, double } = await rig();
    const offer =
      "GET /a HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n\r\n";
    const answer = parse(await talk(port, offer));
    expect(answer.status).toBe(200);
    expect(answer.field("connection")).toBe("close");
    expect(double.requests.map(({ line }) => line)).toEqual(["GET /a HTTP/1.1"]);
  });

  it("T-SMG-40: that speaks of an upgrade without asking for it is served as ever", async () => {
    const { port } = await rig();
    expect((await ask(port, "GET /a", "Upgrade: websocket\r\n")).status).toBe(200);
  });

  it("T-SMG-25: with 50 requests in a row, the 25th malformed, brings 24 answers in order and then 400", async () => {
    const { port } = await rig({
      script: ({ line }, socket) => {
        setTimeout(() => socket.write(ok(line.split(" ")[1])), line.endsWith("/1 HTTP/1.1") ? 50 : 0);
      },
    });
    const good = (n: number) => `GET /${n} HTTP/1.1\r\nHost: a\r\n\r\n`;
    const all = Array.from({ length: 50 }, (_, i) => (i === 24 ? "GET /bad HTTP/9.9\r\n\r\n" : good(i + 1)));
    const text = await talk(port, all.join(""));
    expect(text.match(/^\/\d+(?=HTTP|$)/gm)?.map((path) => Number(path.slice(1)))).toEqual(
      Array.from({ length: 24 }, (_, i) => i + 1),
    );
    expect(text.match(/HTTP\/1\.1 \d+/g)?.at(-1)).toBe("HTTP/1.1 400");
  });
});
