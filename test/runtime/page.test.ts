/** When the thread of the page begins and ends, and who shares an update. */
import { setImmediate, setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { createPage, type OpenPage, type PageParts } from "../../src/runtime/page.ts";

function stage() {
  const clock = { now: 0, updates: 0 };
  const force: { commandAt: number | undefined } = { commandAt: undefined };
  const timers = new Set<{ readonly at: number; readonly run: () => void }>();
  const threads: { fault: Error | undefined; isClosed: boolean }[] = [];
  const parts = {
    migration: { rollout: { rules: () => undefined, force: () => force } },
    now: () => clock.now,
    later: (ms: number, run: () => void) => {
      const timer = { at: clock.now + ms, run };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
  } as unknown as PageParts;
  const begin = async (): Promise<OpenPage> => {
    const thread: (typeof threads)[number] = { fault: undefined, isClosed: false };
    threads.push(thread);
    const close = () => {
      thread.isClosed = true;
    };
    const update = async () => {
      clock.updates += 1;
      await setTimeout(5);
      return 1;
    };
    return {
      thread: {
        tell: () => {},
        ask: async () => new Uint8Array(),
        takeBusyMs: () => 0,
        fault: () => thread.fault,
        close,
      },
      teller: { update, close: () => {} },
    } as unknown as OpenPage;
  };
  const page = createPage(parts, begin);
  const pass = (ms: number): void => {
    clock.now += ms;
    for (const timer of timers) {
      if (timer.at > clock.now) continue;
      timers.delete(timer);
      timer.run();
    }
  };
  return { clock, force, threads, page, pass, look: () => page.home(new URLSearchParams(), undefined) };
}

test("all that look within a second share an update", async () => {
  const { clock, pass, look } = stage();
  await Promise.all([look(), look()]);
  await look();
  expect(clock.updates).toBe(1);
  pass(1_000);
  await look();
  expect(clock.updates).toBe(2);
});

test("a page that is loaded after a change shows it, even if others are loading", async () => {
  const { clock, force, look } = stage();
  await look();
  force.commandAt = 1;
  const during = look();
  await setImmediate();
  expect(clock.updates).toBe(2);
  force.commandAt = 2;
  await Promise.all([during, look(), look()]);
  expect(clock.updates).toBe(3);
});

test("the thread ends a minute after the last look, and begins again with the next one", async () => {
  const { threads, pass, look } = stage();
  await look();
  pass(59_000);
  await look();
  pass(59_000);
  await Promise.resolve();
  expect(threads).toEqual([{ fault: undefined, isClosed: false }]);
  pass(1_000);
  await Promise.resolve();
  expect(threads.map(({ isClosed }) => isClosed)).toEqual([true]);
  await look();
  expect(threads.map(({ isClosed }) => isClosed)).toEqual([true, false]);
});

test("a thread that has died is replaced; after the end of the page none begins", async () => {
  const { threads, page, look } = stage();
  await look();
  const [first] = threads;
  if (first !== undefined) first.fault = new Error("no more memory");
  await look();
  expect(threads).toHaveLength(2);
  page.close();
  await expect(look()).rejects.toThrow("carryover stops");
  expect(threads).toHaveLength(2);
});
