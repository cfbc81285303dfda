/** A percentage takes each client for good, on every replica. */
import { expect, it } from "vitest";
import { takeDownAfterEach } from "../app/rig.ts";
import { cutover, type Front, platform } from "./rig.ts";

takeDownAfterEach();

const rules = (percent: number) => `version: carryover/v1
rules:
  - { name: groups, match: { resource: groups, percent: 20 }, mode: translate, shadow: { sample: 0 } }
  - { name: some, match: { percent: ${percent} }, mode: translate, shadow: { sample: 0 } }
`;
const TEAMS = Array.from({ length: 60 }, (_, at) => `team-${at}`);

/** Who is translated; everybody else is native. */
async function moved(front: Front, method = "GET"): Promise<Set<string>> {
  const found = new Set<string>();
  for (const team of TEAMS) {
    const headers = { "x-client": team, "user-agent": `${team}/2.0 (linux)` };
    const body = method === "GET" ? {} : { body: { name: "x" } };
    const mode = (await front.ask(method, "/iam/v1/groups/a", { headers, ...body })).field("carryover-mode");
    if (mode === "translate") found.add(team);
    else expect(mode).toBe("native");
  }
  return found;
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
  const fifth = await moved(rig);
  await rig.change(rules(50));
  const half = await moved(rig);
  expect([...fifth].filter((team) => !half.has(team))).toEqual([]);
  expect(half.size).toBeGreaterThan(fifth.size);
  expect(await moved(rig, "PUT")).toEqual(half);
  expect(await moved(await rig.replica({ clientsIdentify: "user-agent" }))).toEqual(half);
  expect(await moved(await rig.replica({ cutoverSalt: "salt" }))).not.toEqual(half);
});
