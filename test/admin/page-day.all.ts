/** A page that stays open for a day, on a clock of the test. */
import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { cookieName, newSession, sessionOf } from "../../src/admin/session.ts";
import { createViewers } from "../../src/admin/viewers.ts";
import { TIME } from "../../src/model/clock.ts";
import { changingNews } from "../support/page-news.ts";

const TOKEN = "0123456789-token";
const HOUR = 3_600_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A response that reads everything at once, and keeps nothing. */
function reader() {
  const made = Object.assign(new EventEmitter(), {
    updates: 0,
    isEnded: false,
    writableNeedDrain: false,
    writeHead: () => made,
    write: (text: string | Uint8Array) => {
      if (Buffer.from(text).toString().startsWith("event: part")) made.updates += 1;
      return true;
    },
    destroy: () => {
      made.isEnded = true;
      made.emit("close");
    },
  });
  return made;
}

test("is updated to the end, keeps no more of the past than the last update, and ends with its login", async () => {
  let turn = 0;
  const viewers = createViewers({
    news: changingNews(() => `${turn++} ${"x".repeat(6_000)}`),
    later: TIME.later,
    now: TIME.now,
    pause: async () => {},
    failed: (error) => expect(error).toBeUndefined(),
  });
  const cookie = `${cookieName(TOKEN)}=${newSession(TOKEN, TIME.wall()).value}`;
  const [loggedIn, onThisMachine] = [reader(), reader()];
  const isLoggedIn = () => sessionOf(cookie, TOKEN, TIME.wall()) !== undefined;
  viewers.join(loggedIn as unknown as ServerResponse, "", isLoggedIn);
  viewers.join(onThisMachine as unknown as ServerResponse, "", () => true);
  await vi.advanceTimersByTimeAsync(11 * HOUR);
  expect(loggedIn.isEnded).toBe(false);
  const before = process.memoryUsage().heapUsed;
  await vi.advanceTimersByTimeAsync(2 * HOUR);
  expect([loggedIn.isEnded, onThisMachine.isEnded, viewers.count()]).toEqual([true, false, 1]);
  await vi.advanceTimersByTimeAsync(11 * HOUR);
  // 46,800 updates of 6 kB are 280 MB.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(120_000_000);
  expect(onThisMachine.updates).toBeGreaterThan(80_000);
  expect(loggedIn.updates).toBeLessThan(onThisMachine.updates * 0.51);
  expect(vi.getTimerCount()).toBe(1);
});

test("goes on when the clock jumps back by an hour, and asks for the login again, which then lasts", async () => {
  const viewers = createViewers({
    news: changingNews(() => String(Date.now())),
    later: TIME.later,
    now: TIME.now,
    pause: async () => {},
    failed: () => {},
  });
  const one = reader();
  viewers.join(one as unknown as ServerResponse, "", () => true);
  await vi.advanceTimersByTimeAsync(10_000);
  const session = () => `${cookieName(TOKEN)}=${newSession(TOKEN, TIME.wall()).value}`;
  const early = session();
  vi.setSystemTime(Date.now() - HOUR);
  const updates = one.updates;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(one.updates - updates).toBeGreaterThanOrEqual(9);
  const isValid = (cookie: string) => sessionOf(cookie, TOKEN, TIME.wall()) !== undefined;
  const late = session();
  expect([isValid(early), isValid(late)]).toEqual([false, true]);
  await vi.advanceTimersByTimeAsync(11 * HOUR);
  expect(isValid(late)).toBe(true);
});
