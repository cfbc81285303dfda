import { expect, test } from "vitest";
import type { ClientEntry } from "../../src/ledger/entry.ts";
import { createTakers } from "../../src/runtime/takers.ts";
import { rule, rulesOf } from "../rollout/control-rig.ts";

const OPERATIONS = [
  { resource: "group", operation: "list", write: false },
  { resource: "group", operation: "update", write: true },
];

function entry(name: string, calls: readonly string[], lastV1: number | undefined = 1): ClientEntry {
  const operations = calls.map((operation) => ({ resource: "group", operation, requests: 1, lastSeen: 1 }));
  return { name, operations, lastV1 } as unknown as ClientEntry;
}

function subject(now = () => 0) {
  const asked = { rules: 0 };
  const rules = rulesOf([
    rule({ name: "few", match: { resources: new Set(["group"]), percent: 10 } }),
    rule({ name: "writes", match: { operations: new Set(["update"]) } }),
    rule({ name: "nobody", match: { resources: new Set(["role"]) } }),
  ]);
  const parts = {
    bucketOf: (client: string) => {
      asked.rules += 1;
      return client.startsWith("in") ? 9 : 10;
    },
    wall: () => 0,
    operations: OPERATIONS,
  };
  const inForce = { rules };
  return { takers: createTakers({ ...parts, rules: () => inForce.rules, now }), asked, inForce };
}

test("counts each client once for every rule that takes some of what it calls, and no caller of v2 alone", async () => {
  const { takers } = subject();
  const clients = [
    entry("in", ["list", "update"]),
    entry("out", ["list", "update"]),
    entry("out-reads", ["list", "unknown"]),
    { ...entry("in-moved", ["list"]), lastV1: undefined },
  ] as readonly ClientEntry[];
  expect(Object.fromEntries(await takers(clients))).toEqual({ few: 1, writes: 1, nobody: 0 });
});

test("keeps what it counted for some seconds, until other rules are in force", async () => {
  const clock = { now: 0 };
  const { takers, asked, inForce } = subject(() => clock.now);
  const clients = [entry("in", ["list"])];
  await takers(clients);
  const once = asked.rules;
  await takers(clients);
  expect(asked.rules).toBe(once);
  clock.now = 6_000;
  await takers(clients);
  expect(asked.rules).toBe(2 * once);
  inForce.rules = rulesOf([rule({ name: "new" })]);
  expect(Object.fromEntries(await takers(clients))).toEqual({ new: 1 });
});

test("lets other work go on while it asks for many clients", async () => {
  let [now, turns] = [0, 0];
  // Each look at the clock takes a millisecond.
  const { takers } = subject(() => now++);
  let isDone = false;
  const other = (): void => {
    turns += 1;
    if (!isDone) setImmediate(other);
  };
  setImmediate(other);
  await takers(Array.from({ length: 300 }, (_, at) => entry(`in-${at}`, ["list"])));
  isDone = true;
  expect(turns).toBeGreaterThan(50);
});
