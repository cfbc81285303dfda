import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createSandbox } from "../../../sandbox/src/sandbox.ts";
import { later, takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { ask, type Outgoing } from "./ask.ts";
import { type Replica, requestsOf, startReplica, startReplicas } from "./replicas.ts";
import { type Arrived, startHangUp, startStandIn } from "./standin.ts";

takeDownAfterEach();

const GROUPS = "/iam/v1/groups";
const GONE = "http://127.0.0.1:1";
const WRITES = ["POST", "PUT", "PATCH", "DELETE"];

const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

describe("deploy/nginx/carryover.conf", () => {
  it("sends requests on as they came, reads and writes", async () => {
    const replica = await startStandIn("replica");
    const url = await startReplicas([replica.url]);
    const target = "/iam/v1/groups/a%2Fb/c;d//e?x=%2F%20+&y=%C3%A9&";
    const headers = ["x_under", "1", "X-Forwarded-For", "6.6.6.6"];
    for (const method of ["GET", ...WRITES]) {
      const body = method === "GET" ? {} : { body: '{ "a": 1.0 }' };
      expect(await ask(url, { method, target, headers, ...body })).toMatchObject({ status: 200, whole: true });
    }
    expect(replica.arrived.map(({ method, target: arrived }) => [method, arrived])).toEqual(
      ["GET", ...WRITES].map((method) => [method, target]),
    );
    expect(replica.arrived.slice(1).map(({ body }) => body)).toEqual(WRITES.map(() => '{ "a": 1.0 }'));
    for (const { headers: arrived } of replica.arrived) {
      const fields = new Map(arrived);
      expect([fields.get("x_under"), fields.get("x-forwarded-for")]).toEqual(["1", "127.0.0.1"]);
      expect(fields.get("host")).toBe(new URL(url).host);
    }
  });

  it("gives what a dead process refused to another one, writes too, with the whole body", async () => {
    const replica = await startStandIn("replica");
    const url = await startReplicas([GONE, replica.url]);
    const body = JSON.stringify({ name: "x".repeat(200_000) });
    const asked: Outgoing[] = times(20, (i) => ({ method: WRITES[i % 4] ?? "", target: `${GROUPS}/${i}`, body }));
    const answers = await Promise.all(
      [...asked, ...times(20, (i) => ({ target: `${GROUPS}/r${i}` }))].map((one) => ask(url, one)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const writes = replica.arrived.filter(({ method }) => method !== "GET");
    expect(writes.map(({ target }) => target).toSorted()).toEqual(asked.map(({ target }) => target).toSorted());
    expect(writes.every((one) => one.body === body)).toBe(true);
  });

  it("sends no write twice when a process hangs up, on a fresh connection or a used one, and each read again", async () => {
    const [first, second] = [await startHangUp(), await startHangUp()];
    const url = await startReplicas([first.url, second.url]);
    const arrived = (): readonly Arrived[] => [...first.arrived, ...second.arrived];
    const warm = async (): Promise<void> => {
      // Who failed is left alone for a second: until one is asked again.
      while ((await ask(url, { target: `${GROUPS}/warm` })).status !== 200) await wait(20);
    };
    for (const method of WRITES) {
      for (const headers of [[], ["Idempotency-Key", "a"]]) {
        await warm();
        const target = `${GROUPS}/${method}-${headers.length}`;
        expect((await ask(url, { method, target, headers, body: "{}" })).status).toBe(502);
        expect(arrived().filter((one) => one.target === target)).toHaveLength(1);
      }
    }
    const other = await startReplicas([first.url, (await startStandIn("whole")).url]);
    const answers = await Promise.all(times(10, (i) => ask(other, { target: `${GROUPS}/r${i}` })));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  });
});

describe("two processes behind it", () => {
  it.each([
    ["is killed", "SIGKILL"],
    ["is told to stop", "SIGTERM"],
  ] as const)("fail no read when one %s and started again, and then serve both", async (_, signal) => {
    const { url, one, two, client } = await twoBehindNginx();
    const before = await client.after(200);
    one.process.stop(signal);
    await one.process.ended;
    await client.after(200);
    const back = await startReplica(client.platformUrl, one);
    // Left alone for a second at most: until it is asked again, and then for a while.
    while ((await requestsOf(back)) < 50) await client.after(50);
    const { failed, made } = await client.stop();
    expect(failed).toEqual([]);
    expect(made).toBeGreaterThan(before + 250);
    expect(await requestsOf(two)).toBeGreaterThan(200);
    expect((await ask(url, { target: GROUPS })).status).toBe(401);
  });

  it("count together exactly what was asked", async () => {
    const { one, two, client } = await twoBehindNginx();
    await client.after(300);
    const { failed, made } = await client.stop();
    const counts = [await requestsOf(one), await requestsOf(two)];
    expect(failed).toEqual([]);
    expect(counts.every((count) => count > 0)).toBe(true);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(made);
  });
});

async function twoBehindNginx() {
  const sandbox = createSandbox({ seed: "replicas" });
  const { url: platformUrl } = await sandbox.listen();
  later(() => sandbox.close());
  const [one, two]: [Replica, Replica] = [await startReplica(platformUrl), await startReplica(platformUrl)];
  const url = await startReplicas([one.url, two.url]);
  const headers = ["Authorization", `Bearer ${sandbox.token("admin")}`];
  const root = `${GROUPS}/${sandbox.wellKnown.rootGroup}`;
  return {
    url,
    one,
    two,
    client: {
      ...keepAsking(url, [root, `${GROUPS}?id=${encodeURIComponent(sandbox.wellKnown.rootGroup)}`], headers),
      platformUrl,
    },
  };
}

/** Eight readers that ask one request after another until they are stopped. */
function keepAsking(url: string, targets: readonly string[], headers: readonly string[]) {
  const failed: string[] = [];
  const waiting: { readonly at: number; readonly done: (made: number) => void }[] = [];
  let made = 0;
  let on = true;
  const reader = async (): Promise<void> => {
    while (on) {
      const target = targets[made++ % targets.length] ?? "";
      const { status, whole, text } = await ask(url, { target, headers });
      if (status !== 200 || !whole) failed.push(`${target}: ${status} ${text}`);
      for (const one of waiting.filter(({ at }) => at <= made)) waiting.splice(waiting.indexOf(one), 1)[0]?.done(made);
    }
  };
  const readers = times(8, reader);
  return {
    /** Resolves with how many were made when `count` more have been. */
    after: (count: number) => new Promise<number>((done) => waiting.push({ at: made + count, done })),
    stop: async () => {
      on = false;
      await Promise.all(readers);
      return { failed, made };
    },
  };
}
