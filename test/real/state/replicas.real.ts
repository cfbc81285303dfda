/** Two and three processes, and a real server: a decision of one of them holds for all. */
import { inflateRawSync } from "node:zlib";
import { expect, it } from "vitest";
import { later, takeDownAfterEach } from "../../support/take-down.ts";
import { load, msUntil, startFleet } from "./fleet.ts";
import { startServer } from "./server.ts";

takeDownAfterEach();

async function fleet() {
  const server = await startServer("valkey-9.1");
  later(() => server.close());
  return { server, ...(await startFleet({ stateUrl: server.url })) };
}

it("a v2 that returns 503 to the clients of one replica steps the rule back on all three within 2 s", async () => {
  const { sick, member } = await fleet();
  const [a, b, c] = [await member(), await member(), await member()];
  expect(await Promise.all([a, b, c].map((one) => one.state()))).toEqual(["as-written", "as-written", "as-written"]);
  sick.v2 = 503;
  await load(a, 30, async () => (await a.state()) === "stepped-back");
  const isBack = async () => (await Promise.all([b.state(), c.state()])).every((state) => state === "stepped-back");
  const ms = await msUntil(isBack);
  console.log(`the others followed ${ms.toFixed(0)} ms later`);
  expect(ms).toBeLessThan(2_000);
  // No client of theirs meets the failure.
  expect(await b.ask()).toMatchObject({ status: 200, mode: "shadow" });
  const [event] = (await b.view("/events?kind=stepped-back&fleet=false")).events;
  expect(event.reason).toMatch(/^replica \S+\/[0-9a-f]{8} found: v2 failed \d+ of \d+ requests for role list/);
  expect(await c.status()).toMatch(/forward stepped back.*: replica \S+ found: v2/);
  // A process that starts later, and two that were killed.
  await Promise.all([a, b, c].map((one) => one.kill()));
  const d = await member();
  expect(await d.state()).toBe("stepped-back");
  expect(await d.ask()).toMatchObject({ status: 200, mode: "shadow" });
});

it("carryover force of one replica holds for all within 2 s, and survives a restart of all of them", async () => {
  const { member } = await fleet();
  const [a, b] = [await member(), await member()];
  expect((await b.ask()).mode).toBe("translate");
  const { code, out } = await a.command("force", "native", "--reason", "v2 is down", "--by", "anna");
  expect([code, out]).toEqual([0, expect.not.stringContaining("until it restarts")]);
  const ms = await msUntil(async () => (await b.ask()).mode === "native");
  console.log(`force reached the other one ${ms.toFixed(0)} ms later`);
  expect(ms).toBeLessThan(2_000);
  expect((await b.view("/progress")).forcedBy).toMatchObject({ command: "native", reason: "v2 is down", by: "anna" });
  await Promise.all([a.kill(), b.kill()]);
  const [c, d] = [await member(), await member()];
  expect([(await c.ask()).mode, (await d.ask()).mode]).toEqual(["native", "native"]);
  expect(await d.status()).toMatch(/native \(by carryover force, since \S+ by anna: v2 is down\)/);
  await d.command("force", "none");
  expect(await msUntil(async () => (await c.ask()).mode === "translate")).toBeLessThan(2_000);
});

it("one replica names the others, and says which is gone and since when the store is", async () => {
  const { server, member } = await fleet();
  const [a, b] = [await member(), await member()];
  await msUntil(async () => (await a.view("/progress")).shared.replicas.length === 2);
  await msUntil(async () => /(?<!of )2 replicas, /.test(await a.status()));
  for (let i = 0; i < 9; i++) await b.ask();
  const ofFleet = async () => {
    const [peer] = (await a.view("/progress?fleet=true")).peers;
    return peer.totals.rows.reduce((sum: number, { requests }: { requests: number }) => sum + requests, 0);
  };
  await msUntil(async () => (await ofFleet()) === 9);
  expect(await a.metric("carryover_state_store_up")).toBe(1);
  await b.kill();
  await msUntil(async () => / is gone since \d\d:\d\dZ/.test(await a.status()), 15_000);
  expect([await ofFleet(), (await a.view("/clients")).requests.v1]).toEqual([9, 9]);
  await server.kill();
  await msUntil(async () => (await a.metric("carryover_state_store_up")) === 0);
  expect(await a.status()).toMatch(/has had no store since \d\d:\d\dZ, and decides alone: /);
  expect(await a.ask()).toMatchObject({ status: 200 });
  // A replica starts without the store, and both find it again, empty.
  const c = await member();
  await a.command("force", "native", "--reason", "while it was away");
  await server.start();
  await msUntil(async () => (await c.ask()).mode === "native");
  expect(await a.metric("carryover_state_store_up")).toBe(1);
}, 60_000);

it("replicas add up their requests to the last one, also after one was stopped", async () => {
  const { member } = await fleet();
  const [a, b] = [await member(), await member()];
  for (let i = 0; i < 20; i++) await a.ask();
  for (let i = 0; i < 30; i++) await b.ask();
  b.run.stop("SIGTERM");
  await b.run.ended;
  for (let i = 0; i < 7; i++) await a.ask();
  const evidence = async () => (await a.view("/progress")).rules[0]?.evidence;
  await msUntil(async () => (await evidence())?.requests === 57, 15_000);
  expect(await evidence()).toMatchObject({ ofAll: true, requests: 57, failures: 0, comparisons: 0 });
}, 60_000);

it("the store holds no token, no body and no value, and names of clients only in what they called", async () => {
  const { server, sick, member } = await fleet();
  const [a, b] = [await member(), await member()];
  await Promise.all([a.ask(), b.ask()]);
  sick.v2 = 503;
  await load(a, 30, async () => (await b.state()) === "stepped-back");
  await a.command("force", "native", "--reason", "v2 is down, password=hunter2hunter2", "--by", "anna");
  await msUntil(async () => (await b.ask()).mode === "native");
  const keys = (await server.run("KEYS", "*")).match(/\{carryover\}\S+/g) ?? [];
  expect(keys.map((key) => key.replace(/:c:.*/, ":c:")).sort()).toEqual(
    ["alert", "all", "c:", "c:", "c:", "c:", "log", "main", "rep"].map((name) => `{carryover}:1:${name}`),
  );
  const textOf = async (some: readonly string[]) =>
    (await Promise.all(some.map((key) => server.run("HGETALL", key)))).join("\n");
  const text = await textOf(keys.filter((key) => !key.includes(":c:d.")));
  expect(text).toContain("v2 failed");
  expect(text).not.toMatch(/client-\d|admin|Bearer|eyJ|viewer|hunter2|description/);
  const packed = (await textOf(keys.filter((key) => key.includes(":c:d.")))).matchAll(/1 1 [0-9a-f]{16} (\S+)/g);
  const documents = Array.from(packed, ([, row = ""]) => inflateRawSync(Buffer.from(row, "base64")).toString()).join(
    "\n",
  );
  expect(documents).toContain('"resource":"role"');
  expect(documents).not.toMatch(/Bearer|eyJ|hunter2/);
}, 60_000);
