/** What becomes of answers that are bombs, oddly framed, or full of odd fields? (Pass-through and translated calls.) */
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { later, reasonOf, rigForTest, takeDownAfterEach as takeAppDown } from "../../app/rig.ts";
import { ask, parse, talk } from "../../listener/support/client.ts";
import { createDouble, ok, type Script } from "../../listener/support/double.ts";
import { rig, takeDownAfterEach } from "../../listener/support/rig.ts";
import { figure } from "../../support/figures.ts";

takeDownAfterEach();
takeAppDown();

const READ = "/iam/v1/groups/a/b";
const PASS = "/iam/v2beta1/groups/a/b";
const RECORD = '{"uid":"a/b","name":"a"}';
const MIB = 1024 ** 2;

async function inFrontOf(script: Script) {
  const double = await createDouble(script);
  later(double.close);
  return rigForTest({ v2Url: double.url, native: false });
}

function encoded(encoding: string, bytes: Buffer): Script {
  return (_, socket) =>
    socket.write(
      Buffer.concat([
        Buffer.from(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: ${encoding}\r\n`),
        Buffer.from(`Content-Length: ${bytes.length}\r\n\r\n`),
        bytes,
      ]),
    );
}

function gzipTimes(times: number): Buffer {
  let bytes = Buffer.from(RECORD);
  for (let i = 0; i < times; i++) bytes = gzipSync(bytes);
  return bytes;
}

/** About 1 MB that unpack to 1 GB. */
function bomb(): Buffer {
  const piece = gzipSync(Buffer.alloc(64 * MIB));
  return Buffer.concat(Array.from({ length: 16 }, () => piece));
}

describe("T-FLT-15: an answer that is compressed though nobody asked for that", () => {
  it("costs no memory that is not bounded, however far it would unpack", async () => {
    const bytes = bomb();
    const app = await inFrontOf(encoded("gzip", bytes));
    expect((await app.ask("GET", READ)).status).toBe(502);
    const before = process.memoryUsage().rss;
    let most = before;
    const watch = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss);
    }, 2);
    for (let i = 0; i < 5; i++) {
      const answer = await app.ask("GET", READ);
      expect([answer.status, reasonOf(answer)]).toEqual([502, "UPSTREAM_INVALID"]);
    }
    clearInterval(watch);
    // A wide margin: the sender's megabytes are in this process too. One that unpacked whole would take twelve times as much.
    expect((most - before) / MIB).toBeLessThan(80);
    figure("T-FLT-15", "memory that answers of 1 MB that unpack to 1 GB take", (most - before) / MIB, "MiB");
  });

  it.each([
    ["six times", "gzip, gzip, gzip, gzip, gzip, gzip", gzipTimes(6)],
    ["falsely", "gzip", Buffer.from(RECORD)],
    ["with half of it lacking", "gzip", gzipSync(RECORD).subarray(0, 20)],
    ["in a way that nobody knows", "snappy", Buffer.from(RECORD)],
  ])("(%s) is 502 where it is read, and passes as it is where it is not", async (_, encoding, bytes) => {
    const app = await inFrontOf(encoded(encoding, bytes));
    const read = await app.ask("GET", READ);
    expect([read.status, reasonOf(read)]).toEqual([502, "UPSTREAM_INVALID"]);
    const passed = await app.ask("GET", PASS);
    expect([passed.status, passed.field("content-encoding")]).toEqual([200, encoding]);
    expect(Buffer.from(passed.body).equals(bytes)).toBe(true);
  });

  it.each([
    ["br", brotliCompressSync(RECORD)],
    ["gzip", gzipSync(RECORD)],
    ["deflate", deflateSync(RECORD)],
  ])("(%s, rightly) is read", async (encoding, bytes) => {
    const app = await inFrontOf(encoded(encoding, bytes));
    const answer = await app.ask("GET", READ);
    expect([answer.status, answer.json.id, answer.field("content-encoding")]).toEqual([200, "a/b", undefined]);
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
    const answer = parse(text);
    expect([answer.status, answer.body]).toEqual([status, body]);
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
    const app = await inFrontOf(withFields(fields));
    for (const target of [READ, PASS]) {
      const answer = await app.ask("GET", target);
      if (answer.status === 502) expect(reasonOf(answer)).toBe("UPSTREAM_INVALID");
      else expect(answer.status).toBe(200);
      const raw = answer.headers.map(([name, value]) => `${name}: ${value}`).join("\n");
      // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there.
      expect(raw).not.toMatch(/[\x00-\x08\x0b-\x1f]|^set-cookie/m);
    }
    expect((await fetch(`${app.adminUrl}/healthz`)).status).toBe(200);
  });

  it("(bytes above ASCII) keeps them", async () => {
    const { port } = await rig({ script: Buffer.from(withFields("X-Name: caf\xe9 \xff\r\n"), "latin1") });
    expect((await ask(port, "GET /x")).field("x-name")).toBe("caf\xe9 \xff");
  });

  it.each([100, 1_000])("(%i cookies) is served whole, or refused as a whole", async (count) => {
    const cookies = Array.from({ length: count }, (_, i) => `Set-Cookie: c${i}=1\r\n`).join("");
    const app = await inFrontOf(withFields(cookies));
    for (const target of [READ, PASS]) {
      const answer = await app.ask("GET", target);
      const got = answer.headers.filter(([name]) => name === "set-cookie").length;
      if (answer.status === 200 && target === PASS) expect(got).toBe(count);
      else if (answer.status !== 200)
        expect([answer.status, reasonOf(answer), got]).toEqual([502, "UPSTREAM_INVALID", 0]);
    }
  });
});
