import { expect, test } from "vitest";
import { type BrownoutRule, brownoutLines } from "../../src/fleet/brownouts.ts";
import { letter } from "../../src/fleet/letter.ts";
import type { ClientEntry } from "../../src/ledger/entry.ts";
import type { BrownoutStatus } from "../../src/rules/status.ts";
import { client } from "../commands/report/support.ts";

const MINUTE = 60_000;
const START = Date.UTC(2027, 2, 23, 8);
const WINDOW = { start: START, end: START + 10 * MINUTE };
const NEXT = { start: START + 7 * 1_440 * MINUTE, end: START + 7 * 1_440 * MINUTE + 10 * MINUTE };

const rule = (brownout: Partial<BrownoutStatus> = {}, announces = {}, name = "tuesdays") => ({
  ...{ name, state: "as-written" as const, announces },
  brownout: { phase: "waiting" as const, next: [NEXT], zone: "UTC", ...brownout },
});
const written = (clients: readonly ClientEntry[], ...rules: readonly ReturnType<typeof rule>[]) =>
  letter({ clients, rules, at: START + 60 * MINUTE });
const CI = client("ci", { lastV1: START });
const WEB = client("web", { lastV1: START });

test("a letter names the end of v1, pages about it, and whom to tell, as the rules do", () => {
  const announces = {
    sunset: Date.UTC(2027, 5, 30),
    deprecation: Date.UTC(2026, 11, 1),
    documentation: "https://a/v1",
  };
  const text = written([CI], rule({ contact: "#api", successor: "https://a/v2" }, announces));
  expect(text).toContain("- v1 ends on 2027-06-30 00:00Z.\n- v1 has been deprecated since 2026-12-01 00:00Z.\n");
  expect(text).toContain("- About the end of v1: `https://a/v1`\n- About v2: `https://a/v2`\n");
  expect(text).toContain("2. Tell us (`#api`) which client cannot move by 2027-06-30 00:00Z, and why.");
});

test("a letter without announcements has no end of v1", () => {
  const text = written([CI], rule());
  expect(text).not.toContain("## The end of v1");
  expect(text).toContain("2. Tell us which client cannot move, and why.");
});

test("a letter announces no window to clients that the brownout exempts", () => {
  const both = written([CI, WEB], rule({ exempt: ["web", "other"] }));
  expect(both).toContain("- `tuesdays`, but not `web`, which we exempted:\n  - 2027-03-30 08:00");
  const one = written([WEB], rule({ exempt: ["web"] }), rule({}, {}, "daily"));
  expect(one).toContain("- `tuesdays` refuses none of your clients: they are exempt.\n- `daily`:\n");
  const none = written([WEB], rule({ exempt: ["web"] }));
  expect(none).toContain("We refuse none of yours: your client is exempt.");
  expect(none).not.toContain("2027-03-30");
});

test.each<[string, readonly BrownoutRule[], string]>([
  ["runs", [rule({ phase: "running", window: WINDOW })], "running"],
  ["is held", [rule({ phase: "held", window: WINDOW })], "running"],
  ["is stopped", [rule({ phase: "stopped", window: WINDOW })], "unchanged"],
  ["runs in another window", [rule({ phase: "running", window: NEXT })], "unchanged"],
  ["is of a rule that has expired", [{ ...rule({ phase: "running", window: WINDOW }), state: "expired" }], "unchanged"],
  ["is of a rule that is gone", [rule({ phase: "running", window: WINDOW }, {}, "other")], "unchanged"],
])("a client that called v1 after its last refusal, in the window, where the brownout %s", (_, rules, outcome) => {
  const refused = { rule: "tuesdays", ...WINDOW, requests: 3, first: START + 1_000, last: START + 9_000 };
  const clients = [client("ci", { refused, lastV1: START + MINUTE })];
  expect(brownoutLines({ clients, rules, at: START + 2 * MINUTE })).toMatchObject([{ outcome }]);
});
