import { cp } from "node:fs/promises";
import { expect, it } from "vitest";
import { ask } from "../../../src/commands/report/ask.ts";
import { createReport } from "../../../src/commands/report/report.ts";
import { takeDownAfterEach } from "../app/rig.ts";
import { as, cutover, folder } from "../cutover/rig.ts";

takeDownAfterEach();

/** What the platform's gateway answers before it looks at a token: 400, 404 and 501. */
const AT_THE_DOOR: readonly (readonly [method: string, path: string, body?: string])[] = [
  ["GET", "/iam/v1/groups?uidp.in_root=x"],
  ["GET", "/iam/v1/groups/abc"],
  ["HEAD", "/iam/v1/groups"],
  ["PATCH", "/iam/v1/groups/abc"],
  ["GET", "/iam/v1/nonsense"],
  ["POST", "/iam/v1/groups/abc", "{"],
  ["GET", "/iam/v2beta1/nonsense"],
  ["POST", "/iam/v2beta1/groups", "{"],
  ["PUT", "/iam/v2beta1/groups"],
  ["GET", "/ping/v1/x"],
];

it.each(["native", "shadow", "translate"])("strangers leave no name behind in %s", async (mode) => {
  const rules = `version: carryover/v1\nrules:\n  - { name: all, match: {}, mode: ${mode}, shadow: { sample: 1 } }\n`;
  const rig = await cutover({ rules });
  for (const [at, [method, path, body]] of AT_THE_DOOR.entries()) {
    const headers = { "user-agent": `stranger-${at}/1` };
    await rig.ask(method, path, { as: null, headers, ...(body === undefined ? {} : { body }) });
  }
  await rig.idle();
  expect((await rig.view("/clients")).clients).toEqual([]);
  expect(await rig.text("/metrics")).not.toContain('client="c-');
  expect(
    (await rig.view("/progress")).bounds.filter((bound: { comparisons: number }) => bound.comparisons > 0),
  ).toEqual([]);
});

it("many users of v2 do not push the last callers of v1 out", async () => {
  const rig = await cutover({ flags: { clientsMax: "10" } });
  await rig.ask("GET", "/iam/v1/groups", as("last-v1"));
  for (let i = 0; i < 25; i++) await rig.ask("GET", "/iam/v2beta1/groups?page_size=1", as(`v2-user-${i}`));
  const { clients, bound } = await rig.view("/clients");
  expect(clients[0]).toMatchObject({ name: "last-v1", requests: { v1: 1 } });
  expect(bound).toBe(0);
});

it("a report of two replicas that began with one file does not say that nobody calls v1", async () => {
  const [stateDir, copy] = [await folder(), await folder()];
  const first = await cutover({ flags: { stateDir } });
  await first.ask("GET", "/iam/v2beta1/groups", as("seed"));
  await first.close();
  await cp(stateDir, copy, { recursive: true });
  const [a, b] = [await first.replica(), await first.replica({ stateDir: copy })];
  await a.ask("GET", "/iam/v1/groups", as("last-v1"));
  await b.ask("GET", "/iam/v2beta1/groups", as("other"));
  const options = { token: undefined, timeoutMs: 4_000, fetch };
  for (const replicas of [
    [a, b],
    [b, a],
  ]) {
    const asked = await Promise.all(replicas.map(({ adminUrl }) => ask(adminUrl, options)));
    expect(createReport(asked, undefined).v1Left).not.toBe("no");
  }
});
