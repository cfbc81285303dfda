import { describe, expect, test } from "vitest";
import { reportCsv } from "../../src/commands/report/csv.ts";
import { reportMarkdown, reportText } from "../../src/commands/report/formats.ts";
import type { InstanceResult } from "../../src/fleet/merge.ts";
import { createReport, exitCodeOf } from "../../src/fleet/report.ts";
import type { ReportScope } from "../../src/fleet/scope.ts";
import { dayOf } from "../../src/ledger/days.ts";
import type { Progress } from "../../src/telemetry/progress.ts";
import {
  admin,
  busy,
  client,
  counted,
  DAY,
  HOUR,
  NOW,
  progress,
  report,
  row,
  rule,
  times,
  totals,
} from "../commands/report/support.ts";
import { takeDownAfterEach } from "../end-to-end/app/rig.ts";

takeDownAfterEach();

const from = (...all: readonly Progress[]): readonly InstanceResult[] =>
  all.map((one, at) => ({ address: `http://10.0.0.${at + 1}:8081`, progress: one }));
const made = (scope: ReportScope, windowMs?: number) => createReport(from(...busy()), times(windowMs), scope);

describe("one window", () => {
  /** After a restart that kept the ledger alone: the process has counted 220 requests, the ledger 1,204. */
  const restarted: Progress = {
    ...progress({
      ledger: {
        requests: { v1: 1204, v2: 30 },
        clients: [
          client("ci", {
            requests: { v1: 1200, v2: 30 },
            operations: [{ resource: "group", operation: "list", requests: 1200, lastSeen: NOW - HOUR }],
          }),
        ],
      },
    }),
    totals: {
      since: NOW - 3 * DAY + 2_000,
      at: NOW,
      rows: [row({ requests: 200 }), row({ mode: "native", requests: 20 })],
    },
  };

  test("all numbers count from the ledger's beginning where the process has forgotten its own", () => {
    const one = createReport(from(restarted), times());
    expect(one.requests).toMatchObject({ v1: 1204, v2: 30 });
    expect(one.resources.map(({ resource, v1, v2, native }) => [resource, v1, v2, native])).toEqual([
      ["group", 1200, null, null],
      ["other", 4, null, null],
    ]);
    expect(one.standing?.translatedShare).toBeNull();
    expect(one.window.countsSince).toBe(new Date(NOW - 3 * DAY).toISOString());
    const text = reportText(one);
    expect(text).toContain("\nRequests are counted since 2026-11-18 21:30Z.\n");
    expect(text).not.toMatch(/\b2?20\b(?!:)/);
  });

  test("what was not called in it is in no number", () => {
    const old = row({ resource: "role", requests: 50, lastSeen: NOW - 8 * DAY });
    const calls = [
      { resource: "role", operation: "list", requests: 50, lastSeen: NOW - 8 * DAY },
      { resource: "group", operation: "list", requests: 7, lastSeen: NOW - HOUR },
    ];
    const days = { last: dayOf(NOW), v1: [7, 0, 0, 0, 0, 0, 0, 0, 50], v2: [], calledV1: "101", calledV2: "" };
    const told = progress({
      totals: totals([old, row({ requests: 7 })]),
      window: counted([row({ requests: 7 })]),
      ledger: { since: 0, clients: [client("ci", { requests: { v1: 57, v2: 0 }, days, operations: calls })] },
    });
    const week = createReport(from(told), times(7 * DAY));
    expect([week.requests.v1, week.clients[0]?.v1, week.resources.length]).toEqual([7, 7, 1]);
    expect(reportText(week)).toContain("What was not called in the last 7 d is left out.");
    expect(createReport(from(told), times()).requests.v1).toBe(57);
  });

  test("requests of no listed client are told, so that the sums agree", () => {
    const told = progress({
      totals: totals([row({ requests: 10 }), row({ mode: "refused", codes: "4xx", requests: 2 })]),
      ledger: { clients: [client("ci")] },
    });
    expect(reportText(createReport(from(told), times()))).toContain(
      "2 of the v1 requests are of no client below: refused, not let in by the platform, or of clients.exclude.",
    );
  });
});

