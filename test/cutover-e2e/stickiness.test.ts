/** Does a percentage take each client for good, on every replica? (Design section 7.) */
import { describe, expect, it } from "vitest";
import { takeDownAfterEach } from "../app/rig.ts";
import { type CrowdAsk, crowd } from "./crowd.ts";
import { type CutoverRig, cutover, platform } from "./rig.ts";

takeDownAfterEach();

const CLIENTS = 10_000;

const rules = (percent: number) => `version: carryover/v1
rules:
  - name: some
    match: { percent: ${percent} }
    mode: translate
    shadow: { sample: 0 }
`;

/** Serves any v1 and v2 read and write of a group at next to no cost. */
async function cheap(percent: number, flags: Readonly<Record<string, string>> = {}): Promise<CutoverRig> {
  const { url } = await platform((request, response) => {
    const record = request.url?.startsWith("/iam/v1/") ? { id: "a", name: "x" } : { uid: "a", name: "x" };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(record));
  });
  return cutover({
    rules: rules(percent),
    v1Url: url,
    v2Url: url,
    sandbox: { organisation: false },
    flags: {
      clientsIdentify: "header:x-client",
      cutoverMode: "native",
      cutoverSalt: "pepper",
      logLevel: "silent",
      ...flags,
    },
  });
}

const read = (client: string): CrowdAsk => ({
  method: "GET",
  path: "/iam/v1/groups/a",
  headers: { "x-client": client },
});
const write = (client: string): CrowdAsk => ({ ...read(client), method: "PUT", body: '{"name":"x"}' });

const names = (count: number) => Array.from({ length: count }, (_, at) => `team-${at}`);

/** Who is translated; everybody else is native. */
async function moved(url: string, asks: readonly CrowdAsk[]): Promise<Set<string>> {
  const modes = await crowd(url, asks);
  expect([...new Set(modes)].filter((mode) => mode !== "native" && mode !== "translate")).toEqual([]);
  return new Set(asks.flatMap(({ headers }, at) => (modes[at] === "translate" ? [headers["x-client"] ?? ""] : [])));
}

describe("a percentage", () => {
  it(`takes its share of ${CLIENTS} clients at 0, 1, 10, 50 and 100, and growing never moves one back`, async () => {
    const rig = await cheap(0);
    const asks = names(CLIENTS).map(read);
    let before = await moved(rig.url, asks);
    expect(before.size).toBe(0);
    for (const percent of [1, 10, 50, 100]) {
      await rig.change(rules(percent));
      const now = await moved(rig.url, asks);
      expect([...before].filter((client) => !now.has(client))).toEqual([]);
      // Five standard deviations of a fair draw.
      const fair = (CLIENTS * percent) / 100;
      expect(Math.abs(now.size - fair)).toBeLessThanOrEqual(5 * Math.sqrt(fair * (1 - percent / 100)));
      before = now;
    }
  });

  it("shrinks as it grew: who leaves last came first, and 0 is everybody's way back", async () => {
    const rig = await cheap(50);
    const asks = names(500).map(read);
    const half = await moved(rig.url, asks);
    await rig.change(rules(10));
    const tenth = await moved(rig.url, asks);
    expect(tenth.size).toBeGreaterThan(0);
    expect([...tenth].filter((client) => !half.has(client))).toEqual([]);
    await rig.change(rules(0));
    expect((await moved(rig.url, asks)).size).toBe(0);
    await rig.change(rules(50));
    expect(await moved(rig.url, asks)).toEqual(half);
  });

  it("takes the same clients on a replica of another port, and others under another salt", async () => {
    const rig = await cheap(50);
    const replica = await rig.replica();
    const other = await rig.replica({ cutoverSalt: "salt" });
    expect(replica.url).not.toBe(rig.url);
    const asks = names(1000).map(read);
    const [here, there, elsewhere] = [
      await moved(rig.url, asks),
      await moved(replica.url, asks),
      await moved(other.url, asks),
    ];
    expect(there).toEqual(here);
    // Two fair draws agree on half of them; five standard deviations.
    const both = [...elsewhere].filter((client) => here.has(client)).length;
    expect(Math.abs(both - 250)).toBeLessThanOrEqual(5 * Math.sqrt(1000 * 0.25 * 0.75));
  });

  it("has reads and writes of a client on one side", async () => {
    const rig = await cheap(50);
    const clients = names(1000);
    const reading = await moved(rig.url, clients.map(read));
    expect(await moved(rig.url, clients.map(write))).toEqual(reading);
    expect(reading.size).toBeGreaterThan(400);
  });

  it("has a client on one side whatever rule it stands in, and by name as by user agent", async () => {
    const rig = await cheap(30, { clientsIdentify: "user-agent" });
    const asks = names(400).map((client) => ({
      ...read(client),
      headers: { "x-client": client, "user-agent": `${client}/2.0 (linux)` },
    }));
    const one = await moved(rig.url, asks);
    await rig.change(`version: carryover/v1
rules:
  - name: twenty
    match: { resource: groups, percent: 20 }
    mode: translate
    shadow: { sample: 0 }
  - name: thirty
    match: { operation: [reads, writes], percent: 30 }
    mode: translate
    shadow: { sample: 0 }
`);
    expect(await moved(rig.url, asks)).toEqual(one);
    const byHeader = await cheap(30);
    expect(await moved(byHeader.url, asks)).toEqual(one);
  });

  it("moves everybody whom nothing tells apart together", async () => {
    const rig = await cheap(50);
    const asks = Array.from({ length: 50 }, () => ({ method: "GET", path: "/iam/v1/groups/a", headers: {} }));
    expect(new Set(await crowd(rig.url, asks)).size).toBe(1);
  });
});
