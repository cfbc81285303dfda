/** A percentage takes each client for good, on every replica (design section 7; the shares are in test/control/bucket). */
import { expect, it } from "vitest";
import { takeDownAfterEach } from "../app/rig.ts";
import { type CrowdAsk, crowd } from "./crowd.ts";
import { cutover, platform } from "./rig.ts";

takeDownAfterEach();

const rules = (percent: number) => `version: carryover/v1
rules:
  - { name: groups, match: { resource: groups, percent: 20 }, mode: translate, shadow: { sample: 0 } }
  - { name: some, match: { percent: ${percent} }, mode: translate, shadow: { sample: 0 } }
`;
const TEAMS = Array.from({ length: 200 }, (_, at) => `team-${at}`);
const read = (client: string): CrowdAsk => ({
  method: "GET",
  path: "/iam/v1/groups/a",
  headers: { "x-client": client, "user-agent": `${client}/2.0 (linux)` },
});
const write = (client: string): CrowdAsk => ({ ...read(client), method: "PUT", body: '{"name":"x"}' });

/** Who is translated; everybody else is native. */
async function moved(url: string, asks: readonly CrowdAsk[]): Promise<Set<string>> {
  const modes = await crowd(url, asks);
  expect([...new Set(modes)].filter((mode) => mode !== "native" && mode !== "translate")).toEqual([]);
  return new Set(asks.flatMap(({ headers }, at) => (modes[at] === "translate" ? [headers["x-client"] ?? ""] : [])));
}

it("a client stays where it is while the percentage grows, for reads and writes, by header as by user agent, on each replica", async () => {
  const { url } = await platform((request, response) => {
    response.setHeader("content-type", "application/json");
    response.end(request.url?.startsWith("/iam/v1/") ? '{"id":"a","name":"x"}' : '{"uid":"a","name":"x"}');
  });
  const rig = await cutover({
    rules: rules(0),
    v1Url: url,
    v2Url: url,
    sandbox: { organisation: false },
    flags: { clientsIdentify: "header:x-client", cutoverMode: "native", cutoverSalt: "pepper", logLevel: "silent" },
  });
  const fifth = await moved(rig.url, TEAMS.map(read));
  await rig.change(rules(50));
  const half = await moved(rig.url, TEAMS.map(read));
  expect([...fifth].filter((team) => !half.has(team))).toEqual([]);
  // Five standard deviations of a fair draw.
  expect(Math.abs(half.size - 100)).toBeLessThanOrEqual(5 * Math.sqrt(200 * 0.25));
  expect(await moved(rig.url, TEAMS.map(write))).toEqual(half);
  expect(await moved((await rig.replica()).url, TEAMS.map(read))).toEqual(half);
  expect(await moved((await rig.replica({ clientsIdentify: "user-agent" })).url, TEAMS.map(read))).toEqual(half);
  expect(await moved((await rig.replica({ cutoverSalt: "salt" })).url, TEAMS.map(read))).not.toEqual(half);
  await rig.change(rules(0));
  expect(await moved(rig.url, TEAMS.map(read))).toEqual(fifth);
  const nobody = Array.from({ length: 20 }, () => ({ ...read(""), headers: {} }));
  expect(new Set(await crowd(rig.url, nobody)).size).toBe(1);
});
