/** What becomes of requests while the platform is away for long, or comes and goes? (The whole carryover.) */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type Answer, later, type Rig, reasonOf, rigForTest, takeDownAfterEach } from "../../app/rig.ts";
import { createDouble, ok } from "../../listener/support/double.ts";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";
import { comingAndGoing, type Platform } from "./support/coming-and-going.ts";

takeDownAfterEach();

const RECORD = ok('{"uid":"a/b","name":"a"}');
const PASS = ["GET", "/iam/v2beta1/groups/a/b"] as const;
const READ = ["GET", "/iam/v1/groups/a/b"] as const;
const WRITE = ["POST", "/iam/v1/groups/a", { body: '{"name":"a"}' }] as const;

async function stage(flags: Record<string, string> = {}): Promise<{ rig: Rig; platform: Platform }> {
  const platform = await comingAndGoing(RECORD);
  return { rig: await rigForTest({ v2Url: platform.url, native: false, flags }), platform };
}

async function breaker(rig: Rig): Promise<string | undefined> {
  const text = await (await fetch(`${rig.adminUrl}/metrics`)).text();
  return /^carryover_upstream_breaker_open\{upstream="v2"\} (\S+)$/m.exec(text)?.[1];
}

/** Asks again and again until an answer is as wanted. */
async function until(ask: () => Promise<Answer>, wanted: (answer: Answer) => boolean): Promise<Answer> {
  for (;;) {
    const answer = await ask();
    if (wanted(answer)) return answer;
    await sleep(20);
  }
}

describe("a platform that is away", () => {
  it("is asked now and then only, by nobody's repeats, until it answers one call", async () => {
    const { rig, platform } = await stage();
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

  it("is not taken for away for the sake of what nobody answers: the rest goes on", async () => {
    const platform = await createDouble(({ line }, socket) => {
      if (line.includes("/groups")) socket.destroy();
      else socket.write(ok("{}"));
    });
    later(platform.close);
    const rig = await rigForTest({ v2Url: platform.url, native: false });
    const end = performance.now() + 3_500;
    let failed = 0;
    while (performance.now() < end) {
      expect(reasonOf(await rig.ask(...PASS))).toBe("UPSTREAM_UNREACHABLE");
      failed++;
    }
    expect(failed).toBeGreaterThan(10);
    expect(await breaker(rig)).toBe("0");
    expect((await rig.ask("GET", "/iam/v2beta1/roles")).status).toBe(200);
    const own = platform.requests.filter(({ line }) => line.startsWith("HEAD / "));
    expect(own.length).toBeGreaterThanOrEqual(1);
    expect(own.flatMap(({ fields }) => fields).filter(([name]) => name.toLowerCase() === "authorization")).toEqual([]);
  });

  it("is tried by every call where the operator wants no breaker", async () => {
    const { rig, platform } = await stage({ upstreamV2Breaker: "false" });
    await platform.down();
    const end = performance.now() + 2_500;
    while (performance.now() < end) expect(reasonOf(await rig.ask(...PASS))).toBe("UPSTREAM_UNREACHABLE");
    expect(await breaker(rig)).toBe("0");
  });
});

describe("T-FLT-25: a platform that is up for a second, then down for one", () => {
  it("is used whenever it is up", async () => {
    const { rig, platform } = await stage();
    const rounds = scale(2, 30);
    const state = { up: true, over: false, changes: 0 };
    const counts = { up: 0, served: 0, failed: 0 };
    const client = async (): Promise<void> => {
      while (!state.over) {
        const { up, changes } = state;
        const answer = await rig.ask(...PASS);
        if (answer.status !== 200) counts.failed++;
        // What the platform's going cut off is not the breaker's.
        if (!up || state.changes !== changes) continue;
        counts.up++;
        if (answer.status === 200) counts.served++;
      }
    };
    const clients = [client(), client(), client(), client()];
    for (let i = 0; i < rounds; i++) {
      await sleep(1_000);
      state.changes++;
      state.up = false;
      await platform.down();
      await sleep(1_000);
      await platform.up();
      state.changes++;
      state.up = true;
    }
    await sleep(1_000);
    state.over = true;
    await Promise.all(clients);
    expect(counts.served / counts.up).toBeGreaterThanOrEqual(0.99);
    expect(counts.failed).toBeGreaterThan(rounds);
    expect(rig.lines.filter((line) => line.includes("answers nobody"))).toEqual([]);
    figure(
      "T-FLT-25",
      "success while the platform is up, a second up and a second down",
      counts.served / counts.up,
      "ratio",
    );
    figure("T-FLT-25", "requests made in that", counts.up, "requests");
  });
});
