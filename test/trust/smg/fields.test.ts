import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OWN_NAMES } from "../../support/hostile/json.ts";
import { type Front, front, TOKEN, V1, V2, valuesOf } from "./front.ts";

let here: Front;
beforeAll(async () => {
  here = await front();
});
afterAll(() => here.close());

/** A uid, so that v1 makes one call of it. */
const ONE = `${V1}/0123456789abcdef0123456789abcdef01234567`;

/** Just too much: test/server/server.test.ts. */
describe("T-SMG-13: what stands behind 2,100 fields is not taken for missing", () => {
  const many = (count: number, last = "") => `${"A:1\r\n".repeat(count)}${last}`;
  it.each([
    ["a second credential", `GET ${V1} HTTP/1.1\r\nHost: a\r\n${TOKEN}`, TOKEN],
    ["a length", `POST ${V2} HTTP/1.1\r\nHost: a\r\n`, "Content-Length: 5\r\n"],
    ["the Host", `GET ${V2} HTTP/1.1\r\n`, "Host: a\r\n"],
  ])("%s", async (_, begin, last) => {
    const { text, sent } = await here.talk(`${begin}Connection: close\r\n${many(2_100, last)}\r\n`);
    expect(text).toMatch(/^HTTP\/1\.1 431 /);
    expect(sent).toEqual([]);
  });

  it("100 fields are none too many, and all of them arrive", async () => {
    const { answer, sent } = await here.ask(`GET ${V2}`, many(97, TOKEN));
    expect(answer.status).toBe(200);
    expect(valuesOf(sent[0]!, "a")).toHaveLength(97);
    expect(valuesOf(sent[0]!, "authorization")).toEqual(["Bearer a.b-c"]);
  });
});

describe("T-SMG-14: names of JavaScript's own", () => {
  const NAMES = [...OWN_NAMES, "__defineGetter__"];

  it.each(NAMES)("%s as a field and as a parameter has no effect", async (name) => {
    for (const target of [V1, ONE, V2]) {
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

describe("T-SMG-17: fields that Connection names", () => {
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
