import { describe, expect, test } from "vitest";
import type { GateVerdict } from "../../../src/fleet/gate.ts";
import type { Progress } from "../../../src/telemetry/progress.ts";
import { client } from "../report/support.ts";
import { HOUR, instances, NOW, progress, rule, run, TROUBLE } from "./support.ts";

/** The exit code of `carryover gate reads`, and what it says, for instances a, b, … */
async function gate(told: readonly (Progress | undefined)[], ...flags: readonly string[]) {
  const addresses = told.map((_, at) => `${String.fromCharCode(97 + at)}:1`);
  const { code, out } = await run(["gate", "reads", ...addresses, "--json", ...flags], { fetch: instances(...told) });
  return { code, ...(JSON.parse(out) as GateVerdict) };
}

const told = (...rules: readonly ReturnType<typeof rule>[]) => progress({ rules });
const JUST_OVER = {
  action: "stepBack",
  past: { until: NOW - 60_000, quietAt: NOW + 840_000, says: "v2 failed 12 of 40 requests for reads" },
} as const;
const PROVED = { comparisons: 200, differences: 0 };

describe("a shadow rule may translate", () => {
  test("once its bound is below what it asks for, and not one comparison before", async () => {
    const under = { differencesBelow: 0.02 };
    const enough = await gate([told(rule("reads", "shadow", { ...under, comparisons: 183 }))]);
    expect(enough).toMatchObject({ code: 0, mayGoFurther: "yes", against: [] });
    expect(enough.further).toContain("mode: translate");
    const few = await gate([told(rule("reads", "shadow", { ...under, comparisons: 182 }))]);
    expect(few).toMatchObject({ code: 1, mayGoFurther: "no" });
    expect(few.against).toEqual([
      "0 of 182 comparisons differed: at most 2.01 % do (95 %), not yet below 2 %; 1 more without one are enough",
    ]);
  });

  test("by the threshold of the command line before its own, and by 2 % without either", async () => {
    const shown = (differencesBelow: number | undefined) => [
      told(rule("reads", "shadow", { ...PROVED, differencesBelow })),
    ];
    expect((await gate(shown(undefined))).code).toBe(0);
    expect((await gate(shown(0.001))).code).toBe(1);
    expect((await gate(shown(0.001), "--differences-below", "0.05")).code).toBe(0);
    expect((await gate(shown(0.1), "--differences-below", "0.001")).code).toBe(1);
  });

  test("not before enough clients were compared, nor while an operation is not proved, nor with nothing compared", async () => {
    const against = async (evidence: Parameters<typeof rule>[2]) => {
      const verdict = await gate([told(rule("reads", "shadow", evidence))]);
      expect(verdict.code).toBe(1);
      return verdict.against;
    };
    expect(await against({ ...PROVED, clients: 2 })).toEqual(["2 of 3 clients needed were compared"]);
    const heldBack = ["repo create: 12 requests, 0 compared: cannot be compared"];
    expect(await against({ ...PROVED, heldBack })).toEqual([`not proved: ${heldBack[0]}`]);
    expect(await against({})).toEqual([expect.stringContaining("nothing was compared yet")]);
  });

  test("not before more clients call than the ledger knows, which waiting alone does not change", async () => {
    const seven = Array.from({ length: 7 }, (_, at) => client(`c${at}`));
    const few = rule("reads", "shadow", { ...PROVED, clients: 5, clientsNeeded: 20 });
    const [a, b] = [seven.slice(0, 5), seven.slice(2)].map((clients, at) =>
      progress({ instance: `${at}`, rules: [few], ledger: { instances: [`${at}`], clients } }),
    );
    expect((await gate([a, b])).against).toEqual([
      "5 of 20 clients needed were compared",
      "minClients needs 20 clients, and the ledger knows 7: the rule cannot move on before more clients call, or minClients is lowered to 7 at most",
    ]);
  });

  test("with what instances found together, each counted once", async () => {
    const [some, more] = [
      rule("reads", "shadow", { comparisons: 100 }, { state: "could-move" }),
      rule("reads", "shadow", { comparisons: 90 }),
    ];
    const [a, b] = [progress({ instance: "1", rules: [some] }), progress({ instance: "2", rules: [more] })];
    expect(await gate([a, b])).toMatchObject({
      code: 0,
      evidence: [expect.stringContaining("0 of 190 "), expect.anything()],
    });
    expect((await gate([a, a])).code).toBe(1);
    const older = progress({ instance: "2", rules: [{ ...more, evidence: undefined }] });
    expect((await gate([a, older])).against).toEqual([expect.stringContaining("an instance is older")]);
    const differing = progress({
      instance: "2",
      rules: [rule("reads", "shadow", { comparisons: 90, differences: 9 })],
    });
    expect((await gate([a, differing])).against[0]).toContain("9 of 190 ");
  });
});

