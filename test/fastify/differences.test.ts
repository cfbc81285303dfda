/** The table of docs/embedding.md: what the plugin changes about a request. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { createCarryover } from "../../src/index.ts";
import { type Answer, parse, sending } from "../server/support/client.ts";
import { createDouble, type Double } from "../server/support/double.ts";
import { takeDownAfterAll } from "../support/take-down.ts";
import { fastifyRig, later } from "./rig.ts";

takeDownAfterAll();

const PAGE = readFileSync(join(import.meta.dirname, "../../docs/embedding.md"), "utf8");
const [, TABLE = ""] = /^\| request \| own port \| through Fastify \|\n.*\n((?:\|.*\n)+)/m.exec(PAGE) ?? [];
const ROWS = TABLE.trimEnd()
  .split("\n")
  .map((row) => row.slice(2, -2).split(" | ") as [request: string, own: string, through: string]);

const CLOSE = "Host: a\r\nConnection: close\r\n";
const get = (target: string, fields = "") => `GET ${target} HTTP/1.1\r\n${CLOSE}${fields}\r\n`;
const V2 = "/iam/v2beta1/groups";

/** Requests of a row, each with the status that both sides have for it. */
const REQUESTS: readonly (readonly [row: RegExp, text: string, own: number, through: number])[] = [
  [/`\.\.` segment/, get(`${V2}/../x`), 400, 400],
  [/`\.\.` segment/, get(`${V2}/%2e%2e/x`), 400, 400],
  [/two dots/, get(`${V2}/...`), 200, 400],
  [/two dots/, get(`${V2}/a../b`), 200, 400],
  [/not UTF-8/, get(`${V2}/%zz`), 200, 400],
  [/not UTF-8/, get(`${V2}/%ff`), 200, 400],
  [/two slashes/, get(`/${V2}`), 400, 404],
  [/two slashes/, get(`http://a${V2}`), 400, 400],
  [/two slashes/, `OPTIONS * HTTP/1.1\r\n${CLOSE}\r\n`, 400, 404],
  [/a method other than/, `PROPFIND ${V2} HTTP/1.1\r\n${CLOSE}\r\n`, 501, 404],
  [/a method other than/, `TRACE ${V2} HTTP/1.1\r\n${CLOSE}\r\n`, 501, 404],
  [/a head that is too long/, get(V2, `X-Long: ${"a".repeat(40_000)}\r\n`), 431, 431],
  [/a head that is too long/, `GET ${V2} HTTP/9.9\r\n${CLOSE}\r\n`, 400, 400],
  [/a head that is too long/, `GET ${V2} HTTP/1.1\r\nConnection: close\r\n\r\n`, 400, 400],
  [/a head that is too long/, get(V2, "Expect: tea\r\n"), 417, 417],
  [/^`Upgrade`/, `GET ${V2} HTTP/1.1\r\nHost: a\r\nConnection: close, Upgrade\r\nUpgrade: websocket\r\n\r\n`, 400, 200],
  [/a field called/, get(V2, "__proto__: 1\r\n"), 200, 200],
  [/HTTP\/1\.0 without/, `GET ${V2} HTTP/1.0\r\n\r\n`, 200, 200],
  [/names of response fields/, get(V2), 200, 200],
];

interface Side {
  readonly port: number;
  readonly double: Double;
}
const sides: { own?: Side; through?: Side } = {};

beforeAll(async () => {
  const double = () => createDouble("HTTP/1.1 200 OK\r\nX-Spelt: 1\r\nContent-Length: 2\r\n\r\nok");
  const [behindOwn, behindApp] = [await double(), await double()];
  later(behindOwn.close);
  later(behindApp.close);
  const carryover = await createCarryover({
    upstream: { v2: { url: behindOwn.url } },
    listen: { host: "127.0.0.1", port: 0, shutdownDelaySeconds: 0 },
    admin: { port: "none" },
  });
  const { url } = await carryover.listen();
  later(() => carryover.close(0));
  sides.own = { port: Number(new URL(url).port), double: behindOwn };
  const rig = await fastifyRig({ v2Url: behindApp.url });
  sides.through = { port: Number(new URL(rig.url).port), double: behindApp };
});

