/** What becomes of answers that are compressed, framed or headed oddly? (Pass-through and translated calls.) */
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, parse, talk } from "../../listener/support/client.ts";
import { ok, type Script } from "../../listener/support/double.ts";
import { rig, takeDownAfterEach } from "../../listener/support/rig.ts";
import { figure } from "../../support/figures.ts";
import { type Front, front, reasonOf, V1, V2 } from "../smg/front.ts";

takeDownAfterEach();

const READ = `GET ${V1}/a/b`;
const PASS = `GET ${V2}/a/b`;
const RECORD = '{"uid":"a/b","name":"a"}';

/** One carryover for all tests: nothing of one answer may be left to the next. */
let here: Front;
/** What the platform answers. */
let answer: string | Buffer = "";
beforeAll(async () => {
  const script: Script = (_, socket) => void socket.write(answer);
  here = await front(script, { upstreamV2Breaker: "false" });
});
afterAll(() => here.close());

async function answerTo(line: string) {
  return (await here.ask(line)).answer;
}

function encoded(encoding: string, bytes: Buffer): Buffer {
  const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: ${encoding}\r\n`;
  return Buffer.concat([Buffer.from(`${head}Content-Length: ${bytes.length}\r\n\r\n`), bytes]);
}

function gzipTimes(times: number): Buffer {
  let bytes = Buffer.from(RECORD);
  for (let i = 0; i < times; i++) bytes = gzipSync(bytes);
  return bytes;
}

describe("T-FLT-15: an answer that is compressed though nobody asked for that", () => {
  it.each([
    ["six times", "gzip, gzip, gzip, gzip, gzip, gzip", gzipTimes(6)],
    ["falsely", "gzip", Buffer.from(RECORD)],
    ["with half of it lacking", "gzip", gzipSync(RECORD).subarray(0, 20)],
    ["in a way that nobody knows", "snappy", Buffer.from(RECORD)],
  ])("(%s) is 502 where it is read, and passes as it is where it is not", async (_, encoding, bytes) => {
    answer = encoded(encoding, bytes);
    const read = await answerTo(READ);
    expect([read.status, reasonOf(read)]).toEqual([502, "UPSTREAM_INVALID"]);
    const passed = await answerTo(PASS);
    expect([passed.status, passed.field("content-encoding")]).toEqual([200, encoding]);
    expect(passed.body).toBe(bytes.toString("latin1"));
  });

  it.each([
    ["br", brotliCompressSync(RECORD)],
    ["gzip", gzipSync(RECORD)],
    ["deflate", deflateSync(RECORD)],
  ])("(%s, rightly) is read", async (encoding, bytes) => {
    answer = encoded(encoding, bytes);
    const read = await answerTo(READ);
    expect([read.status, read.field("content-encoding")]).toEqual([200, undefined]);
    expect(read.json()).toMatchObject({ id: "a/b" });
  });
});

describe("T-FLT-11: an answer that is framed oddly, and rightly", () => {
  it.each<[string, string, string, number, string]>([
    ["204 with a length", "DELETE /x", "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n", 204, ""],
    [
      "304 with the length of what it stands for",
      "GET /x",
      "HTTP/1.1 304 Not Modified\r\nContent-Length: 70000\r\n\r\n",
      304,
      "",
    ],
    ["HEAD with a length", "HEAD /x", "HTTP/1.1 200 OK\r\nContent-Length: 70000\r\n\r\n", 200, ""],
    ["HEAD in chunks", "HEAD /x", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", 200, ""],
    [
      "two early hints",
      "GET /x",
      `${"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".repeat(2)}${ok("{}")}`,
      200,
      "{}",
    ],
    ["a length in zeros", "GET /x", "HTTP/1.1 200 OK\r\nContent-Length: 0002\r\n\r\nok", 200, "ok"],
  ])("(%s) arrives as it was meant", async (_, line, script, status, body) => {
    const { port } = await rig({ script });
    const text = await talk(port, `${line} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    const { status: got, body: arrived } = parse(text);
    expect([got, arrived]).toEqual([status, body]);
    expect(text.match(/HTTP\/1\.1 /g)).toHaveLength(1);
  });

  it("(until the connection's end) arrives whole, with an end of its own", async () => {
    const { port } = await rig({ script: (_, socket) => socket.end("HTTP/1.1 200 OK\r\n\r\nthe body") });
    const text = await talk(port, "GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    expect(parse(text).body).toBe("the body");
    expect(text.endsWith("\r\n0\r\n\r\n")).toBe(true);
  });

  it("(204 with a body) brings no body, and nobody else gets it", async () => {
    const { port } = await rig({
      pool: { connections: 1 },
      script: ({ line }, socket) => {
        if (line.includes("/odd")) socket.write("HTTP/1.1 204 No Content\r\nContent-Length: 8\r\n\r\nPOISONED");
        else socket.write(ok(line));
      },
    });
    expect((await ask(port, "GET /odd")).status).toBe(204);
    expect((await ask(port, "GET /next")).body).toBe("GET /next HTTP/1.1");
  });
});

