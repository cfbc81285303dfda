import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { requests } from "../../corpus/requests.ts";
import { LIMITS, rig, takeDownAfterEach } from "../../server/support/rig.ts";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";
import { dial, type Front, front, parse, TOKEN, V1, V2 } from "./front.ts";

let here: Front;
beforeAll(async () => {
  here = await front();
});
afterAll(() => here.close());
takeDownAfterEach();

const INNER = `GET ${V2}?inner HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer evil\r\n\r\n`;
const chunked = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
const lengthOf = (text: string) => `Content-Length: ${text.length}\r\n`;

/** Where the end of a request is in doubt. */
const FRAMING = ["T-SMG-01", "T-SMG-02", "T-SMG-03", "T-SMG-04", "T-SMG-05", "T-SMG-06", "T-SMG-07", "T-SMG-08"];

describe("bytes whose end is in doubt are the last of their connection", () => {
  it.each(FRAMING)("%s: what follows is never a request, on whatever path", async (id) => {
    const entries = requests.filter((entry) => entry.id === id && !entry.passes);
    expect(entries.length).toBeGreaterThan(0);
    const targets = ["/x", V2, V1];
    const attack = async (bytes: string, target: string) => {
      const { text } = await here.talk(bytes.replace(/^([A-Z]+) \S+/, `$1 ${target}`) + INNER);
      // An unknown path may be refused before the body is looked at.
      const wanted = target === "/x" ? [400, 404] : [400];
      expect([target, bytes, wanted.includes(parse(text).status)]).toEqual([target, bytes, true]);
      expect(text.split("HTTP/1.1 ")).toHaveLength(2);
    };
    const before = here.platform.requests.length;
    // At the same time: a connection whose request was refused in its body stays open for half a second.
    await Promise.all(entries.flatMap(({ bytes }) => targets.map((target) => attack(bytes, target))));
    expect(here.platform.requests.slice(before)).toEqual([]);
    const count = entries.length * targets.length;
    figure(id, "requests of doubtful end, each with a smuggled one behind it", count, "requests");
  });
});

describe("T-SMG-22: a request in the body of another", () => {
  it.each(["GET", "HEAD", "DELETE", "OPTIONS", "POST", "PATCH"])(
    "with %s is never one, and what follows on the connection is",
    async (method) => {
      for (const [fields, body] of [
        [lengthOf(INNER), INNER],
        ["Transfer-Encoding: chunked\r\n", chunked(INNER)],
      ]) {
        const first = `${method} ${V2}?outer HTTP/1.1\r\nHost: a\r\n${fields}\r\n${body}`;
        const next = `GET ${V2}?next HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
        const { text, sent } = await here.talk(first + next);
        // Behind a write there is none: it would be served beside it.
        const both = ["GET", "HEAD", "OPTIONS"].includes(method);
        const wanted = both ? [`${V2}?outer`, `${V2}?next`] : [`${V2}?outer`];
        expect(sent.map(({ line }) => line.split(" ")[1]).sort()).toEqual(wanted.sort());
        expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(wanted.map(() => "HTTP/1.1 200"));
      }
    },
  );

  it("behind an answer that did not wait for it: the rest of the body is no request", async () => {
    const { text, sent } = await here.talk(
      `POST /nobody HTTP/1.1\r\nHost: a\r\n${lengthOf(INNER)}\r\n${INNER}GET ${V2}?next HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
    );
    expect(text).toMatch(/^HTTP\/1\.1 404 /);
    expect(sent.map(({ line }) => line).filter((line) => line.includes("inner"))).toEqual([]);
  });
});

describe("T-SMG-24: chunks", () => {
  const head = (target: string) =>
    `POST ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n${TOKEN}\r\n`;

  it.each([V2, `${V1}/0a0b`])("with an extension of 1 MB are refused: POST %s", async (target) => {
    const { text } = await here.talk(`${head(target)}1;${"e".repeat(1_000_000)}\r\n{\r\n1\r\n}\r\n0\r\n\r\n`);
    expect([400, 413]).toContain(parse(text).status);
    expect(here.platform.requests.filter(({ body }) => body.length > 1_000)).toEqual([]);
  });

  it("of one byte each are one body, in v2 to the byte, in v1 up to the limit", async () => {
    const count = scale(20_000, 100_000);
    const bytes = `${"1\r\na\r\n".repeat(count)}0\r\n\r\n`;
    const before = process.cpuUsage();
    const passed = await here.talk(head(V2) + bytes);
    expect(passed.sent.map(({ body }) => body.length)).toEqual([count]);
    const { user, system } = process.cpuUsage(before);
    figure(
      "T-SMG-24",
      `processor time for ${count} chunks of one byte, both ends and the platform`,
      (user + system) / 1_000,
      "ms",
    );
    const name = `{"name":"${"a".repeat(count)}"}`;
    const read = await here.talk(
      `${head(`${V1}/0a0b`) + [...name].map((char) => `1\r\n${char}\r\n`).join("")}0\r\n\r\n`,
    );
    expect(read.sent.map(({ body }) => JSON.parse(body.toString()).name?.length)).toEqual([count]);
  });
});

describe("requests in a row of which one changes something", () => {
  const line = (method: string, n: number) => `${method} ${V2}/${n} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n`;

  it.each([
    ["DELETE", "GET", "GET"],
    ["PATCH", "DELETE", "POST"],
    ["GET", "DELETE", "GET"],
    ["GET", "GET", "DELETE", "DELETE", "DELETE"],
  ])("T-SMG-25: are never served at the same time: %s, %s, %s", async (...methods) => {
    const first = methods.findIndex((method, at) => method !== "GET" || methods[at + 1] !== "GET") + 1;
    const { text, sent } = await here.talk(methods.map((method, n) => line(method, n)).join(""));
    expect(sent.map((one) => one.line).sort()).toEqual(
      methods
        .slice(0, first)
        .map((method, n) => `${method} ${V2}/${n} HTTP/1.1`)
        .sort(),
    );
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(Array(first).fill("HTTP/1.1 200"));
    expect(text.match(/connection: close/gi)).toHaveLength(1);
  });
});

describe("while there are too many requests", () => {
  it.each(["T-SMG-03", "T-SMG-04", "T-SMG-07"])(
    "%s: what is refused for its framing still ends its connection",
    async (id) => {
      const { port, seen, ended } = await rig({
        limits: { ...LIMITS, inFlight: 1 },
        decide: () => ({ kind: "answer", respond: () => new Promise(() => {}) }),
      });
      const busy = await dial(port);
      busy.send("GET /busy HTTP/1.1\r\nHost: a\r\n\r\n");
      for (const { bytes } of requests.filter((entry) => entry.id === id && !entry.passes)) {
        const client = await dial(port);
        client.send(bytes + INNER);
        const text = await client.closed();
        expect([bytes, text.match(/HTTP\/1\.1 \d+/g)]).toEqual([bytes, ["HTTP/1.1 400"]]);
      }
      busy.leave();
      await ended(seen.length + 1);
    },
  );
});
