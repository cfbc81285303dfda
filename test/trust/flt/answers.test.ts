import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, parse, talk } from "../../server/support/client.ts";
import { ok, type Script } from "../../server/support/double.ts";
import { rig, takeDownAfterEach } from "../../server/support/rig.ts";
import { type Front, front, reasonOf, V1, V2 } from "../smg/front.ts";

takeDownAfterEach();

const READ = `GET ${V1}/a/b`;
const PASS = `GET ${V2}/a/b`;
const RECORD = '{"uid":"a/b","name":"a"}';

/** One carryover for all tests: nothing of one answer may be left to the next. */
let here: Front;
/** What the platform answers. */
let answer = "";
beforeAll(async () => {
  const script: Script = (_, socket) => void socket.write(answer);
  here = await front(script, { upstreamV2Breaker: "false" });
});
afterAll(() => here.close());

async function answerTo(line: string) {
  return (await here.ask(line)).answer;
}

describe("T-FLT-11: an answer that is framed oddly, and rightly", () => {
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
