import { describe, expect, test } from "vitest";
import { createEventHistory } from "../../src/history/events.ts";
import { eventsView, latestOfRules } from "../../src/history/events-view.ts";
import type { EventKind } from "../../src/model/event.ts";

const START = Date.UTC(2026, 10, 28, 2);
const HISTORY = createEventHistory({ wall: () => START, process: "00000001" });
for (const [minute, kind, rule] of [
  [0, "started", undefined],
  [10, "stepped-back", "groups"],
  [20, "breaker-opened", undefined],
  [30, "returned", "roles"],
] as [number, EventKind, string | undefined][]) {
  HISTORY.record({ at: START + minute * 60_000, kind, rule, client: rule && "ci", reason: "why" });
}

const ask = (query: string) =>
  eventsView(HISTORY, new URLSearchParams(query), { instance: "i", at: START, ownerOf: () => "Team A" }) as {
    readonly total: number;
    readonly events: readonly { readonly kind: string }[];
  };
const kinds = (query: string) => ask(query).events.map(({ kind }) => kind);

describe("GET /events", () => {
  test("shows all events, newest last, and since when none is missing", () => {
    expect(kinds("")).toEqual(["started", "stepped-back", "breaker-opened", "returned"]);
    expect(ask("rule=groups")).toEqual({
      version: 1,
      instance: "i",
      at: "2026-11-28T02:00:00.000Z",
      since: "2026-11-28T02:00:00.000Z",
      total: 1,
      events: [
        {
          id: expect.stringMatching(/-00000001$/),
          at: "2026-11-28T02:10:00.000Z",
          kind: "stepped-back",
          rule: "groups",
          client: "ci",
          owner: "Team A",
          reason: "why",
        },
      ],
    });
  });

  test.each([
    ["from=2026-11-28T02:10:00Z", ["stepped-back", "breaker-opened", "returned"]],
    ["from=2026-11-28T02:10:00Z&to=2026-11-28T02:30:00Z", ["stepped-back", "breaker-opened"]],
    ["to=2026-11-28T04:10:00%2B02:00", ["started"]],
    ["kind=returned", ["returned"]],
    ["client=ci", ["stepped-back", "returned"]],
    ["rule=none", []],
    ["limit=2", ["breaker-opened", "returned"]],
  ])("selects by %s", (query, expected) => {
    expect(kinds(query)).toEqual(expected);
  });

  test("says how many there are beyond the limit", () => {
    expect(ask("limit=1").total).toBe(4);
  });

  test.each([
    ["from=yesterday", /"from" is not a time: "yesterday"; use ISO 8601/],
    ["to=2026-11-28", /"to" is not a time/],
    ["from=2026-11-28T03:00:00Z&to=2026-11-28T02:00:00Z", /"to" is not after from/],
    ["kind=step-back", /"kind" is not a kind of event: "step-back"; use one of stepped-back, /],
    ["limit=0", /use 1 to 5000/],
    ["limit=9999", /use 1 to 5000/],
    ["rules=a", /"rules" is not a parameter; use from, to, rule, client, kind, limit/],
    ["rule=a&rule=b", /"rule" is there more than once/],
  ])("refuses %s", (query, words) => {
    expect(() => ask(query)).toThrow(words);
  });
});

test("/rules shows the latest changes of rules, latest first", () => {
  const shown = latestOfRules(HISTORY, 1) as { readonly kind: string }[];
  expect(shown.map(({ kind }) => kind)).toEqual(["returned"]);
  expect(latestOfRules(HISTORY, 9)).toHaveLength(2);
});
