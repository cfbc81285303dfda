import { expect, test } from "vitest";
import type { SendLayer } from "../../../src/model/message.ts";
import { seededSandbox } from "../../support/seeded.ts";
import { ask } from "../client.ts";

const V2 = "/iam/v2beta1/groups";

test("an error rate of one fails every call before anything is done; one of a half about half of them", async () => {
  const broken = seededSandbox({ errorRate: 1 });
  const before = broken.snapshot();
  const answer = await ask(broken, "POST", V2, { body: { name: "n" } });
  expect([answer.status, answer.json.code]).toEqual([503, 14]);
  expect(broken.snapshot()).toEqual(before);
  const shaky = seededSandbox({ errorRate: 0.5 });
  const statuses = await Promise.all(Array.from({ length: 200 }, async () => (await ask(shaky, "GET", V2)).status));
  const failed = statuses.filter((status) => status === 503).length;
  expect(failed).toBeGreaterThan(60);
  expect(failed).toBeLessThan(140);
});

test("a rate limit counts per credential and second of the clock, and says when to come back", async () => {
  let now = 0;
  const sandbox = seededSandbox({ rateLimit: 2, clock: () => new Date(now) });
  const call = (name: string) => ask(sandbox, "GET", `${V2}?page_size=1`, { token: sandbox.token(name) });
  expect([(await call("admin")).status, (await call("admin")).status]).toEqual([200, 200]);
  const third = await call("admin");
  expect([third.status, third.json.code, third.header("retry-after")]).toEqual([429, 8, "1"]);
  expect((await call("admin#other")).status).toBe(200);
  now += 1_000;
  expect((await call("admin")).status).toBe(200);
});

test("a slow sandbox gives up when its caller does", async () => {
  const slow = seededSandbox({ latencyMs: 60_000 });
  const stop = new AbortController();
  const sent = slow.send({ method: "GET", target: V2, headers: [] }, { signal: stop.signal });
  const reason = new Error("gave up");
  stop.abort(reason);
  await expect(sent).rejects.toBe(reason);
  await expect(slow.send({ method: "GET", target: V2, headers: [] }, { signal: stop.signal })).rejects.toBe(reason);
});

test("a fault layer sees every call and may change its answer", async () => {
  const seen: string[] = [];
  const faults: SendLayer = (next) => async (request, options) => {
    seen.push(request.target);
    return { ...(await next(request, options)), status: 418 };
  };
  const sandbox = seededSandbox({ faults });
  expect((await ask(sandbox, "GET", V2)).status).toBe(418);
  expect(seen).toEqual([V2]);
});

test("the log of calls is bounded and keeps the newest", async () => {
  const sandbox = seededSandbox({ logSize: 2 });
  for (const size of [1, 2, 3]) await ask(sandbox, "GET", `${V2}?page_size=${size}`);
  expect(sandbox.requests).toEqual([
    { method: "GET", target: `${V2}?page_size=2`, status: 200 },
    { method: "GET", target: `${V2}?page_size=3`, status: 200 },
  ]);
});
