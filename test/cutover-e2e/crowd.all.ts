/** Thousands of clients leave metrics and ledger as small as they are (their bounds are in test/ledger and test/observe). */
import { expect, it } from "vitest";
import type { ClientEntry } from "../../src/model/ledger.ts";
import { takeDownAfterEach } from "../app/rig.ts";
import { crowd } from "./crowd.ts";
import { cutover, platform } from "./rig.ts";

takeDownAfterEach();

const MANY = 4_000;
const jwt = (sub: string) => `Bearer e30.${Buffer.from(JSON.stringify({ sub })).toString("base64url")}.sig`;
const asks = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => ({
    method: "GET",
    path: `/iam/v1/groups/g${from + at}`,
    headers: { authorization: jwt(`client-${from + at}`) },
  }));
const loyal = asks(0, 100).map((one) => ({ ...one, headers: { authorization: jwt("loyal") } }));

it(`${MANY} distinct clients, with as many paths and tokens, leave metrics and ledger as small as they are`, async () => {
  const { url } = await platform((_, response) => {
    response.setHeader("content-type", "application/json");
    response.end('{"uid":"a","id":"a","name":"x"}');
  });
  const rig = await cutover({
    v1Url: url,
    v2Url: url,
    sandbox: { organisation: false },
    flags: { clientsIdentify: "claim:sub", clientsMax: "500", clientsMetricSeries: "50", logLevel: "silent" },
  });
  const series = async () =>
    (await rig.text("/metrics")).split("\n").filter((line) => /^carryover_(?!nodejs)/.test(line)).length;
  await crowd(rig.url, [...loyal, ...asks(0, 1000)]);
  const before = await series();
  await crowd(rig.url, [...asks(1000, MANY - 1000), ...loyal]);
  expect((await series()) - before).toBeLessThanOrEqual(10);
  const { clients: kept, bound, requests } = await rig.view("/clients");
  expect(kept.length).toBeLessThanOrEqual(500);
  expect(requests).toEqual({ v1: MANY + 200, v2: 0 });
  // Space-Saving: no count is off by more than all requests divided by the places.
  expect(bound).toBeLessThanOrEqual((MANY + 200) / 500);
  const one = kept.find(({ name }: ClientEntry) => name === "loyal");
  expect(one.requests.v1 - one.over).toBeLessThanOrEqual(200);
  expect(one.requests.v1).toBeGreaterThanOrEqual(200);
  const metrics = await rig.text("/metrics");
  expect(metrics.match(/^carryover_client_requests_total\{/gm)?.length).toBeLessThanOrEqual(2 * 51);
  expect(metrics).not.toMatch(/client-\d|g\d\d\d/);
});
