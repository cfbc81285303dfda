import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { deprecationHeaders } from "../../../src/cutover/deprecation.ts";
import { later, takeDownAfterEach } from "../../app/rig.ts";
import { type Front, front, ok, serving, TOKEN, V1, V2, valuesOf } from "./front.ts";

let here: Front;
beforeAll(async () => {
  here = await front();
});
afterAll(() => here.close());
takeDownAfterEach();

const QUERIES = [
  "?",
  "??",
  "?a",
  "?=",
  "?&&&",
  "?a=1&a=2&A=3&a=1",
  "?page_token=a+b/c=%2B%3D&page_token=",
  "?page_token=CAoQAQ==",
  "?x=%zz&y=%&z=%2",
  "?x=%00%0d%0a%7f",
  "?x=/../..//y;z",
  "?x='|{}^`\"<>\\",
  "?order_by=name%20desc",
  "?x=http://evil.example/?y=/iam/v1/",
  "?a[b][]=1&__proto__[x]=1",
  "?updateMask=a,%20b&update_mask=*",
  `?${Array.from({ length: 1_000 }, (_, i) => `k${i}=${i}`)
    .join("&")
    .slice(0, 8_000)}`,
  `?${"&".repeat(8_000)}`,
  `?${"a=".repeat(4_000)}`,
];

describe("T-SMG-29: a query", () => {
  it.each(QUERIES.map((query) => [query.slice(0, 40), query] as const))(
    "of v2 passes to the byte: %s",
    async (_, query) => {
      for (const method of ["GET", "POST", "DELETE"]) {
        const { answer, sent } = await here.ask(`${method} ${V2}${query}`, TOKEN);
        expect(answer.status).toBe(200);
        expect(sent.map(({ line }) => line)).toEqual([`${method} ${V2}${query} HTTP/1.1`]);
      }
    },
  );

  it.each([V1, V2])("with a fragment is refused: %s", async (path) => {
    for (const query of ["?a#b", "?#", "#?a", "?a=%23#"]) {
      const { answer, sent } = await here.ask(`GET ${path}${query}`, TOKEN);
      expect([answer.status, sent]).toEqual([400, []]);
    }
  });

  it.each([
    ["unknown ones only", "?x=1&y=%0d%0a&page_token=a&skip=5&order_by=x&mask=*&updateMask=*&page_size=9", []],
    [
      "1,000 unknown ones",
      `?${Array.from({ length: 1_000 }, (_, i) => `k${i}=${i}`)
        .join("&")
        .slice(0, 8_000)}`,
      [],
    ],
    ["a known one among them", "?x=1&name=a%26skip=5%23%0d%0a&y=2", ["name=a%26skip%3D5%23%0D%0A"]],
    ["a known one in both spellings of a blank", "?name=a+b%20c", ["name=a%20b%20c"]],
    ["no name at all", "?&=&=x&", []],
  ] as const)("of v1 gives v2 known parameters only, written anew: %s", async (_, query, known) => {
    const { answer, sent } = await here.ask(`GET ${V1}${query}`, TOKEN);
    expect(answer.status).toBe(200);
    for (const { line } of sent) {
      const params = (/\?(\S*)/.exec(line)?.[1] ?? "").split("&");
      const own = /^(?:page_size|skip|order_by|page_token)=/;
      expect(params.filter((param) => !own.test(param))).toEqual(known);
      expect(params.filter((param) => own.test(param))).toEqual(["page_size=200"]);
    }
    expect(sent).toHaveLength(1);
  });

  it.each(["?name=%zz", "?name=%", "?name=%c3", "?name=%ff%fe", "?name=a;b", "?name=a&name=b", "?%zz=1"])(
    "of v1 that cannot be read, or says one thing twice, is 400: %s",
    async (query) => {
      const { answer, sent } = await here.ask(`GET ${V1}${query}`, TOKEN);
      expect([answer.status, sent]).toEqual([400, []]);
    },
  );
});

const BREAKS = ["%0d%0aX-Evil:%201", "%0aX-Evil:1", "%0d", "%E2%80%A8", "%00", "%1b[31m", "%22%7d%0a%7b%22evil%22:1"];
const PRINTABLE = /^[^\p{Control}\u2028\u2029]*$/u;
const NO_BREAK = /^[\x20-\x7e\x80-\xff]*$/;

