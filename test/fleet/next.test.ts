/** The next step: a table of situations, each with the sentence and what is to be written. */
import { describe, expect, test } from "vitest";
import { changeLines } from "../../src/fleet/change.ts";
import { fleetOf } from "../../src/fleet/fleet.ts";
import { nextStep } from "../../src/fleet/next.ts";
import { nextOfRule } from "../../src/fleet/next-rule.ts";
import { createReport } from "../../src/fleet/report.ts";
import type { Progress } from "../../src/telemetry/progress.ts";
import { client, DAY, HOUR, NOW, rule as plain, progress, row } from "../commands/report/support.ts";
import { rule, TROUBLE } from "../commands/status/support.ts";

type Situation = readonly [what: string, told: Told, says: string, write?: string];
type Told = NonNullable<Parameters<typeof progress>[0]> | readonly (Progress | string)[];

const NATIVE = [row({ mode: "native", requests: 40 })];
const SHADOW = [row({ mode: "shadow", requests: 40 })];
const PROVED = { comparisons: 400, differences: 0, bound: 0.01 };
const LONG = { since: NOW - 10 * DAY };
const clientsOf = (count: number) => Array.from({ length: count }, (_, n) => client(`c${n}`));
const inBuckets = (...buckets: readonly number[]) => buckets.map((bucket, n) => client(`c${n}`, { bucket }));
const gone = (days: number) => {
  const lastV1 = NOW - days * DAY;
  return client("gone", { lastV1, lastSeen: lastV1 + HOUR, requests: { v1: 9, v2: 1 } });
};
const withRows = (rows: readonly ReturnType<typeof row>[], more: object = {}) => ({
  totals: { at: NOW, since: NOW - 3 * DAY, rows: [...rows] },
  ...more,
});
const forcedBy = (command: "native" | "none", file: "native" | "none", lost?: boolean) => {
  return { effective: "native", file, command, ...(lost === undefined ? {} : { lost }) } as const;
};
const lacking = (ago: number) => {
  const need = { resource: "tag", operation: "list-history" };
  return { operations: [{ ...need, requests: 4, lastSeen: NOW - ago }], needs: { lacking: [need] } };
};
const cause = (set?: string) => {
  return [{ operation: "group list", what: "extra", path: "items.createdAt", set, samples: 9 }];
};

const WAITING = rule("r", "shadow", { whom: "group", comparisons: 100 }, { since: NOW - HOUR });
const calledAgo = (hours: number) => ({ lastV1: NOW - hours * HOUR, lastSeen: NOW - hours * HOUR });

