import dns from "node:dns";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Entry, requests } from "../../corpus/requests.ts";
import { figure } from "../../support/figures.ts";
import { type Front, front, parse, V1, V2 } from "./front.ts";

let here: Front;
beforeAll(async () => {
  here = await front();
});
afterAll(() => here.close());

const ofRow = (...ids: readonly string[]) => requests.filter(({ id = "" }) => ids.includes(id));
const refused = ({ upstream }: Entry) => upstream === undefined;
/** What an attacker hides behind bytes that two readers cut in two ways. */
const SMUGGLED = `GET ${V2}?smuggled HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer evil\r\nConnection: close\r\n\r\n`;

/** Where the end of a request is in doubt. */
const FRAMING: readonly (readonly [id: string, what: string])[] = [
  ["T-SMG-01", "a length before chunks"],
  ["T-SMG-02", "chunks before a length"],
  ["T-SMG-03", "a transfer coding that is not exactly chunked"],
  ["T-SMG-04", "a length that is no one plain number"],
  ["T-SMG-05", "chunks that are none"],
  ["T-SMG-06", "fields that are none, and no Host"],
  ["T-SMG-07", "a transfer coding before chunked"],
  ["T-SMG-08", "not exactly one Host that is a host"],
];

describe("bytes whose end is in doubt are the last of their connection", () => {
  it.each(FRAMING)("%s: %s: what follows is never a request, on whatever path", async (id) => {
    const entries = ofRow(id).filter(refused);
    expect(entries.length).toBeGreaterThan(0);
    const targets = ["/x", V2, V1];
    const attack = async (bytes: string, target: string) => {
      const { text } = await here.talk(bytes.replace(/^([A-Z]+) \S+/, `$1 ${target}`) + SMUGGLED);
      // A path of nobody may be told so before the body is looked at.
      const wanted = target === "/x" ? [400, 404] : [400];
      expect([target, bytes, wanted.includes(parse(text).status)]).toEqual([target, bytes, true]);
      expect(text.split("HTTP/1.1 ")).toHaveLength(2);
    };
    const before = here.platform.requests.length;
    // At the same time: a connection whose request was refused in its body stays open for half a second.
    await Promise.all(entries.flatMap(({ bytes }) => targets.map((target) => attack(bytes, target))));
    expect(here.platform.requests.slice(before)).toEqual([]);
    figure(
      id,
      "requests of doubtful end, each with a smuggled one behind it",
      entries.length * targets.length,
      "requests",
    );
  });

  it("T-SMG-09: a version that is none, behind good requests: those are answered, nothing follows", async () => {
    const good = `GET ${V2}?good HTTP/1.1\r\nHost: a\r\n\r\n`;
    for (const { bytes } of ofRow("T-SMG-09").filter(refused)) {
      const { text, sent } = await here.talk(good + bytes + SMUGGLED);
      expect(sent.map(({ line }) => line)).toEqual([`GET ${V2}?good HTTP/1.1`]);
      expect(text.match(/HTTP\/1\.1 \d+/g)?.[0]).toBe("HTTP/1.1 200");
    }
  });
});

describe("T-SMG-10: a target that names another host", () => {
  const targets = [
    "http://evil.example/x",
    "https://evil.example/x",
    "http://evil.example:80@127.0.0.1/x",
    "http:///x",
    "evil.example:80",
    "@evil.example/x",
    "//evil.example/x",
    "///evil.example/x",
    "/\\evil.example/x",
    "\\\\evil.example\\x",
    "file:///etc/passwd",
  ];

  it.each(targets.flatMap((target) => ["GET", "POST", "OPTIONS"].map((method) => [method, target] as const)))(
    "is refused, and nobody is looked up or called: %s %s",
    async (method, target) => {
      const lookup = vi.spyOn(dns, "lookup");
      try {
        const { answer, sent } = await here.ask(`${method} ${target}`);
        expect(answer.status).toBe(400);
        expect(sent).toEqual([]);
        expect(lookup).not.toHaveBeenCalled();
      } finally {
        lookup.mockRestore();
      }
    },
  );

  it("is noticed by this test if it were looked up", async () => {
    const lookup = vi.spyOn(dns, "lookup");
    const socket = connect(here.port, "localhost");
    await new Promise((resolve) => socket.once("connect", resolve));
    socket.destroy();
    expect(lookup).toHaveBeenCalledOnce();
    lookup.mockRestore();
  });

  it.each(["CONNECT evil.example:443", "CONNECT /x", "CONNECT 127.0.0.1:80"])("of %s: no tunnel", async (line) => {
    const { text, sent } = await here.talk(`${line} HTTP/1.1\r\nHost: a\r\n\r\n${SMUGGLED}`);
    expect(text).not.toMatch(/^HTTP\/1\.1 2/);
    expect(sent).toEqual([]);
  });
});