describe("T-FLT-10: 100 Continue for a request that did not ask for it", () => {
  it("is 502, and the final answer behind it is nobody's", async () => {
    const { port } = await rig({ pool: { connections: 1 }, script: `HTTP/1.1 100 Continue\r\n\r\n${ok("{}")}` });
    for (const line of ["GET /x", "GET /y"]) {
      const answer = await ask(port, line);
      expect([answer.status, answer.json().details[0]?.reason]).toEqual([502, "UPSTREAM_INVALID"]);
    }
  });
});

describe("T-FLT-18: an answer with odd fields", () => {
  const withFields = (fields: string) =>
    `HTTP/1.1 200 OK\r\n${fields}Content-Length: ${RECORD.length}\r\n\r\n${RECORD}`;

  it.each([
    ["a control byte", "X: a\x01b\r\n"],
    ["a NUL", "X: a\0b\r\n"],
    ["a bare CR", "X: a\rSet-Cookie: b\r\n"],
    ["a name of nothing", ": a\r\n"],
    ["a space in a name", "X Y: a\r\n"],
    ["a line without a colon", "nothing\r\n"],
    ["a name in another alphabet", "X-\xe9: a\r\n"],
    ["a folded line", "X: a\r\n b\r\n"],
  ])("(%s) is 502, or arrives without it", async (_, fields) => {
    answer = withFields(fields);
    for (const line of [READ, PASS]) {
      const got = await answerTo(line);
      if (got.status === 502) expect(reasonOf(got)).toBe("UPSTREAM_INVALID");
      else expect(got.status).toBe(200);
      const raw = got.fields.map(([name, value]) => `${name.toLowerCase()}: ${value}`).join("\n");
      // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there.
      expect(raw).not.toMatch(/[\x00-\x08\x0b-\x1f]|^set-cookie/m);
    }
    expect((await fetch(`${here.adminUrl}/healthz`)).status).toBe(200);
  });

  it("(bytes above ASCII) keeps them", async () => {
    const { port } = await rig({ script: Buffer.from(withFields("X-Name: caf\xe9 \xff\r\n"), "latin1") });
    expect((await ask(port, "GET /x")).field("x-name")).toBe("caf\xe9 \xff");
  });

  it.each([100, 1_000])("(%i cookies) is served whole, or refused as a whole", async (count) => {
    const cookies = Array.from({ length: count }, (_, i) => `Set-Cookie: c${i}=1\r\n`).join("");
    answer = withFields(cookies);
    for (const line of [READ, PASS]) {
      const { status, fields, ...got } = await answerTo(line);
      const arrived = fields.filter(([name]) => name.toLowerCase() === "set-cookie").length;
      if (status === 200 && line === PASS) expect(arrived).toBe(count);
      else if (status !== 200)
        expect([status, got.json().details[0]?.reason, arrived]).toEqual([502, "UPSTREAM_INVALID", 0]);
    }
  });
});

describe("T-FLT-20: a platform that announces trailers", () => {
  const uncaught: unknown[] = [];
  const hear = (error: unknown) => uncaught.push(error);
  beforeAll(() => void process.on("uncaughtExceptionMonitor", hear));
  afterAll(() => void process.off("uncaughtExceptionMonitor", hear));
  const ASKED = [
    ["GET", "1.1", "200 OK"],
    ["GET", "1.0", "200 OK"],
    ["HEAD", "1.1", "200 OK"],
    ["GET", "1.1", "204 No Content"],
    ["GET", "1.1", "304 Not Modified"],
  ] as const;

  it.each([
    ["a length", "Content-Length: 2\r\n", "ok"],
    ["chunks", "Transfer-Encoding: chunked\r\n", "2\r\nok\r\n0\r\n\r\n"],
    ["chunks and a trailer", "Transfer-Encoding: chunked\r\n", "2\r\nok\r\n0\r\nX-T: 1\r\n\r\n"],
  ])("with %s is served", async (_, frame, bytes) => {
    let script = "";
    const { port } = await rig({ script: (_recorded, socket) => socket.write(script) });
    for (const [method, version, status] of ASKED) {
      const hasBody = method === "GET" && status === "200 OK";
      script = `HTTP/1.1 ${status}\r\nTrailer: X-T\r\n${status.startsWith("204") ? "" : frame}\r\n${hasBody ? bytes : ""}`;
      for (const _again of [1, 2]) {
        const head = `${method} /x HTTP/${version}\r\nHost: a\r\nTE: trailers\r\nConnection: close\r\n\r\n`;
        const got = parse(await talk(port, head));
        expect([method, version, got.status, got.body]).toEqual([
          method,
          version,
          Number(status.slice(0, 3)),
          hasBody ? "ok" : "",
        ]);
        expect([got.field("trailer"), got.field("x-t")]).toEqual([undefined, undefined]);
      }
    }
    expect(uncaught).toEqual([]);
    figure("T-FLT-20", "kinds of answers with trailers that were served", ASKED.length, "kinds");
  });
});
