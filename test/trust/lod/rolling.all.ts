import { expect, it } from "vitest";
import { createSandbox } from "../../../sandbox/src/sandbox.ts";
import { later, takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { createBalancer } from "../../support/balancer.ts";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";
import { type Ask, asking, type Instance, serve, tally } from "./serving.ts";

takeDownAfterEach();

it("T-LOD-09: rolling restarts of two instances behind a balancer fail no request that may be repeated", async () => {
  const sandbox = createSandbox({ size: 500, latencyMs: 2 });
  later(sandbox.close);
  const { url: platform } = await sandbox.listen();
  const balancer = await createBalancer(100);
  later(balancer.close);
  const start = () => serve({ upstreamV2Url: platform, listenShutdownDelaySeconds: "1s" });
  const instances: Instance[] = [await start(), await start()];
  for (const instance of instances) balancer.add(instance);
  await balancer.allReady();

  const headers = { authorization: `Bearer ${sandbox.token("admin")}` };
  const { someGroup, emptyGroup } = sandbox.wellKnown;
  const groups = sandbox.snapshot().groups.length;
  const kinds: readonly Ask[] = [
    {
      method: "GET",
      path: "/iam/v1/groups",
      headers,
      fault: (status, text) => (status === 200 && JSON.parse(text).items.length === groups ? undefined : `${status}`),
    },
    { method: "GET", path: `/iam/v2beta1/groups/${someGroup}`, headers, fault: fine },
    { method: "PUT", path: `/iam/v1/groups/${emptyGroup}`, headers, body: ['{"name":"rolled"}'], fault: fine },
  ];
  const seen = kinds.map(() => tally());
  const done = { yet: false };
  const clients = kinds.flatMap((kind, at) =>
    Array.from({ length: 4 }, () =>
      asking(
        balancer.url,
        () => kind,
        () => done.yet,
        seen[at] ?? tally(),
      ),
    ),
  );
  const rounds = scale(2, 10);
  for (let round = 0; round < rounds; round++) {
    const old = instances[round % 2] as Instance;
    const before = seen.map(({ answers }) => answers);
    old.run.stop("SIGTERM");
    expect(await old.run.ended).toEqual({ code: 0, signal: null });
    balancer.remove(old);
    const fresh = await start();
    instances[round % 2] = fresh;
    balancer.add(fresh);
    await balancer.allReady();
    // Everybody was served on meanwhile.
    for (const [at, { answers }] of seen.entries()) expect(answers).toBeGreaterThan(before[at] ?? 0);
  }
  done.yet = true;
  await Promise.all(clients);
  expect(seen.flatMap(({ failures }) => failures)).toEqual([]);
  expect([balancer.refused(), seen.reduce((sum, one) => sum + one.refused, 0)]).toEqual([0, 0]);
  const answers = seen.reduce((sum, one) => sum + one.answers, 0);
  figure("T-LOD-09", "rounds of a rolling restart of two instances", rounds, "rounds");
  figure("T-LOD-09", "repeatable requests made meanwhile", answers, "requests");
  figure("T-LOD-09", "of them failed", seen.flatMap(({ failures }) => failures).length, "requests");
}, 600_000);

function fine(status: number): string | undefined {
  return status === 200 ? undefined : `${status}`;
}
