import { expect, test, vi } from "vitest";
import { sleep } from "../../src/model/clock.ts";
import { createSignalController } from "../../src/model/signal.ts";

test("a pause ends when its time is over, and not before", async () => {
  vi.useFakeTimers();
  try {
    let over = false;
    void sleep(100, createSignalController().signal).then(() => {
      over = true;
    });
    await vi.advanceTimersByTimeAsync(99);
    expect(over).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(over).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});

test("a pause is given up with the signal's reason, also when that was given before", async () => {
  const { signal, abort } = createSignalController();
  const waiting = sleep(60_000, signal);
  abort("left");
  await expect(waiting).rejects.toBe("left");
  await expect(sleep(60_000, signal)).rejects.toBe("left");
});