describe("a report on one resource", () => {
  test("has its requests, callers, comparisons and breaks, and no other's", () => {
    const repo = made({ resource: "repo" });
    expect(repo.requests).toEqual({ v1: 902, v2: 0, v1Share: 1 });
    expect(repo.resources.map(({ resource }) => resource)).toEqual(["repo"]);
    expect(repo.clients.map(({ name, v1, v2 }) => [name, v1, v2])).toEqual([["ci-bot", 902, null]]);
    expect(repo.clients[0]).toMatchObject({ difficulty: "unknown", needs: { lacking: [] } });
    expect(repo.bounds.map(({ resource }) => resource)).toEqual(["repo"]);
    expect(repo.breaks.map(({ kind, resource }) => `${kind} ${resource}`)).toEqual([
      "native repo",
      "unseen repo",
      "operation repo",
    ]);
    expect(repo.rules).toEqual([]);
    for (const shown of [reportText(repo), reportMarkdown(repo), reportCsv(repo)]) {
      expect(shown).toContain("ci-bot");
      expect(shown).not.toMatch(/terraform|tag|group/);
    }
    expect(reportText(repo)).toMatch(/v1 repo is still in use: 1 client called v1 repo since 2026-11-18 21:30Z$/);
  });

  test("says whether it is in use by itself", () => {
    expect([made({ resource: "repo" }).v1Left, made({ resource: "role" }).v1Left]).toEqual(["yes", "no"]);
    expect(made({ resource: "role" }).standing?.next).toBe("nothing, no client calls v1 role");
    expect(exitCodeOf(made({ resource: "repo" }, DAY), true)).toBe(1);
    expect(exitCodeOf(made({ resource: "role" }, DAY), true)).toBe(0);
    expect(exitCodeOf(made({ resource: "tag" }, HOUR), true)).toBe(0);
  });

  test("does not vouch for a client of whom the ledger names only some operations", () => {
    const other = { resource: "other", operation: "other", requests: 1, lastSeen: NOW - HOUR };
    const told = progress({ ledger: { since: 0, clients: [client("many", { operations: [other] })] } });
    const role = createReport(from(told), times(DAY), { resource: "role" });
    expect([role.v1Left, exitCodeOf(role, true)]).toEqual(["unknown", 2]);
    expect(createReport(from(told), times(HOUR / 2), { resource: "role" }).v1Left).toBe("no");
  });

  test("does not vouch for requests of it that nobody knows the caller of", () => {
    const of = (resource: string) =>
      createReport(
        from(progress({ ledger: { since: 0 }, totals: totals([row({ resource, codes: "5xx" })]) })),
        times(DAY),
        {
          resource: "role",
        },
      ).v1Left;
    expect([of("role"), of("other"), of("group")]).toEqual(["unknown", "unknown", "no"]);
  });
});

describe("a report on clients", () => {
  test("has what these call, by the ledger, which does not tell modes", () => {
    const one = made({ client: "ci-bot" });
    expect(one.clients.map(({ name }) => name)).toEqual(["ci-bot"]);
    expect(one.resources.map(({ resource, v1, translate }) => [resource, v1, translate])).toEqual([
      ["repo", 902, null],
      ["tag", 34, null],
    ]);
    expect(one.requests).toEqual({ v1: 936, v2: 70, v1Share: 936 / 1006 });
    expect(one.breaks.map(({ clients }) => clients)).toEqual(one.breaks.map(() => ["ci-bot"]));
    expect(made({ client: "terraform" }).bounds).toMatchObject([{ client: "terraform", comparisons: 4000 }]);
    expect(reportText(made({ client: "terraform" }))).toMatch(/ group +list +terraform +0 differences in 4,000 comp/);
  });

  test("takes a beginning and *, but a name that is known literally", () => {
    const clients = ["ci-a", "ci-b", "ci-*", "web"].map((name) => client(name));
    const named = (wanted: string, known = clients) =>
      createReport(from(progress({ ledger: { clients: known } })), times(), { client: wanted }).clients.map(
        ({ name }) => name,
      );
    expect(named("ci-*")).toEqual(["ci-*"]);
    expect(named("ci-*", clients.slice(0, 2))).toEqual(["ci-a", "ci-b"]);
    expect(named("*")).toHaveLength(4);
    expect(named("ci-")).toEqual([]);
  });

  test("may be on one resource, too", () => {
    const both = made({ client: "ci-bot", resource: "tag" });
    expect([both.requests, both.clients[0]?.v1, both.v1Left]).toEqual([{ v1: 34, v2: null, v1Share: null }, 34, "yes"]);
    expect(made({ client: "ci-bot", resource: "group" })).toMatchObject({ v1Left: "no", clients: [] });
  });
});

