import { expect, it } from "vitest";
import { ask, dial, parse } from "../../server/support/client.ts";
import { ok } from "../../server/support/double.ts";
import { LIMITS, rig, takeDownAfterAll } from "../../server/support/rig.ts";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";
import { dialMany, dripAll, meanwhile } from "./support.ts";

takeDownAfterAll();

const timeouts = { headersMs: scale(500, 1_000), requestMs: scale(1_000, 2_000), keepAliveMs: 60_000, checkMs: 100 };
/** So that only heads can be late. */
const patient = { ...timeouts, requestMs: 60_000 };
const limits = { ...LIMITS, inFlight: 1_000 };
/** Each response says that the request timed out and that the connection closes. */
function allToldSo(texts: readonly string[]): void {
  for (const answer of texts.map(parse)) {
    expect([answer.status, answer.field("connection")]).toEqual([408, "close"]);
    expect(answer.json()).toMatchObject({ code: 4, details: [{ reason: "REQUEST_TIMEOUT" }] });
  }
}

it.concurrent("T-SLO-01, T-TMO-01: clients that drip their heads are closed with 408, and everybody else is served meanwhile", async () => {
  const count = scale(20, 500);
  const { port, listener, double, seen } = await rig({ timeouts: patient, limits, script: ok() });
  const clients = await dialMany(port, count);
  for (const client of clients) client.send("GET /slow HTTP/1.1\r\nHost: a\r\nX-Slow: ");
  dripAll(clients, "x", 100);
  const closed = Promise.all(clients.map((client) => client.closed()));
  const { statuses, times } = await meanwhile(async () => (await ask(port, "GET /fast")).status, closed);
  allToldSo(await closed);
  expect([...statuses.keys()]).toEqual([200]);
  expect(seen.filter(({ status, reason }) => status === 408 && reason === "REQUEST_TIMEOUT")).toHaveLength(count);
  expect(double.received()).not.toContain("/slow");
  expect(listener.inFlight()).toBe(0);
  figure("T-SLO-01", "connections that drip their heads, each closed with 408", count, "connections");
  figure("T-SLO-01", "requests of others meanwhile, each answered 200", times.length, "requests");
  figure("T-SLO-01", "p99 of the others meanwhile", times[Math.floor(times.length * 0.99)] ?? 0, "ms");
});

it.concurrent("T-SLO-01: a connection that says nothing at all is closed without a word, which its next request would take for its answer", async () => {
  const { port, ended } = await rig({ timeouts: patient, script: ok() });
  const [unused, begun] = await dialMany(port, 2);
  begun?.send("G");
  expect(await unused?.closed()).toBe("");
  expect(parse((await begun?.closed()) ?? "").status).toBe(408);
  expect(await ended(1)).toMatchObject({ status: 408, reason: "REQUEST_TIMEOUT" });
  await ask(port, "GET /next");
  expect(await ended(2)).toMatchObject({ status: 200, path: "/next" });
});

it.concurrent("T-SLO-02, T-TMO-02: clients that drip their bodies are closed with 408, and the platform gets none of their requests", async () => {
  const count = scale(20, 200);
  const here = await rig({ timeouts, limits, pool: { connections: 256 }, script: ok() });
  const clients = await dialMany(here.port, count);
  clients.forEach((client, i) => {
    const framing = i % 2 === 0 ? "Content-Length: 5000" : "Transfer-Encoding: chunked";
    client.send(`POST /slow HTTP/1.1\r\nHost: a\r\n${framing}\r\n\r\n`);
  });
  dripAll(
    clients.filter((_, i) => i % 2 === 0),
    "x",
    100,
  );
  dripAll(
    clients.filter((_, i) => i % 2 === 1),
    "1\r\nx\r\n",
    100,
  );
  const closed = await Promise.all(clients.map((client) => client.closed()));
  allToldSo(closed);
  await here.ended(count);
  expect(here.double.requests).toEqual([]);
  expect(here.double.connections()).toBe(0);
  expect(here.listener.inFlight()).toBe(0);
  figure("T-SLO-02", "connections that drip their bodies, each closed with 408", count, "connections");
});

it.concurrent("T-SLO-04: connections without a request are closed in time, without a word, and cost little", async () => {
  const count = scale(100, 5_000);
  // A connection that has not had its request yet must not be closed for its head.
  const idle = { ...timeouts, headersMs: 60_000, requestMs: 60_000, keepAliveMs: scale(500, 30_000) };
  const { port, listener, double } = await rig({ timeouts: idle, limits, script: ok() });
  const before = process.memoryUsage.rss();
  const clients = await dialMany(port, count);
  const texts: string[] = [];
  for (let i = 0; i < count; i += 50) {
    const some = clients.slice(i, i + 50);
    for (const client of some) client.send("GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
    texts.push(...(await Promise.all(some.map((client) => client.until((text) => text.endsWith("{}"))))));
  }
  expect(texts.filter((text) => parse(text).status !== 200)).toEqual([]);
  expect(listener.inFlight()).toBe(0);
  // The clients' own ends are in this process too.
  const grown = (process.memoryUsage.rss() - before) / 2 ** 20;
  const closed = await Promise.all(clients.map((client) => client.closed()));
  expect(closed).toEqual(texts);
  expect(double.requests).toHaveLength(count);
  figure("T-SLO-04", "idle connections, each closed at its time", count, "connections");
  figure("T-SLO-04", "RSS for both ends of them", grown, "MiB");
});

it.concurrent("T-SLO-05: a client that closes its sending side has left: its request is given up, and the platform's connection with it", async () => {
  const { port, double, listener, ended } = await rig({ script: () => {} });
  const client = await dial(port);
  client.socket.end("GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
  await double.until(() => double.requests.length === 1);
  expect(await client.closed()).toBe("");
  expect(await ended(1)).toMatchObject({ status: 499, aborted: true });
  await double.until(() => double.gone() === 1);
  expect(listener.inFlight()).toBe(0);
});

it.concurrent("T-SLO-05: a client that closes its sending side once it has its answer loses nothing of it", async () => {
  const body = "b".repeat(1_000_000);
  const { port } = await rig({ script: ok(body) });
  const client = await dial(port);
  client.send("GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
  await client.until((text) => text.endsWith("bbbb") && text.length > body.length);
  client.socket.end();
  expect(parse(await client.closed()).body).toHaveLength(body.length);
});
