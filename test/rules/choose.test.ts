import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { HeaderList } from "../../src/model/http.ts";
import { createChooser, judgeRules } from "../../src/rules/choose.ts";
import type { RuleInput } from "../../src/rules/conditions/condition.ts";
import type { Rule } from "../../src/rules/rule.ts";
import { buckets, DAY, MONDAY, request, ruleList } from "../rollout/arbitrary-rules.ts";
import { headOf, makeRule } from "../rollout/make-rule.ts";

/** The rules as the documentation tells them, word for word and as slow as it likes. */
function literally(rules: readonly Rule[], bucketOf: (client: string) => number, asked: RuleInput): Rule | undefined {
  const firstHeader = (name: string) =>
    asked.head.headers.filter(([field]) => field === name).map(([, value]) => value)[0];
  const cookies = asked.head.headers
    .filter(([field]) => field === "cookie")
    .flatMap(([, value]) => value.split(";"))
    .map((pair) => /^\s*([^=]*?)\s*=\s*"?(.*?)"?\s*$/.exec(pair))
    .flatMap((parts) => (parts === null ? [] : [{ name: parts[1], value: parts[2] }]));
  for (const rule of rules) {
    const { match } = rule;
    if (match.resources && ![...match.resources].includes(asked.resource)) continue;
    const group = asked.write ? "writes" : "reads";
    if (match.operations && ![...match.operations].some((name) => name === asked.operation || name === group)) continue;
    if (match.clients && ![...match.clients].includes(asked.client)) continue;
    if (rule.expires !== undefined && asked.at >= rule.expires) continue;
    if (match.time && !isTime(match.time, asked.at)) continue;
    const says = (value: string | undefined, wanted: string) =>
      value === wanted ? "taken" : value === "never" ? "left" : "nothing";
    const byHeader = match.header ? says(firstHeader(match.header.name), match.header.value) : "nothing";
    const cookie = match.cookie;
    const byCookie = cookie ? says(cookies.find(({ name }) => name === cookie.name)?.value, cookie.value) : "nothing";
    const decided = [byHeader, byCookie].find((said) => said !== "nothing");
    if (decided === "taken") return rule;
    if (decided === "left") continue;
    if (match.percent !== undefined) {
      if (bucketOf(asked.client) < match.percent) return rule;
      continue;
    }
    if (!match.header && !match.cookie) return rule;
  }
  return undefined;
}

/** By the calendar of the standard library, minute by minute back to the beginning of the window. */
function isTime(time: NonNullable<Rule["match"]["time"]>, at: number): boolean {
  if (time.from !== undefined && at < time.from) return false;
  if (time.until !== undefined && at >= time.until) return false;
  const date = new Date(at);
  const today = date.getUTCDay();
  const yesterday = new Date(at - DAY).getUTCDay();
  const minute = date.getUTCHours() * 60 + date.getUTCMinutes();
  const { begin, end } = time.hours ?? { begin: 0, end: 1440 };
  const begun =
    begin <= end
      ? minute >= begin && minute < end
        ? today
        : -1
      : minute >= begin
        ? today
        : minute < end
          ? yesterday
          : -1;
  return begun >= 0 && (time.days === undefined || time.days.has(begun));
}

const ASKED: RuleInput = {
  resource: "group",
  operation: "list",
  write: false,
  client: "ci",
  head: headOf(),
  at: MONDAY,
};
const at = (bucket: number) => (): number => bucket;

test("every request takes the rule that the documentation says", () => {
  fc.assert(
    fc.property(
      ruleList,
      buckets,
      fc.array(request, { minLength: 5, maxLength: 20, size: "max" }),
      (rules, bucketOf, all) => {
        const choose = createChooser(rules, bucketOf);
        for (const asked of all) expect(choose(asked)?.name).toBe(literally(rules, bucketOf, asked)?.name);
      },
    ),
    { numRuns: 1000 },
  );
}, 60_000);

