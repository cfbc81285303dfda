import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { carryover } from "../end-to-end/app/process.ts";
import { later, takeDownAfterEach } from "../end-to-end/app/rig.ts";
import { scale } from "../support/scale.ts";
import { type Instance, serve } from "../trust/lod/serving.ts";

takeDownAfterEach();

const RULES = `version: carryover/v1
rules:
  - { name: forward, match: {}, mode: translate, stepBack: { failures: 0.2, minRequests: 20, minClients: 1 } }
`;
const CLIENTS = 8;

/** v1 is right, v2 is not JSON. */
async function platform(): Promise<string> {
  const server = createServer((request, response) => {
    const isV1 = request.url?.startsWith("/iam/v1/") === true;
    response.writeHead(200, { "content-type": isV1 ? "application/json" : "text/html" });
    response.end(isV1 ? '{"items":[]}' : "<html>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  later(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Sends requests until the process is gone. */
async function load(url: string): Promise<void> {
  const client = async (): Promise<void> => {
    for (;;) await (await fetch(`${url}/iam/v1/roles`)).text();
  };
  await Promise.allSettled(Array.from({ length: CLIENTS }, client));
}

async function kill({ run }: Instance): Promise<void> {
  run.stop("SIGKILL");
  await run.ended;
}

const hasTold = (one: Instance): boolean => toldEvent(one) !== undefined;
/** The id in the line about the step back, once all of the line is there. */
const toldEvent = ({ run }: Instance): string | undefined =>
  /"event":"([^"]+)","msg":"cutover: stepped-back"/.exec(run.out())?.[1];

it("a second process refuses to start while the first lives, takes over from a paused one within 15 s, and that one writes no more", async () => {
  const url = await platform();
  const folder = await mkdtemp(join(tmpdir(), "kill-"));
  later(() => rm(folder, { recursive: true, force: true }));
  const [tokenFile, stateDir] = [join(folder, "token"), join(folder, "state")];
  await writeFile(tokenFile, "a-token-of-16-chars");
  const flags = { upstreamV2Url: url, upstreamV1Url: url, stateDir, adminTokenFile: tokenFile };
  const saved = () => readFile(join(stateDir, "rollout.json"), "utf8");
  const force = async ({ adminUrl }: Instance, command: string) =>
    (
      await fetch(`${adminUrl}/force`, {
        method: "POST",
        headers: { authorization: "Bearer a-token-of-16-chars", "content-type": "application/json" },
        body: JSON.stringify({ force: command }),
      })
    ).json() as Promise<{ survives: boolean }>;
  const first = await serve(flags);
  const refused = carryover([
    "serve",
    "--upstream-v2-url",
    url,
    "--listen-port",
    "0",
    "--admin-port",
    "0",
    "--state-dir",
    stateDir,
  ]);
  expect((await refused.ended).code).toBe(1);
  expect(refused.err()).toMatch(/is in use by host \S+, process \d+, since \S+: each process needs/);

  first.run.stop("SIGSTOP");
  const second = await serve(flags);
  // Lines of the log come later than what is printed.
  await vi.waitFor(() => expect(second.run.out()).toContain("this process takes over"));
  expect(await force(second, "native")).toMatchObject({ survives: true });
  const before = await saved();
  first.run.stop("SIGCONT");
  expect(await force(first, "none")).toMatchObject({ survives: false });
  expect(await first.run.until(/has taken over/)).toContain("writes nothing there until it is restarted");
  first.run.stop("SIGTERM");
  await first.run.ended;
  expect(await saved()).toBe(before);

  // Stopped properly, it lets the next in at once.
  second.run.stop("SIGTERM");
  await second.run.ended;
  const third = await serve(flags);
  expect(third.run.out()).not.toContain("waiting up to");
  await kill(third);
}, 120_000);

it("a step back that was logged survives kill -9 at any moment, under load, and so does its event", async () => {
  const url = await platform();
  const folder = await mkdtemp(join(tmpdir(), "kill-"));
  later(() => rm(folder, { recursive: true, force: true }));
  const rules = join(folder, "rules.yaml");
  await writeFile(rules, RULES);
  const rounds = scale(6, 100);
  const counts = { told: 0, back: 0, lost: 0, events: 0 };
  for (let round = 0; round < rounds; round++) {
    const stateDir = join(folder, `state-${round}`);
    const flags = { upstreamV2Url: url, upstreamV1Url: url, cutoverMode: "native", cutoverRulesFile: rules, stateDir };
    const first = await serve(flags);
    const loading = load(first.url);
    // Half of the processes die the moment they tell, the others at some time around it.
    if (round % 2 === 0) await Promise.race([first.run.until(/cutover: stepped-back/), sleep(5_000)]);
    else await sleep(Math.random() * 500);
    await kill(first);
    await loading;
    // As if 15 s had passed.
    await rm(join(stateDir, "owner.json"));
    const second = await serve(flags);
    const { rules: states, transitions } = (await (await fetch(`${second.adminUrl}/rules`)).json()) as {
      rules: { state: string }[];
      transitions: { id: string }[];
    };
    const id = toldEvent(first);
    if (id !== undefined && transitions.some((event) => event.id === id)) counts.events += 1;
    const isBack = states[0]?.state === "back";
    if (hasTold(first)) counts.told += 1;
    if (isBack) counts.back += 1;
    if (hasTold(first) && !isBack) counts.lost += 1;
    await kill(second);
  }
  console.info({ rounds, ...counts });
  expect(counts.told).toBeGreaterThanOrEqual(rounds / 2);
  expect([counts.lost, counts.events]).toEqual([0, counts.told]);
}, 600_000);
