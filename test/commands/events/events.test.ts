import { describe, expect, test } from "vitest";
import { runCommand } from "../../../scripts/command.ts";
import { readWindowOf } from "../../../src/commands/events/command.ts";
import { createEventHistory, type EventHistory } from "../../../src/history/events.ts";
import { eventsView } from "../../../src/history/events-view.ts";
import { Problem, problemBody } from "../../../src/model/problem.ts";

const NIGHT = Date.UTC(2026, 10, 28, 2);
const MINUTE = 60_000;
const WINDOW = ["--from", "2026-11-28T02:00Z", "--to", "2026-11-28 03:00"] as const;

function historyOf(process: string, since = NIGHT - 60 * MINUTE): EventHistory {
  return createEventHistory({ wall: () => since, process });
}

/** Instances at `http://a:1`, `http://b:1`, …; undefined: one that is older than events. */
const answers =
  (...histories: readonly (EventHistory | undefined)[]): typeof fetch =>
  async (input) => {
    const url = new URL(String(input));
    const at = url.hostname.charCodeAt(0) - "a".charCodeAt(0);
    if (at >= histories.length) throw new TypeError("fetch failed", { cause: new Error("closed") });
    const history = histories[at];
    if (history === undefined) {
      return new Response(problemBody(new Problem("UNKNOWN_PATH", "there is nothing here")), { status: 404 });
    }
    return Response.json(eventsView(history, url.searchParams, { instance: `${at}`, at: NIGHT, ownerOf }));
  };

const ownerOf = (client: string) => (client === "ci" ? "Team A" : undefined);
const events = (fetch: typeof globalThis.fetch, ...words: readonly string[]) =>
  runCommand(["events", ...words], { fetch });

describe("carryover events", () => {
  test("shows a line for each event, with what it was, its cause and examples", async () => {
    const history = historyOf("00000001");
    history.record({
      ...{ at: NIGHT + 13 * MINUTE + 7_000, kind: "stepped-back", rule: "groups", from: "forward", to: "back" },
      ...{ reason: "v2 failed 12 of 40 requests for group list", requests: ["a", "b", "c"] },
    });
    history.record({
      ...{ at: NIGHT + 20 * MINUTE, kind: "forced", from: "none", to: "native", by: "anna" },
      reason: "carryover force native: v2 returns 503",
    });
    history.record({
      at: NIGHT + 21 * MINUTE,
      kind: "failing",
      rule: "roles",
      client: "ci",
      from: "a",
      to: "a",
      reason: "why",
    });
    history.record({ at: NIGHT + 60 * MINUTE, kind: "alarm", reason: "too late" });
    const { out, code } = await events(answers(history), "a:1", ...WINDOW);
    expect([code, out.split("\n")]).toEqual([
      0,
      [
        "2026-11-28 02:13:07Z  stepped-back  rule groups  translate -> native  v2 failed 12 of 40 requests for group list (requests a, b, c)",
        "2026-11-28 02:20:00Z  forced        none -> native  carryover force native: v2 returns 503, by anna",
        "2026-11-28 02:21:00Z  failing       rule roles  client ci, Team A  why",
        "",
        "3 events from 2026-11-28 02:00:00Z to 2026-11-28 03:00:00Z",
        "",
      ],
    ]);
  });

  test("merges instances by time, each event once, and says who did not tell", async () => {
    const [a, b] = [historyOf("0000000a"), historyOf("0000000b", NIGHT + 5 * MINUTE)];
    const record = (history: EventHistory, minute: number, reason: string) =>
      history.record({ at: NIGHT + minute * MINUTE, kind: "started", reason });
    record(a, 1, "first");
    record(b, 6, "second");
    record(a, 7, "third");
    const { out, code } = await events(answers(a, b, undefined), "a:1", "b:1", "c:1", "d:1", ...WINDOW);
    expect([code, out.split("\n")]).toEqual([
      2,
      [
        "2026-11-28 02:01:00Z  a:1  started  first",
        "2026-11-28 02:06:00Z  b:1  started  second",
        "2026-11-28 02:07:00Z  a:1  started  third",
        "",
        "3 events from 2026-11-28 02:00:00Z to 2026-11-28 03:00:00Z",
        "http://b:1 knows no events before 2026-11-28 02:05:00Z",
        "http://c:1 is an older version of carryover, which keeps no events, or its address lacks a path: its events are missing here",
        "http://d:1 cannot be reached (closed): its events are missing here",
        "",
      ],
    ]);
    const both = JSON.parse((await events(answers(a, a), "a:1", "b:1", ...WINDOW, "--json")).out);
    expect(both.events.map(({ reason, on }: { reason: string; on: string[] }) => [reason, on])).toEqual([
      ["first", ["http://a:1", "http://b:1"]],
      ["third", ["http://a:1", "http://b:1"]],
    ]);
  });

  test("says over which time nothing happened, and since when that is known", async () => {
    const { out, code } = await events(answers(historyOf("00000001")), "a:1", ...WINDOW, "--rule", "groups");
    expect([code, out]).toEqual([
      0,
      "No event of rule groups from 2026-11-28 02:00:00Z to 2026-11-28 03:00:00Z\nhttp://a:1 knows its events since 2026-11-28 01:00:00Z\n",
    ]);
    const later = await events(answers(historyOf("00000001", NIGHT + 60 * MINUTE)), "a:1", ...WINDOW);
    expect(later.out).toBe(
      "Not known what happened from 2026-11-28 02:00:00Z to 2026-11-28 03:00:00Z\nhttp://a:1 knows no events before 2026-11-28 03:00:00Z\n",
    );
    const silent = await events(answers(), "a:1", ...WINDOW);
    expect([silent.code, silent.out]).toEqual([2, expect.stringMatching(/^Not known: no instance responded\n/)]);
  });

  test("names replicas of the same store: those whose events are here, cannot be read, or were lost", async () => {
    const history = historyOf("00000001");
    history.record({ at: NIGHT + MINUTE, kind: "alarm", reason: "of a" });
    const [event] = history.select();
    if (event === undefined) throw new Error("there is no event");
    const fleet = {
      events: [{ ...event, on: ["web/b"] }],
      since: NIGHT,
      replicas: [{ name: "web/b", instance: "b" }],
      unread: [{ name: "web/c", fault: "a row is damaged" }],
      lost: [{ name: "web/d", seen: new Date(NIGHT - MINUTE).toISOString() }],
    };
    const asked: typeof globalThis.fetch = async (input) =>
      Response.json(
        eventsView(history, new URL(String(input)).searchParams, { instance: "a", at: NIGHT, ownerOf, fleet }),
      );
    const { out, code } = await events(asked, "a:1", ...WINDOW);
    expect([code, out.split("\n")]).toEqual([
      2,
      [
        "2026-11-28 02:01:00Z  web/b  alarm  of a",
        "",
        "1 event from 2026-11-28 02:00:00Z to 2026-11-28 03:00:00Z",
        "the events of web/d were lost with the store, last seen 2026-11-28 01:59:00Z",
        "web/c cannot be read by carryover at http://a:1 (a row is damaged): its events are missing here",
        "",
      ],
    ]);
  });

  test("refuses a kind that does not exist, and asks nobody", async () => {
    const asked = () => Promise.reject(new Error("asked"));
    const { code, err } = await events(asked, "--kind", "step-back");
    expect([code, err]).toEqual([64, expect.stringContaining("expected one of stepped-back")]);
  });
});

