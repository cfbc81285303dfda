import { expect, test } from "vitest";
import { createFleetPeers, type PeerSources } from "../../src/runtime/fleet-peers.ts";
import { createKnownContributors } from "../../src/runtime/known-contributors.ts";
import type { Contributions } from "../../src/state/shared/contributions.ts";
import { documentRig, rowStore, START } from "./document-rig.ts";

/** Three processes that have published; `reads` counts what is read of the store. */
function three(change: (contributions: Contributions) => Partial<Contributions> = () => ({})) {
  const store = rowStore();
  for (const [id, client] of [
    ["a", "ci"],
    ["b", "web"],
    ["c", "cron"],
  ] as const) {
    const made = documentRig({ store, id });
    made.call(client);
    made.publisher.start();
    made.publisher.publish();
  }
  const reads: string[] = [];
  const waits: (() => void)[] = [];
  const clock = { at: START };
  const known = createKnownContributors(() => clock.at);
  const contributions = store.as("a");
  const counting: Contributions = {
    ...contributions,
    rowsOf: (id) => {
      reads.push(id);
      return contributions.rowsOf(id);
    },
  };
  const sources: PeerSources = {
    contributions: { ...counting, ...change(counting) },
    own: "a",
    goneSince: ({ id }) => (id === "c" ? START - 5 : undefined),
    nameOf: (host, instance) => `${host}/${instance}`,
    known,
    later: (_ms, run) => {
      waits.push(run);
      return () => {};
    },
    now: () => 0,
  };
  return { store, reads, waits, clock, known, peers: createFleetPeers(sources) };
}

test("all others are read, those that are there first", async () => {
  const { peers } = three();
  const { peers: found, unread } = await peers.read();
  expect(unread).toEqual([]);
  expect(
    found.map(({ name, goneSince, document }) => [name, goneSince, document.clients.map((one) => one.name)]),
  ).toEqual([
    ["web/b", undefined, ["web"]],
    ["web/c", START - 5, ["cron"]],
  ]);
});

test("one that was not heard since is not read again", async () => {
  const { store, reads, peers } = three();
  await peers.read();
  store.as("b", START + 1);
  await peers.read();
  expect(reads).toEqual(["b", "c", "b"]);
});

test("one that cannot be read is named, and the others are there", async () => {
  const { peers } = three(({ rowsOf }) => ({
    rowsOf: async (id) => {
      if (id === "b") throw new Error("connect ECONNREFUSED");
      return rowsOf(id);
    },
  }));
  const { peers: found, unread } = await peers.read();
  expect(found.map(({ name }) => name)).toEqual(["web/c"]);
  expect(unread).toEqual([{ name: "web/b", fault: "connect ECONNREFUSED" }]);
});

test("a store that does not respond in time is named", async () => {
  const { peers, waits } = three(() => ({ contributors: () => new Promise(() => {}) }));
  const reading = peers.read();
  for (const run of waits) run();
  expect(await reading).toEqual({ peers: [], unread: [{ name: "the store", fault: "it takes longer than 2 s" }] });
});

test("a document with a damaged row is named, and what can be read of it counts", async () => {
  const { store, peers } = three();
  const [row = ""] = [...store.of("b").keys()].filter((name) => name.startsWith("doc:clients"));
  store.of("b").set(row, "?");
  const { peers: found, unread } = await peers.read();
  expect(unread).toEqual([{ name: "web/b", fault: `${row}: it cannot be read` }]);
  expect(found[0]?.document.head.ledger.requests).toEqual({ v1: 1, v2: 0 });
});

test("one that is missing is named: for some seconds it may return, then the store has lost it", async () => {
  const { store, clock, known, peers } = three();
  await peers.start();
  store.heard.delete("c");
  const { peers: found, unread } = await peers.read();
  expect(found.map(({ name }) => name)).toEqual(["web/b"]);
  expect(unread).toEqual([{ name: "web/c", fault: expect.stringContaining("the store has lost what it counted") }]);
  clock.at += 10_000;
  expect((await peers.read()).unread).toEqual([]);
  expect(known.lost().map(({ name }) => name)).toEqual(["web/c"]);
});

test("one whose rows were evicted stays lost while the store lists it, and returns with its rows", async () => {
  const { store, waits, clock, known, peers } = three();
  await peers.start();
  const rows = new Map(store.of("c"));
  store.of("c").clear();
  store.as("c", START + 1);
  await peers.read();
  clock.at += 10_000;
  // The look that is due.
  waits.shift()?.();
  await Promise.resolve();
  await peers.read();
  expect(known.lost().map(({ name }) => name)).toEqual(["web/c"]);
  for (const [name, text] of rows) store.of("c").set(name, text);
  store.as("c", START + 2);
  await peers.read();
  expect(known.lost()).toEqual([]);
});
