/** Rules and requests of few names, so that they meet often. */
import fc from "fast-check";
import type { HeaderList } from "../../src/model/http.ts";
import type { RuleInput } from "../../src/rules/conditions/condition.ts";
import type { TimeWindow } from "../../src/rules/conditions/time.ts";
import type { Rule, RuleMatch } from "../../src/rules/rule.ts";
import { headOf, makeRule } from "./make-rule.ts";

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
/** A Monday, 00:00 UTC. */
export const MONDAY = Date.UTC(2026, 10, 16);

export const OPERATIONS: readonly (readonly [name: string, write: boolean])[] = [
  ["list", false],
  ["get", false],
  ["create", true],
];
export const RESOURCES = ["group", "repo", "tag"];
const CLIENTS = ["a", "b", "c", "d"];

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const some = <T>(...values: readonly T[]) =>
  maybe(fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 3 }).map((list) => new Set(list)));
const instant = fc.integer({ min: 0, max: 14 * 24 * 4 }).map((quarters) => MONDAY + quarters * (HOUR / 4));
const minutes = fc.integer({ min: 0, max: 47 }).map((halves) => halves * 30);

export const timeWindow: fc.Arbitrary<TimeWindow> = fc.record({
  from: maybe(instant),
  until: maybe(instant),
  days: maybe(
    fc
      .uniqueArray(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 7, size: "max" })
      .map((all) => new Set(all)),
  ),
  hours: maybe(fc.record({ begin: minutes, end: fc.oneof(minutes, fc.constant(1440)) })),
});

export const ruleMatch: fc.Arbitrary<RuleMatch> = fc.record({
  resources: some(...RESOURCES),
  operations: some("list", "get", "create", "reads", "writes"),
  clients: some(...CLIENTS),
  time: fc.oneof({ arbitrary: fc.constant(undefined), weight: 2 }, timeWindow),
  header: maybe(fc.record({ name: fc.constantFrom("x-canary", "x-other"), value: fc.constantFrom("always", "v2") })),
  cookie: maybe(fc.record({ name: fc.constantFrom("canary", "other"), value: fc.constantFrom("always", "v2") })),
  percent: maybe(fc.constantFrom(0, 10, 50, 99.5, 100)),
});

/** Named by their place. */
export const ruleList: fc.Arbitrary<readonly Rule[]> = fc
  .array(
    fc.tuple(
      fc.oneof(ruleMatch, fc.record({ resources: some(...RESOURCES) }) as fc.Arbitrary<Partial<RuleMatch>>),
      maybe(instant),
    ),
    {
      maxLength: 8,
      size: "max",
    },
  )
  .map((all) => all.map(([match, expires], at) => makeRule(`r${at}`, match, { expires })));

const value = fc.constantFrom("always", "never", "v2", "no");
const field: fc.Arbitrary<readonly [string, string]> = fc.oneof(
  fc.tuple(fc.constantFrom("x-canary", "x-other"), value),
  fc
    .array(fc.tuple(fc.constantFrom("canary", "other", "session"), value, fc.boolean()), { maxLength: 3 })
    .map(
      (pairs) =>
        ["cookie", pairs.map(([name, text, quoted]) => `${name}=${quoted ? `"${text}"` : text}`).join("; ")] as const,
    ),
);

export const request: fc.Arbitrary<RuleInput> = fc
  .record({
    subject: fc.tuple(fc.constantFrom(...RESOURCES, "role"), fc.constantFrom(...OPERATIONS, ["sync", true] as const)),
    client: fc.constantFrom(...CLIENTS, "unknown"),
    headers: fc.array(field, { maxLength: 4 }) as fc.Arbitrary<HeaderList>,
    at: fc.oneof(
      instant,
      instant.map((at) => at - 1),
      instant.map((at) => at + 1),
    ),
  })
  .map(({ subject: [resource, [operation, write]], headers, ...rest }) => ({
    resource,
    operation,
    write,
    head: headOf(headers),
    ...rest,
  }));

/** A bucket for each client of `request`. */
export const buckets: fc.Arbitrary<(client: string) => number> = fc
  .array(fc.constantFrom(0, 5, 9.99, 10, 49, 50, 99, 99.5, 99.99), { minLength: 5, maxLength: 5 })
  .map((all) => {
    const of = new Map([...CLIENTS, "unknown"].map((client, at) => [client, all[at] ?? 0]));
    return (client) => of.get(client) ?? 0;
  });
