import { describe, expect, test } from "vitest";
import { fleetOf } from "../../src/fleet/fleet.ts";
import { createStatus, type MigrationStatus } from "../../src/fleet/status.ts";
import type { ClientOperation } from "../../src/ledger/entry.ts";
import type { Progress } from "../../src/telemetry/progress.ts";
import { client, DAY, row, times, totals } from "../commands/report/support.ts";
import { HOUR, instances, NOW, progress, rule, run, TROUBLE } from "../commands/status/support.ts";

const addresses = (told: readonly unknown[]) => told.map((_, at) => `${String.fromCharCode(97 + at)}:1`);

async function status(...told: readonly (Progress | undefined)[]) {
  const { code, out } = await run(["status", ...addresses(told), "--json"], { fetch: instances(...told) });
  return { code, ...(JSON.parse(out) as MigrationStatus) };
}

async function screen(...told: readonly (Progress | undefined)[]): Promise<readonly string[]> {
  const { out } = await run(["status", ...addresses(told)], { fetch: instances(...told) });
  return out.trimEnd().split("\n");
}

const since = (hours: number) => ({ since: NOW - hours * HOUR });

/** A usual rollout. */
const USUAL = progress({
  mode: "native",
  totals: totals([row({ requests: 31 }), row({ mode: "native", requests: 69 })]),
  ledger: { clients: [client("terraform"), client("web", { lastV1: undefined })] },
  rules: [
    rule("ci", "translate", { whom: "reads, client ci-bot", percent: 10, requests: 50, failures: 1 }, since(2)),
    rule("roles", "shadow", { whom: "reads of role", comparisons: 200 }, since(26)),
    rule("repos", "native", { whom: "repo" }),
  ],
});

