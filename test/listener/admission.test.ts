import { describe, expect, it } from "vitest";
import { createAdmission } from "../../src/listener/admission.ts";

/** An event loop whose turns end when told to, by a clock that goes when told to. */
function stage(inFlight = 1_000) {
  let at = 1_000_000;
  let next: (() => void)[] = [];
  const admission = createAdmission({ inFlight, now: () => at, nextTurn: (run) => next.push(run) });
  const on = {
    ask: (here = 500) => admission.refusal(here),
    wait: (ms: number) => {
      at += ms;
    },
    end: () => {
      const runs = next;
      next = [];
      for (const run of runs) run();
    },
    /** One that takes `ms`, with a request at its beginning. */
    turn: (ms: number) => {
      on.ask();
      on.wait(ms);
      on.end();
    },
    behind: () => {
      for (let i = 0; i < 6; i++) on.turn(25);
    },
    waiting: () => next.length,
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
    // The turn itself began with something else.
    on.wait(40);
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

  it("while few are here, for then it is not their number that holds things up", () => {
    const on = stage();
    on.behind();
    on.ask(100);
    on.wait(50);
    expect([on.ask(99), on.ask(100)]).toEqual([undefined, "shed-event-loop"]);
  });
});

describe("turns are measured", () => {
  it("once each, however many arrive in one, and not at all while few are here", () => {
    const on = stage();
    for (let i = 0; i < 50; i++) on.ask(99);
    expect(on.waiting()).toBe(0);
    for (let i = 0; i < 50; i++) on.ask(100);
    expect(on.waiting()).toBe(1);
  });

  it("for a while after the last of many, and what was the matter then is over", () => {
    const on = stage();
    on.behind();
    for (let i = 0; i < 200; i++) {
      on.wait(20);
      on.end();
    }
    expect(on.waiting()).toBe(0);
    on.ask();
    on.wait(50);
    expect(on.ask()).toBeUndefined();
  });
});
