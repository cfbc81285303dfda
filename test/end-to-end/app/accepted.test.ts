/** Requests of credentials that the platform has let in go before others, and strangers leave places to them. */
import { expect, it } from "vitest";
import { rigForTest, takeDownAfterEach } from "./rig.ts";

takeDownAfterEach();

const LATENCY_MS = 150;
const soon = () => new Promise((resolve) => setTimeout(resolve, LATENCY_MS / 5));

/** A platform that takes its time. */
async function stage(flags: Readonly<Record<string, string>>) {
  const rig = await rigForTest({ sandbox: { latencyMs: LATENCY_MS }, flags });
  const group = `/iam/v1/groups/${rig.sandbox.wellKnown.someGroup}`;
  const known = () => rig.ask("GET", group);
  const stranger = () => rig.ask("GET", group, { headers: { authorization: "Bearer made-up" }, as: null });
  return { rig, known, stranger };
}

it("in the queue for the only connection", async () => {
  const { rig, known, stranger } = await stage({
    upstreamV2Connections: "1",
    listsReadersPerUpstream: "1",
    listsReaders: "1",
  });
  await known();
  rig.arrived.length = 0;
  const all = [known()];
  await soon();
  all.push(stranger(), stranger());
  await soon();
  all.push(known());
  expect((await Promise.all(all)).map(({ status }) => status)).toEqual([200, 401, 401, 200]);
  const tokens = rig.arrived.map(({ headers }) => headers.find(([name]) => name === "authorization")?.[1]);
  expect(tokens.map((token) => token === "Bearer made-up")).toEqual([false, false, true, true]);
});

it.each([
  ["was served", "/iam/v1/groups?name=nobody", 200],
  ["read a list that is longer than it may be", "/iam/v1/groups", 422],
])("at the last quarter of `limits.inFlight`, after one that %s", async (_, first, status) => {
  const { rig, known, stranger } = await stage({ limitsInFlight: "4", listsMaxRecords: "10" });
  expect((await rig.ask("GET", first)).status).toBe(status);
  const held = [known(), known(), known()];
  await soon();
  const [refused, served] = await Promise.all([stranger(), known()]);
  expect([refused.status, served.status]).toEqual([503, 200]);
  expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200, 200]);
});
