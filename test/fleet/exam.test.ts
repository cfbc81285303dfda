import { describe, expect, test } from "vitest";
import { type ExamSources, examExitCode, examOf, failureOf } from "../../src/fleet/exam.ts";
import { EXAM_TERMS, type ExamTerms } from "../../src/fleet/exam-operations.ts";
import type { FleetRule } from "../../src/fleet/fleet.ts";
import type { ClientEntry } from "../../src/ledger/entry.ts";
import { client, DAY, NOW } from "../commands/report/support.ts";
import { rule, TROUBLE } from "../commands/status/support.ts";

const called = (operation: string, rest: Partial<ClientEntry["operations"][number]> = {}) => ({
  ...{ resource: "group", operation, requests: 300, lastSeen: NOW - DAY },
  ...rest,
});
const compared = (operation: string, comparisons: number, differences = 0, of = "ci-bot") => {
  return { resource: "group", operation, client: of, comparisons, differences };
};
const fleetRule = (...given: Parameters<typeof rule>): FleetRule => {
  const { state, ...rest } = rule(...given);
  return { ...rest, state: state === "could-move" ? "as-written" : state, on: ["http://a:1"], age: undefined };
};

const UNKNOWN = { resource: "unknown", operation: "unknown" };

/** A client that passes. */
const sources = (rest: Partial<ExamSources> = {}): ExamSources => ({
  client: client("ci-bot", { operations: [called("list")] }),
  comparisons: [compared("list", 250)],
  rules: [],
  isUntranslated: () => false,
  at: NOW,
  watchedSince: NOW - 8 * DAY,
  complete: true,
  ...rest,
});
const exam = (rest: Partial<ExamSources> = {}, terms: Partial<ExamTerms> = {}) =>
  examOf(sources(rest), { ...EXAM_TERMS, ...terms });
const calling = (...operations: ClientEntry["operations"]) => client("ci-bot", { operations });

test("a client that updates must send PATCH before carryover is removed", () => {
  const change = (...operations: ClientEntry["operations"]) =>
    exam({ client: client("ci-bot", { lastV1: NOW, operations }) }).changes.beforeCarryover;
  expect(change(called("list"))).toEqual(["renames only"]);
  expect(change(called("list"), called("update"))).toEqual(["renames, and PATCH in place of PUT: group update"]);
});

describe("a client passes", () => {
  test("when each operation was looked at often enough, and no more differ than may", () => {
    expect(exam()).toMatchObject({ verdict: "pass", looks: 250, bad: 0, requests: 300, against: [], open: [] });
    expect(exam({ comparisons: [compared("list", 400, 1)] })).toMatchObject({ verdict: "pass", bad: 1 });
  });

  test("until the window is over", () => {
    expect(exam().holdsUntil).toBe(new Date(NOW + 14 * DAY).toISOString());
    expect(exam({ complete: false }).holdsUntil).toBe(null);
  });

  test("by requests that the translation serves, without a comparison", () => {
    const by = { client: calling(called("list", { translated: 300 })), comparisons: [] };
    expect(exam(by)).toMatchObject({ verdict: "pass", looks: 300 });
  });

  test("with few requests when each of them was looked at", () => {
    const nightly = calling(called("list", { requests: 5 }));
    expect(exam({ client: nightly, comparisons: [compared("list", 5)] }).verdict).toBe("pass");
    expect(exam({ client: nightly, comparisons: [compared("list", 4)] }).open[0]).toBe(
      "group list: looked at 4 times, 5 needed",
    );
  });

  test("whatever it called before the window", () => {
    const before = called("sbom", { lastSeen: NOW - 15 * DAY });
    const lacking = [{ resource: "group", operation: "sbom" }];
    const moved = client("ci-bot", { operations: [called("list"), before], needs: { lacking } });
    expect(exam({ client: moved })).toMatchObject({ verdict: "pass", leftOut: ["group sbom"] });
  });
});

describe("a pass ends", () => {
  test("with the first call of something new", () => {
    const now = calling(called("list"), called("get", { requests: 1 }));
    expect(exam({ client: now })).toMatchObject({ verdict: "unknown", open: ["group get: nobody has looked at it"] });
  });
});

