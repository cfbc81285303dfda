/** Facts that hold for every shared store: the one in memory, and each real server. */
import { beforeEach, describe, expect, test } from "vitest";
import type {
  Batch,
  Decision,
  DecisionKind,
  Increment,
  RuleRow,
  SharedStore,
  StoreMark,
  TickReply,
  TickRequest,
} from "../../../src/state/shared/protocol.ts";

export interface ContractStore {
  readonly store: SharedStore;
  /** Removes everything that the store holds. */
  readonly empty: () => Promise<void>;
}

/** A replica of the test: it remembers the store as it saw it. */
export function createCaller(store: SharedStore, replica: string) {
  let seen: StoreMark | undefined;
  let number = 0;
  return {
    tick: async (request: Partial<TickRequest> & { readonly wants?: readonly Decision[] } = {}): Promise<TickReply> => {
      const { wants = [], ...rest } = request;
      const decisions = wants.map((decision) => ({ ...decision, number: ++number }));
      const ask = { replica, about: `{"name":"${replica}"}`, acknowledged: 0, batch: undefined, ...NOTHING };
      const reply = await store.tick({ ...ask, seen, decisions, ...rest });
      seen = reply.store;
      return reply;
    },
    seen: (): StoreMark | undefined => seen,
    forget: (): void => {
      seen = undefined;
    },
  };
}

const NOTHING = { wantsReplicas: false, isLast: false, sums: [] } as const;

function add(value: number, field = "requests"): Increment {
  return { key: "rule-a", field, operation: "add", value };
}

function batch(sequence: number, ...increments: readonly Increment[]): Batch {
  return { sequence, isReset: false, increments };
}

function rule(what: DecisionKind, generation = 0, detail = "{}"): Decision {
  return { kind: "rule", key: "rule-a", what, generation, detail };
}

const SUM = { sums: [{ key: "rule-a", field: "requests", operation: "add" }] } as const;

