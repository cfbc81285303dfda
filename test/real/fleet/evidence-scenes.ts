/** Evidence that is spread over all replicas, so that none of them has enough of it alone. */
import { setTimeout } from "node:timers/promises";
import { expect } from "vitest";
import { BETWEEN, COUNT, type Rig } from "./rig.ts";

/** The evidence that one replica needs: comparisons by the rule, and failures by the guard's first test (27 ÷ ln 5). */
const NEEDED = { comparisons: 20, failures: 17 };
/** In each round every process gets one request. */
const MOST_ROUNDS = 16;
const ROUND_MS = 800;
const MOST_MS = 2_000;

const OF_COMPARISONS = `{ differences: 0.01, minComparisons: ${NEEDED.comparisons}, minClients: 1 }`;
export const EVIDENCE_RULES = `  - { name: spread-wrong, match: { client: spread-wrong }, mode: translate, shadow: { sample: 1, control: 0 }, stepBack: ${OF_COMPARISONS} }
  - { name: spread-failing, match: { client: spread-failing }, mode: translate }
`;

/** v2 returns wrong records to one client, through all processes in turn. */
export async function wrongRecords(rig: Rig): Promise<string> {
  rig.sick.wrong.add("spread-wrong");
  const text = await spread(rig, "spread-wrong", NEEDED.comparisons);
  rig.sick.wrong.delete("spread-wrong");
  return text;
}

/** v2 returns 503 to one client, through all processes in turn. */
export async function unavailable(rig: Rig): Promise<string> {
  rig.sick.failing.add("spread-failing");
  const text = await spread(rig, "spread-failing", NEEDED.failures);
  rig.sick.failing.delete("spread-failing");
  return text;
}

/** Fails if one process got enough requests of `client` to step back alone. */
async function spread(rig: Rig, client: string, needed: number): Promise<string> {
  const { load, processes, msUntil } = rig;
  const begun = performance.now();
  const isBack = async (process: (typeof processes)[number]) => (await process.following()).back.has(client);
  let rounds = 0;
  load.begin(client);
  while (!(await Promise.all(processes.map(isBack))).includes(true)) {
    expect(rounds, `rounds of ${COUNT} requests of ${client}`).toBeLessThan(Math.min(needed - 1, MOST_ROUNDS));
    rounds += 1;
    await Promise.all([...processes.map(({ url }) => load.ask(url, client)), setTimeout(ROUND_MS)]);
  }
  const first = performance.now() - begun;
  const rest = await msUntil(isBack, MOST_MS);
  load.begin(BETWEEN);
  for (const { url } of processes) expect(await load.ask(url, client)).toBe("shadow");
  return `${client}: the first process stepped back after ${rounds} requests to each of ${COUNT} (${first.toFixed(0)} ms), the others ${rest.toFixed(0)} ms later; one alone needs ${needed}`;
}