describe("carryover status", () => {
  test("shows what a brownout does, and when its next windows are", async () => {
    const START = Date.UTC(2026, 10, 24, 9);
    const window = { start: START, end: START + HOUR / 6 };
    const next = [{ start: START + 7 * DAY, end: START + 7 * DAY + HOUR / 6 }];
    const of = (phase: "running" | "stopped", doing: "brownout" | "nothing", why?: string) => {
      const brownout = { phase, window, why, counts: { requests: 340, refused: 12 }, next, zone: "Europe/Vienna" };
      return progress({ rules: [rule("b", "brownout", { whom: "everything" }, { doing, brownout })] });
    };
    expect((await screen(of("running", "brownout"))).slice(-7)).toEqual([
      "Rules",
      "  b                brownout  everything",
      "    refuses v1 until 2026-11-24 09:10 UTC: 12 of 340 v1 requests were refused",
      "    (3.53 %)",
      "    next: 2026-12-01 09:00 to 09:10 UTC (Tue 2026-12-01 10:00 Europe/Vienna)",
      "",
      "Nothing needs attention",
    ]);
    const { attention, rules, next: step } = await status(of("stopped", "nothing", "carryover force native"));
    expect(attention).toContain("brownout b refuses nothing: carryover force native");
    expect(rules[0]).toMatchObject({
      says: "refuses nothing until 2026-11-24 09:10 UTC, in its window: carryover force native",
      mayGoFurther: false,
    });
    expect(step).not.toContain("rule b");
  });

  test("is one screen: where things stand, what each rule does for whom, what it lacks, what is next", async () => {
    expect(await screen(USUAL)).toEqual([
      "31 % of v1 requests translated in the last 24 h; 1 of 2 clients moved;",
      "next: set rule roles to mode: translate, for 10 % of its clients first",
      "  in rule roles: mode: translate",
      "  in rule roles: onFailure: native",
      "  in stepBack of rule roles: failures: 0.02",
      "  in match of rule roles: percent: 10",
      "in all since 2026-11-18: 31 % of v1 requests translated",
      "1 instance, 2026-11-21 21:30Z; without a rule: native; force: none",
      "",
      "Rules",
      "  ci               translate reads, client ci-bot, 10 % of clients",
      "    translate for 2 h; 1 of 50 requests failed because of translation: at most",
      "    12.8 % do (95 %), not yet below 2 %",
      "  roles            shadow    reads of role",
      "    shadow for 26 h; may go further; 0 of 200 comparisons differed: at most",
      "    1.83 % do (95 %), below 2 %; 3 clients or more were compared, 3 needed",
      "  repos            native    repo",
      "    native",
      "",
      "Nothing needs attention",
    ]);
  });

  test("says that a force is kept which has no effect without a native v1", async () => {
    const forcedBy = { effective: "none", file: "none", command: "native", commandAt: undefined } as const;
    const { attention } = await status(progress({ forcedBy }));
    expect(attention).toEqual([
      "http://a:1 has no native v1: carryover force native is kept for it, and has no effect until then",
    ]);
  });

  test("names what needs attention, most harm first", async () => {
    const note = { by: "anna", reason: "v2 returns 503" };
    const forcedBy = { effective: "native", file: "none", command: "native", commandAt: NOW, ...note } as const;
    const ill = progress({
      instance: "ill",
      force: "native",
      forcedBy,
      lastReloadSuccessful: false,
      rulesFault: { at: Date.UTC(2026, 10, 20, 9), says: "r.yaml:1: bad" },
      saved: false,
      changeable: false,
      ready: false,
      openBreakers: ["v2"],
      refusedCertificates: ["v2"],
      shared: { up: false, since: NOW, replicas: [] },
      countsLostAt: NOW - HOUR,
      ledger: {
        clients: [
          client("poor", {
            operations: [{ resource: "tag", operation: "get", requests: 9, lastSeen: NOW, errors: { translation: 2 } }],
          }),
        ],
      },
      rules: [
        rule("back", "translate", {}, { state: "stepped-back", doing: "native", ...since(3) }),
        rule("over", "translate", {}, { state: "expired", doing: "nothing" }),
        rule("sick", "translate", { requests: 40 }, { guard: TROUBLE }),
      ],
    });
    const { code, attention, next } = await status(ill, undefined);
    expect(code).toBe(2);
    expect(next).toMatch(/^find out why v2 fails clients of sick/);
    expect(attention).toEqual([
      expect.stringMatching(/^sick fails clients /),
      "http://b:1 cannot be reached (ECONNREFUSED)",
      "http://a:1 gets no response from upstream v2: its circuit breaker is open",
      "http://a:1 is forced to native (by carryover force, since 21:30Z by anna: v2 returns 503): no rule decides",
      "back stepped back 3 h ago, native v1 responds",
      "client poor: 2 requests failed because of translation (tag get)",
      "http://a:1 has an invalid rules file since 2026-11-20 09:00Z and keeps the rules before it: r.yaml:1: bad",
      "http://a:1 cannot use the new certificate files for upstream v2: those before them stay in force, until they expire",
      "http://a:1 is not ready: it starts or stops",
      "http://a:1 cannot write its state.dir: a restart would lose what is new",
      "http://a:1 takes no carryover force or confirm: their token is not in its state.dir",
      "http://a:1 has had no store since 21:30Z, and decides alone",
      "http://a:1 lost what it had counted on 2026-11-21: the file cannot be read",
      "over has expired and matches nothing: remove it",
    ]);
  });

  test("names a rule whose state is unknown first, before everything else", async () => {
    const forcedBy = {
      effective: "native",
      file: "none",
      command: "native",
      commandAt: undefined,
      lost: true,
    } as const;
    const told = progress({
      force: "native",
      forcedBy,
      countsLostAt: NOW - HOUR,
      rules: [rule("lost", "translate", {}, { state: "stepped-back", unknown: true, doing: "native", ...since(3) })],
    });
    const { next, attention, rules } = await status(told, undefined);
    expect(next).toMatch(/then carryover confirm lost$/);
    expect(rules[0]).toMatchObject({
      state: "unknown",
      missing: expect.arrayContaining(["its saved state cannot be read; carryover confirm lets it go on"]),
    });
    expect(attention).toEqual([
      "http://b:1 cannot be reached (ECONNREFUSED)",
      "http://a:1 is forced to native (by a lost state of carryover force): no rule decides",
      "lost has a saved state that cannot be read, native v1 responds for 3 h",
      "http://a:1 lost what it had counted on 2026-11-21: the file cannot be read",
    ]);
  });

  test("names clients whose requests failed because of translation, most failures first", () => {
    const failed = (name: string, errors: ClientOperation["errors"], lastSeen = NOW) =>
      client(name, {
        owner: "Team A",
        operations: [{ resource: "tag", operation: "get", requests: 9, lastSeen, errors }],
      });
    const clients = [
      failed("a", { client: 7 }),
      failed("b", { translation: 1 }),
      failed("c", { translation: 6 }),
      failed("fixed", { translation: 9 }, NOW - 25 * HOUR),
    ];
    const [one, two] = [progress({ ledger: { clients } }), progress({ instance: "2", ledger: { clients } })];
    const told = [one, two].map((told, at) => ({ address: `http://${at}:1`, progress: told }));
    expect(createStatus(fleetOf(told), times(DAY)).attention).toEqual([
      "client c, Team A: 12 requests failed because of translation (tag get)",
      "client b, Team A: 2 requests failed because of translation (tag get)",
    ]);
  });

  test("says what v2 does to clients of a rule, and what ends it", async () => {
    const sick = rule("reads", "translate", { requests: 1 }, { guard: TROUBLE });
    const slow = { operation: "role list", v2Ms: 900, nativeMs: 50, says: "v2 is slow for role list" };
    const quiet = rule("rest", "translate", { requests: 1 }, { guard: { action: "warn", slow } });
    const { rules, attention, next } = await status(progress({ rules: [sick, quiet] }));
    expect(attention).toEqual([
      expect.stringMatching(
        /^reads fails clients \(carryover force native ends it\): since [0-9:]{8}Z v2 failed 12 of 40 /,
      ),
      "rest: v2 is slow for role list",
    ]);
    expect(next).toMatch(/^find out why v2 fails clients of reads, or carryover force native: since /);
    const alone = await status(progress({ native: false, rules: [sick] }));
    expect(alone.attention).toEqual([expect.stringContaining("(there is no native v1 to go back to)")]);
    expect(alone.next).toMatch(/^repair v2: /);
    expect(rules.map(({ says }) => says)).toEqual(["translate", "translate, guard: warn"]);
  });

  test("names what v2 lacks and who calls it, from the first day on", async () => {
    const need = { resource: "eol-tag", operation: "list" };
    const lacking = (name: string, ago: number) =>
      client(name, { operations: [{ ...need, requests: 4, lastSeen: NOW - ago }], needs: { lacking: [need] } });
    const { ahead } = await status(progress({ ledger: { clients: [lacking("a", DAY), lacking("gone", 15 * DAY)] } }));
    expect(ahead).toEqual(["v2 has no eol-tag list, and a called it, last on 2026-11-20: agree on a way without it"]);
  });

  test("tells what went wrong in the last 24 h once, newest first, also when it is over", async () => {
    const back = { at: NOW - 5 * HOUR, kind: "stepped-back", rule: "reads", says: "v2 failed 28 of 28" };
    const told = progress({ lately: [{ at: NOW - HOUR, kind: "forced", says: "carryover force native" }, back] });
    const { lately } = await status(told, progress({ instance: "i2", lately: [{ ...back, at: back.at - 1_000 }] }));
    expect(lately.map(({ kind, rule, on }) => [kind, rule, on.length])).toEqual([
      ["forced", null, 1],
      ["stepped-back", "reads", 2],
    ]);
    expect((await screen(told)).slice(-3)).toEqual([
      "In the last 24 h",
      "  20:30Z forced: carryover force native",
      "  16:30Z stepped-back reads: v2 failed 28 of 28",
    ]);
  });

  test("names a rule whose comparisons differ more than waiting could excuse", async () => {
    const causes = [{ operation: "group list", what: "extra", path: "items.createdAt", samples: 9 }];
    const differing = rule("reads", "shadow", { comparisons: 330, differences: 60 }, { causes });
    const { attention } = await status(progress({ rules: [differing, rule("few", "shadow", { comparisons: 9 })] }));
    expect(attention).toEqual([
      "reads: 60 of 330 comparisons differed, most often extra at items.createdAt of group list (/samples)",
    ]);
  });

  test("adds up what v2 does on several instances", async () => {
    const sick = rule("reads", "translate", { requests: 1 }, { guard: TROUBLE });
    const told = ["1", "2"].map((instance) => ({ address: instance, progress: progress({ instance, rules: [sick] }) }));
    expect(fleetOf(told).rules[0]?.guard?.trouble).toMatchObject({
      failures: 24,
      kinds: { limited: 24 },
    });
  });

  test("shows instances that disagree one by one, and says so", async () => {
    const rules = [rule("reads", "translate", { requests: 1 }), rule("rest", "native")];
    const back = [rule("reads", "translate", {}, { state: "stepped-back", doing: "native" }), rule("rest", "native")];
    const told = [
      progress({ digest: "aaa", rules }),
      progress({ instance: "2", digest: "bbb", mode: "native", rules: back }),
    ];
    const { rules: lines, attention } = await status(...told);
    expect(lines.map(({ says }) => says)).toEqual([
      "translate (on http://a:1)",
      "stepped back, native v1 responds (on http://b:1)",
      "native",
    ]);
    expect(attention).toEqual([
      "reads stepped back, native v1 responds (on http://b:1)",
      "instances have different rules: http://a:1 has aaa, http://b:1 has bbb",
      "instances differ in cutover.mode: http://a:1 has translate, http://b:1 has native",
    ]);
    expect((await screen(...told)).join("\n")).toContain("without a rule: they differ");
  });

  test("fits into 24 lines of 80 characters, however much there is", async () => {
    for (const count of [0, 1, 4, 6, 40]) {
      for (const troubles of [0, 1, 9]) {
        const rules = Array.from({ length: count }, (_, at) =>
          rule(`a-rule-with-a-name-${at}`, "shadow", {
            whom: "reads of group, client ci-bot",
            comparisons: 5,
            heldBack: ["x".repeat(200)],
          }),
        );
        const silent = Array.from({ length: troubles }, () => undefined);
        const lines = await screen(progress({ rules }), ...silent);
        expect([count, troubles, lines.length <= 24, lines.every((line) => line.length <= 80)]).toEqual([
          count,
          troubles,
          true,
          true,
        ]);
        if (count > 6) expect(lines.join("\n")).toContain("more: --json has them all");
      }
    }
  });

  test("prints neither the token nor what a terminal obeys", async () => {
    const hostile = progress({ rules: [rule("reads", "shadow", { whom: "a\u009b2J\ntoken-123" })] });
    for (const form of [[], ["--json"]]) {
      const { out } = await run(["status", "a:1", ...form], {
        fetch: instances(hostile),
        env: { CARRYOVER_ADMIN_TOKEN: "token-123" },
      });
      expect(out).toContain("[token]");
      expect(out).not.toMatch(/token-123|\u009b/);
    }
  });

  test("says why when no instance responded", async () => {
    expect(await screen(undefined)).toEqual(["No instance responded", "  http://a:1 cannot be reached (ECONNREFUSED)"]);
  });
});
