/** A clock that goes as fast as it can: whenever nothing happens any more, the next timer is due. */

import type { Time } from "../../../src/model/clock.ts";
import { createSignalController } from "../../../src/model/signal.ts";
import { fakeClock, settled } from "../../upstream/clock.ts";

export interface FastClock extends Time {
  /** A pause that is never cancelled. */
  wait(ms: number): Promise<void>;
}

/** Turns of the event loop without a request for the time, before time advances. */
const QUIET_TURNS = 20;

/** Pauses cost no time, and are as long as they say on this clock, however busy the machine is. */
export function fastClock(): FastClock {
  const clock = fakeClock();
  let running = false;
  let quiet = 0;
  const run = async (): Promise<void> => {
    while (clock.timers() > 0) {
      for (quiet = 0; quiet < QUIET_TURNS; quiet++) await settled();
      await clock.next();
    }
    running = false;
  };
  const start = (): void => {
    if (running) return;
    running = true;
    void run();
  };
  const now = (): number => {
    quiet = 0;
    return clock.now();
  };
  const sleep: Time["sleep"] = (ms, signal) => {
    const slept = clock.sleep(ms, signal);
    start();
    return slept;
  };
  return {
    now,
    wall: () => Date.UTC(2026, 10, 21) + now(),
    later: (ms, then) => {
      const stop = clock.later(ms, then);
      start();
      return stop;
    },
    sleep,
    wait: (ms) => sleep(ms, createSignalController().signal),
  };
}
