import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createBatch } from "../../src/telemetry/batch.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

function batch() {
  const done: (readonly number[])[] = [];
  return { done, ...createBatch<number>({ items: 3, ms: 10 }, (items) => done.push(items)) };
}

test("what came in is worked on together, in order, once the first has waited long enough", () => {
  const { add, done } = batch();
  add(1);
  vi.advanceTimersByTime(9);
  add(2);
  expect(done).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(done).toEqual([[1, 2]]);
  vi.advanceTimersByTime(100);
  expect(done).toHaveLength(1);
});

test("a full batch does not wait, and nothing of it is worked on twice", () => {
  const { add, done } = batch();
  for (const item of [1, 2, 3, 4]) add(item);
  expect(done).toEqual([[1, 2, 3]]);
  vi.advanceTimersByTime(10);
  expect(done).toEqual([[1, 2, 3], [4]]);
});

test("whoever cannot wait has it done at once", () => {
  const { add, settle, done } = batch();
  settle();
  expect(done).toEqual([]);
  add(1);
  settle();
  expect(done).toEqual([[1]]);
});

test("however many wait, none of them listens to the process: with the eleventh Node would warn of a leak", () => {
  const listeners = () => process.eventNames().map((name) => [name, process.listenerCount(name)]);
  const before = listeners();
  const batches = Array.from({ length: 20 }, batch);
  for (const { add } of batches) add(1);
  expect(listeners()).toEqual(before);
  for (const { settle } of batches) settle();
});
