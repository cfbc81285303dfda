import { describe, expect, it } from "vitest";
import { rowOf, rulesLines } from "../../src/commands/check/rules.ts";
import { shareWords } from "../../src/rules/conditions/canary.ts";
import { EVERY_REQUEST, matchWords } from "../../src/rules/rule.ts";
import {
  boundWords,
  counted,
  expiryWords,
  guardWords,
  modeWords,
  neededWords,
  onFailureWords,
  promoteWords,
  stepBackWords,
} from "../../src/rules/words.ts";
import { makeRule } from "../rollout/make-rule.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe("counts", () => {
  it.each([
    [counted(1, "rule"), "1 rule"],
    [counted(0, "entry", "entries"), "0 entries"],
    [neededWords(2, 3, "client"), "2 of 3 clients needed"],
    [neededWords(0, 1, "client"), "0 of 1 client needed"],
    [neededWords(3, 1, "client"), "3 clients, 1 needed"],
    [boundWords({ bad: 0, all: 3, upper: 1 }), "too few to say anything"],
    [boundWords({ bad: 0, all: 90, upper: 0.04 }), "at most 4 % differ (95 %)"],
    [boundWords({ bad: 115, all: 115, upper: 1 }), "all of them differ"],
    [boundWords({ bad: 84, all: 100, upper: 0.95 }), "84 % of them differ"],
    [boundWords({ bad: 1, all: 2, upper: 1 }, undefined, "do"), "too few to say anything"],
  ])("%s", (text, words) => {
    expect(text).toBe(words);
  });
});

describe("what a rule matches", () => {
  it.each([
    [{}, "everything"],
    [{ operations: new Set(["reads"]) }, "reads"],
    [{ resources: new Set(["group", "repo"]) }, "group or repo"],
    [{ operations: new Set(["list", "get"]), resources: new Set(["group"]) }, "list or get of group"],
    [{ clients: new Set(["ci-bot", "a b"]) }, 'client ci-bot or "a b"'],
    [{ clients: new Set(["\u001b[2J"]) }, 'client "?[2J"'],
    [
      { header: { name: "x-canary", value: "always" }, cookie: { name: "canary", value: "1" } },
      "header x-canary: always, cookie canary: 1",
    ],
    [
      {
        time: { from: undefined, until: undefined, days: new Set([1, 2]), hours: { begin: 22 * 60, end: 5 * 60 + 30 } },
      },
      "Mon Tue, 22:00 to 05:30 UTC",
    ],
    [
      {
        time: { from: Date.UTC(2026, 11, 1), until: Date.UTC(2026, 11, 24, 18, 30), days: undefined, hours: undefined },
      },
      "from 2026-12-01, until 2026-12-24T18:30Z",
    ],
  ])("%j", (match, words) => {
    expect(matchWords({ ...EVERY_REQUEST, ...match })).toBe(words);
  });

  it.each([
    [{}, "all clients"],
    [{ percent: 0 }, "0 % of clients"],
    [{ percent: 1, clients: new Set(["ci-bot"]) }, "1 % of those, each whole or not at all"],
    [{ percent: 2.5, header: { name: "a", value: "b" } }, "2.5 % of clients"],
    [{ cookie: { name: "a", value: "b" } }, "who is selected"],
  ])("and of whom: %j", (match, words) => {
    expect(shareWords({ ...EVERY_REQUEST, ...match })).toBe(words);
  });
});

describe("until when it holds", () => {
  it.each([
    [undefined, ""],
    [41 * DAY + HOUR, "expires in 41 days"],
    [2 * DAY, "expires in 2 days"],
    [2 * DAY - 1, "expires in 47 hours"],
    [2 * HOUR - 1, "expires in 120 minutes"],
    [1, "expires in 1 minute"],
    [0, "expired"],
    [-DAY, "expired"],
  ])("%s ms from now", (left, words) => {
    expect(expiryWords(left === undefined ? undefined : 1_000 + left, 1_000)).toBe(words);
  });
});