const SITUATIONS: readonly Situation[] = [
  // Instances.
  ["no instance responds", ["refused"], "start an instance, or name the right address: a refused"],
  ["one of two is silent", [progress(), "timed out"], "find out why b does not respond: timed out"],
  [
    "the rules file is broken",
    { lastReloadSuccessful: false },
    "correct the rules file of a: carryover check --rules-only --rules FILE names its faults",
  ],
  [
    "the rules file is broken at a known place",
    { lastReloadSuccessful: false, rulesFault: { at: NOW, says: "rules.yaml:3:5 mode: unknown" } },
    "correct the rules file of a: rules.yaml:3:5 mode: unknown",
  ],
  [
    "clients fail while an address is silent",
    [progress({ rules: [rule("r", "translate", { requests: 40 }, { guard: TROUBLE })] }), "timed out"],
    "find out why v2 fails clients of r, or carryover force native: since 21:29:00Z v2 failed 12 of 40 requests for group list",
  ],
  [
    "instances have different rules",
    [progress({ digest: "1" }), progress({ digest: "2", instance: "i2" })],
    "give all instances the same rules file: instances have different rules: a has 1, b has 2",
  ],
  [
    "the state of a rule is lost",
    { rules: [rule("r", "translate", {}, { unknown: true, state: "stepped-back" })] },
    "find out what r did before its saved state was lost (/rules, the log), then carryover confirm r",
  ],
  // Force.
  [
    "forced by hand",
    { force: "native", forcedBy: forcedBy("native", "none") },
    "see with carryover check whether v2 is well, which nobody asks while native v1 is forced; then carryover force none",
  ],
  [
    "forced by a person who said why",
    { force: "native", forcedBy: { ...forcedBy("native", "none"), by: "anna", reason: "v2 loses writes" } },
    "ask anna, and see with carryover check whether v2 is well, which nobody asks while native v1 is forced; then carryover force none (it was forced for: v2 loses writes)",
  ],
  [
    "forced by the file",
    { force: "native", forcedBy: forcedBy("none", "native") },
    "see with carryover check whether v2 is well, which nobody asks while native v1 is forced; then set force: none in the rules file",
    "in the rules file: force: none",
  ],
  [
    "the state of force is lost",
    { force: "native", forcedBy: forcedBy("native", "none", true) },
    "carryover force none, unless a person forced native v1: whether one did was lost with the saved state",
  ],
  // v2 is sick.
  [
    "v2 fails clients",
    { rules: [rule("r", "translate", { requests: 40 }, { guard: TROUBLE })] },
    "find out why v2 fails clients of r, or carryover force native: since 21:29:00Z v2 failed 12 of 40 requests for group list",
  ],
  [
    "v2 fails clients and the guard only warns",
    { rules: [rule("r", "translate", { requests: 40 }, { guard: { ...TROUBLE, action: "warn" } })] },
    "carryover force native, or let r go back to native v1 by itself (guard: stepBack): since 21:29:00Z v2 failed 12 of 40 requests for group list",
    "in rule r: guard: stepBack",
  ],
  [
    "v2 fails clients without a native v1",
    { native: false, rules: [rule("r", "translate", { requests: 40 }, { guard: TROUBLE })] },
    "repair v2: there is no native v1 to go back to, and since 21:29:00Z v2 failed 12 of 40 requests for group list",
  ],
  ["a circuit breaker is open", { openBreakers: ["v2"] }, "find out why upstream v2 does not respond"],
  [
    "the guard stepped a rule back",
    {
      rules: [
        rule(
          "r",
          "translate",
          {},
          { state: "stepped-back", doing: "native", byGuard: true, cause: "v2 failed 9 of 9" },
        ),
      ],
    },
    "find out why v2 fails: r returns by itself when v2 responds: v2 failed 9 of 9",
  ],
  [
    "a rule stepped back for differences",
    {
      rules: [
        rule(
          "r",
          "translate",
          {},
          { state: "stepped-back", doing: "native", byGuard: false, cause: "9 differences in 40 comparisons" },
        ),
      ],
    },
    "find out why r stepped back (/samples, the log), and fix the cause: 9 differences in 40 comparisons",
  ],
  [
    "v2 failed clients until a minute ago",
    {
      rules: [
        rule(
          "r",
          "translate",
          { requests: 400 },
          {
            guard: {
              action: "stepBack",
              past: { until: NOW - 60_000, quietAt: NOW + 840_000, says: "v2 failed 9 of 40" },
            },
          },
        ),
      ],
    },
    "wait until 21:44:00Z for r: until 21:29:00Z v2 failed 9 of 40; it may go further if nothing fails until 21:44:00Z",
  ],
  // Rules.
  [
    "a rule returns",
    { rules: [rule("r", "translate", {}, { state: "returning" })] },
    "wait until r translates for all of its clients again",
  ],
  [
    "a rule has expired",
    { rules: [rule("r", "shadow", {}, { state: "expired", doing: "nothing" })] },
    "remove rule r from the rules file: it has expired, and matches nothing",
  ],
  [
    "a rule was promoted",
    { rules: [rule("r", "shadow", { requests: 400, ...PROVED }, { state: "promoted", doing: "translate" })] },
    "write mode: translate into rule r: it translates by itself now",
    "in rule r: mode: translate",
  ],
  [
    "a shadow rule is proved",
    { rules: [rule("r", "shadow", PROVED)] },
    "set rule r to mode: translate, for 10 % of its clients first",
    "in rule r: mode: translate; in rule r: onFailure: native; in match of rule r: percent: 10",
  ],
  [
    "a shadow rule for one client is proved",
    { rules: [rule("r", "shadow", { ...PROVED, clients: 1, clientsNeeded: 1 })] },
    "set rule r to mode: translate",
    "in rule r: mode: translate; in rule r: onFailure: native",
  ],
  [
    "a shadow rule for many clients is proved",
    { ledger: { clients: clientsOf(7) }, rules: [rule("r", "shadow", { ...PROVED, clientsNeeded: 1, sample: 1 })] },
    "set rule r to mode: translate, for 10 % of its clients first",
    "in rule r: mode: translate; in rule r: onFailure: native; in match of rule r: percent: 10",
  ],
  [
    "a shadow rule for named clients is proved and compares every request",
    {
      ledger: { clients: clientsOf(7) },
      rules: [rule("r", "shadow", { ...PROVED, clientsNeeded: 1, namesClients: true, sample: 1 })],
    },
    "set rule r to mode: translate",
    "in rule r: mode: translate; in rule r: onFailure: native; in shadow of rule r: sample: 0.1",
  ],
  [
    "a translated percentage is proved",
    { rules: [rule("r", "translate", { requests: 400, percent: 10 })] },
    "raise match.percent of rule r from 10 to 25",
    "in match of rule r: percent: 25",
  ],
  [
    "of two rules one is proved",
    {
      rules: [
        rule("slow", "shadow", { comparisons: 20 }, LONG),
        rule("r", "translate", { requests: 400, percent: 50 }),
      ],
    },
    "raise match.percent of rule r from 50 to 100",
    "in match of rule r: percent: 100",
  ],
  [
    "of two rules one waits and one needs a person",
    {
      rules: [
        rule("slow", "shadow", { comparisons: 140 }, { since: NOW - HOUR }),
        rule("r", "shadow", { comparisons: 50, differences: 42 }),
      ],
    },
    "find out why the translation of r differs (/samples), and rename the rule when that is fixed: 84 % of its comparisons differ",
  ],
  [
    "few comparisons, more come soon",
    { rules: [rule("r", "shadow", { comparisons: 100 }, { since: NOW - HOUR })] },
    "wait for r: 83 more comparisons, about 49.8 min",
  ],
  [
    "few comparisons, more come late",
    { rules: [rule("r", "shadow", { comparisons: 20, sample: 0.1 }, LONG)] },
    "raise shadow.sample of rule r to 1: 163 more comparisons would take about 82 days",
    "in shadow of rule r: sample: 1",
  ],
  [
    "few comparisons in the first hour",
    { rules: [rule("r", "shadow", { comparisons: 2, sample: 1 }, { since: NOW - HOUR })] },
    "wait for r: 181 more comparisons, after 2 in 60 min",
  ],
  [
    "few comparisons though all are compared",
    { rules: [rule("r", "shadow", { comparisons: 20, sample: 1 }, LONG)] },
    "let rule r match more, or go on without the proof (mode: translate): 163 more comparisons would take about 82 days",
    "in rule r: mode: translate; in rule r: onFailure: native",
  ],
  [
    "84 % differ, for a known reason",
    {
      rules: [
        rule("r", "shadow", { comparisons: 50, differences: 42 }, { causes: cause("v1.recordTimes: published") }),
      ],
    },
    "set v1.recordTimes: published, which removes the difference extra at items.createdAt of group list: 84 % of its comparisons differ for r",
    "in v1 of the configuration: recordTimes: published",
  ],
  [
    "84 % differ, for no known reason",
    { rules: [rule("r", "shadow", { comparisons: 50, differences: 42 }, { causes: cause() })] },
    "find out why the translation of r differs, most often extra at items.createdAt of group list (/samples), and rename the rule when that is fixed: 84 % of its comparisons differ",
  ],
  [
    "what differed is equal by now",
    { rules: [rule("r", "shadow", { comparisons: 50, differences: 30, equal: 15 })] },
    "find out why the translation of r differs (/samples), and rename the rule when that is fixed: 60 % of its comparisons differ, though none of the latest 15 did",
  ],
  [
    "a few differ",
    { rules: [rule("r", "shadow", { comparisons: 400, differences: 3 }, { since: NOW - HOUR })] },
    "wait for r: 156 more comparisons, about 23.4 min",
  ],
  [
    "few clients were compared, and few call",
    { ledger: { clients: clientsOf(7) }, rules: [rule("r", "shadow", { ...PROVED, clients: 3, clientsNeeded: 20 })] },
    "set promoteWhen.minClients of rule r to 7: only 7 clients call v1, and 3 of 20 needed were compared",
    "in promoteWhen of rule r: minClients: 7",
  ],
  [
    "few clients were compared, and many call",
    { ledger: { clients: clientsOf(30) }, rules: [rule("r", "shadow", { ...PROVED, clients: 3, clientsNeeded: 20 })] },
    "wait until more clients of r call: 3 of 20 needed were compared",
  ],
  [
    "an operation lacks comparisons",
    { rules: [rule("r", "shadow", { ...PROVED, heldBack: ["group get: 3 comparisons in 12 requests, 6 needed"] })] },
    "wait for r, or give that operation a rule of its own: not proved: group get: 3 comparisons in 12 requests, 6 needed",
  ],
  [
    "an operation differs",
    { rules: [rule("r", "shadow", { ...PROVED, heldBack: ["group get: 30 % of its latest comparisons differ"] })] },
    "find out why the translation differs (/samples), or give that operation a rule of its own before r: not proved: group get: 30 % of its latest comparisons differ",
  ],
  [
    "an operation cannot be compared",
    { rules: [rule("r", "shadow", { ...PROVED, heldBack: ["group get: 12 requests, cannot be compared"] })] },
    "give that operation a rule of its own before r: not proved: group get: 12 requests, cannot be compared",
  ],
  [
    "requests came and none was compared",
    withRows(SHADOW, { rules: [rule("r", "shadow", { sample: 0.001 })] }),
    "raise shadow.sample of rule r: requests came, and none was compared",
    "in shadow of rule r: sample: 1",
  ],
  [
    "requests came, all are to be compared, and none of them was about this rule",
    withRows(SHADOW, { rules: [rule("r", "shadow", { sample: 1 })], ledger: { clients: [client("last")] } }),
    "move last to v2, the last client on v1 (hardest need: renames; carryover way-out last)",
  ],
  [
    "v2 was sick while an operation was compared",
    {
      rules: [
        rule("r", "shadow", { ...PROVED, heldBack: ["group get: 31 % of its latest comparisons failed (platform)"] }),
      ],
    },
    "wait for r if v2 is well again (carryover check), else find out why it fails: not proved: group get: 31 % of its latest comparisons failed (platform)",
  ],
  [
    "a percentage takes nobody",
    withRows(NATIVE, { rules: [rule("r", "translate", { percent: 1 })] }),
    "raise match.percent of rule r from 1 to 5: no client that calls is among its 1 % (/clients shows each client's bucket)",
    "in match of rule r: percent: 5",
  ],
  [
    "a percentage takes nobody, and buckets are known",
    { ledger: { clients: inBuckets(18, 29, 95) }, rules: [rule("r", "translate", { percent: 10 })] },
    "raise match.percent of rule r from 10 to 25: no client that calls is among its 10 % (/clients shows each client's bucket); adds c0",
    "in match of rule r: percent: 25",
  ],
  [
    "a percentage takes somebody who has not called yet",
    { ledger: { clients: inBuckets(18) }, rules: [rule("r", "translate", { percent: 25 }, { since: NOW - HOUR })] },
    "wait for the first requests that rule r translates",
  ],
  [
    "the usual percentage would add nobody",
    { ledger: { clients: inBuckets(18, 95) }, rules: [rule("r", "translate", { requests: 400, percent: 25 })] },
    "raise match.percent of rule r from 25 to 96: adds c1",
    "in match of rule r: percent: 96",
  ],
  [
    "a percentage takes all clients that call",
    { ledger: { clients: inBuckets(18, 29) }, rules: [rule("r", "translate", { requests: 400, percent: 30 })] },
    "raise match.percent of rule r from 30 to 100",
    "in match of rule r: percent: 100",
  ],
  [
    "the first percentage would take nobody",
    { ledger: { clients: inBuckets(18, 29) }, rules: [rule("r", "shadow", PROVED)] },
    "set rule r to mode: translate, for 19 % of its clients first (it adds c0)",
    "in rule r: mode: translate; in rule r: onFailure: native; in match of rule r: percent: 19",
  ],
  [
    "the clients that a percentage leaves out are proved by a rule behind it",
    {
      ledger: { clients: inBuckets(18, 29, 40, 80) },
      rules: [
        rule("r", "translate", { requests: 20, percent: 30 }, { since: NOW - HOUR }),
        rule("rest", "shadow", PROVED),
      ],
    },
    "raise match.percent of rule r from 30 to 50: rule rest proved what it does for the others; adds c2",
    "in match of rule r: percent: 50",
  ],
  [
    "the rule behind a percentage speaks against more",
    {
      ledger: { clients: inBuckets(18, 40) },
      rules: [
        rule("r", "translate", { requests: 400, percent: 30 }),
        rule("rest", "shadow", {
          ...PROVED,
          heldBack: ["group create: 17 % of its latest comparisons failed (platform)"],
        }),
      ],
    },
    "wait for rest if v2 is well again (carryover check), else find out why it fails: not proved: group create: 17 % of its latest comparisons failed (platform)",
  ],
  [
    "nobody is left for the rule behind a percentage",
    {
      ledger: { clients: inBuckets(18, 29) },
      rules: [rule("r", "translate", { requests: 400, percent: 30 }), rule("rest", "shadow", PROVED)],
    },
    "remove rule rest, and raise match.percent of rule r from 30 to 100",
  ],
  [
    "a rule is new and nobody has called it",
    { rules: [rule("r", "shadow", {}, { since: NOW - HOUR })] },
    "wait for the first requests that rule r compares",
  ],
  [
    "a rule that stepped back has no pace yet",
    { rules: [rule("r", "translate", { requests: 100, percent: 10, stepBacks: 1 }, { since: NOW - HOUR })] },
    "wait for r: 71 more translated requests",
  ],
  [
    "the translation fails too often",
    { rules: [rule("r", "translate", { requests: 100, failures: 30 })] },
    "find out why the translation fails for r (the log, /clients): 30 of 100 requests failed because of translation: at most 46.7 % do (95 %), not yet below 2 %",
  ],
  [
    "few requests were translated",
    { rules: [rule("r", "translate", { requests: 100, percent: 10 }, { since: NOW - HOUR })] },
    "wait for r: 71 more translated requests, about 42.6 min",
  ],
  [
    "few requests are translated, and slowly",
    { rules: [rule("r", "translate", { requests: 20, percent: 25 }, LONG)] },
    "raise match.percent of rule r from 25 to 50: 0 of 20 requests failed, and 151 more translated requests would take about 76 days",
    "in match of rule r: percent: 50",
  ],
  [
    "an instance is too old to tell evidence",
    { rules: [plain("r", { mode: "shadow", doing: "shadow" })] },
    "upgrade the instances: an instance is older, and tells no evidence (on a)",
  ],
  [
    "a rule translates for all without a proof",
    {
      rules: [rule("r", "translate", { requests: 100 }, { since: NOW - HOUR })],
      ledger: { clients: [client("last")] },
    },
    "move last to v2, the last client on v1 (hardest need: renames; carryover way-out last)",
  ],
  // What no rule takes.
  [
    "a rule waits, and no rule takes another resource",
    withRows([row({ resource: "identity", mode: "native" }), ...SHADOW], { rules: [WAITING] }),
    "compare identity by a rule with mode: shadow: native v1 serves it",
    "at the end of the rules file:; - name: identities; match: { resource: identity }; mode: shadow; shadow: { sample: 1 }",
  ],
  [
    "native served what a rule takes now",
    withRows(NATIVE, { rules: [WAITING] }),
    "wait for r: 83 more comparisons, about 49.8 min",
  ],
  [
    "native serves without rules",
    withRows(NATIVE),
    "compare group by a rule with mode: shadow: native v1 serves it",
    "in the rules file, in place of its rules:; rules:; - name: groups; match: { resource: group }; mode: shadow; shadow: { sample: 1 }",
  ],
  [
    "cutover.mode compares everything",
    withRows(SHADOW),
    "give group a rule of its own with mode: shadow: only rules gather evidence, and move by it",
    "in the rules file, in place of its rules:; rules:; - name: groups; match: { resource: group }; mode: shadow; shadow: { sample: 1 }",
  ],
  [
    "a rule that nobody calls holds nothing up",
    withRows(NATIVE, { rules: [rule("groups", "shadow", {})] }),
    "compare group by a rule with mode: shadow: native v1 serves it",
    "at the end of the rules file:; - name: group-shadow; match: { resource: group }; mode: shadow; shadow: { sample: 1 }",
  ],
  // The end.
  [
    "everything is translated, clients are left",
    withRows([row({})], {
      ledger: {
        clients: [
          client("often", { owner: "Team A", contact: "a@b.c", requests: { v1: 90, v2: 0 } }),
          client("seldom"),
        ],
      },
      rules: [rule("r", "translate", { requests: 400 })],
    }),
    "move often (Team A, a@b.c) to v2, one of 2 clients on v1 (hardest need: renames; carryover way-out often)",
  ],
  [
    "one client is left, with an operation that v2 lacks",
    { ledger: { clients: [client("last", lacking(HOUR))] } },
    "agree with last on a way without tag list-history, the last client on v1: v2 does not have it",
  ],
  [
    "the last client has done without that operation for a day",
    { ledger: { clients: [client("last", lacking(25 * HOUR))] } },
    "move last to v2, the last client on v1 (hardest need: renames; carryover way-out last; it once called tag list-history, which v2 lacks)",
  ],
  [
    "the busiest client has been silent for hours",
    { ledger: { clients: [client("silent", { ...calledAgo(7), requests: { v1: 90, v2: 0 } }), client("calling")] } },
    "move calling to v2, one of 2 clients on v1 (hardest need: renames; carryover way-out calling)",
  ],
  [
    "the last client has been silent for a day",
    { ledger: { since: NOW - 30 * DAY, clients: [client("silent", calledAgo(25))] } },
    "wait until 2026-12-04 20:30Z, then remove carryover: the last v1 call was silent's, on 2026-11-20",
  ],
  [
    "nobody knows what a client needs",
    { ledger: { clients: [client("dark", { needs: { unseen: [{ resource: "group", operation: "update" }] } })] } },
    "compare what dark calls by a rule with mode: shadow: nobody knows its needs",
  ],
  [
    "nobody knows what a client needs, though a rule compares it",
    {
      rules: [rule("users", "shadow", { resources: ["user"] }), rule("rest", "shadow", { sample: 1 })],
      ledger: { clients: [client("dark", { needs: { unseen: [{ resource: "group", operation: "update" }] } })] },
    },
    "wait until dark calls group update again: rule rest has not seen a response to it yet",
  ],
  [
    "nobody has called v1 for four days",
    { ledger: { since: NOW - 30 * DAY, clients: [gone(4)] } },
    "wait until 2026-12-01 21:30Z, then remove carryover: the last v1 call was gone's, on 2026-11-17",
  ],
  [
    "nobody has called v1 for 15 days",
    { ledger: { since: NOW - 30 * DAY, clients: [gone(15)] } },
    "remove carryover: no client has called v1 for 14 days",
  ],
  [
    "nobody has called v1 for 15 days, and v2 is called through carryover",
    withRows([row({ apiVersion: "v2", mode: "pass", requests: 38 })], {
      ledger: { since: NOW - 30 * DAY, clients: [gone(15)] },
    }),
    "remove carryover: no client has called v1 for 14 days; v2 requests still pass through it (38 in the window): lead those clients to the platform first",
  ],
  [
    "nobody has called v1 for 15 days, and one was never seen on v2",
    {
      ledger: {
        since: NOW - 30 * DAY,
        clients: [client("nightly", { lastV1: NOW - 15 * DAY, lastSeen: NOW - 15 * DAY })],
      },
    },
    "remove carryover: no client has called v1 for 14 days; ask first where nightly went: nobody saw a v2 call",
  ],
  [
    "all clients have moved within the last day",
    {
      ledger: {
        since: NOW - 30 * DAY,
        clients: [client("moved", { ...calledAgo(7), lastSeen: NOW - HOUR, requests: { v1: 9, v2: 9 } })],
      },
    },
    "wait until 2026-12-05 14:30Z, then remove carryover: the last v1 call was moved's, on 2026-11-21",
  ],
  ["nobody has ever called", {}, "send clients to carryover: none has called yet"],
  [
    "every request was refused",
    withRows([row({})], { rules: [rule("r", "translate", { requests: 40 })] }),
    "send clients to carryover: so far all requests were refused, or came from excluded clients",
  ],
];

