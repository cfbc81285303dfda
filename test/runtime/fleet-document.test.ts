import { expect, test } from "vitest";
import { createDocumentReader, progressOf } from "../../src/fleet/document.ts";
import { upperBound } from "../../src/rollout/upper-bound.ts";
import { documentRig, START } from "./document-rig.ts";

const HOUR = 3_600_000;

test("a document says what its process says: totals, clients, windows, comparisons and events", async () => {
  const made = documentRig();
  made.publisher.start();
  made.call("ci");
  made.clock.at += 30 * HOUR;
  made.call("ci", { resource: "repo", operation: "remove", mode: "native" });
  made.call("web", { status: 500 });
  made.tally.restore([
    { resource: "group", operation: "list", comparisons: 9, differences: 1 },
    { resource: "group", operation: "list", client: "ci", comparisons: 9, differences: 1 },
  ]);
  made.events.record({ kind: "stepped-back", rule: "reads", reason: "too many differences" });
  made.publisher.publish();
  const document = await made.read();
  const now = made.clock.at + HOUR;
  for (const times of [
    { from: -2 * HOUR, to: undefined },
    { from: START - HOUR, to: START + HOUR },
  ]) {
    const { window, totals, ledger, bounds } = progressOf(document, now, times);
    made.clock.at = now;
    expect(window).toEqual(made.requests.window(times));
    expect(totals.rows).toEqual(made.requests.snapshot().rows);
    expect(ledger.clients).toEqual(made.ledger.snapshot().clients);
    expect(ledger.requests).toEqual({ v1: 3, v2: 0 });
    expect(bounds.map(({ client, upper }) => [client, upper])).toEqual([
      [undefined, upperBound(1, 9)],
      ["ci", upperBound(1, 9)],
    ]);
  }
  expect(document.events).toEqual(made.events.select());
});

test("without news nothing is sent", async () => {
  const made = documentRig();
  made.publisher.start();
  made.call("ci");
  made.publisher.publish();
  made.publisher.publish();
  const before = new Map(made.rows());
  for (const name of made.rows().keys()) made.rows().delete(name);
  made.clock.at += 5_000;
  made.publisher.publish();
  expect([...made.rows().keys()]).toEqual([]);
  expect(before.size).toBeGreaterThan(4);
});

test("one more request of a client sends its row alone, with the head, the totals and the buckets of this moment", () => {
  const made = documentRig();
  for (let n = 0; n < 500; n++) made.call(`client-${n}`);
  made.publisher.start();
  for (let turn = 0; turn < 20; turn++) made.publisher.publish();
  for (const name of made.rows().keys()) made.rows().delete(name);
  made.call("client-7");
  made.publisher.publish();
  const kinds = [...made.rows().keys()].map((name) => name.split(":")[1]).sort();
  expect(kinds).toEqual(["clients", "head", "history", "history", "history", "totals"]);
});

test("a large document comes in turns: 32 KiB in a second, and all of it in the end", async () => {
  const made = documentRig({ max: 5_000 });
  for (let n = 0; n < 5_000; n++) made.call(`a client with quite a long name, number ${n * 7919}`);
  made.publisher.start();
  const sizeOf = () => [...made.rows().values()].reduce((sum, text) => sum + text.length, 0);
  const sizes = [sizeOf()];
  for (let turn = 0; turn < 50; turn++) {
    made.publisher.publish();
    sizes.push(sizeOf());
  }
  const steps = sizes.map((size, at) => size - (sizes[at - 1] ?? 0));
  expect(steps.filter((step) => step > 0).length).toBeGreaterThan(3);
  expect(Math.max(...steps)).toBeLessThan(2 * 32 * 1024);
  expect((await made.read()).clients).toEqual(made.ledger.snapshot().clients);
});

test("a client that is forgotten leaves the rows at once, and one that was pushed out with a later round", async () => {
  const made = documentRig({ max: 100 });
  for (const name of ["one", "two", "three"]) made.call(name);
  made.publisher.start();
  made.publisher.publish();
  expect((await made.read()).clients.map(({ name }) => name).sort()).toEqual(["one", "three", "two"]);
  made.ledger.forget(["two"]);
  made.publisher.forgotten("two");
  expect((await made.read()).clients.map(({ name }) => name).sort()).toEqual(["one", "three"]);
  made.ledger.forget(["one"]);
  for (let turn = 0; turn < 3; turn++) made.publisher.publish();
  expect((await made.read()).clients.map(({ name }) => name)).toEqual(["three"]);
});

test("events keep their rows while others are dropped before and between them", async () => {
  const made = documentRig();
  made.publisher.start();
  for (let n = 0; n < 5_400; n++) {
    made.events.record({ kind: n % 3 === 0 ? "breaker-opened" : "breaker-closed", reason: `number ${n}` });
    if (n % 50 === 0) made.publisher.publish();
  }
  for (let turn = 0; turn < 40; turn++) made.publisher.publish();
  expect((await made.read()).events).toEqual(made.events.select());
});

test("rows of an earlier process that this one lacks are removed, those of other things stay", async () => {
  const made = documentRig();
  const before = ["doc:clients:15", "doc:events:90", "doc:rules:3", "doc:rules:3+1", "rule:reads"];
  for (const name of before) made.rows().set(name, "old");
  made.call("ci");
  made.publisher.start(made.rows().keys());
  for (let turn = 0; turn < 3; turn++) made.publisher.publish();
  expect(before.filter((name) => made.rows().has(name))).toEqual(["rule:reads"]);
  expect((await made.read()).clients.map(({ name }) => name)).toEqual(["ci"]);
});

test("a row that was damaged is reported, and what is known of it from before stays", async () => {
  const made = documentRig();
  made.call("ci");
  made.publisher.start();
  made.publisher.publish();
  const reader = createDocumentReader();
  const first = await reader.read(made.rows(), async () => {});
  const [name = ""] = [...made.rows().keys()].filter((one) => one.startsWith("doc:clients"));
  made.rows().set(name, `${made.rows().get(name)}x`);
  const second = await reader.read(made.rows(), async () => {});
  expect(first.faults).toEqual([]);
  expect(second.faults).toEqual([`${name}: it is not as it was written`]);
  expect(second.document?.clients).toEqual(first.document?.clients);
});
