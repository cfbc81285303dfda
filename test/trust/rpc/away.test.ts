/** A platform that refuses calls, or comes and goes. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { answered, framed, open, platform, session, unary } from "../../grpc/support/rpc.ts";
import { startCarryover } from "../../support/carryover.ts";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";
import { later, takeDownAfterEach } from "../../support/take-down.ts";

takeDownAfterEach();

const V2 = "/acme.platform.iam.v2beta1.GroupsService/ListGroups";
const BUSY = unary(() => [], { "grpc-status": "14", "grpc-message": "busy" });

async function through(url: string) {
  const started = await startCarryover({ v2Url: url, flags: { listenGrpcPort: "0" } });
  later(started.close);
  const on = session(started.grpcUrl ?? "");
  return (): Promise<number | undefined> => {
    const stream = open(on, V2);
    stream.end(framed(Buffer.from("x")));
    return answered(stream).then(({ status }) => status);
  };
}

it.each([
  ["UNAVAILABLE", BUSY, 1, "calls for each call that the platform answers UNAVAILABLE"],
  [
    "REFUSED_STREAM",
    (stream: Parameters<typeof BUSY>[0]) => stream.close(7),
    2,
    "calls for each call that the platform refuses unread",
  ],
])(
  "T-RPC-28: a platform that says %s for ever gets hardly more calls than clients make",
  {
    timeout: 120_000,
  },
  async (_, serve, most, what) => {
    const behind = await platform(serve);
    const make = await through(behind.url);
    const total = scale(200, 6_000);
    let asked = 0;
    const client = async (): Promise<void> => {
      while (asked++ < total) expect(await make()).toBe(14);
    };
    await Promise.all(Array.from({ length: 50 }, client));
    expect(behind.heads.length).toBeLessThanOrEqual(total * most);
    figure("T-RPC-28", what, behind.heads.length / total, "ratio");
  },
);

it("T-RPC-29: a platform that comes and goes is used while it is up", { timeout: 120_000 }, async () => {
  const behind = await platform(unary((request) => [request]));
  const { port } = new URL(behind.url);
  const make = await through(behind.url);
  const sessions = new Set<{ destroy(): void }>();
  behind.server.on("session", (one) => sessions.add(one));
  const times: number[] = [];
  const down = new Set<number | undefined>();
  expect(await make()).toBe(0);
  for (let round = 0; round < scale(2, 10); round++) {
    await new Promise<void>((resolve) => {
      behind.server.close(() => resolve());
      for (const one of sessions) one.destroy();
      sessions.clear();
    });
    const away = performance.now() + 2_000;
    while (performance.now() < away) {
      down.add(await make());
      await sleep(20);
    }
    behind.server.listen(Number(port), "127.0.0.1");
    const back = performance.now();
    while ((await make()) !== 0) await sleep(10);
    times.push(performance.now() - back);
    for (let i = 0; i < 20; i++) expect(await make()).toBe(0);
  }
  expect([...down]).toEqual([14]);
  expect(Math.max(...times)).toBeLessThan(5_000);
  figure("T-RPC-29", "time until a platform that is back is used again, after 2 s away", Math.max(...times), "ms");
});