describe("what it does", () => {
  it("with the share that is compared, where anything is", () => {
    expect(modeWords({ mode: "shadow", shadow: { sample: 0.1, control: 0 } })).toBe("shadow, 10 % compared");
    expect(modeWords({ mode: "translate", shadow: { sample: 0, control: 0 } })).toBe("translate");
    expect(modeWords({ mode: "native", shadow: { sample: 0.1, control: 0 } })).toBe("native");
  });

  it("by itself: when it steps back, and for how long", () => {
    const settings = {
      failures: 0.02,
      differences: 0.001,
      minRequests: 200,
      minComparisons: 20,
      minClients: 3,
      window: 5 * MINUTE,
    };
    expect(stepBackWords({ ...settings, returnAfter: undefined })).toBe(
      "steps back at 2 % failures in at least 200 requests or 0.1 % differences in at least 20 comparisons within 5m from 3 clients, until an operator brings it back",
    );
    expect(stepBackWords({ ...settings, failures: undefined, minClients: 1, returnAfter: 90 * MINUTE })).toBe(
      "steps back at 0.1 % differences in at least 20 comparisons within 5m from 1 client, for 90m",
    );
    expect(stepBackWords(undefined)).toBeNull();
  });

  it("when v2 fails clients: steps back, warns or does not look", () => {
    const guard = { action: "stepBack", returnAfter: 15 * MINUTE, slow: "warn" } as const;
    const words = (more: Partial<Parameters<typeof guardWords>[0]> = {}) =>
      guardWords({ mode: "translate", promoteWhen: undefined, guard, ...more });
    expect(words()).toBe("steps back when v2 fails clients that native v1 would serve, for 15m (guard: stepBack)");
    expect(words({ guard: { ...guard, action: "warn" } })).toBe(
      "warns when v2 fails clients, and goes on (guard: warn)",
    );
    expect(words({ guard: { ...guard, action: "off" } })).toBe("does not watch whether v2 fails clients (guard: off)");
    const promoteWhen = { differencesBelow: 0.001, minClients: 5, automatic: true };
    expect(words({ mode: "shadow", promoteWhen })).toBe(words());
    expect(words({ mode: "shadow", promoteWhen: { ...promoteWhen, automatic: false } })).toBeNull();
    expect(words({ mode: "native" })).toBeNull();
  });

  it("whether native v1 serves the reads that v2 fails", () => {
    expect(onFailureWords({ statuses: [] })).toBe(
      "serves reads that v2 fails from native v1 in the same request (onFailure: native)",
    );
    expect(onFailureWords({ statuses: [401, 429] })).toBe(
      "serves reads that v2 fails, also with 401, 429, from native v1 in the same request (onFailure: native)",
    );
    expect(onFailureWords(undefined)).toBeNull();
  });

  it("by itself: when it moves on, or says that it could", () => {
    const settings = { differencesBelow: 0.001, minClients: 5 };
    expect(promoteWords({ ...settings, automatic: true })).toBe(
      "moves to translate with differences surely below 0.1 % from 5 clients",
    );
    expect(promoteWords({ ...settings, automatic: false })).toBe(
      "says when it could move to translate: with differences surely below 0.1 % from 5 clients",
    );
    expect(promoteWords(undefined)).toBeNull();
  });
});

describe("the table", () => {
  it("has a line for each rule in order, in columns, and what a rule does by itself below it", () => {
    const rules = [
      makeRule(
        "a",
        { clients: new Set(["ci-bot"]), percent: 10 },
        { expires: 3 * DAY, line: 3, onFailure: { statuses: [] } },
      ),
      makeRule(
        "longer-name",
        {},
        {
          mode: "shadow",
          promoteWhen: { differencesBelow: 0.01, minClients: 1, automatic: true },
          line: 9,
        },
      ),
    ];
    expect(rulesLines(rules.map((rule) => rowOf(rule, 0)))).toEqual([
      "  1  a            translate, 10 % compared  client ci-bot  10 % of those, each whole or not at all  expires in 3 days",
      "     does not watch whether v2 fails clients (guard: off)",
      "     serves reads that v2 fails from native v1 in the same request (onFailure: native)",
      "  2  longer-name  shadow, 10 % compared     everything     all clients",
      "     does not watch whether v2 fails clients (guard: off)",
      "     moves to translate with differences surely below 1 % from 1 client",
    ]);
    expect(rulesLines([])).toEqual([]);
  });
});
