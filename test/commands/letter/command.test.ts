import { expect, test } from "vitest";
import type { ClientEntry } from "../../../src/ledger/entry.ts";
import { client, progress } from "../report/support.ts";
import { instances, run } from "../status/support.ts";

const START = Date.UTC(2027, 2, 23, 8);
const refusal = (rest: Partial<NonNullable<ClientEntry["refused"]>> = {}) => ({
  rule: "tuesdays",
  start: START,
  end: START + 600_000,
  requests: 3,
  first: START + 1_000,
  last: START + 9_000,
  ...rest,
});

const BUILD = { owner: "Build team", contact: "#build" };
const told = (instance: string, ...clients: readonly ClientEntry[]) => {
  const { rules: _, ...rest } = progress({
    instance,
    at: START + 3_600_000,
    ledger: { instances: [instance], clients, at: START + 3_600_000 },
  });
  const next = [{ start: START + 7 * 86_400_000, end: START + 7 * 86_400_000 + 600_000 }];
  const brownout = { phase: "waiting" as const, next, zone: "Europe/Vienna", contact: "#api" };
  const rule = { name: "tuesdays", mode: "brownout" as const, doing: "nothing" as const, state: "as-written" as const };
  return { ...rest, rules: [{ ...rule, detail: "", brownout, announces: { sunset: Date.UTC(2027, 5, 30) } }] };
};
const fetch = instances(
  told(
    "one",
    client("ci-bot", { ...BUILD, refused: refusal(), lastV1: START + 9_000, lastV2: START + 700_000 }),
    client("nobody`s|own"),
  ),
  told("two", client("ci-bot", { ...BUILD, refused: refusal({ requests: 2 }), lastV1: START + 5_000 })),
);

test("the letter has a part for each owner: clients, windows to come, and how they came back", async () => {
  const { code, out } = await run(["letter", "a:1", "b:1"], { fetch });
  expect(code).toBe(0);
  expect(out.match(/^# .*$/gm)).toEqual([
    "# v1 of the API ends: clients of `Build team`",
    "# v1 of the API ends: clients of nobody that is named",
  ]);
  expect(out).toContain("To: `#build`\n");
  expect(out).toContain("  - 2027-03-30 08:00 to 08:10 UTC (Tue 2027-03-30 10:00 Europe/Vienna)\n");
  expect(out).toContain("Tell us (`#api`) which client cannot move by 2027-06-30 00:00Z, and why.");
  expect(out).toContain("- came back on v2: `ci-bot`\n");
  expect(out).toContain("| `nobody's\\|own` |");
});

test("--owner prints one part, and refuses an owner that no client has", async () => {
  const one = await run(["letter", "--owner", "Build team", "a:1"], { fetch });
  expect([one.code, one.out.match(/^# /gm)?.length]).toEqual([0, 1]);
  const none = await run(["letter", "--owner", "Bild team", "a:1"], { fetch });
  expect([none.code, none.out, none.err]).toEqual([2, "", expect.stringContaining("did you mean Build team?")]);
});