describe("a method", () => {
  it("T-SMG-11: asked of the whole server is refused", async () => {
    const { answer, sent } = await here.ask("OPTIONS *");
    expect(answer.status).toBe(400);
    expect(sent).toEqual([]);
  });

  /** v1's gateway says 501 to a method it does not have, with no `Allow`; so does carryover (gateway facts). */
  it.each(["TRACE", "PURGE", "PROPFIND", "SOURCE", "LINK", "REPORT", "QUERY", "TRACK", "FOO", "get", "Get", "GETX"])(
    "T-SMG-12: %s goes nowhere",
    async (method) => {
      for (const target of [V1, V2, `${V2}/a`, "/sts/exchange", "/x"]) {
        const { answer, sent } = await here.ask(`${method} ${target}`);
        expect([method, target, [400, 501].includes(answer.status)]).toEqual([method, target, true]);
        expect(sent).toEqual([]);
      }
    },
  );
});

describe("T-SMG-39: another protocol on this port", () => {
  it.each([
    ["HTTP/2 with prior knowledge", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"],
    ["TLS 1.3", `\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03${"\x11".repeat(500)}`],
    ["SSLv2", "\x80\x2e\x01\x00\x02\x00\x15\x00\x00\x00\x10"],
    ["the PROXY protocol, version 1", `PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\nGET ${V2} HTTP/1.1\r\nHost: a\r\n\r\n`],
    ["the PROXY protocol, version 2", `\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c${"\x01".repeat(12)}`],
    ["SSH", "SSH-2.0-OpenSSH_9.6\r\n"],
    ["SMTP", "EHLO evil.example\r\nMAIL FROM:<a@b>\r\n"],
    ["Redis", "*1\r\n$4\r\nPING\r\n"],
    ["memcached", "stats\r\n"],
  ])("%s: one 400 and the end", async (_, bytes) => {
    const { text, sent } = await here.talk(bytes + SMUGGLED);
    expect(parse(text).status).toBe(400);
    expect(text.split("HTTP/1.1 ")).toHaveLength(2);
    expect(sent).toEqual([]);
  });
});

describe("T-SMG-40: an upgrade", () => {
  const hidden = `GET ${V2}?hidden HTTP/1.1\r\nHost: a\r\n\r\n`;
  it.each([
    [
      "websocket",
      "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n",
      400,
    ],
    ["websocket beside h2c", "Connection: Upgrade\r\nUpgrade: h2c, websocket\r\n", 400],
    ["TLS", "Connection: Upgrade\r\nUpgrade: TLS/1.0\r\n", 400],
    ["h2c", "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n", 200],
  ])("to %s is never made, and bytes behind it reach nobody", async (_, fields, status) => {
    for (const target of [V1, V2]) {
      const { text, sent } = await here.talk(
        `GET ${target} HTTP/1.1\r\nHost: a\r\n${fields}\r\n${hidden}\x81\x05hello`,
      );
      expect(text).not.toContain("HTTP/1.1 101");
      expect(parse(text).status).toBe(status);
      expect(parse(text).field("connection")).toBe("close");
      expect(sent.filter(({ line }) => line.includes("hidden"))).toEqual([]);
      for (const one of sent) expect(one.head.toLowerCase()).not.toMatch(/upgrade|http2-settings/);
    }
  });
});
