import { describe, expect, it } from "vitest";
import { createAdmission } from "../../src/listener/admission.ts";

/** An event loop whose turns end when told to, by a clock that goes when told to. */
function stage(inFlight = 1_000) {
  let at = 1_000_000;
  let ends: (() => void)[] = [];
  const admission = createAdmission({ inFlight, now: () => at, atEndOfTurn: (run) => ends.push(run) });
  const on = {
    ask: (here = 500) => admission.refusal(here),
    wait: (ms: number) => {
      at += ms;
    },
    end: () => {
      for (const run of ends) run();
      ends = [];
    },
    /** One in which a request arrives at once, and the rest takes `ms`. */
    turn: (ms: number, here = 500) => {
      const refusal = on.ask(here);
      on.wait(ms);
      on.end();
      return refusal;
    },
    behind: () => {
      for (let i = 0; i < 6; i++) on.turn(25);
    },
    waiting: () => ends.length,
  };
  return on;
}

describe("a request is let in", () => {
  it("below the limit, and refused at it", () => {
    const on = stage(3);
    expect([on.ask(0), on.ask(2), on.ask(3), on.ask(4)]).toEqual([
      undefined,
      undefined,
      "shed-in-flight",
      "shed-in-flight",
    ]);
  });

  it("in a turn of the event loop that takes long once, as with a burst or the collector", () => {
    const on = stage();
    on.ask();
    on.wait(400);
    expect(on.ask()).toBeUndefined();
    on.end();
    on.ask();
    on.wait(50);
    expect(on.ask()).toBeUndefined();
  });

  it("T-LOD-05: at the beginning of a turn, however far behind the event loop is; the rest of a long turn is refused", () => {
    const on = stage();
    on.behind();
    expect(on.ask()).toBeUndefined();
    on.wait(9);
    expect(on.ask()).toBeUndefined();
    on.wait(1);
    expect([on.ask(), on.ask()]).toEqual(["shed-event-loop", "shed-event-loop"]);
    on.end();
    expect(on.ask()).toBeUndefined();
  });

  it("T-LOD-05: again as soon as one turn was short", () => {
    const on = stage();
    on.behind();
    on.turn(9);
    on.ask();
    on.wait(50);
    expect(on.ask()).toBeUndefined();
  });

  it("when nothing had arrived for a while: what was the matter is over", () => {
    const on = stage();
    on.behind();
    on.wait(5_000);
    on.ask();
    on.wait(50);
    expect(on.ask()).toBeUndefined();
  });

  it("while few are here, for then it is not their number that holds things up", () => {
    const on = stage();
    on.behind();
    on.ask(99);
    on.wait(50);
    expect([on.ask(99), on.ask(100)]).toEqual([undefined, "shed-event-loop"]);
  });
});

it("a turn is looked at once, however many arrive in it", () => {
  const on = stage();
  for (let i = 0; i < 50; i++) on.ask();
  expect(on.waiting()).toBe(1);
});