function fleetFor(told: Told) {
  const all: readonly (Progress | string)[] = "length" in told ? told : [progress(told)];
  return all.map((one, at) => {
    const address = String.fromCharCode(97 + at);
    return typeof one === "string" ? { address, fault: one } : { address, progress: one };
  });
}

describe("the next step", () => {
  for (const [what, told, says, write] of SITUATIONS)
    test(`when ${what}`, () => {
      const results = fleetFor(told);
      const { standing } = createReport(results, { from: undefined, to: undefined });
      const nothing = { counts: [], clients: [], at: NOW, watchedSince: NOW };
      const next = standing ?? { next: nextStep(fleetOf(results), nothing).says, change: null };
      const written = changeLines(next.change).map((line) => line.trim());
      expect([next.next, written.join("; ")]).toEqual([says, write ?? ""]);
    });
});

test("no step names the command that prints it", () => {
  for (const [, , says] of SITUATIONS) expect(says).not.toMatch(/carryover (status|report|gate)\b/);
});

test("the gate of a rule that nobody calls says so", () => {
  const [asked] = fleetOf(fleetFor({ rules: [rule("r", "shadow")] })).rules;
  const nobody = { rules: [], counts: [], clients: [], at: NOW, watchedSince: NOW };
  expect(asked && nextOfRule(asked, nobody)?.says).toBe("ask who should call what r matches: no request did");
});

test("the report of one resource names the next step of its rule, and of no other", () => {
  const rules = [
    rule("users", "shadow", { ...PROVED, whom: "user", resources: ["user"] }),
    rule("groups", "shadow", { comparisons: 100, whom: "group", resources: ["group"] }, { since: NOW - HOUR }),
  ];
  const results = fleetFor({ rules, ledger: { clients: [client("a"), client("b")] } });
  const { standing } = createReport(results, { from: undefined, to: undefined }, { resource: "group" });
  expect(standing?.next).toBe("wait for groups: 83 more comparisons, about 49.8 min");
});
