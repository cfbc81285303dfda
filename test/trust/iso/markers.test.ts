import { describe, expect, it } from "vitest";
import { takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { figure } from "../../support/figures.ts";
import { randomOf } from "../../support/random.mjs";
import { scale } from "../../support/scale.ts";
import { emptyTally, type Lane, lane } from "./support/client.ts";
import { markerPlatform } from "./support/platform.ts";
import { errandOf, errandsOfEachKind, through } from "./support/rig.ts";
import { lookThrough, seedOf, type Tenant, tenants } from "./support/tenants.ts";

takeDownAfterEach();

const LANES = 48;

describe("200 tenants at the same time", () => {
  it("T-ISO-01: no answer holds anything of another tenant, or any token", { timeout: 3_600_000 }, async () => {
    const total = scale(600, 1_000_000);
    const random = randomOf(seedOf("T-ISO-01"));
    const platform = await markerPlatform({ random, delay: (next) => (next() < 0.3 ? 1 + Math.floor(next() * 4) : 0) });
    const { port, ended } = await through(platform);
    const all = tenants(200);
    const tally = emptyTally();
    let ids = 0;
    const newId = ({ marker }: Tenant) => `${marker}-${++ids}`;
    const first = errandsOfEachKind(all[0] as Tenant, random);
    const lanes: Lane[] = Array.from({ length: LANES }, () => lane(port, tally, newId));
    await Promise.all(
      lanes.map(async (one, at) => {
        // Every fourth connection sends three requests at a time, each of another tenant.
        const batch = at % 4 === 0 ? 3 : 1;
        // However few requests there are, some are of each kind.
        if (first[at] !== undefined) await one.run([first[at]]);
        while (tally.answers < total && tally.wrong.length < 20) {
          await one.run(Array.from({ length: batch }, () => errandOf(all, random)));
        }
        one.leave();
      }),
    );
    expect(tally.wrong).toEqual([]);
    expect(tally.answers).toBeGreaterThanOrEqual(total);
    expect(tally.byKind.size).toBeGreaterThanOrEqual(9);
    // There was something to confuse: every tenant's answers hold its marker, over a handful of connections.
    expect(tally.own).toBeGreaterThan(tally.answers);
    expect(platform.mostConnections()).toBeLessThanOrEqual(8 + 4 + 8);
    expect(ended.internal).toBe(0);
    figure("T-ISO-01", "answers looked through for foreign markers", tally.answers, "answers");
    figure("T-ISO-01", "bytes of answers looked through", tally.bytes, "bytes");
    figure("T-ISO-01", "foreign markers and tokens found", tally.wrong.length, "markers");
  });
});

describe("the look itself", () => {
  it("finds a foreign marker and any token, wherever they stand", () => {
    const own = "mk-00a1";
    expect(lookThrough(`{"uid":"${own}/g","name":"${own}"}`, own)).toEqual({ own: 2, foreign: [] });
    expect(lookThrough(`${own} mk-00a2${own}mk-00a`, own)).toEqual({ own: 2, foreign: ["mk-00a2", "mk-00a"] });
    expect(lookThrough(`Bearer ${tenants(2)[1]?.token}`, own).foreign).toEqual(["a token"]);
  });
});