describe("a client fails", () => {
  test("by comparisons of its own that differ, not by those of others", () => {
    const differs = [compared("list", 250, 5)];
    expect(exam({ comparisons: differs }).against).toEqual(["group list: 5 of 250 comparisons differ"]);
    const others = [compared("list", 250), compared("list", 250, 250, "web")];
    expect(exam({ comparisons: others }).verdict).toBe("pass");
  });

  test("by one difference of a replay, and passes by a replay without", () => {
    const place = { resource: "group", operation: "list", what: "value", path: "items[].name", count: 1, set: null };
    const replayed = (differences: readonly (typeof place)[]) => ({
      operations: [{ resource: "group", operation: "list", compared: 400 }],
      differences,
    });
    const by = exam({ replay: replayed([place]) });
    expect([by.against, by.differences]).toEqual([["group list: 1 of 400 replayed requests differ"], [place]]);
    expect(exam({ comparisons: [], replay: replayed([]) })).toMatchObject({ verdict: "pass", looks: 400 });
  });

  test("by requests that failed because of the translation", () => {
    const failed = calling(called("list", { translated: 97, errors: { translation: 3, platform: 90, client: 90 } }));
    expect(exam({ client: failed }).against).toEqual([
      "group list: 3 of 100 translated requests failed because of the translation",
    ]);
  });

  test("by what v2 lacks or carryover does not translate: its team has to change that, and a rehearsal refuses it", () => {
    const needs = { lacking: [{ resource: "group", operation: "sbom" }] };
    const operations = [called("list"), called("sbom", { requests: 7 }), called("audit", { requests: 2 })];
    const found = exam({
      client: client("ci-bot", { operations, needs }),
      isUntranslated: ({ operation }) => operation === "audit",
    });
    expect(found).toMatchObject({ verdict: "fail", refusals: 9 });
    expect(found.changes.beforeV1).toEqual(["do without group sbom", "call group audit of v2 itself"]);
  });

  test("by a rehearsal that stopped, unless v2 stopped it", () => {
    const rehearsal = { client: "ci-bot", until: NOW - DAY };
    const back = { state: "expired", cause: "6 of 100 requests failed", rehearsal } as const;
    const stopped = fleetRule("off", "translate", { requests: 100, failures: 6 }, back);
    expect(exam({ rules: [stopped] })).toMatchObject({
      verdict: "fail",
      rehearsal: { state: "stopped", requests: 100, failures: 6 },
    });
    expect(exam({ rules: [{ ...stopped, byGuard: true }] }).verdict).toBe("unknown");
    const ofOther = { ...stopped, rehearsal: { ...rehearsal, client: "web" } };
    expect(exam({ rules: [ofOther] })).toMatchObject({ verdict: "pass", rehearsal: null });
  });
});

describe("it is not known", () => {
  test.each<[string, Partial<ExamSources>, Partial<ExamTerms>]>([
    ["while an instance is silent", { complete: false }, {}],
    ["while the ledger is young", { watchedSince: NOW - 6 * DAY }, {}],
    ["while rules do not decide", { forced: "native" }, {}],
    ["while v2 fails clients", { rules: [fleetRule("r", "translate", {}, { guard: TROUBLE })] }, {}],
    ["of paths that carryover does not know", { client: calling(called("list"), called("x", UNKNOWN)) }, {}],
    ["of operations summed up", { client: calling(called("list"), called("other", { resource: "other" })) }, {}],
    ["by few comparisons of many requests", { comparisons: [compared("list", 60)] }, {}],
    ["without a rehearsal, where one is needed", {}, { needsRehearsal: true }],
  ])("%s", (_, rest, terms) => {
    expect(exam(rest, terms)).toMatchObject({ verdict: "unknown", against: [], open: [expect.any(String)] });
  });
});

test("a rehearsal that is needed must be over, and have seen requests", () => {
  const rehearsed = (until: number, requests: number) =>
    exam(
      { rules: [fleetRule("off", "translate", { requests }, { rehearsal: { client: "ci-bot", until } })] },
      { needsRehearsal: true },
    );
  expect(rehearsed(NOW - 1, 12)).toMatchObject({ verdict: "pass", rehearsal: { state: "over" } });
  expect(rehearsed(NOW + 1, 12).open).toEqual(["rehearsal off is not over"]);
  expect(rehearsed(NOW - 1, 0).open).toEqual(["rehearsal off saw no request"]);
});

test("a brownout spares a client that failed, but not one about which too little is known", () => {
  expect(failureOf(sources({ comparisons: [compared("list", 20, 1)] }))).toBe("group list: 1 of 20 comparisons differ");
  expect(failureOf(sources({ comparisons: [] }))).toBe(undefined);
  expect(failureOf(sources())).toBe(undefined);
});

test("one failed client makes exit code 1, one unknown code 2", () => {
  const [pass, fail, unknown] = (["pass", "fail", "unknown"] as const).map((verdict) => ({ verdict }));
  if (pass === undefined || fail === undefined || unknown === undefined) throw new Error("unreachable");
  expect([[pass], [pass, unknown], [unknown, fail]].map(examExitCode)).toEqual([0, 2, 1]);
});