test("the rules told one by one end with the one that was chosen", () => {
  fc.assert(
    fc.property(ruleList, buckets, request, (rules, bucketOf, asked) => {
      const chosen = createChooser(rules, bucketOf)(asked);
      const judged = judgeRules(rules, bucketOf, asked);
      expect(judged.filter(({ matched }) => matched).map(({ rule }) => rule)).toEqual(
        chosen === undefined ? [] : [chosen],
      );
      expect(judged.map(({ rule }) => rule)).toEqual(
        rules.slice(0, chosen === undefined ? undefined : rules.indexOf(chosen) + 1),
      );
      expect(judged.every(({ why }) => why.length > 10 && !why.includes("undefined"))).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test("clients are put into buckets only when a percentage is reached, and once per request", () => {
  let asked = 0;
  const bucketOf = () => {
    asked += 1;
    return 99;
  };
  const rules = [
    makeRule("other", { clients: new Set(["x"]), percent: 5 }),
    makeRule("a", { percent: 1 }),
    makeRule("b", { percent: 2 }),
  ];
  expect(createChooser([makeRule("all")], bucketOf)(ASKED)?.name).toBe("all");
  expect(asked).toBe(0);
  expect(createChooser(rules, bucketOf)(ASKED)).toBeUndefined();
  expect(asked).toBe(1);
});

describe("cookies", () => {
  const rule = makeRule("canary", {
    header: { name: "x-canary", value: "always" },
    cookie: { name: "canary", value: "yes" },
    percent: 10,
  });
  const taken = (headers: HeaderList, bucket: number) =>
    createChooser([rule], at(bucket))({ ...ASKED, head: headOf(headers) }) !== undefined;
  test("cookies are read from every field, with quotes and spaces, and names in their own case", () => {
    for (const cookie of ["canary=yes", 'a=b; canary="yes"', "a=b;canary=yes ;c=d", "broken; =x; canary = yes"]) {
      const fields = ["session=1", cookie].map((value) => ["cookie", value] as const);
      expect(taken(fields, 99), cookie).toBe(true);
    }
    for (const cookie of ["Canary=yes", "canary=yes1", 'canary="yes', "xcanary=yes", "canary", "x=canary=yes"]) {
      expect(taken([["cookie", cookie]], 99), cookie).toBe(false);
    }
  });
});

test("without a percentage a rule takes only whom header or cookie send", () => {
  const rule = makeRule("canary", { header: { name: "x-canary", value: "always" } });
  expect(createChooser([rule], at(0))(ASKED)).toBeUndefined();
  expect(judgeRules([rule], at(0), ASKED)[0]?.why).toBe("header x-canary did not select it, and it has no percentage");
});

test("what is guessed is taken by a rule that names the operation, and by no other", () => {
  const rules = [
    makeRule("all"),
    makeRule("reads", { operations: new Set(["reads"]) }),
    makeRule("other", { resources: new Set(["role"]), operations: new Set(["list"]) }),
    makeRule("named", { operations: new Set(["list"]) }),
  ];
  const guessed = { ...ASKED, guessed: true };
  expect(createChooser(rules, at(0))(ASKED)?.name).toBe("all");
  expect(createChooser(rules, at(0))(guessed)?.name).toBe("named");
  expect(createChooser(rules.slice(0, 3), at(0))(guessed)).toBeUndefined();
  expect(judgeRules(rules, at(0), guessed).map(({ why }) => why)).toEqual([
    "list is guessed, and it does not name it",
    "list is guessed, and it does not name it",
    "resource is group, not role",
    "everything it asks for holds",
  ]);
});

test("each rule tells what kept it away", () => {
  const judged = judgeRules(
    [
      makeRule("a", { resources: new Set(["repo", "tag"]) }),
      makeRule("b", { operations: new Set(["writes"]) }),
      makeRule("c", { clients: new Set(["x"]) }),
      makeRule("d", {}, { expires: MONDAY }),
      makeRule("e", { time: { from: MONDAY + 1, until: undefined, days: undefined, hours: undefined } }),
      makeRule("f", { percent: 42 }),
      makeRule("g", { percent: 43 }),
      makeRule("h"),
    ],
    at(42),
    ASKED,
  );
  expect(judged.map(({ why }) => why)).toEqual([
    "resource is group, not repo or tag",
    "operation is list (a read), not writes",
    "client is ci, not x",
    "expired on 2026-11-16T00:00:00.000Z",
    "2026-11-16T00:00:00.000Z is outside its time",
    "client is in bucket 42.0000, not below 42",
    "client is in bucket 42.0000, below 43",
  ]);
});
