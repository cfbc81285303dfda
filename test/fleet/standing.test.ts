import { expect, test } from "vitest";
import { type StandingSource, standingOf, standingText } from "../../src/fleet/standing.ts";
import { client, HOUR, NOW, row, rule } from "../commands/report/support.ts";

const source = (facts: Partial<StandingSource> = {}): StandingSource => {
  return { counts: [], clients: [], rules: [], force: "none", ...facts };
};
const moved = (name: string) => client(name, { lastV1: undefined, operations: [], requests: { v1: 0, v2: 9 } });
const standingFrom = (facts: Partial<StandingSource>) =>
  standingOf(source(facts), ({ lastV1 }) => lastV1 !== undefined);
const nextOf = (facts: Partial<StandingSource>) => standingFrom(facts).next;
const DAY_WINDOW = { says: "in the last 24 h", limits: null };
const textOf = (facts: Partial<StandingSource>, limits: string | null = null) =>
  standingText(standingFrom(facts), { ...DAY_WINDOW, limits });

test("one line says the share that is translated, the clients that moved, and the next step", () => {
  const counts = [
    row({ requests: 31 }),
    row({ resource: "role", mode: "native", requests: 60 }),
    row({ resource: "role", mode: "shadow", requests: 9 }),
    // Nobody served it, and v2 is not v1.
    row({ mode: "refused", requests: 500 }),
    row({ apiVersion: "v2", mode: "pass", requests: 500 }),
  ];
  const facts = { counts, clients: [client("a"), client("b"), moved("c")] };
  expect(standingFrom(facts)).toMatchObject({ translatedShare: 0.31, served: 100, moved: 1, clients: 3 });
  expect(textOf(facts, "counted for 2 h only")).toBe(
    "31 % of v1 requests translated in the last 24 h (counted for 2 h only); 1 of 3 clients moved; next: compare role by a rule with mode: shadow, since native v1 serves it",
  );
});

test("a share that is something never reads as nothing, nor one that is not all as all", () => {
  const text = (translated: number, native: number) =>
    textOf({ counts: [row({ requests: translated }), row({ mode: "native", requests: native })] });
  expect(text(1, 999)).toMatch(/^< 1 % of/);
  expect(text(999, 1)).toMatch(/^> 99 % of/);
  expect(text(999, 0)).toMatch(/^100 % of/);
  expect(text(0, 1)).toMatch(/^0 % of/);
});

test("no requests are told from requests that are not known", () => {
  expect(textOf({})).toBe("no v1 requests in the last 24 h; next: send clients to carryover: none has called yet");
  expect(textOf({ counts: [row({ requests: 9 })] })).toMatch(
    /^100 % of v1 requests translated in the last 24 h; no client is known; /,
  );
  expect(textOf({ clients: [moved("a")] })).toMatch(/^no v1 requests in the last 24 h; 1 of 1 client moved; /);
  expect(textOf({ counts: undefined, clients: [client("a")] })).toMatch(
    /^unknown how many v1 requests are translated in the last 24 h; 0 of 1 client /,
  );
});

test("what stops the rules comes first, then what may go on, then what needs time", () => {
  const rules = [
    rule("wait", { mode: "shadow", doing: "shadow" }),
    rule("ready", { mode: "shadow", doing: "shadow", state: "could-move" }),
    rule("halfway", { state: "returning" }),
    rule("back", { doing: "native", state: "stepped-back" }),
  ];
  const without = (...states: readonly string[]) => rules.filter(({ state }) => !states.includes(state));
  expect(nextOf({ rules, force: "native" })).toBe("lift force: native, which overrides every rule");
  expect(nextOf({ rules })).toBe("find out what made rule back step back (/rules, /samples)");
  expect(nextOf({ rules: without("stepped-back") })).toBe("set rule ready to translate: the comparisons allow it");
  expect(nextOf({ rules: without("stepped-back", "could-move") })).toMatch(/^wait until rule halfway translates/);
  expect(nextOf({ rules: rules.slice(0, 1) })).toBe("see whether rule wait may go further: carryover gate");
  const twice = (at: number) => [rules[at]!, { ...rules[at]!, name: "two" }];
  expect(nextOf({ rules: twice(0) })).toBe("see whether rules wait, two may go further: carryover gate");
});

test("then the resource that native v1 serves most, unless v2 lacks it or it is translated by now", () => {
  const lacking = [{ resource: "tag", operation: "list-history" }];
  const clients = [client("a", { needs: { lacking } })];
  const counts = [
    row({ resource: "tag", operation: "list-history", mode: "native", requests: 900 }),
    row({ resource: "unknown", operation: "unknown", mode: "native", requests: 800 }),
    row({ resource: "group", mode: "native", requests: 700, lastSeen: NOW - 3 * HOUR }),
    row({ resource: "group", requests: 1 }),
    row({ resource: "role", mode: "native", requests: 3 }),
    row({ resource: "repo", mode: "shadow", requests: 5 }),
  ];
  expect(nextOf({ counts, clients })).toBe("translate repo by a rule, once its comparisons show no difference");
  expect(nextOf({ counts: counts.slice(0, 5), clients })).toMatch(/^compare role /);
});

test("then the client that is easiest to move, and at last carryover itself", () => {
  const hard = client("hard", { needs: { zeroedFields: [{ resource: "group", field: "description" }] } });
  const easy = [client("rare", { requests: { v1: 1, v2: 0 } }), client("often", { requests: { v1: 50, v2: 0 } })];
  const counts = [row({})];
  expect(nextOf({ counts, clients: [hard, ...easy, moved("done")] })).toBe("move often to v2 (hardest need: renames)");
  expect(nextOf({ counts, clients: [moved("done")] })).toMatch(/^remove carryover, once .*--fail-if-v1/);
  expect(nextOf({})).toBe("send clients to carryover: none has called yet");
});
