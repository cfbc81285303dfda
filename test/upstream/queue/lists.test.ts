import { expect, test } from "vitest";
import { createSignalController } from "../../../src/model/signal.ts";
import { createListQueue } from "../../../src/upstream/list-queue.ts";
import { fakeClock } from "../clock.ts";

const OPTIONS = { maxConcurrent: 1, maxSeconds: 30 };

function subject() {
  const clock = fakeClock();
  const lists = createListQueue({ ...OPTIONS, now: clock.now, later: clock.later });
  const told: string[] = [];
  const claim = (name: string) =>
    lists
      .claim({ credential: "a", since: clock.now(), deadline: clock.now() + 50_000 }, createSignalController().signal)
      .then(
        () => told.push(`${name} reads`),
        ({ reason }) => told.push(`${name} ${reason}`),
      );
  return { clock, lists, told, claim };
}

test("under overload a list that has waited for a moment is refused", async () => {
  const { clock, lists, told, claim } = subject();
  for (const name of ["first", "second"]) void claim(name);
  lists.overloaded();
  await clock.pass(200);
  expect(told).toEqual(["first reads"]);
  await clock.pass(200);
  expect(told).toEqual(["first reads", "second OVERLOADED"]);
});

test("and waits on once nobody was turned away for a second", async () => {
  const { clock, lists, told, claim } = subject();
  lists.overloaded();
  await clock.pass(1_000);
  for (const name of ["first", "second"]) void claim(name);
  await clock.pass(5_000);
  expect(told).toEqual(["first reads"]);
  expect(lists.state()).toEqual({ reading: 1, waiting: 1 });
});