describe("a time", () => {
  const now = Date.UTC(2026, 10, 28, 10, 30);
  const shown = (from?: string, to?: string) => {
    const flags = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
    const window = readWindowOf(flags, now);
    return [window.from, window.to].map((ms) => new Date(ms).toISOString().slice(5, 16));
  };

  test.each([
    ["neither: the last day", undefined, undefined, "11-27T10:30", "11-28T10:30"],
    ["only an end: the day before it", undefined, "2026-11-20", "11-19T00:00", "11-20T00:00"],
    ["the last such time of the clock", "02:00", "03:00", "11-28T02:00", "11-28T03:00"],
    ["yesterday's, if today's is not over", "22:00Z", "23:00Z", "11-27T22:00", "11-27T23:00"],
    ["over midnight", "22:00", "01:30", "11-27T22:00", "11-28T01:30"],
    ["with an end to come", "10:00", "11:00", "11-28T10:00", "11-28T11:00"],
    ["a while ago", "6h", "30m", "11-28T04:30", "11-28T10:00"],
    ["another zone", "2026-11-28T02:00+02:00", "2026-11-28 02:00:30", "11-28T00:00", "11-28T02:00"],
  ])("%s", (_, from, to, ...expected) => {
    expect(shown(from, to)).toEqual(expected);
  });

  test.each([
    ["2 o'clock", undefined, /--from: "2 o'clock" is not a time/],
    ["25:00", undefined, /"25:00" is not a time/],
    ["2026-02-31", undefined, /"2026-02-31" is not a time/],
    ["7x", undefined, /"7x" is not a duration/],
    ["1h", "2h", /--from: it is not before --to/],
  ])("%s to %s is refused", (from, to, words) => {
    expect(() => shown(from, to)).toThrow(words);
  });
});
