import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { figure } from "../../support/figures.ts";
import { randomOf } from "../../support/random.mjs";
import { scale } from "../../support/scale.ts";
import { bytesOf, dial, type Errand, emptyTally, lane, type Tally, takeAnswer } from "./support/client.ts";
import { type MarkerPlatform, markerPlatform } from "./support/platform.ts";
import { errandOf, type Through, through } from "./support/rig.ts";
import { seedOf, type Tenant, tenants } from "./support/tenants.ts";

takeDownAfterEach();

const ALL = tenants(20);

/** Where a request was cut. */
type Cut = "in its request" | "before its answer" | "in its answer" | "behind its answer";

/** Sends `text` up to a byte, or takes the answer up to a byte, and hangs up: by a reset or by an end. */
function cutOff(port: number, text: string, random: () => number): Promise<Cut> {
  const socket = dial(port);
  const leave = (): void => void (random() < 0.5 ? socket.resetAndDestroy() : socket.destroy());
  return new Promise((resolve) => {
    const over = (cut: Cut) => {
      leave();
      resolve(cut);
    };
    if (random() < 0.3) {
      const sent = text.slice(0, 1 + Math.floor(random() * (text.length - 1)));
      socket.write(sent, "latin1", () => setTimeout(() => over("in its request"), Math.floor(random() * 3)));
      return;
    }
    socket.write(text, "latin1");
    if (random() < 0.3) {
      setTimeout(() => over("before its answer"), Math.floor(random() * 6));
      return;
    }
    takeUpTo(socket, 1 + Math.floor(random() ** 2 * 900), over);
  });
}

function takeUpTo(socket: Socket, most: number, over: (cut: Cut) => void): void {
  let taken: Buffer = Buffer.alloc(0);
  socket.on("data", (piece: Buffer) => {
    taken = Buffer.concat([taken, piece]);
    const whole = takeAnswer(taken);
    if (whole !== undefined && whole.size <= most) over("behind its answer");
    else if (taken.length >= most) over("in its answer");
  });
  socket.once("close", () => over("behind its answer"));
}

/** Clients that stay, on connections that are kept: what they get is looked through until `until` says that it is enough. */
async function watchers(
  count: number,
  through: Through,
  tally: Tally,
  make: () => Errand,
  until: () => boolean,
): Promise<void> {
  let ids = 0;
  const newId = ({ marker }: Tenant) => `${marker}-w${++ids}`;
  const lanes = Array.from({ length: count }, () => lane(through.port, tally, newId));
  await Promise.all(
    lanes.map(async (one) => {
      while (!until() && tally.wrong.length < 20) await one.run([make()]);
      one.leave();
    }),
  );
}

/** Everything is as if no call had ever been made. */
async function settled({ adminUrl }: Through, platform: MarkerPlatform): Promise<void> {
  const gauge = (text: string, name: string) =>
    Number(new RegExp(`^${name}(?:\\{.*\\})? (\\d+)$`, "m").exec(text)?.[1]);
  for (let looks = 0; looks < 500; looks++) {
    const text = await (await fetch(`${adminUrl}/metrics`)).text();
    if (gauge(text, "carryover_in_flight_requests") === 0) break;
    await sleep(20);
  }
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  expect(gauge(text, "carryover_in_flight_requests")).toBe(0);
  expect(platform.mostConnections()).toBeLessThanOrEqual(8 + 4 + 8 + 8);
}

describe("a storm of clients that hang up", () => {
  it("T-ISO-06: whoever stays gets nothing but its own", { timeout: 1_800_000 }, async () => {
    const cuts = scale(150, 10_000);
    const random = randomOf(seedOf("T-ISO-06"));
    const platform = await markerPlatform({ random, delay: (next) => (next() < 0.5 ? Math.floor(next() * 8) : 0) });
    const carried = await through(platform);
    const tally = emptyTally();
    const made = new Map<Cut, number>();
    const state = { begun: 0, over: 0 };
    const storm = Array.from({ length: 24 }, async () => {
      while (state.begun < cuts) {
        const id = `storm-${++state.begun}`;
        const cut = await cutOff(carried.port, bytesOf(errandOf(ALL, random), id), random);
        made.set(cut, (made.get(cut) ?? 0) + 1);
      }
      state.over++;
    });
    const make = () => errandOf(ALL, random);
    await Promise.all([...storm, watchers(12, carried, tally, make, () => state.over === storm.length)]);
    // And behind the storm: connections that it left in a wrong state would tell now.
    const enough = tally.answers + scale(150, 500);
    await watchers(12, carried, tally, make, () => tally.answers >= enough);
    expect(tally.wrong).toEqual([]);
    console.info(`T-ISO-06: ${JSON.stringify([...made])}`);
    for (const cut of ["in its request", "before its answer", "in its answer"] as const) {
      expect([cut, (made.get(cut) ?? 0) > cuts / 20]).toEqual([cut, true]);
    }
    expect(carried.ended.aborted).toBeGreaterThan(cuts / 20);
    expect(carried.ended.internal).toBe(0);
    await settled(carried, platform);
    figure("T-ISO-06", "requests cut at a random byte", state.begun, "requests");
    figure("T-ISO-06", "answers looked through meanwhile and afterwards", tally.answers, "answers");
    figure("T-ISO-06", "foreign markers and tokens found", tally.wrong.length, "markers");
  });
});

describe("a platform that answers too late, or twice", () => {
  it("T-ISO-07: nobody gets what was meant for a request that is over", { timeout: 1_800_000 }, async () => {
    const total = scale(400, 50_000);
    const random = randomOf(seedOf("T-ISO-07"));
    const platform = await markerPlatform({
      random,
      // Some beyond the client's patience, some beyond carryover's own; and some answers come a second time.
      delay: (next) => (next() < 0.1 ? 30 + Math.floor(next() * 120) : Math.floor(next() * 3)),
      twice: (next) => next() < 0.03,
    });
    const carried = await through(platform, {
      upstreamV2TimeoutsHeadersSeconds: "0.1",
      upstreamV1TimeoutsHeadersSeconds: "0.1",
    });
    const tally = emptyTally();
    const make = (): Errand => {
      const errand = errandOf(ALL, random);
      const patience = random() < 0.3 ? "Grpc-Timeout: 40m\r\n" : "";
      // 502: a connection that an answer too many had made unfit just when a write took it. 503: its time was over in the queue.
      const late = [...errand.statuses, 504, 503, 502];
      return { ...errand, statuses: late, fields: `${errand.fields ?? ""}${patience}` };
    };
    await watchers(24, carried, tally, make, () => tally.answers >= total);
    expect(tally.wrong).toEqual([]);
    // There were late ones of both kinds, and answers for most.
    expect(tally.byStatus.get(504) ?? 0).toBeGreaterThan(total / 100);
    expect(tally.byStatus.get(200) ?? 0).toBeGreaterThan(total / 2);
    expect(tally.byStatus.get(502) ?? 0).toBeLessThan(total / 10);
    expect(carried.ended.internal).toBe(0);
    await settled(carried, platform);
    figure("T-ISO-07", "answers looked through while the platform answered late or twice", tally.answers, "answers");
    figure("T-ISO-07", "requests whose answer came too late", tally.byStatus.get(504) ?? 0, "requests");
    figure("T-ISO-07", "foreign markers and tokens found", tally.wrong.length, "markers");
  });
});
