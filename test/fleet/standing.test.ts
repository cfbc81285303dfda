import { expect, test } from "vitest";
import { movedText, type StandingSource, standingOf } from "../../src/fleet/standing.ts";
import { client, row } from "../commands/report/support.ts";

const source = (facts: Partial<StandingSource> = {}): StandingSource => {
  return { counts: [], clients: [], ...facts };
};
const moved = (name: string) => client(name, { lastV1: undefined, operations: [], requests: { v1: 0, v2: 9 } });
const standingFrom = (facts: Partial<StandingSource>) =>
  standingOf(source(facts), ({ lastV1 }) => lastV1 !== undefined);
const DAY_WINDOW = { says: "in the last 24 h", limits: null };
const textOf = (facts: Partial<StandingSource>, limits: string | null = null) =>
  movedText(standingFrom(facts), { ...DAY_WINDOW, limits });

test("one line says the share that is translated and the clients that moved", () => {
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
    "31 % of v1 requests translated in the last 24 h (counted for 2 h only); 1 of 3 clients moved",
  );
});

test("a client that has called neither v1 in the window nor v2 since is silent, and has not moved", () => {
  const known = [
    client("calls"),
    client("seldom", { lastV1: 5, lastSeen: 5 }),
    client("v2", { lastV1: 5, lastSeen: 6, requests: { v1: 1, v2: 1 } }),
  ];
  const standing = standingOf(source({ clients: known }), ({ lastV1 = 0 }) => lastV1 > 5);
  expect(standing).toMatchObject({ moved: 1, silent: ["seldom"], clients: 3 });
  expect(movedText(standing, DAY_WINDOW)).toMatch(/; 1 of 3 clients moved, 1 silent \(seldom\)$/);
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
  expect(textOf({})).toBe("no v1 requests in the last 24 h");
  expect(textOf({ counts: [row({ requests: 9 })] })).toMatch(
    /^100 % of v1 requests translated in the last 24 h; no client is known$/,
  );
  expect(textOf({ clients: [moved("a")] })).toMatch(/^no v1 requests in the last 24 h; 1 of 1 client moved$/);
  expect(textOf({ counts: undefined, clients: [client("a")] })).toMatch(
    /^unknown how many v1 requests are translated in the last 24 h; 0 of 1 client /,
  );
});
