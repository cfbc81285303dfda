import { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import { describe, expect, it } from "vitest";
import { Problem } from "../../src/model/problem.ts";
import { createLine } from "../../src/upstream/line.ts";

interface Sent {
  readonly path: string;
  readonly handler: Dispatcher.DispatchHandler;
}

const CONTROL = {} as Dispatcher.DispatchController;

/** A line before a platform that answers when told to, by a clock that goes when told to. */
function stage(connections = 1, waitMs = 1_000, thrownAtEnd?: Error) {
  let at = 1_000_000;
  const timers: { readonly due: number; readonly run: () => void }[] = [];
  const sent: Sent[] = [];
  const ends = new Map<string, string>();
  const dispatch = (options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) => {
    sent.push({ path: options.path, handler });
    return true;
  };
  const line = createLine({
    connections,
    waitMs,
    now: () => at,
    later: (ms, run) => {
      timers.push({ due: at + ms, run });
      return () => {};
    },
    dispatcher: () => ({ dispatch }) as unknown as Dispatcher,
  });
  return {
    sent: () => sent.map(({ path }) => path),
    ends,
    ask: (path: string, patient = false, body: Readable | null = null) =>
      line.dispatch(
        { path, method: "GET", body },
        {
          onResponseEnd: () => {
            if (thrownAtEnd !== undefined) throw thrownAtEnd;
            ends.set(path, "answered");
          },
          onResponseError: (_, error) => void ends.set(path, error instanceof Problem ? error.reason : String(error)),
        },
        patient,
      ),
    /** The oldest call that is under way ends. */
    end: async (error?: Error) => {
      const { handler } = sent[ends.size - refused(ends)] ?? {};
      if (error === undefined) handler?.onResponseEnd?.(CONTROL, {});
      else handler?.onResponseError?.(CONTROL, error);
      await Promise.resolve();
    },
    pass: async (ms: number) => {
      const until = at + ms;
      for (;;) {
        const next = timers.toSorted((one, other) => one.due - other.due)[0];
        if (next === undefined || next.due > until) break;
        at = Math.max(at, next.due);
        timers.splice(timers.indexOf(next), 1);
        next.run();
      }
      at = until;
      await Promise.resolve();
    },
    /** The process does nothing for that long, and then what is due first. */
    standStill: async (ms: number) => {
      at += ms;
      for (const timer of timers.splice(0)) {
        if (timer.due <= at) timer.run();
        else timers.push(timer);
      }
      await Promise.resolve();
    },
    timers: () => timers.length,
  };
}

const refused = (ends: Map<string, string>) => [...ends.values()].filter((end) => end === "OVERLOADED").length;

describe("a call", () => {
  it("goes out at once while there are connections, and in its order when one is free again", async () => {
    const on = stage(2);
    for (const path of ["a", "b", "c", "d"]) on.ask(path);
    expect(on.sent()).toEqual(["a", "b"]);
    await on.end();
    expect(on.sent()).toEqual(["a", "b", "c"]);
    await on.end(new Error("reset"));
    expect(on.sent()).toEqual(["a", "b", "c", "d"]);
  });

  it("T-LOD-05: that has waited too long is refused, was never sent, and those behind it have their own time", async () => {
    const on = stage();
    on.ask("a");
    on.ask("b");
    await on.pass(600);
    on.ask("c");
    await on.pass(400);
    expect([...on.ends]).toEqual([["b", "OVERLOADED"]]);
    await on.pass(599);
    expect(on.ends.size).toBe(1);
    await on.end();
    expect(on.sent()).toEqual(["a", "c"]);
    await on.pass(1_000);
    expect(on.ends.get("c")).toBeUndefined();
    expect(on.timers()).toBe(0);
  });

  it("has not waited while the process stood still, and what it has waited before counts", async () => {
    const on = stage();
    on.ask("a");
    on.ask("b");
    await on.pass(750);
    await on.standStill(5_000);
    await on.pass(100);
    expect(on.ends.size).toBe(0);
    await on.pass(150);
    expect([...on.ends]).toEqual([["b", "OVERLOADED"]]);
  });

  it("is not taken for longer because the process stood still meanwhile", async () => {
    const on = stage();
    on.ask("a");
    on.ask("b");
    await on.standStill(5_000);
    await on.end();
    on.ask("c");
    await on.pass(300);
    expect([...on.ends]).toEqual([
      ["a", "answered"],
      ["c", "OVERLOADED"],
    ]);
  });

  it("T-LOD-05: that would certainly wait too long is refused at once", async () => {
    const on = stage(1, 1_000);
    for (let i = 0; i < 12; i++) on.ask(`${i}`, true);
    // One answer in a tenth of a second, and nobody waits for more than two: who stands behind two comes to his turn in time.
    for (let i = 0; i < 9; i++) {
      await on.pass(100);
      await on.end();
    }
    on.ask("early");
    on.ask("late");
    expect(on.ends.has("late")).toBe(false);
    await Promise.resolve();
    expect([on.ends.get("early"), on.ends.get("late")]).toEqual([undefined, "OVERLOADED"]);
  });

  it.each([
    ["a fifth of the longest time, where calls are short", 20, 200],
    ["twice what a call usually takes", 300, 600],
    ["the longest time, where calls take longer still", 900, 1_000],
  ])("T-LOD-05: waits %s", async (_, usual, limit) => {
    const on = stage();
    on.ask("a");
    await on.pass(usual);
    await on.end();
    on.ask("b");
    on.ask("c");
    await on.pass(limit - 1);
    expect(on.ends.has("c")).toBe(false);
    await on.pass(1);
    expect(on.ends.get("c")).toBe("OVERLOADED");
  });

  it("of a request that has been begun waits as long as it takes, and is not passed by", async () => {
    const on = stage();
    on.ask("a");
    on.ask("further", true);
    on.ask("b");
    await on.pass(5_000);
    expect([...on.ends]).toEqual([["b", "OVERLOADED"]]);
    on.ask("c");
    await on.end();
    expect(on.sent()).toEqual(["a", "further"]);
  });

  it("whose caller has left while it waited is never sent, costs no connection, and its body is let go", async () => {
    const on = stage();
    const body = new Readable({ read: () => {} });
    on.ask("a");
    const giveUp = on.ask("b", false, body);
    on.ask("c");
    giveUp();
    giveUp();
    expect(body.destroyed).toBe(true);
    await on.end();
    expect(on.sent()).toEqual(["a", "c"]);
    expect(on.ends.has("b")).toBe(false);
  });

  it("keeps its order and its place over thousands of others that come and leave", async () => {
    const on = stage();
    on.ask("first");
    for (let i = 0; i < 5_000; i++) {
      const giveUp = on.ask(`left ${i}`);
      if (i % 2_500 === 1) on.ask(`stays ${i}`);
      giveUp();
    }
    for (let i = 0; i < 3; i++) await on.end();
    expect(on.sent()).toEqual(["first", "stays 1", "stays 2501"]);
  });

  it("whose handler throws at its end, and is told of that as an error, gives its place back once", async () => {
    const on = stage(1, 1_000, new Error("handler"));
    on.ask("a");
    await expect(on.end()).rejects.toThrow("handler");
    await on.end(new Error("handler"));
    for (const path of ["b", "c", "d"]) on.ask(path);
    expect(on.sent()).toEqual(["a", "b"]);
  });
});
