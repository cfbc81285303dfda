import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Front, front, reasonOf, TOKEN, V1, V2, valuesOf } from "./front.ts";

let here: Front;
beforeAll(async () => {
  here = await front();
});
afterAll(() => here.close());

/** A uid, so that v1 makes one call of it. */
const ONE = `${V1}/0123456789abcdef0123456789abcdef01234567`;
const TARGETS = [V1, ONE, V2];

describe("T-SMG-13: too much of it", () => {
  const many = (count: number, last = "") => `${"A:1\r\n".repeat(count)}${last}`;
  it.each([
    ["101 fields", "GET", "", many(99), 431, "HEADERS_TOO_LARGE"],
    ["2,100 fields and the credential behind them", "GET", "", many(2_100, TOKEN), 431, "HEADERS_TOO_LARGE"],
    ["2,100 fields between two credentials", "GET", "", TOKEN + many(2_100, TOKEN), 431, "HEADERS_TOO_LARGE"],
    [
      "2,100 fields and a length behind them",
      "POST",
      "",
      many(2_100, "Content-Length: 5\r\n"),
      431,
      "HEADERS_TOO_LARGE",
    ],
    ["17 KiB in one field", "GET", "", `X: ${"a".repeat(17 * 1024)}\r\n`, 431, "HEADERS_TOO_LARGE"],
    ["17 KiB in the name of a field", "GET", "", `${"a".repeat(17 * 1024)}: 1\r\n`, 431, "HEADERS_TOO_LARGE"],
    ["a path of 9 KiB", "GET", `/${"a".repeat(9 * 1024)}`, "", 414, "URI_TOO_LONG"],
    ["a query of 9 KiB", "GET", `?x=${"a".repeat(9 * 1024)}`, "", 414, "URI_TOO_LONG"],
    ["a target of 17 KiB", "GET", `?x=${"a".repeat(17 * 1024)}`, "", 431, "HEADERS_TOO_LARGE"],
  ])("%s is refused as that, on every path", async (_, method, end, fields, status, reason) => {
    for (const target of TARGETS) {
      const { answer, sent } = await here.ask(`${method} ${target}${end}`, fields);
      expect([answer.status, reasonOf(answer)]).toEqual([status, reason]);
      expect(sent).toEqual([]);
    }
  });

  it("Host behind 2,100 others is not said to be missing", async () => {
    const { text } = await here.talk(`GET ${V2} HTTP/1.1\r\nConnection: close\r\n${many(2_100)}Host: a\r\n\r\n`);
    expect(text).toMatch(/^HTTP\/1\.1 431 /);
  });

  it("100 fields are none too many, and all of them arrive", async () => {
    const { answer, sent } = await here.ask(`GET ${V2}`, many(97, TOKEN));
    expect(answer.status).toBe(200);
    expect(valuesOf(sent[0]!, "a")).toHaveLength(97);
    expect(valuesOf(sent[0]!, "authorization")).toEqual(["Bearer a.b-c"]);
  });
});

