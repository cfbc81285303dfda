/** Three processes and a real server: one tells of all, names the one that was killed, and what the server has lost with it. */
import { setTimeout } from "node:timers/promises";
import { expect, it } from "vitest";
import { folder } from "../../end-to-end/cutover/rig.ts";
import { later, takeDownAfterEach } from "../../support/take-down.ts";
import { type Member, msUntil, startFleet } from "./fleet.ts";
import { startServer } from "./server.ts";

takeDownAfterEach();

const requestsOf = async (one: Member): Promise<number> => (await one.view("/clients")).requests.v1;

async function three() {
  const server = await startServer("valkey-9.1");
  later(() => server.close());
  const { member } = await startFleet({ stateUrl: server.url });
  const stateDir = await folder();
  const [a, b, c] = [await member({ stateDir }), await member(), await member()];
  for (let i = 0; i < 4; i++) await a.ask();
  for (let i = 0; i < 8; i++) await b.ask();
  for (let i = 0; i < 16; i++) await c.ask();
  await msUntil(async () => (await requestsOf(a)) === 28);
  return { server, a, b, c, again: () => member({ stateDir }) };
}

it("every command that asks one replica tells of all three, also of one that was killed", async () => {
  const { a, b } = await three();
  expect(await a.status()).toMatch(/(?<!of )3 replicas, /);
  const report = async () => JSON.parse((await a.command("report", "--json")).out);
  // Totals come within a second, the history within ten.
  await msUntil(async () => (await report()).requests.v1 === 28, 15_000);
  await msUntil(async () => (await a.command("way-out", "client-1")).out.includes("7 v1 requests"));
  await msUntil(async () => (await a.command("events")).out.match(/ started /g)?.length === 3);
  await msUntil(async () => (await a.command("gate", "forward")).out.includes("0 of 28 requests failed"));
  await b.kill();
  await msUntil(async () => / is gone since \d\d:\d\dZ/.test(await a.status()), 15_000);
  const { requests, instances } = await report();
  expect([requests.v1, instances.map(({ goneSince }: { goneSince: string | null }) => goneSince !== null)]).toEqual([
    28,
    [false, false, true],
  ]);
}, 60_000);

it("a server that loses everything gets it back from those that are there, and what it lost of the others is named", async () => {
  const { server, a, b, again } = await three();
  await b.kill();
  await msUntil(async () => (await a.status()).includes("is gone since"), 15_000);
  await server.run("FLUSHALL");
  // The report is incomplete until the third has had time to return.
  const { code, out } = await a.command("report");
  expect([code, out]).toEqual([2, expect.stringContaining("has lost what it counted")]);
  expect(await msUntil(async () => (await requestsOf(a)) === 20)).toBeLessThan(5_000);
  const isNamed = async (one: Member) => /lost with the store: what \S+ counted, last seen /.test(await one.status());
  await msUntil(() => isNamed(a), 15_000);
  expect((await a.command("report")).code).toBe(0);
  const clients = await a.view("/clients");
  expect(clients.lost).toEqual([{ name: expect.any(String), seen: expect.any(String) }]);
  // What was lost may have seen a client: nothing before that is known.
  const { lost, window } = JSON.parse((await a.command("report", "--json")).out);
  expect(window.watchedSince >= lost[0].until).toBe(true);
  // It is known after a restart, and to a replica that starts later.
  a.run.stop("SIGTERM");
  await a.run.ended;
  const next = await again();
  expect([await isNamed(next), await requestsOf(next)]).toEqual([true, 20]);
}, 90_000);

it("a server that evicts the list of those that have rows has it again within two seconds", async () => {
  const { server, a } = await three();
  await setTimeout(2_000);
  await server.run("DEL", "{carryover}:1:all");
  expect(await msUntil(async () => (await requestsOf(a)) === 28)).toBeLessThan(3_000);
}, 60_000);
