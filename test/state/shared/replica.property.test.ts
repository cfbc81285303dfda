import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Increment, type SharedStore, StoreError, type TickRequest } from "../../../src/state/shared/protocol.ts";
import { createReplica, type Replica } from "../../../src/state/shared/replica.ts";
import { createMemoryStore, emptyData, type MemoryData } from "./memory-store.ts";

const KEYS = ["rule-a", "rule-b"];
const FIELDS = ["requests", "failures"];

type Fault = "none" | "lost request" | "lost response" | "late duplicate";

/** Some processes that share a store, and everything that can happen to them. */
function createWorld() {
  let time = 1_700_000_000_000;
  let random = 0;
  const server = createMemoryStore(
    () => time,
    () => `fresh-${random++}`,
  );
  let saved: MemoryData = emptyData();
  const late: TickRequest[] = [];
  const processes: { replica: Replica; sent: Map<string, number>; fault: Fault }[] = [];
  let born = 0;

  const start = () => {
    const sent = new Map<string, number>();
    const process: (typeof processes)[number] = { sent, fault: "none", replica: undefined as unknown as Replica };
    const store: SharedStore = {
      tick: async (request) => {
        const { fault } = process;
        if (fault === "lost request") throw new StoreError("away", "lost");
        const reply = await server.tick(request);
        if (fault === "late duplicate") late.push(request);
        if (fault === "lost response") throw new StoreError("away", "lost");
        return reply;
      },
      close: async () => {},
    };
    process.replica = createReplica({
      id: `replica-${born++}`,
      store,
      about: () => "{}",
      contribution: () =>
        Array.from(sent, ([name, value]): Increment => {
          const [key = "", field = ""] = name.split(" ");
          return { key, field, operation: "add", value };
        }),
      wall: () => time,
      later: () => () => {},
    });
    return process;
  };
  const pick = (at: number) => processes[at % processes.length] as (typeof processes)[number];
  for (let i = 0; i < 3; i++) processes.push(start());
  return {
    server,
    processes,
    wait: (ms: number) => {
      time += ms;
    },
    count: (at: number, key: string, field: string, value: number) => {
      const { sent, replica } = pick(at);
      sent.set(`${key} ${field}`, (sent.get(`${key} ${field}`) ?? 0) + value);
      replica.count({ key, field, operation: "add", value });
    },
    tick: async (at: number, fault: Fault) => {
      const process = pick(at);
      process.fault = fault;
      await process.replica.tick();
      process.fault = "none";
    },
    deliverLate: async () => {
      const request = late.shift();
      if (request !== undefined) await server.tick(request);
    },
    save: () => {
      saved = server.copy();
    },
    /** The store is as it was when it was saved last. */
    failOver: () => server.replace(saved),
    flush: () => server.replace(emptyData()),
    stepBack: (at: number, key: string) => {
      const generation = pick(at).replica.rules().get(key)?.generation ?? 0;
      void pick(at).replica.decide({ kind: "rule", key, what: "back", generation, detail: "{}" });
    },
    promote: (at: number, key: string) => {
      const generation = pick(at).replica.rules().get(key)?.generation ?? 0;
      void pick(at).replica.decide({ kind: "rule", key, what: "promote", generation, detail: "{}" });
    },
    force: (at: number, command: string) => void pick(at).replica.decide({ kind: "force", detail: command }),
    /** Ends a process that has sent everything, and starts another one. Its counts stay. */
    restart: async (at: number) => {
      await pick(at).replica.close();
      processes[at % processes.length] = start();
    },
    heal: async () => {
      while (late.length > 0) await server.tick(late.shift() as TickRequest);
      for (let i = 0; i < 130; i++) for (const { replica } of processes) await replica.tick();
    },
  };
}

const at = fc.nat(2);
const key = fc.constantFrom(...KEYS);
const fault = fc.constantFrom<Fault>("none", "none", "none", "lost request", "lost response", "late duplicate");
const happening = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant("tick" as const), at, fault }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("count" as const),
      at,
      key,
      field: fc.constantFrom(...FIELDS),
      value: fc.integer({ min: 1, max: 9 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.nat(90_000) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("save" as const, "deliverLate" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("failOver" as const, "flush" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("stepBack" as const, "promote" as const), at, key }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("force" as const), at, command: fc.constantFrom("native", "none") }),
  },
);

type World = ReturnType<typeof createWorld>;

async function happen(world: World, event: Happening) {
  switch (event.do) {
    case "tick":
      return world.tick(event.at, event.fault);
    case "count":
      return world.count(event.at, event.key, event.field, event.value);
    case "wait":
      return world.wait(event.ms);
    case "force":
      return world.force(event.at, event.command);
    case "stepBack":
    case "promote":
      return world[event.do](event.at, event.key);
    default:
      return world[event.do]();
  }
}

type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never;

/** The counts in the store, by key and field. */
function kept({ server }: World): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { values } of server.copy().counts.values()) {
    for (const [name, value] of values) sums.set(name, (sums.get(name) ?? 0) + value);
  }
  return sums;
}

function counted(all: readonly ReadonlyMap<string, number>[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const sent of all) {
    for (const [name, value] of sent) {
      if (value === 0) continue;
      const there = `add:${name.replace(" ", "\u001f")}`;
      sums.set(there, (sums.get(there) ?? 0) + value);
    }
  }
  return sums;
}

describe("replicas that share a store which loses, repeats and delays", () => {
  test("end with exactly what each of them counted", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(happening, { maxLength: 120, size: "max" }), async (events) => {
        const world = createWorld();
        for (const event of events) await happen(world, event);
        await world.heal();
        expect(kept(world)).toEqual(counted(world.processes.map(({ sent }) => sent)));
      }),
      { numRuns: 300 },
    );
  });

  test("end with the same decisions, and with no step back lost that one of them saw", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(happening, { maxLength: 120, size: "max" }), async (events) => {
        const world = createWorld();
        for (const event of events) await happen(world, event);
        const known = world.processes.flatMap(({ replica }) => [...replica.rules().values()]);
        const forced = Math.max(0, ...world.processes.map(({ replica }) => replica.force()?.number ?? 0));
        await world.heal();
        const { rules, force } = world.server.copy();
        for (const { replica } of world.processes) {
          expect(new Map(replica.rules())).toEqual(rules);
          expect(replica.force()).toEqual(force);
        }
        for (const row of known) expect(rules.get(row.key)?.generation).toBeGreaterThanOrEqual(row.generation);
        expect(force?.number ?? 0).toBeGreaterThanOrEqual(forced);
      }),
      { numRuns: 300 },
    );
  });

  test("keep what processes counted that ended in order", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(happening, fc.record({ do: fc.constant("restart" as const), at })), {
          maxLength: 60,
          size: "max",
        }),
        async (events) => {
          const world = createWorld();
          const ended: ReadonlyMap<string, number>[] = [];
          for (const event of events) {
            // A store that loses the counts of a process that is gone has lost them.
            if (event.do === "failOver" || event.do === "flush") continue;
            if (event.do !== "restart") await happen(world, event);
            else {
              ended.push((world.processes[event.at % 3] as (typeof world.processes)[number]).sent);
              await world.restart(event.at);
            }
          }
          await world.heal();
          expect(kept(world)).toEqual(counted([...ended, ...world.processes.map(({ sent }) => sent)]));
        },
      ),
      { numRuns: 100 },
    );
  });
});
