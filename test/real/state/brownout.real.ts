/** Several processes, a real server, and a brownout whose window is open: what stops it on one process stops it on all, for good. */
import { expect, it } from "vitest";
import { later, takeDownAfterEach } from "../../support/take-down.ts";
import { type Member, msUntil, startFleet } from "./fleet.ts";
import { startServer } from "./server.ts";

takeDownAfterEach();

/** A window of an hour that begins with the minute of `at`, milliseconds since 1970. It refuses every client. */
function rules(minRequests: number, at = Date.now()): string {
  const now = new Date(at);
  const cron = `${now.getUTCMinutes()} ${now.getUTCHours()} ${now.getUTCDate()} ${now.getUTCMonth() + 1} *`;
  return `version: carryover/v1
rules:
  - name: b
    match: {}
    mode: brownout
    schedule: { cron: "${cron}", zone: UTC, duration: 1h }
    brownout: { message: v1 ends, stopAbove: 0.5, minRequests: ${minRequests} }
  - { name: rest, match: {}, mode: translate }
`;
}

async function fleet(minRequests: number, processes: number, at?: number) {
  const server = await startServer("valkey-9.1");
  later(() => server.close());
  const { member } = await startFleet({ stateUrl: server.url }, rules(minRequests, at));
  const all = await Promise.all(Array.from({ length: processes }, () => member()));
  if (at !== undefined) return { member, all };
  await msUntil(async () => (await phases(all)).every((phase) => phase === "running"));
  return { member, all };
}

const phaseOf = async (one: Member): Promise<string> =>
  (await one.view("/progress?fleet=false")).rules[0].brownout.phase;
const phases = (all: readonly Member[]): Promise<readonly string[]> => Promise.all(all.map(phaseOf));
const statuses = (one: Member, count: number): Promise<readonly number[]> =>
  Promise.all(Array.from({ length: count }, async () => (await one.ask()).status));
const kinds = async (one: Member): Promise<readonly string[]> =>
  (await one.view("/events?fleet=false")).events
    .map(({ kind }: { kind: string }) => kind)
    .filter((kind: string) => kind.startsWith("brownout"));

it("starts on three processes, stops on all by what they refused together, and not again on one that was killed", async () => {
  const { member, all } = await fleet(20, 3);
  const [, , c] = all;
  // None of them has refused 20 by itself.
  for (const one of all) expect(await statuses(one, 8)).toEqual(Array(8).fill(400));
  const ms = await msUntil(async () => (await phases(all)).every((phase) => phase === "stopped"));
  console.log(`all had stopped ${ms.toFixed(0)} ms later`);
  expect(ms).toBeLessThan(3_000);
  for (const one of all) expect(await statuses(one, 2)).toEqual([200, 200]);
  expect(await all[0]?.status()).toMatch(/brownout b refuses nothing: .*24 of 24 v1 requests were refused/);
  await c?.kill();
  const again = await member();
  expect(await statuses(again, 20)).toEqual(Array(20).fill(200));
  await msUntil(async () => (await phaseOf(again)) === "stopped");
  expect(await kinds(again)).not.toContain("brownout-began");
});

it("ends with the next request after carryover force native, on the other process within 2 s, and stays so", async () => {
  const { member, all } = await fleet(1_000, 2);
  const [a, b] = [all[0]!, all[1]!];
  expect([...(await statuses(a, 2)), ...(await statuses(b, 2))]).toEqual([400, 400, 400, 400]);
  expect((await a.command("force", "native", "--reason", "billing calls")).code).toBe(0);
  expect(await a.ask()).toMatchObject({ status: 200, mode: "native" });
  const ms = await msUntil(async () => (await b.ask()).status === 200);
  console.log(`force reached the other one ${ms.toFixed(0)} ms later`);
  expect(ms).toBeLessThan(2_000);
  await a.command("force", "none");
  await msUntil(async () => (await b.ask()).mode === "translate");
  expect(await phases(all)).toEqual(["stopped", "stopped"]);
  await b.kill();
  const again = await member();
  expect(await statuses(again, 20)).toEqual(Array(20).fill(200));
});

it("spares a client on all processes that calls what v2 lacks, though one of them alone has seen it", async () => {
  const { all } = await fleet(1_000, 2, Date.now() + 80_000);
  const [a, b] = [all[0]!, all[1]!];
  const history = (one: Member) => one.call("/registry/v1/tags/any/history");
  // One that the platform has let in.
  expect((await a.call("/iam/v1/roles?name=viewer")).status).toBe(200);
  expect((await history(a)).mode).toBe("native");
  await msUntil(async () => (await phases(all)).every((phase) => phase === "running"), 110_000);
  const got = await b.call("/iam/v1/roles?name=viewer");
  expect([got.status, got.mode]).toEqual([200, "translate"]);
  expect((await b.ask()).status).toBe(400);
}, 180_000);
