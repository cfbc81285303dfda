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
    write: (text: string) => made.written.push(text) > 0,
    destroy: () => {
      made.isEnded = true;
      made.emit("close");
    },
  });
  return made;
}

function stage(parts: (query: string) => ReadonlyMap<string, string>, renderMs = 0) {
  const clock = { now: 0, rendered: 0, faults: [] as unknown[] };
  const timers: { at: number; run: () => void }[] = [];
  const viewers = createViewers({
    parts: async (query) => {
      clock.rendered += 1;
      clock.now += renderMs;
      return parts(query);
    },
    later: (ms, run) => {
      const timer = { at: clock.now + ms, run };
      timers.push(timer);
      return () => void timers.splice(timers.indexOf(timer), 1);
    },
    now: () => clock.now,
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
  test("of one query share a rendering per second, and get only the parts that changed", async () => {
    let text = "a";
    const { clock, pass, join } = stage(
      () =>
        new Map([
          ["rules", text],
          ["load", "same"],
        ]),
    );
    const [first, second] = [join(), join()];
    await pass(1_000);
    expect(clock.rendered).toBe(1);
    text = "b";
    await pass(1_000);
    expect(clock.rendered).toBe(2);
    for (const { one } of [first, second]) {
      expect(one.written.at(-1)).toBe('event: part\ndata: {"id":"rules","html":"b"}\n\n');
    }
  });

  test("get a large part every ten seconds at most, and then as it is", async () => {
    const large = { turn: 0 };
    const { pass, join } = stage(() => new Map([["progress", `${large.turn++} ${"x".repeat(30_000)}`]]));
    const { one } = join();
    await pass(21_500);
    const turns = one.written.flatMap((text) => /"html":"(\d+) /.exec(text)?.[1] ?? []);
    expect(turns).toEqual(["0", "10", "20"]);
  });

  test("hear a heartbeat well below 30 s where nothing changes", async () => {
    const { pass, join } = stage(() => new Map([["rules", "a"]]));
    const { one } = join();
    await pass(60_000);
    expect(one.written.filter((text) => text === ":\n\n").length).toBeGreaterThanOrEqual(3);
  });

  test("are rendered less often where a rendering takes long: a twentieth of the time at most", async () => {
    const { clock, pass, join } = stage(() => new Map(), 500);
    join();
    await pass(60_000);
    expect(clock.rendered * 500).toBeLessThanOrEqual(60_000 / 20 + 500);
  });

  test("are dropped if they do not read for ten seconds, and then cost nothing", async () => {
    const { pass, join, viewers, timers } = stage(() => new Map([["rules", "a"]]));
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
    const { pass, join, viewers } = stage(() => new Map());
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
      return new Map([["rules", "a"]]);
    });
    const { one } = join();
    await pass(1_000);
    expect(clock.faults).toHaveLength(1);
    isBroken = false;
    await pass(20_000);
    expect(one.written.join("")).toContain('"rules"');
  });
});
