import { describe, expect, test } from "vitest";
import { reportText, warningsOf } from "../../src/commands/report/formats.ts";
import type { InstanceResult } from "../../src/fleet/merge.ts";
import { createReport, exitCodeOf } from "../../src/fleet/report.ts";
import type { MigrationReport } from "../../src/fleet/report-lines.ts";
import type { Progress } from "../../src/telemetry/progress.ts";
import { busy, client, DAY, HOUR, NOW, progress, row, times, totals } from "../commands/report/support.ts";

const from = (...all: readonly Progress[]): readonly InstanceResult[] =>
  all.map((one, at) => ({ address: `http://10.0.0.${at + 1}:8081`, progress: one }));
const SILENT: InstanceResult = { address: "http://10.0.0.9:8081", fault: "cannot be reached (ECONNREFUSED)" };

const quiet = (facts: Parameters<typeof progress>[0] = {}) => progress({ ledger: { since: NOW - 30 * DAY }, ...facts });

describe("what a report says", () => {
  const report = createReport(from(...busy()), times());

  test("v1's share over all, and per resource how v1 was served", () => {
    expect(report.requests).toEqual({ v1: 6976, v2: 3070, v1Share: 6976 / 10046 });
    expect(report.resources.map(({ resource, v1, v2 }) => [resource, v1, v2])).toEqual([
      ["group", 6040, 3000],
      ["repo", 902, 0],
      ["tag", 34, 0],
      ["role", 0, 70],
    ]);
    expect(report.resources[1]).toMatchObject({ native: 900, shadow: 0, translate: 0, refused: 2, v1Share: 1 });
    expect(report.resources[3]?.lastV1).toBeNull();
  });

  test("who calls v1 and how hard each is to move, those on v2 behind", () => {
    expect(report.clients.map(({ name, onV1, difficulty, v1 }) => [name, onV1, difficulty, v1])).toEqual([
      ["terraform", true, "full-replace", 5100],
      ["ci-bot", true, "lacking", 1876],
      ["web", false, "none", 0],
    ]);
  });

  test("what would break, hardest first, each with whom it would hit", () => {
    expect(
      report.breaks.map(({ kind, resource, operation, field, records, requests, clients }) =>
        [kind, resource, operation ?? field ?? records, requests, ...clients].filter((one) => one !== null),
      ),
    ).toEqual([
      ["lacking", "tag", "list-history", "ci-bot"],
      ["native", "repo", "list", 900],
      ["native", "tag", "list-history", 34],
      ["full-replace", "group", "description", "terraform"],
      ["long-list", "group", 5210, "terraform"],
      ["unseen", "repo", "list", "ci-bot"],
      ["operation", "group", "list", 5060, "terraform"],
      ["operation", "group", "update", 40, "terraform"],
      ["operation", "repo", "list", 902, "ci-bot"],
      ["operation", "tag", "list-history", 34, "ci-bot"],
    ]);
  });

  test("a path that carryover does not know would break, whoever answered it how, and is called by no name", () => {
    const unknown = { resource: "unknown", operation: "unknown" };
    const stray = client("stray", { operations: [{ ...unknown, requests: 2, lastSeen: NOW }] });
    const served = { ...stray, name: "served", needs: { ...stray.needs, lacking: [unknown] } };
    const strange = createReport(from(progress({ ledger: { clients: [stray, served] } })), times());
    expect(strange.clients.map(({ difficulty }) => difficulty)).toEqual(["lacking", "lacking"]);
    expect(strange.breaks.map(({ kind, clients }) => [kind, ...clients])).toEqual([
      ["lacking", "served", "stray"],
      ["operation", "served", "stray"],
    ]);
    const text = reportText(strange);
    expect(text).toMatch(/operation that v2 lacks +paths that carryover does not know +served, stray/);
    expect(text).not.toContain("unknown unknown");
  });

  test("is JSON as it stands", () => {
    expect(JSON.parse(JSON.stringify(report))).toEqual(report);
  });

  test("of an instance behind two addresses counts it once, as it was last", () => {
    const [first] = busy();
    const later = { ...first, at: NOW + 1000, totals: { ...first.totals, rows: [row({ requests: 7000 })] } };
    const twice = createReport(from(first, later), times());
    expect(twice.requests.v1).toBe(7000);
    expect(twice.instances.map(({ sameAs }) => sameAs)).toEqual([null, "http://10.0.0.1:8081"]);
    expect(twice.complete).toBe(true);
  });

  test("of replicas that began from one ledger file loses no client of either, and names them", () => {
    const old = client("old");
    const ledger = (name: string) => ({ instances: ["seed"], clients: [old, client(name)] });
    const a = progress({ instance: "a", ledger: ledger("last-v1") });
    const b = progress({ instance: "b", ledger: ledger("other") });
    const both = createReport(from(a, b), times());
    expect(both.clients.map(({ name }) => name).toSorted()).toEqual(["last-v1", "old", "other"]);
    expect(both.v1Left).toBe("yes");
    expect(both.instances.map(({ sharesLedgerWith }) => sharesLedgerWith)).toEqual([null, "http://10.0.0.1:8081"]);
    expect(warningsOf(both, false)).toEqual([
      expect.stringMatching(/^http:\/\/10.0.0.2:8081 began with the same saved ledger/),
    ]);
  });

  test("of very many clients shows the first of them, and counts the others", () => {
    const clients = Array.from({ length: 20_000 }, (_, at) =>
      client(`c${at}`, { needs: { longLists: [{ resource: "group", records: 201 + at }] } }),
    );
    const many = createReport(from(progress({ ledger: { clients } })), times());
    expect(many.clients).toHaveLength(20_000);
    expect(many.breaks[0]).toMatchObject({ kind: "long-list", records: 20_200 });
    expect(reportText(many).split("\n").length).toBeLessThan(200);
  });

  test("of nobody is empty and not complete", () => {
    const nothing = createReport([SILENT], times());
    expect(nothing).toMatchObject({
      at: null,
      complete: false,
      v1Left: "unknown",
      clients: [],
      breaks: [],
      resources: [],
    });
    expect(nothing.requests).toEqual({ v1: null, v2: null, v1Share: null });
  });
});

