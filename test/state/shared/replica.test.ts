import { expect, test } from "vitest";
import { type Decision, type SharedStore, StoreError } from "../../../src/state/shared/protocol.ts";
import { createReplica } from "../../../src/state/shared/replica.ts";
import { createMemoryStore, emptyData } from "./memory-store.ts";

const BACK: Decision = { kind: "rule", key: "rule-a", what: "back", generation: 0, detail: "{}" };

function world(over: (store: SharedStore) => Partial<SharedStore> = () => ({})) {
  let random = 0;
  const clock = { at: 1_700_000_000_000 };
  const server = createMemoryStore(
    () => clock.at,
    () => `fresh-${random++}`,
  );
  const replica = createReplica({
    id: "a",
    store: { ...server, ...over(server) },
    about: (isLeaving) => (isLeaving ? "leaving" : "here"),
    contribution: () => [],
    wall: () => clock.at,
    later: () => () => {},
  });
  return { server, replica, clock };
}

const count = (value: number) => ({ key: "rule-a", field: "requests", operation: "add", value }) as const;

test("sends a decision again that met another store than expected", async () => {
  const { server, replica } = world();
  await replica.tick();
  server.replace(emptyData());
  const outcome = replica.decide(BACK);
  await replica.tick();
  expect(server.copy().rules.size).toBe(0);
  await replica.tick();
  expect(await outcome).toBe("applied");
  expect(server.copy().rules.size).toBe(1);
});

test("sends a decision before counts, and without them", async () => {
  const batches: (number | undefined)[] = [];
  const { replica } = world((server) => ({
    tick: (request) => {
      batches.push(request.batch?.sequence);
      return server.tick(request);
    },
  }));
  await replica.tick();
  replica.count(count(1));
  void replica.decide(BACK);
  await replica.tick();
  await replica.tick();
  expect(batches).toEqual([undefined, undefined, 1]);
});

test("adds up what it counts while the store is away, in one batch", async () => {
  const way = { isAway: true };
  const sent: number[] = [];
  const { replica, server } = world((all) => ({
    tick: async (request) => {
      if (way.isAway) throw new StoreError("away", "no response");
      sent.push(...(request.batch?.increments ?? []).map(({ value }) => value));
      return all.tick(request);
    },
  }));
  for (let i = 0; i < 1_000; i++) {
    replica.count(count(1));
    await replica.tick();
  }
  way.isAway = false;
  for (let i = 0; i < 3; i++) await replica.tick();
  expect(sent).toEqual([1_000]);
  expect([...server.copy().counts.values()][0]?.values.get("add:rule-a\u001frequests")).toBe(1_000);
});

test("asks a full store without counts at once, and sends them when there is room", async () => {
  const room = { isFull: true };
  const { replica, server } = world((all) => ({
    tick: async (request) => {
      if (room.isFull && request.batch !== undefined) throw new StoreError("full", "OOM");
      return all.tick(request);
    },
  }));
  await replica.tick();
  replica.count(count(3));
  await replica.tick();
  expect(replica.view()).toMatchObject({
    link: { phase: "in-step" },
    trouble: "the store is full, and counts wait: OOM",
  });
  room.isFull = false;
  await replica.tick();
  expect(replica.view().trouble).toBeUndefined();
  expect([...server.copy().counts.values()][0]?.values.get("add:rule-a\u001frequests")).toBe(3);
});

test("replaces a decision that was not sent yet by a later one about the same rule", async () => {
  const { server, replica } = world();
  const first = replica.decide(BACK);
  const second = replica.decide({ ...BACK, what: "forward" });
  await replica.tick();
  expect(await Promise.all([first, second])).toEqual(["stale", "applied"]);
  expect([...server.copy().rules.values()]).toMatchObject([{ what: "forward", generation: 1 }]);
});
