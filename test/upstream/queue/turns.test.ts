import { expect, test } from "vitest";
import { createPageTurns } from "../../../src/upstream/list-queue.ts";

/** Without short work. */
const never = () => Number.NEGATIVE_INFINITY;

/** A loop whose turns a test takes. */
function loop() {
  const queue: (() => void)[] = [];
  return {
    next: (run: () => void) => void queue.push(run),
    /** Runs what stands there now, and what follows from it at once. */
    async turn() {
      for (const run of queue.splice(0)) run();
      await new Promise((resolve) => setImmediate(resolve));
    },
    waiting: () => queue.length,
  };
}

test("one page a turn of the loop, in the order of asking", async () => {
  const { next, turn } = loop();
  const take = createPageTurns(() => 0, never, next);
  const made: string[] = [];
  for (const name of ["a", "b", "c"]) void take().then(() => made.push(name));
  expect(made).toEqual([]);
  await turn();
  expect(made).toEqual(["a"]);
  await turn();
  expect(made).toEqual(["a", "b"]);
  void take().then(() => made.push("d"));
  await turn();
  await turn();
  expect(made).toEqual(["a", "b", "c", "d"]);
});

test("nothing is left behind, and it begins again", async () => {
  const { next, turn, waiting } = loop();
  const take = createPageTurns(() => 0, never, next);
  const first = take();
  await turn();
  await first;
  await turn();
  expect(waiting()).toBe(0);
  const second = take();
  expect(waiting()).toBe(1);
  await turn();
  await second;
});

test("while the loop has other work, that has as long as the page before", async () => {
  const { next, turn } = loop();
  const clock = { now: 0 };
  const take = createPageTurns(() => clock.now, never, next);
  const made: number[] = [];
  const page = () =>
    void take().then(() => {
      made.push(clock.now);
      clock.now += 4;
    });
  for (let i = 0; i < 3; i++) page();
  for (let i = 0; i < 8; i++) {
    await turn();
    clock.now += 2;
  }
  expect(made).toEqual([0, 8, 16]);
  // And without a pause where there is none.
  const at = clock.now;
  for (let i = 0; i < 3; i++) page();
  for (let i = 0; i < 4; i++) await turn();
  expect(made.slice(3)).toEqual([at, at + 4, at + 8]);
});

test("while short work came lately, it has three times as long", async () => {
  const { next, turn } = loop();
  const clock = { now: 0 };
  const take = createPageTurns(
    () => clock.now,
    () => 10,
    next,
  );
  const made: number[] = [];
  for (let i = 0; i < 5; i++) {
    void take().then(() => {
      made.push(clock.now);
      clock.now += 4;
    });
  }
  for (let i = 0; i < 40; i++) {
    await turn();
    clock.now += 2;
  }
  // Each took 4 ms; 60 ms: short work came long ago.
  expect(made).toEqual([0, 16, 32, 48, 60]);
});
