import { expect, test } from "vitest";
import { createRefused } from "../../../src/upstream/readers/refused.ts";

function subject() {
  const clock = { now: 0 };
  return { clock, refused: createRefused(() => clock.now) };
}

test("who is refused for the first time may be meant with everybody", () => {
  const { refused } = subject();
  expect(refused.isAlone("a", 1000)).toBe(false);
  expect(refused.pausedMs("a")).toBe(0);
});

test("who is refused again, and nobody else, waits alone", () => {
  const { clock, refused } = subject();
  refused.isAlone("a", 1000);
  clock.now = 1500;
  expect(refused.isAlone("a", 1000)).toBe(true);
  expect([refused.pausedMs("a"), refused.pausedMs("b")]).toEqual([1000, 0]);
  expect(refused.longestMs()).toBe(1000);
  clock.now = 2499;
  expect(refused.pausedMs("a")).toBe(1);
  clock.now = 2500;
  // Also before anybody asks for it by name.
  expect([refused.longestMs(), refused.pausedMs("a")]).toEqual([0, 0]);
});

test("two who are refused are more than one's own limit, until one of them was not for long", () => {
  const { clock, refused } = subject();
  refused.isAlone("a", 1000);
  expect(refused.isAlone("b", 1000)).toBe(false);
  expect(refused.isAlone("a", 1000)).toBe(false);
  clock.now = 20_000;
  refused.isAlone("a", 1000);
  // What b was told is half a minute ago.
  clock.now = 31_000;
  expect(refused.isAlone("a", 1000)).toBe(true);
});

test("no more than a thousand are remembered", () => {
  const { refused } = subject();
  for (let i = 0; i <= 1000; i++) refused.isAlone(`c${i}`, 1000);
  expect(refused.isAlone("c0", 1000)).toBe(false);
});