/** The response, and what arrived at the platform. */
async function exchanged({ port, double }: Side, text: string): Promise<Answer & { readonly arrived: string }> {
  const before = double.received().length;
  const client = await sending(port, text);
  const answer = parse(await client.closed());
  return { ...answer, arrived: double.received().slice(before) };
}

async function bothFor(text: string) {
  if (sides.own === undefined || sides.through === undefined) throw new Error("not started");
  return { own: await exchanged(sides.own, text), through: await exchanged(sides.through, text) };
}

/** Statuses in a cell; a cell without one is about a request that is served. */
const statusesIn = (cell: string) => (cell.match(/\b[1-5]\d\d\b/g) ?? ["200"]).map(Number);

describe("the table of what Fastify changes", () => {
  it("has a test for each row", () => {
    const elsewhere = [/^HTTP\/2 without TLS$/, /^`Expect: 100-continue`$/, /^gRPC$/];
    const untested = ROWS.filter(
      ([request]) => ![...REQUESTS.map(([row]) => row), ...elsewhere].some((row) => row.test(request)),
    );
    expect([ROWS.length > 8, untested]).toEqual([true, []]);
  });

  it.each(REQUESTS)("%s: %j", async (row, text, own, through) => {
    const [, ownCell = "", throughCell = ""] = ROWS.find(([request]) => row.test(request)) ?? [];
    const both = await bothFor(text);
    expect([both.own.status, both.through.status]).toEqual([own, through]);
    if (!/the same status/.test(throughCell)) expect(statusesIn(throughCell)).toContain(through);
    expect(statusesIn(ownCell)).toContain(own);
    for (const [side, cell] of [
      [both.own, ownCell],
      [both.through, throughCell],
    ] as const) {
      for (const [, word = ""] of cell.matchAll(/`([A-Z]+_[A-Z_]+)`/g)) expect(side.body).toContain(word);
    }
  });

  it("is right about fields", async () => {
    const proto = await bothFor(get(V2, "__proto__: 1\r\n"));
    expect([proto.own.arrived.includes("__proto__"), proto.through.arrived.includes("__proto__")]).toEqual([
      true,
      false,
    ]);
    const old = await bothFor(`GET ${V2} HTTP/1.0\r\n\r\n`);
    const host = (text: string) => /^x-forwarded-host: (.*)\r$/im.exec(text)?.[1];
    expect([host(old.own.arrived), host(old.through.arrived)]).toEqual([undefined, "localhost"]);
    const names = await bothFor(get(V2));
    const spelt = ({ fields }: Answer) => fields.flatMap(([name]) => (name.toLowerCase() === "x-spelt" ? [name] : []));
    expect([spelt(names.own), spelt(names.through)]).toEqual([["X-Spelt"], ["x-spelt"]]);
  });

  it("is right about bodies that wait to be asked for, and about HTTP/2 without TLS", async () => {
    const refused = `POST /iam/v1/groups HTTP/1.1\r\n${CLOSE}Expect: 100-continue\r\nContent-Length: 9000000\r\n\r\n`;
    const asks = (port: number) =>
      sending(port, refused).then((client) => client.until((text) => text.includes("\r\n\r\n")).finally(client.leave));
    expect(await asks(sides.own?.port ?? 0)).toMatch(/^HTTP\/1\.1 413 /);
    expect(await asks(sides.through?.port ?? 0)).toMatch(/^HTTP\/1\.1 100 /);
    const client = await sending(sides.through?.port ?? 0, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    expect(await client.closed()).toMatch(/^HTTP\/1\.1 400 /);
  });
});
