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
    turn: (ms: number, here?: number) => {
      on.ask(here);
      on.wait(ms);
      on.end();
    },
    behind: () => {
      for (let i = 0; i < 5; i++) on.turn(25);
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

  it("T-LOD-05: while there is room in spite of being behind, and refused beyond it; fewer as long as turns take long", () => {
    const on = stage();
    on.behind();
    // 500 made turns of 25 ms; 100 are expected to make one of 5.
    expect([on.ask(99), on.ask(100), on.ask(101)]).toEqual([undefined, "shed-event-loop", "shed-event-loop"]);
    on.wait(25);
    on.end();
    expect([on.ask(94), on.ask(95)]).toEqual([undefined, "shed-event-loop"]);
  });

  it("T-LOD-05: more as soon as turns are short", () => {
    const on = stage();
    on.behind();
    for (let i = 0; i < 10; i++) on.turn(2, 110);
    expect([on.ask(259), on.ask(260)]).toEqual([undefined, "shed-event-loop"]);
  });

  it("T-LOD-05: again, all of them, when for a tenth of a second none had to be refused", () => {
    const on = stage();
    on.behind();
    expect(on.ask(999)).toBe("shed-event-loop");
    on.wait(5);
    on.end();
    for (let i = 0; i < 19; i++) on.turn(5, 50);
    expect(on.ask(999)).toBe("shed-event-loop");
    for (let i = 0; i < 21; i++) {
      on.wait(5);
      on.end();
      on.ask(50);
    }
    expect(on.ask(999)).toBeUndefined();
  });

  it("while few are here, for then it is not their number that holds things up", () => {
    const on = stage();
    for (let i = 0; i < 20; i++) on.turn(50, 99);
    expect(on.ask(99)).toBeUndefined();
    on.behind();
    for (let i = 0; i < 100; i++) on.turn(50);
    expect([on.ask(9), on.ask(10)]).toEqual([undefined, "shed-event-loop"]);
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
