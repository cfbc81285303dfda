import { expect, test } from "vitest";
import type { ClientEntry } from "../../src/ledger/entry.ts";
import { askedRule } from "../../src/runtime/rule-clients.ts";
import { rig, rule, rulesOf } from "../rollout/control-rig.ts";

const OPERATIONS = [
  { resource: "group", operation: "list", write: false },
  { resource: "group", operation: "update", write: true },
  { resource: "role", operation: "list", write: false },
];

function entry(name: string, ...calls: readonly string[]): ClientEntry {
  const operations = calls.map((call) => {
    const [resource = "", operation = ""] = call.split(" ");
    return { resource, operation, requests: 1, lastSeen: 1 };
  });
  return { name, operations } as unknown as ClientEntry;
}

test("a rule takes what it is about of the clients in its percentage, and says why not the others", () => {
  const few = rule({ name: "few", match: { resources: new Set(["group"]), percent: 10 } });
  const writes = rule({ name: "writes", mode: "native", match: { operations: new Set(["update"]) } });
  const { control } = rig(rulesOf([writes, few]));
  const parts = {
    rollout: control,
    bucketOf: (client: string) => (client === "in" ? 9.99 : 10),
    wall: () => 0,
    operations: OPERATIONS,
  };
  const asked = askedRule(new URLSearchParams("rule=few"), parts);
  const taken = (client: ClientEntry) => asked?.takes(client);
  expect(asked).toMatchObject({ name: "few", doing: "translate" });
  expect(taken(entry("in", "group list"))).toEqual({ taken: ["group list"], why: "1 of 1 operation that it calls" });
  expect(taken(entry("in", "group list", "group update"))).toEqual({
    taken: ["group list"],
    why: "1 of 2 operations that it calls; rule writes takes it first",
  });
  expect(taken(entry("out", "group list"))).toEqual({
    taken: [],
    why: "client is in bucket 10.0000, not below 10",
  });
  expect(taken(entry("in", "role list", "unknown unknown"))?.why).toBe("it calls nothing that the rule is about");
  expect(askedRule(new URLSearchParams(), parts)).toBeUndefined();
  expect(() => askedRule(new URLSearchParams("rule=fwe"), parts)).toThrow('there is no rule "fwe": did you mean few?');
});
