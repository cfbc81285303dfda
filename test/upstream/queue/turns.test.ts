import { expect, test } from "vitest";
import { createTurns } from "../../../src/upstream/queue/turns.ts";

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
  const take = createTurns(next);
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
  const take = createTurns(next);
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
