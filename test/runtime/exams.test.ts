import { expect, test } from "vitest";
import type { ClientEntry } from "../../src/ledger/entry.ts";
import type { BrownoutState } from "../../src/rollout/brownout.ts";
import type { OwnRuleStatus } from "../../src/rules/status.ts";
import { createExams } from "../../src/runtime/exams.ts";
import type { Peers } from "../../src/runtime/fleet-peers.ts";
import { exchange, ledgerOf } from "../ledger/samples.ts";

function rig() {
  const { ledger, clock } = ledgerOf();
  const timer = { at: 0 };
  const comparisons = [{ resource: "group", operation: "list", client: "a", comparisons: 10, differences: 0 }];
  const window = { start: clock.at + 60_000, end: clock.at + 120_000 };
  const rules: { name: string; cause: string; rehearsal: { client: string; until: number } }[] = [];
  const peers: { clients: readonly ClientEntry[]; bounds: typeof comparisons }[] = [];
  const exams = createExams({
    ledger,
    rollout: {
      ownStates: () => rules as unknown as readonly OwnRuleStatus[],
      brownouts: () => new Map([["b", { phase: { kind: "waiting" }, next: [window] } as unknown as BrownoutState]]),
    },
    readPeers: async () => ({ peers: peers.map((document) => ({ document })), unread: [] }) as unknown as Peers,
    comparisons: () => comparisons,
    isUntranslated: () => false,
    wall: () => clock.at,
    now: () => timer.at,
  });
  return { ledger, clock, timer, exams, comparisons, rules, peers };
}

test("a client fails by its own comparisons, once the last judgement is 10 s old", () => {
  const { ledger, timer, exams, comparisons } = rig();
  ledger.observe(exchange("a"));
  ledger.observe(exchange("b"));
  expect(exams.failed("a")).toBe(undefined);
  comparisons[0] = { resource: "group", operation: "list", client: "a", comparisons: 10, differences: 1 };
  expect(exams.failed("a")).toBe(undefined);
  timer.at = 10_000;
  expect([exams.failed("a"), exams.failed("b"), exams.failed("new")]).toEqual([
    "group list: 1 of 10 comparisons differ",
    undefined,
    undefined,
  ]);
});

test("a request that failed because of the translation counts at once", () => {
  const { ledger, exams } = rig();
  ledger.observe(exchange("a"));
  expect(exams.failed("a")).toBe(undefined);
  ledger.observe(exchange("a", { status: 502, reason: "DRAIN_INCOMPLETE", fault: "translation" }));
  expect(exams.failed("a")).toBe("requests of group list failed because of the translation");
});

test("from a minute before a window on, what other replicas know of a client counts", async () => {
  const { ledger, clock, timer, exams, peers } = rig();
  const other = ledgerOf().ledger;
  other.observe(exchange("a"));
  peers.push({
    clients: other.entriesOf(["a"]),
    bounds: [{ resource: "group", operation: "list", client: "a", comparisons: 30, differences: 3 }],
  });
  ledger.observe(exchange("a"));
  await exams.follow();
  expect(exams.failed("a")).toBe(undefined);
  clock.at += 1;
  await exams.follow();
  expect(exams.failed("a")).toBe("group list: 3 of 40 comparisons differ");
  peers[0] = { clients: other.entriesOf(["a"]), bounds: [] };
  timer.at += 10_000;
  await exams.follow();
  expect(exams.failed("a")).toBe(undefined);
});

test("what other replicas know is forgotten while no window is near", async () => {
  const { clock, timer, exams, peers } = rig();
  const other = ledgerOf().ledger;
  other.observe(exchange("a"));
  const bounds = [{ resource: "group", operation: "list", client: "a", comparisons: 30, differences: 3 }];
  peers.push({ clients: other.entriesOf(["a"]), bounds });
  clock.at += 1;
  await exams.follow();
  expect(exams.failed("a")).toBe("group list: 3 of 40 comparisons differ");
  clock.at -= 1;
  await exams.follow();
  timer.at += 10_000;
  expect(exams.failed("a")).toBe(undefined);
});

test("a rehearsal that stopped speaks against its client", async () => {
  const { ledger, clock, exams, rules } = rig();
  ledger.observe(exchange("a"));
  rules.push({ name: "r", cause: "3 of 20 failed", rehearsal: { client: "a", until: clock.at } });
  clock.at += 1;
  await exams.follow();
  expect(exams.failed("a")).toBe("rehearsal r stopped: 3 of 20 failed");
});
