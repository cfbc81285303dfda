import { describe, expect, it } from "vitest";
import { createProcessorShare } from "../../src/edge/processor-share.ts";
import { createSignalController } from "../../src/model/signal.ts";
import { fakeClock, watchedStopper } from "../upstream/clock.ts";

const { signal } = createSignalController();

/** Work moves the clock by what it takes. */
function stage() {
  const clock = fakeClock();
  let spent = 0;
  const now = (): number => clock.now() + spent;
  const duty = createProcessorShare(now, clock.later);
  const began: number[] = [];
  const work = (ms: number) => (): number => {
    began.push(now());
    spent += ms;
    return ms;
  };
  return { clock, duty, began, work };
}

describe("callers that the platform has not accepted yet", () => {
  it("take turns: after each piece of work the next one waits five times as long as that took", async () => {
    const { clock, duty, began, work } = stage();
    for (const ms of [10, 20, 1]) void duty.run(signal, work(ms));
    await clock.pass(1_000);
    // It ended at 10 and 80.
    expect(began).toEqual([0, 60, 180]);
  });

  it("do not wait where nobody has worked", async () => {
    const { clock, duty, began, work } = stage();
    expect(await duty.run(signal, work(10))).toBe(10);
    await clock.pass(50);
    void duty.run(signal, work(1));
    expect(began).toEqual([0, 60]);
  });

  it("pay for what is known to follow as well", async () => {
    const { clock, duty, began, work } = stage();
    void duty.run(signal, work(0), 4);
    void duty.run(signal, work(0));
    await clock.pass(1_000);
    expect(began).toEqual([0, 20]);
  });

  it("hear of what their work throws, and the next one goes on", async () => {
    const { duty } = stage();
    const fails = duty.run(signal, () => {
      throw new Error("broken");
    });
    await expect(fails).rejects.toThrow("broken");
    await expect(duty.run(signal, () => 1)).resolves.toBe(1);
  });

  it("leave the line with the signal's reason", async () => {
    const { clock, duty, began, work } = stage();
    void duty.run(signal, work(10));
    const stopper = watchedStopper();
    const waits = duty.run(stopper.signal, work(1));
    void duty.run(signal, work(2));
    stopper.abort("over");
    await expect(waits).rejects.toBe("over");
    await clock.pass(1_000);
    expect(began).toEqual([0, 60]);
    await expect(duty.run(stopper.signal, work(1))).rejects.toBe("over");
  });
});
