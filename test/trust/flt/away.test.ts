/** The circuit breaker of the whole carryover, while the platform is away. (What takes longer: away.all.ts.) */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { type Answer, reasonOf, rigForTest, takeDownAfterEach } from "../../app/rig.ts";
import { ok } from "../../listener/support/double.ts";
import { figure } from "../../support/figures.ts";
import { breaker, comingAndGoing } from "./support/coming-and-going.ts";

takeDownAfterEach();

const PASS = ["GET", "/iam/v2beta1/groups/a/b"] as const;
const READ = ["GET", "/iam/v1/groups/a/b"] as const;
const WRITE = ["POST", "/iam/v1/groups/a", { body: '{"name":"a"}' }] as const;

/** Asks again and again until an answer is as wanted. */
async function until(ask: () => Promise<Answer>, wanted: (answer: Answer) => boolean): Promise<Answer> {
  for (;;) {
    const answer = await ask();
    if (wanted(answer)) return answer;
    await sleep(20);
  }
}

it("a platform that is away is asked now and then only, by nobody's repeats, until it answers one call", async () => {
  const platform = await comingAndGoing(ok('{"uid":"a/b","name":"a"}'));
  const rig = await rigForTest({ v2Url: platform.url, native: false });
  expect((await rig.ask(...READ)).status).toBe(200);
  await platform.down();
  expect(reasonOf(await rig.ask(...PASS))).toBe("UPSTREAM_UNREACHABLE");
  await until(
    () => rig.ask(...READ),
    (answer) => reasonOf(answer) === "UPSTREAM_UNAVAILABLE",
  );
  expect(await breaker(rig)).toBe("1");
  // Whoever asks, and for whatever: carryover itself asks whether it is back.
  const during = rig.exchanges.length;
  for (const call of [PASS, READ, WRITE, PASS, READ, WRITE] as const) {
    const [method, target, more] = call;
    const answer = await rig.ask(method, target, more);
    expect(reasonOf(answer)).toBe("UPSTREAM_UNAVAILABLE");
    expect([answer.status, answer.json.code, answer.json.details[0].metadata]).toEqual([503, 14, {}]);
    expect(Number(answer.field("retry-after"))).toBeGreaterThanOrEqual(1);
    expect(Number(answer.field("retry-after"))).toBeLessThanOrEqual(5);
    expect(answer.text).not.toMatch(/127\.0\.0\.1|ECONN/);
  }
  const refused = rig.exchanges.slice(during).filter(({ reason }) => reason === "UPSTREAM_UNAVAILABLE");
  expect(refused.length).toBe(6);
  expect(refused.map(({ calls }) => calls.length)).toEqual(refused.map(() => 1));

  await platform.up();
  const back = performance.now();
  await until(
    () => rig.ask(...READ),
    ({ status }) => status === 200,
  );
  figure(
    "T-FLT-25",
    "time until a platform that is back is used again, after some seconds away",
    performance.now() - back,
    "ms",
  );
  for (const [method, target, more] of [PASS, READ, WRITE] as const) {
    expect((await rig.ask(method, target, more)).status).toBe(200);
  }
  expect(await breaker(rig)).toBe("0");
  const told = rig.lines.filter((line) => line.includes("an upstream answers"));
  expect(told.map((line) => /answers (nobody|again)/.exec(line)?.[1])).toEqual(["nobody", "again"]);
  expect(told[0]).toContain('"upstream":"v2"');
});
