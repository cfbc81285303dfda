import fc from "fast-check";
import { expect, test } from "vitest";
import type { HeaderList } from "../../src/model/http.ts";
import { createChooser } from "../../src/rules/choose.ts";
import type { CanarySelector } from "../../src/rules/conditions/canary.ts";
import type { Rule, RuleMatch } from "../../src/rules/rule.ts";
import { findUnreachable } from "../../src/rules/unreachable.ts";
import {
  buckets,
  DAY,
  MONDAY,
  OPERATIONS,
  RESOURCES,
  request,
  ruleList,
  ruleMatch,
} from "../rollout/arbitrary-rules.ts";
import { headOf, makeRule } from "../rollout/make-rule.ts";

const SUBJECTS = RESOURCES.flatMap((resource) =>
  OPERATIONS.map(([operation, write]) => ({ resource, operation, write })),
);
const told = (...rules: readonly Rule[]) =>
  findUnreachable(rules, SUBJECTS).map(({ rule, by }) => `${rule.name} by ${by.map(({ name }) => name).join(", ")}`);
const matches = (...all: readonly Partial<RuleMatch>[]) => told(...all.map((match, at) => makeRule(`r${at}`, match)));
const names = (...all: readonly string[]) => new Set(all);
const header = { name: "x-canary", value: "always" };
const cookie = { name: "canary", value: "always" };

test("a rule that is called unreachable takes no request, and one of those named takes it instead", () => {
  let [requests, cases] = [0, 0];
  fc.assert(
    fc.property(
      ruleList,
      buckets,
      fc.array(request, { minLength: 10, maxLength: 20, size: "max" }),
      (rules, bucketOf, all) => {
        for (const { rule, by } of findUnreachable(rules, SUBJECTS)) {
          cases += 1;
          for (const asked of all) {
            // Of named resources only the listed operations are known.
            if (rule.match.resources !== undefined && asked.operation === "sync") continue;
            if (createChooser([rule], bucketOf)(asked) === undefined) continue;
            requests += 1;
            expect(createChooser(by, bucketOf)(asked)).toBeDefined();
            expect(createChooser(rules, bucketOf)(asked)).not.toBe(rule);
          }
        }
      },
    ),
    { numRuns: 500 },
  );
  expect(cases).toBeGreaterThan(200);
  expect(requests).toBeGreaterThan(150);
}, 60_000);

/** Every subject that rules tell apart, whether listed or not. */
const ELSEWHERE = ["list", "get", "create", "sync"].flatMap((operation) =>
  [true, false].map((write) => ({ resource: "role", operation, write })),
);
const SAYINGS = [undefined, "always", "never", "v2"];
const FIELDS = SAYINGS.flatMap((h) =>
  SAYINGS.map(
    (c): HeaderList => [
      ...(h === undefined ? [] : ([["x-canary", h]] as const)),
      ...(c === undefined ? [] : ([["cookie", `canary=${c}`]] as const)),
    ],
  ),
);

test("a rule that is not called unreachable because of one earlier rule takes something", () => {
  const selector = (name: string) => (given: CanarySelector | undefined) =>
    given === undefined ? undefined : { ...given, name };
  const plain = ruleMatch.map((match) => ({
    ...match,
    time: undefined,
    header: selector("x-canary")(match.header),
    cookie: selector("canary")(match.cookie),
  }));
  const keys = ["resources", "operations", "clients", "header", "cookie", "percent"] as const;
  const wide = fc
    .tuple(plain, fc.subarray([...keys]))
    .map(([match, left]) => ({ ...match, ...Object.fromEntries(left.map((key) => [key, undefined])) }));
  let unreachable = 0;
  fc.assert(
    fc.property(wide, plain, (first, other) => {
      const rules = [first, other].map((match, at) => makeRule(`r${at}`, match));
      const [, second] = rules;
      if (second?.match.percent === 0) return;
      const bucket = { now: 0 };
      const choose = createChooser(rules, () => bucket.now);
      const takes = [...SUBJECTS, ...ELSEWHERE].some((subject) =>
        ["a", "b", "c", "d", "e"].some((client) =>
          FIELDS.some((headers) =>
            [0, 10, 50, 99.5].some((now) => {
              bucket.now = now;
              return choose({ ...subject, client, head: headOf(headers), at: MONDAY }) === second;
            }),
          ),
        ),
      );
      unreachable += takes ? 0 : 1;
      expect(findUnreachable(rules, SUBJECTS).length === 0).toBe(takes);
    }),
    { numRuns: 80 },
  );
  expect(unreachable).toBeGreaterThan(10);
}, 60_000);

test("rules for reads and writes leave nothing to a third", () => {
  expect(matches({ operations: names("reads") }, { operations: names("writes") }, {})).toEqual(["r2 by r0, r1"]);
  expect(matches({ operations: names("reads") }, {})).toEqual([]);
});

test("all operations of a resource leave nothing of it", () => {
  const all = [{ operations: names("list", "get") }, { operations: names("create") }, { resources: names("group") }];
  expect(matches(...all)).toEqual(["r2 by r0, r1"]);
});

test("a rule of 0 percent is switched off, and hides nothing", () => {
  expect(matches({}, { percent: 0 })).toEqual([]);
  expect(matches({ percent: 0 }, {})).toEqual([]);
  expect(matches({}, { percent: 0, header })).toEqual(["r1 by r0"]);
});

test("a rule that ends hides only what ends no later", () => {
  const ending = (name: string, expires: number) => makeRule(name, {}, { expires });
  expect(told(ending("a", MONDAY), makeRule("b"))).toEqual([]);
  expect(told(ending("a", MONDAY), ending("b", MONDAY))).toEqual(["b by a"]);
  expect(told(ending("a", MONDAY), ending("b", MONDAY + 1))).toEqual([]);
  const time = { from: undefined, until: MONDAY, days: undefined, hours: undefined };
  expect(told(ending("a", MONDAY), makeRule("b", { time }))).toEqual(["b by a"]);
  expect(told(makeRule("a", { time: { ...time, from: MONDAY - DAY } }), makeRule("b", { time }))).toEqual([]);
});

test("hours and days hide what lies within them", () => {
  const at = (days: readonly number[] | undefined, begin: number, end: number) => ({
    time: { from: undefined, until: undefined, days: days && new Set(days), hours: { begin, end } },
  });
  expect(matches(at(undefined, 480, 1080), at([1], 540, 600))).toEqual(["r1 by r0"]);
  expect(matches(at([1], 480, 1080), at(undefined, 540, 600))).toEqual([]);
  expect(matches(at([1], 480, 1080), at([1], 540, 1081))).toEqual([]);
  expect(matches(at(undefined, 480, 1080), {})).toEqual([]);
  expect(matches(at(undefined, 0, 1440), {})).toEqual(["r1 by r0"]);
});

test("500 rules that differ are judged without trying all requests", () => {
  const rules = Array.from({ length: 500 }, (_, at) =>
    makeRule(`r${at}`, {
      header: { name: `x-${at % 7}`, value: `v${at}` },
      cookie,
      percent: (at * 7) % 99,
      clients: names("a", `c${at}`),
    }),
  );
  expect(findUnreachable(rules, SUBJECTS)).toEqual([]);
});
