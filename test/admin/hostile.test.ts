import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { requests } from "../corpus/requests.ts";
import { dial, parse, sending } from "../server/support/client.ts";
import { createDouble, type Double, ok } from "../server/support/double.ts";
import { type Carryover, startCarryover } from "../support/carryover.ts";
import { figure } from "../support/figures.ts";

let platform: Double;
let carryover: Carryover;
const lines: string[] = [];

const VIEWS = [
  "rules",
  "clients",
  "samples",
  "progress",
  "events",
  "unknown-fields",
  "explain",
  "clients.txt",
  "way-out.md",
];
const PATHS = ["healthz", "readyz", "metrics", ...VIEWS].map((name) => `/${name}`);
const portOf = (url: string) => Number(new URL(url).port);

beforeAll(async () => {
  platform = await createDouble(ok('"the platform"'));
  carryover = await startCarryover({ v2Url: platform.url, logLine: (line) => lines.push(line) });
});
afterAll(async () => {
  await carryover.close();
  await platform.close();
});

it("the paths tried here are all that there are", async () => {
  const { message } = (await (await fetch(`${carryover.adminUrl}/nothing`)).json()) as { message: string };
  expect(message.match(/\/[a-z.-]+/g)?.toSorted()).toEqual([...PATHS, "/force", "/confirm", "/forget"].toSorted());
});

it.each(PATHS)("the clients' port knows nothing of %s", async (path) => {
  for (const target of [
    path,
    `${path}?x=1`,
    `/admin${path}`,
    `/iam${path}`,
    `/iam/v1/..${path}`,
    `//127.0.0.1${path}`,
  ]) {
    const client = await sending(
      portOf(carryover.url),
      `GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
    );
    const answer = parse(await client.closed());
    expect([target, [400, 404].includes(answer.status)]).toEqual([target, true]);
    expect(answer.json().details[0]?.reason).toMatch(/^(UNKNOWN_PATH|INVALID_PATH|INVALID_REQUEST)$/);
  }
});

it.each(["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])(
  "%s is refused on every path, and its body is not read",
  async (method) => {
    for (const path of [...PATHS, "/nothing"]) {
      const client = await dial(portOf(carryover.adminUrl));
      // What is announced never comes.
      client.send(
        `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/x\r\nContent-Length: 1000000\r\n\r\n{`,
      );
      const answer = parse(await client.closed());
      expect([path, answer.status, answer.field("allow")]).toEqual([path, 405, "GET, HEAD"]);
    }
  },
);

it("no GET changes anything that operators see", async () => {
  const state = async () =>
    Promise.all(
      VIEWS.filter((name) => name !== "explain" && name !== "way-out.md").map(async (name) => {
        const text = await (await fetch(`${carryover.adminUrl}/${name}`)).text();
        // What says when it was made.
        return text.replace(/"(at|now|takenAt|wall)":\s*"?[^",}]+"?/g, "").replace(/\d{4}-\d\d-\d\d[T ][\d:.]+Z/g, "");
      }),
    );
  const counters = async () =>
    (await (await fetch(`${carryover.adminUrl}/metrics`)).text())
      .split("\n")
      .filter((line) => /^carryover_/.test(line) && !/^carryover_(?:process|nodejs)_/.test(line));
  const before = [await state(), await counters()];
  const words = [
    "",
    "?mode=native",
    "?client=x&delete=1",
    "?force=native",
    "?reload=1&rule=a",
    "?method=DELETE&path=/iam/v1/groups/a",
  ];
  for (const path of PATHS)
    for (const query of words) await (await fetch(`${carryover.adminUrl}${path}${query}`)).text();
  expect([await state(), await counters()]).toEqual(before);
  expect(platform.requests).toEqual([]);
});

it("every request of the corpus gets an answer that is no failure, or none", async () => {
  const statuses = new Map<number, number>();
  for (const { name, bytes } of requests) {
    const client = await sending(portOf(carryover.adminUrl), bytes);
    // What is not whole is waited for; who sent it does not.
    client.socket.end();
    const text = await client.closed();
    const status = text === "" ? 0 : Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1]);
    expect([name, status === 0 || (status >= 100 && status < 500)]).toEqual([name, true]);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  expect(statuses.get(400)).toBeGreaterThan(10);
  expect(platform.requests).toEqual([]);
  expect(lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  expect((await fetch(`${carryover.adminUrl}/healthz`)).status).toBe(200);
  figure("T-SMG-01", "requests of the corpus that the admin port was sent", requests.length, "requests");
});

describe("whoever holds connections", () => {
  it("does not keep probes out, whatever they have sent so far", async () => {
    const port = portOf(carryover.adminUrl);
    const held = await Promise.all(Array.from({ length: 300 }, () => dial(port)));
    for (const [at, client] of held.entries()) {
      if (at % 3 === 0) client.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: ");
      if (at % 3 === 1) client.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
      if (at % 3 === 1) client.socket.pause();
    }
    for (let probe = 0; probe < 20; probe++) expect((await fetch(`${carryover.adminUrl}/readyz`)).status).toBe(200);
    await Promise.all(held.slice(0, 200).map((client) => client.socket.resume() && client.closed()));
    for (const client of held) client.leave();
    figure("T-SLO-01", "connections held on the admin port while every probe was answered", held.length, "connections");
  });
});
