import { expect, test } from "vitest";
import { createProcessorLimit } from "../../../src/upstream/adaptive-limits.ts";

test("a loop that is always busy leaves fewer places, down to sixteen", () => {
  const places = createProcessorLimit(128);
  places.adapt(1);
  expect(places.now()).toBe(96);
  for (let i = 0; i < 20; i++) places.adapt(1);
  expect(places.now()).toBe(16);
  places.adapt(0.95);
  expect(places.now()).toBe(16);
});

test("a loop that waits for the upstream gives them back", () => {
  const places = createProcessorLimit(128);
  for (let i = 0; i < 20; i++) places.adapt(1);
  places.adapt(0.5);
  expect(places.now()).toBe(22);
  for (let i = 0; i < 20; i++) places.adapt(0.5);
  expect(places.now()).toBe(128);
  places.adapt(1);
  places.reset();
  expect(places.now()).toBe(128);
});

test("a small pool keeps its places", () => {
  const places = createProcessorLimit(4);
  places.adapt(1);
  expect(places.now()).toBe(4);
});
