import { expect, test } from "vitest";
import { rehearsalOf } from "../../../src/rules/rule.ts";
import { faults, file, NOW, read } from "./context.ts";

const PARTS = {
  name: "off",
  match: "{ client: ci-bot }",
  mode: "translate",
  fallback: "refuse",
  expires: "2026-11-22",
  stepBack: "{ failures: 0.05 }",
};
const rehearsal = (other: Readonly<Record<string, string | undefined>> = {}): string => {
  const parts = Object.entries({ ...PARTS, ...other }).filter(([, value]) => value !== undefined);
  return `{ ${parts.map(([key, value]) => `${key}: ${value}`).join(", ")} }`;
};

test("a rehearsal has a client and an end", () => {
  const { rules, warnings } = read(file(rehearsal()));
  expect(warnings).toEqual([]);
  expect(rules.rules.map(rehearsalOf)).toEqual([{ client: "ci-bot", until: NOW + 86_400_000 }]);
  const [window] = read(file(rehearsal({ match: "{ client: ci-bot, time: { until: 2026-11-21T01:00:00Z } }" }))).rules
    .rules;
  expect(window && rehearsalOf(window)?.until).toBe(NOW + 3_600_000);
});

test.each<[string, Readonly<Record<string, string | undefined>>, RegExp]>([
  ["for all clients", { match: "{}" }, /fallback: switches native v1 off for one client only/],
  ["for two clients", { match: "{ client: [a, b] }" }, /for one client only/],
  ["without an end", { expires: undefined }, /without an end; set expires/],
  ["for more than a week", { expires: "2026-11-29" }, /more than 7 days/],
  ["without the guard", { guard: "warn" }, /guard: needs the guard/],
  ["without a share at which it stops", { stepBack: undefined }, /never stops by itself; set stepBack.failures/],
  ["with reads served by native v1", { onFailure: "native" }, /onFailure: contradicts fallback: refuse/],
  ["of another value", { fallback: "native" }, /fallback: .*expected one of refuse/],
])("a rehearsal %s is refused", (_, other, says) => {
  expect(faults(file(rehearsal(other)))).toEqual([expect.stringMatching(says)]);
});

test("a rehearsal needs a native v1 that it can switch off", () => {
  expect(faults(file(rehearsal({ stepBack: undefined })), { native: false })).toEqual([
    expect.stringMatching(/fallback: has no effect: upstream.v1.url is not set/),
  ]);
});

test("in another mode it has no effect, with a warning; a brownout refuses it", () => {
  const { warnings, rules } = read(file(rehearsal({ mode: "native" })));
  expect(warnings).toEqual([expect.stringContaining("fallback: has no effect without mode: translate")]);
  expect(rules.rules.map(rehearsalOf)).toEqual([undefined]);
});
