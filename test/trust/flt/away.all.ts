/** When does the circuit breaker stay closed, although calls fail? (The whole carryover, in real time.) */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { later, type Rig, reasonOf, rigForTest, takeDownAfterEach } from "../../app/rig.ts";
import { createDouble, ok } from "../../listener/support/double.ts";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";
import { breaker, comingAndGoing, type Platform } from "./support/coming-and-going.ts";

takeDownAfterEach();

const PASS = ["GET", "/iam/v2beta1/groups/a/b"] as const;

async function stage(flags: Record<string, string> = {}): Promise<{ rig: Rig; platform: Platform }> {
  const platform = await comingAndGoing(ok('{"uid":"a/b","name":"a"}'));
  return { rig: await rigForTest({ v2Url: platform.url, native: false, flags }), platform };
}

describe("a platform that is away", () => {
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
