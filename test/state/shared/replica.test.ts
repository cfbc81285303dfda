import { expect, test } from "vitest";
import { type Decision, type SharedStore, StoreError } from "../../../src/state/shared/protocol.ts";
import { createReplica } from "../../../src/state/shared/replica.ts";
import { createRows } from "../../../src/state/shared/rows.ts";
import { createMemoryStore, emptyData } from "./memory-store.ts";

const BACK: Decision = { kind: "rule", key: "rule-a", what: "back", generation: 0, detail: "{}" };

function world(over: (store: SharedStore) => Partial<SharedStore> = () => ({}), asks = (): readonly string[] => []) {
  let random = 0;
  const clock = { at: 1_700_000_000_000 };
  const server = createMemoryStore(
    () => clock.at,
    () => `fresh-${random++}`,
  );
  const rows = createRows("own", clock.at);
  const replica = createReplica({
    id: "a",
    store: { ...server, ...over(server) },
    about: (isLeaving) => (isLeaving ? "leaving" : "here"),
    rows: [rows],
    asks,
    wall: () => clock.at,
    later: () => () => {},
  });
  return { server, replica, rows, clock };
}

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

test("lets a new decision hold against those before it that the store lost", async () => {
  const { server, replica } = world();
  for (const detail of ["old 1", "old 2", "old 3"]) {
    void replica.decide({ kind: "force", detail });
    void replica.decide({ ...BACK, detail });
    await replica.tick();
  }
  server.replace(emptyData());
  void replica.decide({ kind: "force", detail: "new" });
  void replica.decide({ ...BACK, detail: "new" });
  for (let i = 0; i < 4; i++) await replica.tick();
  expect([replica.force(), replica.rules().get("rule-a")]).toMatchObject([{ detail: "new" }, { detail: "new" }]);
});

test("sends a decision before rows, and without them", async () => {
  const sent: number[] = [];
  const { replica, rows } = world((server) => ({
    tick: (request) => {
      sent.push(request.contributions.flatMap((one) => one.rows).length);
      return server.tick(request);
    },
  }));
  await replica.tick();
  rows.put("one", "x");
  void replica.decide(BACK);
  await replica.tick();
  await replica.tick();
  expect(sent).toEqual([0, 0, 1]);
});

test("asks a full store without rows at once, and sends them when there is room", async () => {
  const room = { isFull: true };
  const { replica, server, rows } = world((all) => ({
    tick: async (request) => {
      if (room.isFull && request.contributions.some((one) => one.rows.length > 0)) throw new StoreError("full", "OOM");
      return all.tick(request);
    },
  }));
  await replica.tick();
  rows.put("one", "x");
  await replica.tick();
  expect(replica.view()).toMatchObject({
    link: { phase: "in-step" },
    trouble: "the store is full, and counts wait: OOM",
  });
  room.isFull = false;
  await replica.tick();
  expect(replica.view().trouble).toBeUndefined();
  expect(await server.rowsOf("own")).toEqual(new Map([["one", "x"]]));
});

test("asks for rows of all owners, and has the response until the next one", async () => {
  const asks: string[] = ["one"];
  const { replica, rows } = world(undefined, () => asks);
  rows.put("one", "x");
  await replica.tick();
  expect(replica.answers()).toEqual(new Map([["one", [{ owner: "own", text: "x" }]]]));
  asks.pop();
  await replica.tick();
  expect(replica.answers().size).toBe(0);
});

test("replaces a decision that was not sent yet by a later one about the same rule", async () => {
  const { server, replica } = world();
  const first = replica.decide(BACK);
  const second = replica.decide({ ...BACK, what: "forward" });
  await replica.tick();
  expect(await Promise.all([first, second])).toEqual(["stale", "applied"]);
  expect([...server.copy().rules.values()]).toMatchObject([{ what: "forward", generation: 1 }]);
});
