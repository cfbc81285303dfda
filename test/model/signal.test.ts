import { expect, test } from "vitest";
import { createSignalController, type Signal } from "../../src/model/signal.ts";

test("a signal tells each listener once, in order, and remembers the first reason", () => {
  const { signal, abort } = createSignalController();
  const heard: string[] = [];
  const removed = () => heard.push("removed");
  signal.addEventListener("abort", () => heard.push("first"), { once: true });
  signal.addEventListener("abort", removed);
  signal.addEventListener("abort", () => heard.push(`second: ${signal.reason}`));
  signal.removeEventListener("abort", removed);
  expect(signal.aborted).toBe(false);
  expect(() => signal.throwIfAborted()).not.toThrow();
  abort("left");
  abort("late");
  expect(heard).toEqual(["first", "second: left"]);
  expect(signal.aborted).toBe(true);
  expect(signal.reason).toBe("left");
});

test("a signal that was given throws its very reason, and takes no more listeners, like the platform's own", () => {
  const reason = new Error("the client left");
  const own = createSignalController();
  own.abort(reason);
  const signals: Signal[] = [own.signal, AbortSignal.abort(reason)];
  for (const signal of signals) {
    let called = false;
    signal.addEventListener("abort", () => {
      called = true;
    });
    expect(() => signal.throwIfAborted()).toThrow(reason);
    expect(called).toBe(false);
  }
});
