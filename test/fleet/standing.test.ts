import { expect, test } from "vitest";
import { movedText, type StandingSource, standingOf } from "../../src/fleet/standing.ts";
import { client, DAY, NOW, row } from "../commands/report/support.ts";

const source = (facts: Partial<StandingSource> = {}): StandingSource => {
  return { counts: [], clients: [], ...facts };
};
const moved = (name: string) => client(name, { lastV1: undefined, operations: [], requests: { v1: 0, v2: 9 } });

test("one line says the share that is translated and the clients that moved", () => {
  const counts = [
    row({ requests: 31 }),
    row({ resource: "role", mode: "native", requests: 60 }),
    row({ resource: "role", mode: "shadow", requests: 9 }),
    // Nobody served it, and v2 is not v1.
    row({ mode: "refused", requests: 500 }),
    row({ apiVersion: "v2", mode: "pass", requests: 500 }),
  ];
  const standing = standingOf(source({ counts, clients: [client("a"), client("b"), moved("c")] }));
  expect(standing).toMatchObject({ translatedShare: 0.31, moved: 1, clients: 3 });
  expect(movedText(standing)).toBe("31 % of v1 requests translated; 1 of 3 clients moved");
});

test("a client that called v1 before the window has moved", () => {
  const clients = [client("a", { lastV1: NOW - 8 * DAY }), client("b")];
  expect(standingOf(source({ clients }), NOW - 7 * DAY)).toMatchObject({ moved: 1, clients: 2 });
});

test("a share that is something never reads as nothing, nor one that is not all as all", () => {
  const text = (translated: number, native: number) =>
    movedText(
      standingOf(source({ counts: [row({ requests: translated }), row({ mode: "native", requests: native })] })),
    );
  expect(text(1, 999)).toMatch(/^< 1 % of/);
  expect(text(999, 1)).toMatch(/^> 99 % of/);
  expect(text(999, 0)).toMatch(/^100 % of/);
  expect(text(0, 1)).toMatch(/^0 % of/);
  const without = (facts: Partial<StandingSource>) => movedText(standingOf(source(facts)));
  expect(without({})).toBe("no v1 requests");
  expect(without({ counts: [row({ requests: 9 })] })).toMatch(/^100 % of v1 requests translated; no client is known$/);
  expect(without({ clients: [client("a")] })).toMatch(/^unknown how many v1 requests are translated; 0 of 1 client /);
});