describe("T-SMG-35: a line end that a client writes", () => {
  it("ends no field of an answer and no line of the log", async () => {
    const echo = await front(({ line }, socket) => {
      if (!line.includes("broken")) return serving({ line }, socket);
      // A platform that puts into its own fields and errors what it was asked.
      const target = line.split(" ")[1] ?? "";
      const message = JSON.stringify(`no ${decodeURIComponent(target)}`);
      const error = ok(`{"code":5,"message":${message}}`, `Location: ${target}\r\n`);
      socket.write(error.replace("200 OK", "404 Not Found"));
    });
    later(echo.close);
    for (const text of BREAKS) {
      for (const [line, fields] of [
        [`GET ${V1}/${text}`, ""],
        [`GET ${V1}/a?x=${text}`, ""],
        [`GET ${V1}?name=${text}broken`, ""],
        [`PUT ${V1}/${text}`, "Content-Length: 2\r\n"],
        [`GET ${V2}/${text}broken`, ""],
        [`GET /x/${text}`, ""],
        [`GET ${V2}`, `X-Request-Id: ${text}\r\nUser-Agent: ${text}\r\n`],
        [`GET ${V2}`, `X-Request-Id: a\tb\r\n`],
      ] as const) {
        const { answer } = await echo.ask(line, TOKEN + fields, line.startsWith("PUT") ? "{}" : "");
        expect([line, answer.field("x-evil")]).toEqual([line, undefined]);
        for (const [name, value] of answer.fields)
          expect([line, name, NO_BREAK.test(value)]).toEqual([line, name, true]);
      }
    }
    for (const line of echo.lines) {
      expect(line.trimEnd()).toMatch(PRINTABLE);
      expect(JSON.parse(line)).not.toHaveProperty("evil");
    }
    const metrics = await (await fetch(`${echo.adminUrl}/metrics`)).text();
    for (const line of metrics.split("\n"))
      expect(line).toMatch(/^(?:#.*|carryover_[\x20-\x7e]*|[a-z_]+[\x20-\x7e]*|)$/);
    expect(metrics).not.toMatch(/evil/i);
  });

  it("ends no Link to a successor, whatever path it is made of", () => {
    const rule = { successor: true, documentation: "https://docs.example/a\r\nX-Evil: 1" } as const;
    for (const text of ["\r\nX-Evil: 1", "\n", "\u2028", ">; rel=evil", '"', "\x00", "\u{1f600}", "\ud800"]) {
      const fields = deprecationHeaders(
        { deprecation: undefined, sunset: undefined, ...rule },
        `/iam/v2beta1/groups/${text}`,
      );
      expect(fields).toHaveLength(2);
      for (const [, value] of fields) {
        expect(value).toMatch(/^<[^\s<>"]*>; rel="[a-z-]+"(?:; type="text\/html")?$/);
        expect(value).toMatch(/^[\x20-\x7e]*$/);
      }
    }
  });
});

describe("T-SMG-38: a redirect of the platform", () => {
  it("is handed on and never followed, and names no upstream", async () => {
    let [status, to] = [0, ""];
    const moved = await front(({ line }, socket) => {
      const body = line.startsWith("HEAD") ? "" : "{}";
      socket.write(`HTTP/1.1 ${status} Moved\r\nLocation: ${to}\r\nContent-Length: 2\r\n\r\n${body}`);
    });
    later(moved.close);
    const own = `127.0.0.1:${moved.platform.port}`;
    const places = ["http://169.254.169.254/latest/meta-data/", "//169.254.169.254/x", "file:///etc/passwd"];
    for (status of [301, 302, 303, 307, 308]) {
      for (to of [...places, `http://${own}/iam/v2beta1/secret`]) {
        for (const line of [`GET ${V2}`, `POST ${V2}`, `GET ${V1}`, `GET ${V1}/0a0b`, `DELETE ${V1}/0a0b`]) {
          const { answer, sent } = await moved.ask(line, `${TOKEN}Content-Length: 0\r\n`);
          expect([status, line, sent.length]).toEqual([status, line, 1]);
          expect(answer.status).not.toBe(200);
          expect(JSON.stringify([answer.fields, answer.body])).not.toContain(own);
          expect(sent.map((one) => valuesOf(one, "host"))).toEqual([[own]]);
        }
      }
    }
  });
});

describe("T-SMG-20: fields of the platform's connection", () => {
  const HOP = [
    "Connection: X-Hop, keep-alive",
    "X-Hop: secret",
    "Keep-Alive: timeout=5",
    "Upgrade: h2c",
    "Proxy-Authenticate: Basic realm=evil",
    "Proxy-Connection: keep-alive",
    "TE: trailers",
    "Trailer: X-Sum",
  ];
  it("reach no client", async () => {
    const hop = await front((request, socket) => {
      const body = request.line.includes("/0a0b") ? '{"uid":"0a0b","name":"n"}' : "{}";
      socket.write(ok(body, `${HOP.join("\r\n")}\r\n`));
    });
    later(hop.close);
    for (const line of [`GET ${V2}`, `GET ${V1}`, `GET ${V1}/0a0b`, `DELETE ${V1}/0a0b`]) {
      for (const end of ["close", "keep-alive"]) {
        const second = end === "close" ? "" : `${line} HTTP/1.0\r\nHost: a\r\n\r\n`;
        const { text } = await hop.talk(`${line} HTTP/1.1\r\nHost: a\r\n${TOKEN}Connection: ${end}\r\n\r\n${second}`);
        expect(text).toMatch(/^HTTP\/1\.1 200 /);
        expect(text.toLowerCase()).not.toMatch(/x-hop|secret|keep-alive: timeout=5\b|upgrade|proxy-|\bte:|trailer/);
      }
    }
  });
});