describe("the errors of v1 clients", () => {
  const errors = { client: 6, translation: 2 };
  const calls = [
    { resource: "group", operation: "update", requests: 20, lastSeen: NOW - HOUR, errors },
    { resource: "group", operation: "list", requests: 9, lastSeen: NOW - HOUR, errors: { client: 1 } },
    { resource: "role", operation: "list", requests: 9, lastSeen: NOW - HOUR },
  ];
  const told = progress({ ledger: { clients: [client("broken", { operations: calls }), client("fine")] } });
  const shown = createReport(from(told), times());

  test("are shown by client and operation, by who is at fault", () => {
    const text = reportText(shown);
    expect(text).toMatch(/^ {2}broken .* 7 client, 2 translation$/m);
    expect(text).toMatch(
      /^Errors of v1 requests, by who is at fault\n.*\n {2}broken +group update +20 +6 +0 +0 +2 +0$/m,
    );
    expect(text).toMatch(/^ {2}broken +group list +9 +1 +0 +0 +0 +0\n\n/m);
    expect(reportCsv(shown).split("\r\n")[1]).toMatch(/,7,0,0,2,0,$/);
    expect(shown.clients[0]?.operations[2]?.errors).toEqual({
      client: 0,
      platform: 0,
      capacity: 0,
      translation: 0,
      v2: 0,
    });
  });

  test("are no section without any", () => {
    expect(reportText(made({}))).not.toContain("Errors of");
  });
});

describe("on the command line", () => {
  test("a resource may be named as rules name it, and every form is narrowed", async () => {
    const [address = ""] = [await admin(busy()[0])];
    for (const form of [[], ["--markdown"], ["--csv"], ["--json"]]) {
      const { code, out } = await report([address, "--resource", "repos", "--fail-if-v1", ...form]);
      expect([code, out.includes("ci-bot"), out.includes("terraform")]).toEqual([1, true, false]);
    }
    const { code, out } = await report([address, "--client", "we*", "--fail-if-v1", "--since", "1d", "--json"]);
    expect([code, JSON.parse(out).scope]).toEqual([0, { resource: null, client: "we*" }]);
  });

  test("a name that nobody knows ends with 2, and with what may be meant", async () => {
    const asked: string[] = [];
    const fetch = async (input: unknown) => {
      asked.push(String(input));
      return new Response(JSON.stringify(progress({ rules: [rule("a")], ledger: { clients: [client("ci-bot")] } })));
    };
    expect(await report(["a:1", "--resource", "gruop", "--fail-if-v1"], { fetch })).toMatchObject({
      code: 2,
      out: "",
      err: '--resource: there is no resource "gruop"; did you mean group?\n',
    });
    expect(asked).toEqual([]);
    expect(await report(["a:1", "--client", "cibot", "--fail-if-v1"], { fetch })).toMatchObject({
      code: 2,
      out: "",
      err: '--client: no instance that responded knows a client "cibot"; did you mean ci-bot?\n',
    });
    expect((await report(["a:1", "--resource", "vuln-report", "--fail-if-v1"], { fetch })).code).toBe(0);
  });
});
