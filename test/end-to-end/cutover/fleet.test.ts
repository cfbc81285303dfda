import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { runCommand } from "../../../scripts/command.ts";
import { StoreError } from "../../../src/state/shared/protocol.ts";
import { createMemoryStore, textOf } from "../../state/shared/memory-store.ts";
import { startCarryover } from "../../support/carryover.ts";
import { later, type Rig, rigForTest, send, takeDownAfterEach } from "../app/rig.ts";

takeDownAfterEach();

/** A store, and processes that share it in front of the platform of `made`. */
async function fleet() {
  const made: Rig = await rigForTest();
  let random = 0;
  const memory = createMemoryStore(Date.now, () => `fresh-${random++}`);
  const state = { isAway: false };
  const store = new Proxy(memory, {
    get: (target, name) => {
      const found = Reflect.get(target, name);
      if (typeof found !== "function") return found;
      return (...words: unknown[]) =>
        state.isAway && name !== "close"
          ? Promise.reject(new StoreError("away", "no response"))
          : found.apply(target, words);
    },
  });
  const start = async (dir?: string) => {
    const one = await startCarryover({
      v2Url: made.sandboxUrl,
      v1Url: made.sandboxUrl,
      flags: dir === undefined ? {} : { stateDir: dir },
      store,
    });
    later(one.close);
    return {
      ...one,
      list: async (times: number): Promise<void> => {
        for (let n = 0; n < times; n++) await send(one.url, made.sandbox, "GET", "/iam/v1/groups", {});
      },
      get: async (path: string) => (await fetch(`${one.adminUrl}${path}`)).text(),
      page: async () => (await fetch(one.adminUrl, { headers: { accept: "text/html" } })).text(),
      told: async (path: string) => JSON.parse(await (await fetch(`${one.adminUrl}${path}`)).text()),
    };
  };
  return { start, store, made, state };
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await holds()); tries++) {
    if (tries > 100) throw new Error("it does not happen");
    await setTimeout(100);
  }
}

const requestsOf = ({ clients }: { clients: readonly { requests: { v1: number } }[] }): number =>
  clients.reduce((sum, { requests }) => sum + requests.v1, 0);

test("one replica tells of all, also of one that was stopped: requests, clients and events", async () => {
  const { start } = await fleet();
  const [a, b] = [await start(), await start()];
  await a.list(1);
  await b.list(2);
  await until(async () => requestsOf(await a.told("/clients")) === 3);
  expect(requestsOf(await a.told("/clients?fleet=false"))).toBe(1);
  await b.list(1);
  await b.close();
  const { peers, unread } = await a.told("/progress?fleet=true&from=-3600000");
  expect(unread).toBeUndefined();
  expect(peers).toHaveLength(1);
  expect(peers[0]).toMatchObject({ mode: "translate", goneSince: expect.any(Number), rules: [] });
  expect(peers[0].window.rows).toEqual([expect.objectContaining({ resource: "group", requests: 3 })]);
  const events: { kind: string; on?: readonly string[] }[] = (await a.told("/events")).events;
  expect(events.map(({ kind, on }) => [kind, on?.length ?? 0])).toEqual([
    ["started", 0],
    ["started", 1],
    ["stopped", 1],
  ]);
  expect((await a.told("/progress")).peers).toBeUndefined();
  expect(await a.get("/clients.txt")).toContain("counted by this instance and 1 other (1 gone)");

  const report = await runCommand(["report", a.adminUrl, "--json"]);
  expect(JSON.parse(report.out)).toMatchObject({ complete: true, requests: { v1: 4 } });
  const said = await runCommand(["events", a.adminUrl, "--json"]);
  expect(JSON.parse(said.out).events).toHaveLength(3);
});

test("the page still shows what the others counted while the store does not respond, and says so", async () => {
  const { start, made, state } = await fleet();
  const [a, b] = [await start(), await start()];
  await send(b.url, made.sandbox, "GET", "/iam/v1/groups", { headers: { "user-agent": "of-another-replica/1.0" } });
  await until(async () => (await a.page()).includes("of-another-replica"));
  state.isAway = true;
  await until(async () => (await a.page()).includes("has had no store since"));
  // What is shown is of the second before, and was read before that.
  for (let look = 0; look < 3; look++) {
    await setTimeout(1_000);
    expect(await a.page()).toContain("of-another-replica");
  }
  state.isAway = false;
  await until(async () => !(await a.page()).includes("has had no store since"));
});

test("a process that starts again with its state.dir continues its own counts, and does not count a second time", async () => {
  const { start, store } = await fleet();
  const dir = mkdtempSync(join(tmpdir(), "carryover-fleet-"));
  later(async () => rmSync(dir, { recursive: true, force: true }));
  const [a, first] = [await start(), await start(dir)];
  await first.list(5);
  await first.close();
  const second = await start(dir);
  await second.list(1);
  await until(async () => requestsOf(await a.told("/clients")) === 6);
  expect(requestsOf(await second.told("/clients"))).toBe(6);
  expect([...store.copy().owners.keys()].filter((owner) => owner.startsWith("d."))).toHaveLength(2);
});

test("no token, body, query or digest of a credential is in the store", async () => {
  const { start, store, made } = await fleet();
  const one = await start();
  const token = made.sandbox.token("admin");
  const headers = { "x-api-key": "planted-header", cookie: "session=planted-cookie" };
  await send(one.url, made.sandbox, "GET", "/iam/v1/groups?filter=planted-query", { headers });
  await send(one.url, made.sandbox, "POST", "/iam/v1/groups/planted-path", { headers, body: { name: "planted-body" } });
  await send(one.url, made.sandbox, "GET", "/iam/v1/groups", {
    as: null,
    headers: { authorization: "Bearer planted-token" },
  });
  await one.close();
  const text = textOf(store);
  expect(text).toContain('"resource":"group"');
  expect(text).not.toContain("planted");
  for (const secret of [token, ...(["hex", "base64", "base64url"] as const).map((form) => digestOf(token, form))])
    expect(text).not.toContain(secret);
});

function digestOf(text: string, form: "hex" | "base64" | "base64url"): string {
  return createHash("sha256").update(text).digest(form);
}