export function describeStore(name: string, create: () => ContractStore | Promise<ContractStore>): void {
  describe(`a shared store: ${name}`, () => {
    let store: SharedStore;
    let empty: ContractStore["empty"];
    beforeEach(async () => {
      ({ store, empty } = await create());
      await empty();
    });
    const callers = () => [createCaller(store, "a"), createCaller(store, "b")] as const;

    test("adds up the batches of all replicas", async () => {
      const [a, b] = callers();
      await a.tick({ batch: batch(1, add(2)) });
      await b.tick({ batch: batch(1, add(3)) });
      const { last, status } = await a.tick({ batch: batch(2, add(2 ** 40)) });
      expect([status, last]).toEqual(["ok", 2]);
      expect((await b.tick(SUM)).sums).toEqual([2 ** 40 + 5]);
    });

    test("keeps the smallest, the largest and the latest value of a replica", async () => {
      const [a, b] = callers();
      const of = (field: string, operation: Increment["operation"], value: number): Increment => {
        return { key: "k", field, operation, value };
      };
      const all = (first: number, most: number, now: number) => [
        of("first", "min", first),
        of("most", "max", most),
        of("now", "put", now),
      ];
      await a.tick({ batch: batch(1, ...all(5, 5, 5)) });
      await a.tick({ batch: batch(2, ...all(7, 3, 1)) });
      await b.tick({ batch: batch(1, ...all(6, 9, 2)) });
      const sums = all(0, 0, 0).map(({ key, field, operation }) => ({ key, field, operation }));
      expect((await b.tick({ sums })).sums).toEqual([5, 9, 3]);
    });

    test("counts a batch once that arrives twice", async () => {
      const [a] = callers();
      await a.tick({ batch: batch(1, add(2)) });
      await a.tick({ batch: batch(2, add(3)) });
      expect(await a.tick({ batch: batch(1, add(2)), ...SUM })).toMatchObject({ status: "dup", last: 2, sums: [5] });
    });

    test("counts nothing after a missing batch", async () => {
      const [a] = callers();
      await a.tick({ batch: batch(1, add(2)) });
      expect(await a.tick({ batch: batch(3, add(3)), ...SUM })).toMatchObject({ status: "gap", last: 1, sums: [2] });
    });

    test("notices by a tick without a batch that an acknowledged one is missing", async () => {
      const [a] = callers();
      await a.tick({ batch: batch(1, add(2)) });
      expect((await a.tick({ acknowledged: 1 })).status).toBe("ok");
      expect((await a.tick({ acknowledged: 2 })).status).toBe("gap");
    });

    test("replaces everything of one replica with a reset", async () => {
      const [a, b] = callers();
      await a.tick({ batch: batch(1, add(2), add(9, "failures")) });
      await b.tick({ batch: batch(1, add(100)) });
      const reset: Batch = { sequence: 7, isReset: true, increments: [add(40)] };
      expect(await a.tick({ batch: reset })).toMatchObject({ status: "ok", last: 7 });
      expect((await a.tick({ batch: reset })).status).toBe("dup");
      const failures = { key: "rule-a", field: "failures", operation: "add" } as const;
      expect((await b.tick({ sums: [...SUM.sums, failures] })).sums).toEqual([140, undefined]);
    });

    test("keeps the counts of a replica after its last tick, and counts nothing of it again", async () => {
      const [a, b] = callers();
      const lowest: Increment = { key: "rule-a", field: "first", operation: "min", value: 7 };
      await a.tick({ batch: batch(1, add(2), lowest) });
      await b.tick({ batch: batch(1, add(3), { ...lowest, value: 9 }) });
      await a.tick({ acknowledged: 1, isLast: true });
      await a.tick({ acknowledged: 1, isLast: true });
      expect((await a.tick({ batch: batch(1, add(2), lowest) })).status).toBe("dup");
      const first = { key: "rule-a", field: "first", operation: "min" } as const;
      expect((await b.tick({ sums: [...SUM.sums, first] })).sums).toEqual([5, 7]);
      // It was paused, and goes on.
      await a.tick({ batch: batch(2, add(10)) });
      expect((await b.tick(SUM)).sums).toEqual([15]);
    });

    test("applies a promotion only with the generation that it saw", async () => {
      const [a, b] = callers();
      expect((await a.tick({ wants: [rule("promote")] })).outcomes).toEqual(["applied"]);
      const late = await b.tick({ wants: [rule("promote")] });
      expect(late.outcomes).toEqual(["stale"]);
      expect(late.rules).toMatchObject([{ generation: 1, what: "promote", replica: "a" }]);
      expect((await b.tick({ wants: [rule("forward", 1)] })).outcomes).toEqual(["applied"]);
    });

    test("applies a step back whatever generation it saw", async () => {
      const [a, b] = callers();
      await a.tick({ wants: [rule("promote"), rule("promote", 1)] });
      const { outcomes, rules } = await b.tick({ wants: [rule("back", 0, '{"why":"v2 failed"}')] });
      expect(outcomes).toEqual(["applied"]);
      expect(rules).toMatchObject([{ generation: 3, what: "back", replica: "b", detail: '{"why":"v2 failed"}' }]);
      expect((await a.tick({ wants: [rule("promote", 2)] })).outcomes).toEqual(["stale"]);
    });

    test("numbers the commands of force, and the last one wins", async () => {
      const [a, b] = callers();
      await a.tick({ wants: [{ kind: "force", detail: '{"command":"native"}' }] });
      await b.tick({ wants: [{ kind: "force", detail: '{"command":"none"}' }] });
      expect((await a.tick()).force).toMatchObject({ number: 2, replica: "b", detail: '{"command":"none"}' });
    });

    test("applies a decision once that arrives twice", async () => {
      const [a, b] = callers();
      const first = { ...rule("back"), number: 1 };
      await a.tick({ decisions: [first] });
      await b.tick({ wants: [rule("forward", 1)] });
      expect((await a.tick({ decisions: [first] })).outcomes).toEqual(["dup"]);
      expect((await b.tick({ wants: [rule("forward", 2)] })).outcomes).toEqual(["applied"]);
    });

    test("returns only the decisions that a replica has not seen", async () => {
      const [a, b] = callers();
      await a.tick({ wants: [rule("back")] });
      expect((await b.tick()).rules).toHaveLength(1);
      expect((await b.tick()).rules).toEqual([]);
      await a.tick({ wants: [{ ...rule("back"), key: "rule-b" } as Decision] });
      expect((await b.tick()).rules.map(({ key }) => key)).toEqual(["rule-b"]);
    });

    test("applies nothing of a replica that saw another store", async () => {
      const [a, b] = callers();
      const { store: before } = await a.tick({ batch: batch(1, add(2)) });
      await empty();
      await b.tick();
      const reply = await a.tick({ batch: batch(2, add(3)), wants: [rule("back")], ...SUM });
      expect(reply).toMatchObject({ status: "foreign", outcomes: ["stale"], rules: [], sums: [undefined] });
      expect(reply.store.id).not.toBe(before.id);
    });

    test("notices that decisions which a replica saw are lost, also when others came since", async () => {
      const [a, b] = callers();
      await a.tick({ wants: [rule("back")] });
      const { store: lost } = await a.tick({ wants: [{ ...rule("back"), key: "rule-b" } as Decision] });
      // After a failover the store never had this version.
      const ahead = { ...lost, version: lost.version + 1, token: "of-a-lost-version" };
      expect(await a.tick({ seen: ahead })).toMatchObject({ isDiverged: true, rules: [{}, {}] });
      await b.tick({ wants: [rule("back")] });
      expect((await a.tick({ seen: ahead })).isDiverged).toBe(true);
      await b.tick({ wants: [rule("back")] });
      expect((await a.tick({ seen: ahead })).isDiverged).toBe(true);
      expect((await a.tick({ seen: lost })).isDiverged).toBe(false);
    });

    test("takes back a decision that it lost, unless it has a newer one", async () => {
      const [a] = callers();
      const { rules } = await a.tick({ wants: [rule("back", 0, '{"why":"v2 failed"}')] });
      const row = rules[0] as RuleRow;
      await empty();
      a.forget();
      const restore: Decision = { kind: "restore-rule", row };
      const back = await a.tick({ wants: [restore] });
      expect(back.outcomes).toEqual(["applied"]);
      const { version: _, ...kept } = row;
      expect(back.rules).toEqual([expect.objectContaining(kept)]);
      expect((await a.tick({ wants: [restore] })).outcomes).toEqual(["stale"]);
      await a.tick({ wants: [rule("promote", 1)] });
      expect((await a.tick({ wants: [restore] })).outcomes).toEqual(["stale"]);
    });

    test("prefers a lost step back to another decision of the same generation", async () => {
      const [a] = callers();
      const { rules } = await a.tick({ wants: [rule("back")] });
      await empty();
      a.forget();
      await a.tick({ wants: [rule("promote")] });
      const reply = await a.tick({ wants: [{ kind: "restore-rule", row: rules[0] as RuleRow }] });
      expect(reply.rules).toMatchObject([{ what: "back", generation: 2 }]);
    });

    test("takes back a lost command of force, unless there is a newer one", async () => {
      const [a] = callers();
      const { force } = await a.tick({ wants: [{ kind: "force", detail: '{"command":"native"}' }] });
      await empty();
      a.forget();
      if (force === undefined) throw new Error("it was not kept");
      const restore: Decision = { kind: "restore-force", row: force };
      expect(await a.tick({ wants: [restore] })).toMatchObject({
        outcomes: ["applied"],
        force: { number: 1, detail: '{"command":"native"}' },
      });
      expect((await a.tick({ wants: [restore] })).outcomes).toEqual(["stale"]);
    });

    test("lists the replicas that it heard", async () => {
      const [a, b] = callers();
      await a.tick();
      const { replicas, at } = await b.tick({ wantsReplicas: true });
      expect(replicas).toHaveLength(2);
      expect(replicas).toContainEqual({ id: "b", heardAt: at, about: '{"name":"b"}' });
    });
  });
}
