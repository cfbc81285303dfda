import { expect, test } from "vitest";
import { createKnownContributors, type ListedContributor } from "../../src/runtime/known-contributors.ts";
import { START } from "./document-rig.ts";

const MINUTE = 60_000;

function rig() {
  const clock = { at: START };
  const known = createKnownContributors(() => clock.at);
  const one = (id: string, facts: Partial<ListedContributor> = {}): ListedContributor => {
    return { id, name: `web/${id}`, goneSince: undefined, isEmpty: false, ...facts };
  };
  return { clock, known, one };
}

test("a contributor that is missing may return for 10 s, and was lost with the store after that", () => {
  const { clock, known, one } = rig();
  known.found([one("a"), one("b", { goneSince: START - MINUTE }), one("c")]);
  clock.at += MINUTE;
  known.found([one("c")]);
  expect([known.returning(), known.lost()]).toEqual([["web/a", "web/b"], []]);
  clock.at += 10_000;
  known.found([one("c")]);
  expect(known.returning()).toEqual([]);
  expect(known.lost()).toEqual([
    // It may have counted until it was missed.
    { contributor: "a", name: "web/a", seen: START, until: START + MINUTE },
    { contributor: "b", name: "web/b", seen: START - MINUTE, until: START - MINUTE },
  ]);
  known.found([one("a"), one("c")]);
  expect(known.lost().map(({ name }) => name)).toEqual(["web/b"]);
});

test("one whose rows were evicted is lost, although the store still lists it", () => {
  const { clock, known, one } = rig();
  known.found([one("a", { isEmpty: true, goneSince: START - MINUTE })]);
  clock.at += 10_000;
  known.found([one("a", { isEmpty: true, goneSince: START - MINUTE })]);
  expect(known.lost().map(({ name }) => name)).toEqual(["web/a"]);
});

test("a store drops contributors after 200 days, which loses nothing", () => {
  const { clock, known, one } = rig();
  known.found([one("a", { goneSince: START - 200 * 86_400_000 })]);
  clock.at += 1;
  known.found([]);
  clock.at += 10_000;
  expect(known.lost()).toEqual([]);
});

test("a process that restarts still knows whom the store had, and what it lost", () => {
  const { clock, known, one } = rig();
  known.found([one("a"), one("b")]);
  clock.at += MINUTE;
  const revision = known.revision();
  known.found([one("a")]);
  expect(known.revision()).toBeGreaterThan(revision);
  const next = createKnownContributors(() => clock.at);
  next.restore(JSON.parse([...known.saved()].join("")));
  clock.at += 10_000;
  next.found([]);
  expect(next.lost().map(({ name }) => name)).toEqual(["web/b"]);
  expect(next.returning()).toEqual(["web/a"]);
  expect(() => next.restore({ version: 2 })).toThrow(/version/);
});

test("without news nothing is to be saved for five minutes", () => {
  const { clock, known, one } = rig();
  known.found([one("a")]);
  const revision = known.revision();
  clock.at += MINUTE;
  known.found([one("a")]);
  expect(known.revision()).toBe(revision);
  clock.at += 5 * MINUTE;
  known.found([one("a")]);
  expect(known.revision()).toBe(revision + 1);
});