describe("a window", () => {
  const gone = client("gone", {
    lastV1: NOW - 8 * DAY,
    operations: [{ resource: "role", operation: "list", requests: 4, lastSeen: NOW - 8 * DAY }],
    needs: { lacking: [{ resource: "tag", operation: "list-history" }] },
  });
  const stays = client("stays", {
    operations: [
      { resource: "group", operation: "get", requests: 1, lastSeen: NOW - 8 * DAY },
      { resource: "group", operation: "list", requests: 1, lastSeen: NOW - HOUR },
    ],
  });
  const told = quiet({
    ledger: { since: NOW - 30 * DAY, clients: [gone, stays] },
    totals: totals([
      row({ mode: "native", resource: "tag", lastSeen: NOW - 8 * DAY }),
      row({ mode: "native", resource: "repo", lastSeen: NOW - HOUR }),
    ]),
  });

  test("leaves out what was before it: clients, their needs, their calls, what native served", () => {
    const report = createReport(from(told), times(7 * DAY));
    expect(report.clients.map(({ name, onV1 }) => [name, onV1])).toEqual([
      ["stays", true],
      ["gone", false],
    ]);
    expect(report.breaks.map(({ kind, resource, operation }) => `${kind} ${resource} ${operation}`)).toEqual([
      "native repo list",
      "operation group list",
    ]);
    expect(report.window.from).toBe(new Date(NOW - 7 * DAY).toISOString());
  });

  test("without one everything counts that anybody remembers", () => {
    const report = createReport(from(told), times());
    expect(report.clients.every(({ onV1 }) => onV1)).toBe(true);
    expect(report.breaks).toHaveLength(6);
  });

  test("a request at its very beginning is in it", () => {
    const edge = quiet({ ledger: { since: 0, clients: [client("edge", { lastV1: NOW - 7 * DAY })] } });
    expect(createReport(from(edge), times(7 * DAY)).v1Left).toBe("yes");
  });
});

