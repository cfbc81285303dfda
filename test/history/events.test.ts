import { describe, expect, test } from "vitest";
import { createEventHistory, type EventHistory } from "../../src/history/events.ts";
import type { NewEvent } from "../../src/model/event.ts";

const START = Date.UTC(2026, 10, 28, 2);

function historyAt(process = "00000001", most?: number) {
  const clock = { at: START };
  const history = createEventHistory({ wall: () => clock.at, process, ...(most === undefined ? {} : { most }) });
  return { clock, history };
}

const breaker: NewEvent = { kind: "breaker-opened", reason: "upstream v2 does not respond" };
const stepBack = (rule: string, reason = "v2 failed"): NewEvent => ({ kind: "stepped-back", rule, reason });
const kinds = (history: EventHistory) => history.select().map(({ kind }) => kind);
const savedText = (history: EventHistory) => [...history.saved("1.0.0")].join("");

/** The history of the next process, `process`. */
function restarted(before: EventHistory, process: string, at = START) {
  const history = createEventHistory({ wall: () => at, process });
  return { history, writer: history.restore(JSON.parse(savedText(before))) };
}

describe("the id of an event", () => {
  test("sorts as the events happened, also in one millisecond and when the clock was set back", () => {
    const { history, clock } = historyAt();
    const ids = [0, 0, 0, -60_000, 1, 60_000].map((ms) => {
      clock.at += ms;
      return history.record(breaker);
    });
    expect(ids).toEqual([...new Set(ids)].sort());
    const next = restarted(history, "00000002", START - 3_600_000).history;
    expect(next.record(breaker) > ids.at(-1)!).toBe(true);
  });

  test("is another one in each process", () => {
    expect(historyAt("0000000a").history.record(breaker)).not.toBe(historyAt("0000000b").history.record(breaker));
  });

  test("stays unique when a millisecond has more events than numbers", () => {
    const { history } = historyAt("00000001", 10);
    const ids = new Set(Array.from({ length: 36 ** 3 + 5 }, () => history.record(breaker)));
    expect(ids.size).toBe(36 ** 3 + 5);
  });
});

describe("when there are too many events", () => {
  test("noise drives out noise, and the time from which nothing is missing is known", () => {
    const { history, clock } = historyAt("00000001", 10);
    history.record(stepBack("groups"));
    history.record({ kind: "alarm", rule: "groups", reason: "v2 failed" });
    for (let n = 0; n < 30; n++) {
      clock.at += 1_000;
      history.record(breaker);
    }
    expect(kinds(history)).toEqual(["stepped-back", "alarm", ...Array(8).fill("breaker-opened")]);
    expect(history.since()).toBe(START + 22_000);
  });

  test("the last step back of each rule stays", () => {
    const { history } = historyAt("00000001", 4);
    history.record(stepBack("quiet"));
    for (let n = 0; n < 9; n++) history.record(stepBack("loud", `number ${n}`));
    expect(history.select().map(({ rule, reason }) => `${rule} ${reason}`)).toEqual([
      "quiet v2 failed",
      "loud number 6",
      "loud number 7",
      "loud number 8",
    ]);
  });

  test("the oldest goes where each is the last of its rule", () => {
    const { history } = historyAt("00000001", 3);
    for (let n = 0; n < 5; n++) history.record(stepBack(`r${n}`));
    expect(history.select().map(({ rule }) => rule)).toEqual(["r2", "r3", "r4"]);
  });
});

test("texts are one printable line without secrets, and bounded", () => {
  const { history } = historyAt();
  history.record({
    kind: "forced",
    by: "an\u202ena",
    reason: `v2 is\n down ${"x y ".repeat(1_000)}`,
    requests: ["a", "b", "Bearer abcdefghijklmnopqrstuvwxyz", "c"],
  });
  const [event] = history.select();
  expect(event).toMatchObject({ by: "an�na", requests: ["b", "Bearer [redacted]", "c"] });
  expect(event?.reason).toMatch(/^v2 is down x y /);
  expect(event?.reason).toHaveLength(1_000);
});

test("each kind is counted from 0 in each process", () => {
  const { history } = historyAt();
  history.record(breaker);
  const { history: next } = restarted(history, "00000002");
  const count = (of: EventHistory, kind: string) => new Map<string, number>(of.counts()).get(kind);
  expect([count(history, "breaker-opened"), count(history, "alarm"), count(next, "breaker-opened")]).toEqual([1, 0, 0]);
});

describe("after a restart", () => {
  test("the events are there as they were, and so is the time from which nothing is missing", () => {
    const { history, clock } = historyAt();
    clock.at += 5_000;
    history.record({ ...stepBack("groups"), from: "forward", to: "back", client: "ci", requests: ["a"], by: "anna" });
    const { history: next, writer } = restarted(history, "00000002", START + 60_000);
    expect([next.select(), next.since(), writer]).toEqual([history.select(), START, "1.0.0"]);
  });

  test("an event that cannot be read is left out, and a kind of a newer version is kept", () => {
    const { history } = historyAt();
    history.record(breaker);
    const saved = JSON.parse(savedText(history));
    const [event] = saved.events;
    saved.events.push({ ...event, id: `${event.id.slice(0, -1)}2`, kind: "moved-on" }, { ...event, id: "x" }, null);
    const next = historyAt("00000002").history;
    next.restore(saved);
    expect(kinds(next)).toEqual(["breaker-opened", "moved-on"]);
    expect(() => next.restore({ ...saved, version: 2 })).toThrow();
  });

  test("what an earlier version saved elsewhere is taken once", () => {
    const older = [{ ...stepBack("groups"), at: START - 1_000 }] as const;
    const { history } = historyAt();
    history.adopt(older);
    const { history: next } = restarted(history, "00000002");
    next.adopt(older);
    expect([kinds(next), next.since()]).toEqual([["stepped-back"], START - 1_000]);
  });
});