describe("T-SMG-14: names of JavaScript's own", () => {
  const NAMES = ["__proto__", "constructor", "prototype", "hasOwnProperty", "toString", "valueOf", "__defineGetter__"];

  it.each(NAMES)("%s as a field and as a parameter has no effect", async (name) => {
    for (const target of TARGETS) {
      const query = `${name}=1&${name}[polluted]=1&${name}.polluted=1&constructor[prototype][polluted]=1`;
      const { answer, sent } = await here.ask(`GET ${target}?${query}`, `${name}: polluted\r\n${TOKEN}`);
      expect([target, answer.status]).toEqual([target, 200]);
      expect(sent).toHaveLength(1);
      // v2 gets what was asked; v1 has no such parameter.
      expect(sent[0]?.line.includes("polluted")).toBe(target === V2);
    }
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  it.each(NAMES)("%s in a path is a name like any other, or none", async (name) => {
    for (const target of [`/${name}/v1/x`, `/iam/${name}/groups`, `/iam/v1/${name}`, `${V1}/${name}`, `/${name}`]) {
      const { answer } = await here.ask(`GET ${target}`);
      expect([target, [200, 400, 404, 501].includes(answer.status)]).toEqual([target, true]);
    }
    expect(here.exchanges.filter(({ reason }) => reason === "INTERNAL")).toEqual([]);
  });
});

describe("T-SMG-15: what a stranger says of the way here", () => {
  const CLAIMS = [
    "X-Forwarded-For: 1.2.3.4",
    "X-Forwarded-For: 5.6.7.8",
    "X-FORWARDED-HOST: evil.example",
    "x-forwarded-proto: https",
    "X-Forwarded-Port: 1",
    "X-Forwarded-Prefix: /evil",
    "X-Forwarded-Uri: /evil",
    "X-Forwarded-Client-Cert: By=evil",
    "X-Forwarded-User: evil",
    "X_Forwarded_For: 1.2.3.4",
    "X-Forwarded_For: 1.2.3.4",
    "X.Forwarded.For: 1.2.3.4",
    "X-Forwarded-For~: 1.2.3.4",
    "X-Real-IP: 1.2.3.4",
    "X-Real_IP: 1.2.3.4",
    "Forwarded: for=1.2.3.4;host=evil.example;proto=https",
  ];

  it.each(TARGETS)("reaches nobody, and is replaced by what carryover itself knows: %s", async (target) => {
    const { answer, sent } = await here.ask(`GET ${target}`, `${CLAIMS.join("\r\n")}\r\n`);
    expect(answer.status).toBe(200);
    expect(sent).toHaveLength(1);
    expect(sent[0]!.head).not.toMatch(/evil|1\.2\.3\.4|5\.6\.7\.8/);
    expect(valuesOf(sent[0]!, "x-forwarded-for")).toEqual(["127.0.0.1"]);
    expect(valuesOf(sent[0]!, "x-forwarded-host")).toEqual(["api.example"]);
    expect(valuesOf(sent[0]!, "x-forwarded-proto")).toEqual(["http"]);
    expect(sent[0]!.fields.filter(([name]) => /_|~|\./.test(name))).toEqual([]);
    expect(JSON.stringify(here.lines)).not.toMatch(/evil|1\.2\.3\.4/);
  });
});

describe("T-SMG-16: a credential", () => {
  it.each([
    ["twice", "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n"],
    ["twice the same", "Authorization: Bearer a\r\nAUTHORIZATION: Bearer a\r\n"],
    ["and an empty one", "Authorization: Bearer a\r\nAuthorization:\r\n"],
    ["of two in one field", "Authorization: Bearer a,Bearer b\r\n"],
    ["of bytes beyond ASCII", "Authorization: Bearer \xff\xfe\r\n"],
    ["with a tab", "Authorization: Bearer\ta\r\n"],
    ["with a blank within", "Authorization: Bearer a b\r\n"],
    ["in quotes", 'Authorization: Bearer "a"\r\n'],
    ["with padding within", "Authorization: Bearer a=b\r\n"],
    ["without a token", "Authorization: Bearer\r\n"],
    ["without a scheme", "Authorization: a\r\n"],
  ])("%s is 401 and goes nowhere", async (_, fields) => {
    for (const target of [...TARGETS, "/sts/exchange", "/x"]) {
      const { answer, sent } = await here.ask(`GET ${target}`, fields);
      expect([answer.status, reasonOf(answer), answer.field("www-authenticate")]).toEqual([
        401,
        "UNAUTHENTICATED",
        "Bearer",
      ]);
      expect(sent).toEqual([]);
    }
  });

  it("of 15.8 KB arrives as it is", async () => {
    const token = `${"a".repeat(15_800)}==`;
    for (const target of TARGETS) {
      const { answer, sent } = await here.ask(`GET ${target}`, `Authorization: Bearer ${token}\r\n`);
      expect(answer.status).toBe(200);
      expect(valuesOf(sent[0]!, "authorization")).toEqual([`Bearer ${token}`]);
    }
  });

  it.each(["Proxy-Authorization: Bearer a", "X-Authorization_: Bearer a", "Authorization_: Bearer a", "Cookie_: t=a"])(
    "by another name is none: %s",
    async (field) => {
      for (const target of TARGETS) {
        const { sent } = await here.ask(`GET ${target}`, `${field}\r\n`);
        expect(sent).toHaveLength(1);
        expect(sent[0]!.head).not.toContain("Bearer");
        expect(sent[0]!.head).not.toContain("t=a");
      }
    },
  );
});

describe("T-SMG-17: fields that Connection names", () => {
  it.each(TARGETS)("go no further, and those that carryover adds are there: %s", async (target) => {
    const named =
      "close, authorization, X-Request-Id, x-forwarded-for,x-forwarded-host , via, traceparent, host, x-own, accept";
    const fields = `${TOKEN}X-Request-Id: mine\r\nX-Own: secret\r\nTraceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n`;
    const { text, sent } = await here.talk(
      `GET ${target} HTTP/1.1\r\nHost: api.example\r\nConnection: ${named}\r\n${fields}\r\n`,
    );
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    const [one] = sent;
    expect(valuesOf(one!, "authorization")).toEqual([]);
    expect(valuesOf(one!, "x-own")).toEqual([]);
    expect(valuesOf(one!, "x-forwarded-for")).toEqual(["127.0.0.1"]);
    expect(valuesOf(one!, "x-forwarded-host")).toEqual(["api.example"]);
    expect(valuesOf(one!, "via")).toEqual(["1.1 carryover"]);
    expect(valuesOf(one!, "host")).toEqual([`127.0.0.1:${here.platform.port}`]);
    expect(valuesOf(one!, "x-request-id")).toHaveLength(1);
    expect(valuesOf(one!, "traceparent")).toHaveLength(1);
    expect(valuesOf(one!, "traceparent")[0]).not.toContain("4bf92f3577b34da6");
  });

  it.each(["content-length", "transfer-encoding", "content-length, transfer-encoding", "content-type"])(
    "may be %s: the body is still one body",
    async (named) => {
      const inner = `GET ${V2}?inner HTTP/1.1\r\nHost: a\r\n\r\n`;
      const head = `POST ${V2} HTTP/1.1\r\nHost: a\r\nConnection: close, ${named}\r\nContent-Type: text/plain\r\n`;
      for (const framed of [
        `Content-Length: ${inner.length}\r\n\r\n${inner}`,
        `Transfer-Encoding: chunked\r\n\r\n${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`,
      ]) {
        const { text, sent } = await here.talk(head + framed);
        expect(text).toMatch(/^HTTP\/1\.1 200 /);
        expect(sent.map(({ line, body }) => [line, body.toString()])).toEqual([[`POST ${V2} HTTP/1.1`, inner]]);
      }
    },
  );
});

describe("T-SMG-19: a field that belongs to the connection", () => {
  it.each([
    "Keep-Alive: timeout=5",
    "Upgrade: websocket",
    "Proxy-Connection: keep-alive",
    "TE: trailers",
    "Trailer: X-Sum",
    "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA",
    "Proxy-Authorization: Basic eDp5",
    "Expect:",
  ])("%s is answered 200, and reaches nobody", async (field) => {
    const [name = ""] = field.toLowerCase().split(":");
    for (const target of TARGETS) {
      const { answer, sent } = await here.ask(`GET ${target}`, `${field}\r\n`);
      expect([target, answer.status]).toEqual([target, name === "expect" ? 417 : 200]);
      for (const one of sent) expect(valuesOf(one, name)).toEqual([]);
    }
  });
});

describe("T-SMG-21: a method in a field", () => {
  it.each([
    "X-HTTP-Method-Override: DELETE",
    "X-Http-Method: DELETE",
    "X-Method-Override: DELETE",
    "X_HTTP_Method_Override: DELETE",
    "Grpc-Metadata-Authorization: Bearer b",
    "Grpc-Metadata-X-HTTP-Method-Override: DELETE",
    "grpc-timeout: 1H",
    "Grpc-Status: 0",
  ])("%s changes nothing, and nothing that the gateway would act upon goes on", async (field) => {
    const form = `${TOKEN}${field}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 2\r\n`;
    for (const target of [V2, `${V2}/0a0b`, `${V1}/0a0b`]) {
      const { sent } = await here.ask(`POST ${target}`, form, "{}");
      for (const one of sent) {
        expect(one.line).toMatch(/^POST \/iam\/v2beta1\/groups/);
        expect(one.fields.filter(([name]) => /^(?:grpc-|x[-_]http[-_]method[-_]override)/i.test(name))).toEqual([]);
      }
    }
  });
});
