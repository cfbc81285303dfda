import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { createViewers } from "../../src/admin/viewers.ts";

/** A response that reads when it is told to. */
function viewer() {
  const made = Object.assign(new EventEmitter(), {
    written: [] as string[],
    writableNeedDrain: false,
    isEnded: false,
    writeHead: () => made,
    write: (text: string | Uint8Array) => made.written.push(Buffer.from(text).toString()) > 0,
    destroy: () => {
      made.isEnded = true;
      made.emit("close");
    },
  });
  return made;
}

/** `text`: what changed, and what the whole page is, in this turn. */
function stage(text: (query: string) => { readonly changes: string; readonly whole: string }, restMs = 0) {
  const clock = { now: 0, turns: 0, asked: [] as string[], faults: [] as unknown[] };
  const timers: { at: number; run: () => void }[] = [];
  const last = new Map<string, number>();
  const viewers = createViewers({
    news: async (turn, asked) => {
      clock.turns += 1;
      const found = asked.map(({ query, have }) => {
        const { changes, whole } = text(query);
        const before = last.get(query);
        last.set(query, turn);
        clock.asked.push(query);
        const isWhole = have.some((one) => one !== before);
        return { query, before, changes: Buffer.from(changes), whole: isWhole ? Buffer.from(whole) : undefined };
      });
      return { found, restMs };
    },
    later: (ms, run) => {
      const timer = { at: clock.now + ms, run };
      timers.push(timer);
      return () => void timers.splice(timers.indexOf(timer), 1);
    },
    now: () => clock.now,
    pause: async () => {},
    failed: (error) => clock.faults.push(error),
  });
  const pass = async (ms: number): Promise<void> => {
    const end = clock.now + ms;
    for (;;) {
      const next = timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      timers.splice(timers.indexOf(next), 1);
      clock.now = Math.max(clock.now, next.at);
      next.run();
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    }
    clock.now = Math.max(clock.now, end);
  };
  const join = (query = "", isAllowed = () => true) => {
    const one = viewer();
    const isIn = viewers.join(one as unknown as ServerResponse, query, isAllowed);
    return { one, isIn };
  };
  return { clock, viewers, pass, join, timers };
}

describe("open pages", () => {
  const SAME = () => ({ changes: "", whole: "whole" });

  test("of one query share what is made once per second: all of the page first, then what changed", async () => {
    let changes = "";
    const { clock, pass, join } = stage(() => ({ changes, whole: "whole" }));
    const [first, second] = [join(), join()];
    await pass(1_000);
    expect(clock.asked).toEqual([""]);
    changes = "b";
    await pass(1_000);
    expect(clock.asked).toEqual(["", ""]);
    const third = join();
    await pass(1_000);
    for (const { one } of [first, second]) expect(one.written.slice(1)).toEqual(["whole", "b", "b"]);
    expect(third.one.written.slice(1)).toEqual(["whole"]);
  });

  test("of several queries are asked for together, and each gets what it asked for", async () => {
    const { clock, pass, join } = stage((query) => ({ changes: "", whole: `whole ${query}` }));
    const [first, second] = [join("a=1"), join("b=2")];
    await pass(1_000);
    expect(clock.turns).toBe(1);
    expect([first, second].map(({ one }) => one.written.at(-1))).toEqual(["whole a=1", "whole b=2"]);
  });

  test("get all of the page again after a turn that they could not read", async () => {
    const { pass, join } = stage(() => ({ changes: "b", whole: "whole" }));
    const { one } = join();
    await pass(1_000);
    one.writableNeedDrain = true;
    await pass(1_000);
    one.writableNeedDrain = false;
    await pass(2_000);
    expect(one.written.slice(1)).toEqual(["whole", "whole", "b"]);
  });

  test("hear a heartbeat well below 30 s where nothing changes", async () => {
    const { pass, join } = stage(SAME);
    const { one } = join();
    await pass(60_000);
    expect(one.written.filter((text) => text === ":\n\n").length).toBeGreaterThanOrEqual(3);
  });

  test("are told less often where that takes long", async () => {
    const { clock, pass, join } = stage(SAME, 10_000);
    join();
    await pass(60_500);
    expect(clock.turns).toBe(6);
  });

  test("are dropped if they do not read for ten seconds, and then cost nothing", async () => {
    const { pass, join, viewers, timers } = stage(SAME);
    const { one } = join();
    await pass(1_000);
    one.writableNeedDrain = true;
    await pass(13_000);
    expect([one.isEnded, viewers.count()]).toEqual([true, 0]);
    await pass(5_000);
    expect(timers).toEqual([]);
  });

  test("end when they may no longer see the page", async () => {
    let isAllowed = true;
    const { pass, join, viewers } = stage(SAME);
    join("", () => isAllowed);
    await pass(1_000);
    isAllowed = false;
    await pass(1_000);
    expect(viewers.count()).toBe(0);
  });

  test("go on after a rendering that failed", async () => {
    let isBroken = true;
    const { clock, pass, join } = stage(() => {
      if (isBroken) throw new Error("no store");
      return SAME();
    });
    const { one } = join();
    await pass(1_000);
    expect(clock.faults).toHaveLength(1);
    isBroken = false;
    await pass(20_000);
    expect(one.written.join("")).toContain("whole");
  });
});
