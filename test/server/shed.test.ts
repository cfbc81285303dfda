import { describe, expect, it } from "vitest";
import { dial, parse, sending } from "./support/client.ts";
import { LIMITS, rig, takeDownAfterEach } from "./support/rig.ts";

takeDownAfterEach();

/** One request is in flight, and no other may be. */
async function full() {
  const here = await rig({ script: () => {}, limits: { ...LIMITS, inFlight: 1 } });
  const first = await sending(here.port, "GET /first HTTP/1.1\r\nHost: a\r\n\r\n");
  await here.double.until(() => here.double.requests.length === 1);
  const refused = async (bytes: string, end = (text: string) => text.endsWith("]}")) => {
    const client = await sending(here.port, bytes);
    const answer = parse(await client.until(end));
    client.leave();
    return answer;
  };
  return { ...here, first, refused };
}

describe("a request that is turned away", () => {
  it("at the least expense is told the same, field by field, as with all care", async () => {
    const { refused, first } = await full();
    const plain = await refused("GET /x HTTP/1.1\r\nHost: a\r\nX-Request-Id: mine\r\n\r\n");
    const careful = await refused("GET /x HTTP/1.1\r\nHost: a\r\nX-Request-Id: mine\r\nContent-Length: 0\r\n\r\n");
    const told = ({ line, fields, body }: typeof plain) => [
      line,
      body,
      fields.filter(([name]) => name !== "Date").toSorted(),
    ];
    expect(told(plain)).toEqual(told(careful));
    expect(plain.json()).toMatchObject({ code: 14, details: [{ reason: "OVERLOADED" }] });
    expect([plain.status, plain.field("retry-after"), plain.field("x-request-id")]).toEqual([503, "1", "mine"]);
    first.leave();
  });

  it("is observed like any other, with why", async () => {
    const { refused, first, ended, listener } = await full();
    await refused("GET /x?secret HTTP/1.1\r\nHost: a\r\n\r\n");
    expect(await ended(1)).toMatchObject({
      status: 503,
      reason: "OVERLOADED",
      method: "GET",
      path: "/x",
      notes: ["shed-in-flight"],
      aborted: false,
    });
    expect((await ended(1)).responseBytes).toBeGreaterThan(50);
    await refused("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}");
    expect(await ended(2)).toMatchObject({ status: 503, reason: "OVERLOADED", notes: ["shed-in-flight"] });
    expect(listener.inFlight()).toBe(1);
    first.leave();
  });

  it("together with others is reported with them", async () => {
    const { refused, first, ended, seen } = await full();
    const { body } = await refused("GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
    for (let i = 0; i < 2; i++) await refused(`GET /y${i} HTTP/1.1\r\nHost: a\r\n\r\n`);
    await ended(1);
    const reported = seen.filter(({ status }) => status === 503);
    expect(reported[0]).toMatchObject({ path: "/x", notes: ["shed-in-flight"] });
    await expect.poll(() => seen.reduce((sum, { times = 1 }) => sum + times, 0)).toBe(3);
    expect(seen.reduce((sum, { responseBytes }) => sum + responseBytes, 0)).toBe(3 * body.length);
    first.leave();
  });

  it.each([
    ["odd", "X-Request-Id: a b\r\n"],
    ["given twice", "X-Request-Id: a\r\nX-Request-Id: b\r\n"],
    ["absent", ""],
  ])("gets a fresh id where its own is %s", async (_, fields) => {
    const { refused, first } = await full();
    const answer = await refused(`GET /x HTTP/1.1\r\nHost: a\r\n${fields}\r\n`);
    expect(answer.field("x-request-id")).toMatch(/^id-\d+$/);
    first.leave();
  });

  it("with HEAD has no body", async () => {
    const { refused, first } = await full();
    const answer = await refused("HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n", (text) => text.endsWith("\r\n\r\n"));
    expect([answer.status, answer.body]).toEqual([503, ""]);
    first.leave();
  });

  it.each([
    ["HTTP/1.0", ""],
    ["HTTP/1.1", "Connection: close\r\n"],
  ])("by %s with %j is the last of its connection", async (version, fields) => {
    const { port, first } = await full();
    const client = await sending(port, `GET /x ${version}\r\nHost: a\r\n${fields}\r\n`);
    const answer = parse(await client.closed());
    expect([answer.status, answer.field("connection")]).toEqual([503, "close"]);
    first.leave();
  });

  it("is told before what follows on its connection is no request", async () => {
    const { port, first } = await full();
    const client = await sending(port, "GET /x HTTP/1.1\r\nHost: a\r\n\r\nGARBAGE\r\n\r\n");
    expect((await client.closed()).match(/HTTP\/1.1 \d+/g)).toEqual(["HTTP/1.1 503", "HTTP/1.1 400"]);
    first.leave();
  });

  it("is told when carryover stops at that moment", async () => {
    const { port, first, listener, double } = await full();
    const client = await sending(port, "GET /x HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
    await client.until((text) => text.endsWith("]}"));
    client.send("GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
    await new Promise((resolve) => setTimeout(resolve, 2));
    const closed = listener.close(1_000);
    first.leave();
    await closed;
    expect((await client.closed()).match(/HTTP\/1.1 503/g)).toHaveLength(2);
    expect(double.requests).toHaveLength(1);
  });

  it("T-SMG-25: with others in one line is told in its turn, and what is no request after all of them", async () => {
    let answerFirst = () => {};
    const { port, double, listener } = await rig({
      script: (_, socket) => {
        answerFirst = () => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      },
      limits: { ...LIMITS, inFlight: 1 },
    });
    const client = await dial(port);
    const get = (id: string) => `GET /x HTTP/1.1\r\nHost: a\r\nX-Request-Id: ${id}\r\n\r\n`;
    client.send(get("one"));
    await double.until(() => double.requests.length === 1);
    client.send(`${get("two") + get("three") + get("four")}GARBAGE\r\n\r\n`);
    await new Promise((resolve) => setTimeout(resolve, 50));
    answerFirst();
    const told = (await client.closed()).match(/HTTP\/1.1 \d+|(?<=x-request-id: )\S+/gi) ?? [];
    expect(told.filter((word) => word.startsWith("HTTP"))).toEqual(
      [200, 503, 503, 503, 400].map((s) => `HTTP/1.1 ${s}`),
    );
    expect(told.filter((word) => !word.startsWith("HTTP"))).toEqual(["one", "two", "three", "four"]);
    expect(listener.inFlight()).toBe(0);
  });
});