describe("whether v1 is left", () => {
  const judged = (asked: readonly InstanceResult[], windowMs?: number): [MigrationReport["v1Left"], number, number] => {
    const report = createReport(asked, times(windowMs));
    return [report.v1Left, exitCodeOf(report, false), exitCodeOf(report, true)];
  };

  test("yes, as soon as one client called it, whoever else was not heard", () => {
    expect(judged(from(...busy()))).toEqual(["yes", 0, 1]);
    expect(judged([...from(...busy()), SILENT])).toEqual(["yes", 2, 1]);
  });

  test("no, when everybody was heard and has watched for so long", () => {
    expect(judged(from(quiet()), 7 * DAY)).toEqual(["no", 0, 0]);
    expect(judged(from(quiet()))).toEqual(["no", 0, 0]);
  });

  test("not known, while an instance was not heard", () => {
    expect(judged([...from(quiet()), SILENT], 7 * DAY)).toEqual(["unknown", 2, 2]);
  });

  test("not known, when an instance began within the window", () => {
    const young = quiet({ instance: "young", ledger: { since: NOW - HOUR } });
    expect(judged(from(quiet(), young), 7 * DAY)).toEqual(["unknown", 0, 2]);
    expect(judged(from(quiet(), young), HOUR)).toEqual(["no", 0, 0]);
  });

  test("not known, when an instance was off within the window, whatever its file knows from before", () => {
    const off = quiet({ ledger: { since: NOW - 45 * DAY, watchedSince: NOW - HOUR } });
    expect(judged(from(off), 14 * DAY)).toEqual(["unknown", 0, 2]);
    expect(judged(from(off), HOUR)).toEqual(["no", 0, 0]);
    // Without a window it vouches for what it saw.
    expect(reportText(createReport(from(off), times()))).toMatch(/no client called v1 since 2026-11-21 20:30Z$/);
    const ahead = progress({ instance: "b", at: NOW + 26 * HOUR, ledger: { since: NOW - 45 * DAY } });
    expect(judged(from(off, ahead), 2 * HOUR)[0]).toBe("unknown");
  });

  test("not known, when v1 was called and the ledger had no room for everybody", () => {
    const full = (lastSeen: number) =>
      quiet({ ledger: { since: 0, bound: 3, clients: [] }, totals: totals([row({ lastSeen })]) });
    expect(judged(from(full(NOW - HOUR)), 7 * DAY)).toEqual(["unknown", 0, 2]);
    expect(judged(from(full(NOW - 8 * DAY)), 7 * DAY)).toEqual(["no", 0, 0]);
  });

  test("known, when only users of v2 had no room: every caller of v1 is listed", () => {
    const before = client("ci", { lastV1: NOW - 8 * DAY });
    const full = (lastSeen: number) => ({
      ledger: { since: 0, bound: 0, requests: { v1: 1, v2: 90_000 }, clients: [before] },
      totals: totals([row({ lastSeen }), row({ apiVersion: "v2", lastSeen: NOW, requests: 90_000 })]),
    });
    expect(judged(from(quiet(full(NOW - 8 * DAY))), 7 * DAY)).toEqual(["no", 0, 0]);
    expect(judged(from(quiet(full(NOW - 8 * DAY))), 9 * DAY)).toEqual(["yes", 0, 1]);
  });

  test.each(["none", "5xx"])("not known, when v1 requests ended with %s: nobody knows their callers", (codes) => {
    const failing = (facts: Parameters<typeof row>[0]) =>
      quiet({ ledger: { since: 0 }, totals: totals([row({ mode: "native", codes, lastSeen: NOW, ...facts })]) });
    expect(judged(from(failing({})), 7 * DAY)).toEqual(["unknown", 0, 2]);
    expect(judged(from(failing({ lastSeen: NOW - 8 * DAY })), 7 * DAY)).toEqual(["no", 0, 0]);
    expect(judged(from(failing({ apiVersion: "v2" })), 7 * DAY)).toEqual(["no", 0, 0]);
    // Carryover's own 501: that is no service that anybody would miss.
    expect(judged(from(failing({ mode: "refused" })), 7 * DAY)).toEqual(["no", 0, 0]);
  });

  test("no, when v1 was called only by whom the ledger leaves out on purpose", () => {
    const excluded = quiet({ ledger: { since: 0 }, totals: totals([row({ lastSeen: NOW })]) });
    expect(judged(from(excluded), 7 * DAY)).toEqual(["no", 0, 0]);
  });
});
