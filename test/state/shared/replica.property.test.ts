import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type SharedStore, StoreError, type TickRequest } from "../../../src/state/shared/protocol.ts";
import { createReplica, type Replica } from "../../../src/state/shared/replica.ts";
import { createRows, type Rows } from "../../../src/state/shared/rows.ts";
import { createMemoryStore, emptyData, type MemoryData } from "./memory-store.ts";

const KEYS = ["rule-a", "rule-b"];
const NAMES = ["one", "two", "three"];

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
  const processes: { replica: Replica; rows: Rows; texts: Map<string, string | undefined>; fault: Fault }[] = [];
  let born = 0;

  const start = () => {
    const id = `replica-${born++}`;
    const rows = createRows(id, time);
    const process: (typeof processes)[number] = {
      rows,
      texts: new Map(),
      fault: "none",
      replica: undefined as unknown as Replica,
    };
    const store: SharedStore = {
      ...server,
      tick: async (request) => {
        const { fault } = process;
        if (fault === "lost request") throw new StoreError("away", "lost");
        const reply = await server.tick(request);
        if (fault === "late duplicate") late.push(request);
        if (fault === "lost response") throw new StoreError("away", "lost");
        return reply;
      },
    };
    process.replica = createReplica({
      id,
      store,
      about: () => "{}",
      rows: [rows],
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
    put: (at: number, name: string, text: string | undefined) => {
      const { texts, rows } = pick(at);
      texts.set(name, text);
      rows.put(name, text);
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
    /** Ends a process that has sent everything, and starts another one. Its rows stay. */
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
      do: fc.constant("put" as const),
      at,
      name: fc.constantFrom(...NAMES),
      text: fc.option(fc.nat(99).map(String), { nil: undefined }),
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
    case "put":
      return world.put(event.at, event.name, event.text);
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

/** The rows in the store that are not removed, by owner and name. */
function kept({ server }: World): Map<string, string> {
  const all = [...server.copy().owners].flatMap(([owner, { rows }]) =>
    Array.from(rows, ([name, text]) => [`${owner} ${name}`, text] as const),
  );
  return new Map(all);
}

function put(processes: readonly Pick<World["processes"][number], "rows" | "texts">[]): Map<string, string> {
  const all = processes.flatMap(({ rows: { owner }, texts }) =>
    Array.from(texts, ([name, text]) => [`${owner} ${name}`, text] as const),
  );
  return new Map(all.flatMap(([name, text]) => (text === undefined ? [] : [[name, text] as const])));
}

describe("replicas that share a store which loses, repeats and delays", () => {
  test("end with exactly the rows that each of them wrote last", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(happening, { maxLength: 120, size: "max" }), async (events) => {
        const world = createWorld();
        for (const event of events) await happen(world, event);
        await world.heal();
        expect(kept(world)).toEqual(put(world.processes));
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

  test("keep the rows of processes that ended in order", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(happening, fc.record({ do: fc.constant("restart" as const), at })), {
          maxLength: 60,
          size: "max",
        }),
        async (events) => {
          const world = createWorld();
          const ended: World["processes"] = [];
          for (const event of events) {
            // A store that loses the rows of a process that is gone has lost them.
            if (event.do === "failOver" || event.do === "flush") continue;
            if (event.do !== "restart") await happen(world, event);
            else {
              ended.push(world.processes[event.at % 3] as (typeof world.processes)[number]);
              await world.restart(event.at);
            }
          }
          await world.heal();
          expect(kept(world)).toEqual(put([...ended, ...world.processes]));
        },
      ),
      { numRuns: 100 },
    );
  });
});
