import { expect, test } from "vitest";
import { createSignalController } from "../../src/model/signal.ts";
import { createReplayPace } from "../../src/replay/pace.ts";

const { signal } = createSignalController();

function paced(rate: number) {
  let at = 0;
  const pace = createReplayPace({
    rate,
    now: () => at,
    wall: () => at,
    sleep: async (ms) => {
      at += ms;
    },
  });
  /** The times of so many turns. */
  const turns = async (count: number): Promise<number[]> => {
    const times: number[] = [];
    for (let turn = 0; turn < count; turn++) {
      await pace.turn(signal);
      times.push(Math.round(at));
    }
    return times;
  };
  const refuse = (status: number, after?: string) =>
    pace.observe({ status, headers: after === undefined ? [] : [["retry-after", after]] });
  return { pace, turns, refuse };
}

test("requests begin at the rate", async () => {
  expect(await paced(10).turns(4)).toEqual([0, 100, 200, 300]);
});

test("nothing begins for as long as the platform asks, and then at half the rate", async () => {
  const { turns, refuse, pace } = paced(10);
  await turns(1);
  refuse(429, "3");
  // Others in flight were refused by the same limit.
  refuse(429, "2");
  refuse(503, "3");
  expect([pace.pause(), pace.rate(), pace.slowed()]).toEqual([3000, 5, 1]);
  expect(await turns(3)).toEqual([3000, 3200, 3400]);
});

test("without Retry-After the pause doubles with each refusal; a single 503 is no limit", async () => {
  const { turns, refuse, pace } = paced(10);
  refuse(503);
  expect(pace.pause()).toBe(0);
  const pauses: number[] = [];
  for (let time = 0; time < 3; time++) {
    refuse(429);
    pauses.push(pace.pause());
    await turns(1);
  }
  expect(pauses).toEqual([1000, 2000, 4000]);
});

test("a Retry-After of a day does not stop the replay for a day, and the rate comes back", async () => {
  const { turns, refuse, pace } = paced(10);
  refuse(429, "86400");
  expect(pace.pause()).toBe(300_000);
  await turns(1);
  expect(pace.rate()).toBe(5);
  await turns(1000);
  expect(pace.rate()).toBe(10);
});