describe("a translating rule may go on to more clients", () => {
  const served = (evidence: Parameters<typeof rule>[2]) => [
    told(rule("reads", "translate", { percent: 10, ...evidence })),
  ];

  test("once its share of failures is surely below the threshold", async () => {
    const good = await gate(served({ requests: 200 }));
    expect(good).toMatchObject({ code: 0, further: "to more clients: a percent above 10" });
    expect((await gate(served({ requests: 200, failures: 2 }))).against).toEqual([
      expect.stringContaining("2 of 200 requests failed because of translation"),
    ]);
    expect((await gate(served({ requests: 20 }))).code).toBe(1);
    expect((await gate(served({ requests: 20 }), "--failures-below", "0.5")).code).toBe(0);
    expect((await gate(served({ requests: 200, failuresBelow: 0.001 }))).code).toBe(1);
    // `stepBack: { failures: 0 }`: no bound is ever below.
    expect((await gate(served({ requests: 200, failuresBelow: 0 }))).code).toBe(0);
    expect((await gate(served({}))).against).toEqual(["it has translated no request yet"]);
  });

  test("comparisons of what it serves speak against it when one differs", async () => {
    expect((await gate(served({ requests: 200, comparisons: 9 }))).evidence).toContain("0 of 9 comparisons differed");
    expect((await gate(served({ requests: 200, comparisons: 9, differences: 1 }))).code).toBe(1);
  });

  test("further is another thing for each rule", async () => {
    const further = async (...args: Parameters<typeof rule>) => (await gate([told(rule(...args))])).further;
    expect(await further("reads", "native")).toContain("mode: shadow");
    expect(await further("reads", "translate")).toContain("none: it translates for all");
    const moved = { state: "promoted", doing: "translate" } as const;
    expect(await further("reads", "shadow", {}, moved)).toContain("write mode: translate");
  });
});

describe("no rule goes further", () => {
  const proved = rule("reads", "shadow", PROVED);

  test.each([
    [
      "it stepped back",
      progress({ rules: [rule("reads", "translate", { requests: 500 }, { state: "stepped-back", doing: "native" })] }),
    ],
    ["v2 fails its clients", progress({ rules: [rule("reads", "translate", { requests: 500 }, { guard: TROUBLE })] })],
    [
      "v2 failed its clients a short time ago",
      progress({ rules: [rule("reads", "translate", { requests: 500 }, { guard: JUST_OVER })] }),
    ],
    ["it returns", progress({ rules: [rule("reads", "translate", { requests: 500 }, { state: "returning" })] })],
    ["it expired", progress({ rules: [rule("reads", "shadow", PROVED, { state: "expired", doing: "nothing" })] })],
    ["a mode is forced", progress({ force: "native", rules: [proved] })],
    ["the rules file is invalid", progress({ lastReloadSuccessful: false, rules: [proved] })],
    ["an upstream does not respond", progress({ openBreakers: ["v2"], rules: [proved] })],
    ["the instance tells no evidence", progress({ rules: [{ ...proved, evidence: undefined }] })],
  ])("while %s", async (_, one) => {
    const verdict = await gate([one]);
    expect([verdict.code, verdict.mayGoFurther, verdict.against.length]).toEqual([1, "no", 1]);
  });

  test("which the guard stepped back: it returns by itself", async () => {
    const back = { state: "stepped-back", doing: "shadow", byGuard: true } as const;
    const { against } = await gate([progress({ rules: [rule("reads", "translate", { requests: 500 }, back)] })]);
    expect(against).toEqual(["it stepped back because v2 failed, and returns by itself when v2 responds again"]);
  });

  test("before it has been as it is for as long as is asked", async () => {
    const since = (ms: number) => [told(rule("reads", "shadow", PROVED, { since: NOW - ms }))];
    expect((await gate(since(3 * HOUR), "--min-age", "2h")).code).toBe(0);
    expect((await gate(since(HOUR), "--min-age", "2h")).against).toEqual(["it has been so for 60 min, not for 2 h"]);
    expect((await gate([told(proved)], "--min-age", "2h")).code).toBe(1);
  });

  test("while instances have different rules", async () => {
    const other = progress({ instance: "2", digest: "bbb", rules: [] });
    const { code, against } = await gate([progress({ digest: "aaa", rules: [proved] }), other]);
    expect(code).toBe(1);
    expect(against).toEqual([
      "instances have different rules: http://a:1 has aaa, http://b:1 has bbb",
      "http://b:1 has no such rule",
    ]);
  });
});

describe("carryover gate ends with 2", () => {
  test("when an instance does not respond, whatever the others say", async () => {
    const verdict = await gate([told(rule("reads", "shadow", PROVED)), undefined]);
    expect(verdict).toMatchObject({
      code: 2,
      mayGoFurther: "unknown",
      silent: [{ address: "http://b:1", fault: "cannot be reached (ECONNREFUSED)" }],
    });
  });

  test("when there is no such rule, and names one that is similar", async () => {
    const { code, out } = await run(["gate", "read", "a:1"], { fetch: instances(told(rule("reads", "shadow"))) });
    expect([code, out]).toEqual([
      2,
      'read: NOT KNOWN whether it may go further\n  against  there is no rule "read": did you mean reads?\n',
    ]);
  });
});

test("a threshold that is none is refused before anything is asked", async () => {
  for (const share of ["0", "1.5", "2%", "-1"]) {
    const { code } = await run(["gate", "reads", "--differences-below", share], {
      fetch: () => Promise.reject(new Error("asked")),
    });
    expect([share, code]).toEqual([share, 64]);
  }
});
