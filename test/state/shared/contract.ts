/** Facts that hold for every shared store: the one in memory, and each real server. */
import { beforeEach, describe, expect, test } from "vitest";
import type {
  Contribution,
  Decision,
  DecisionKind,
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
      const ask = { replica, about: `{"name":"${replica}"}`, ...NOTHING };
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

const NOTHING = { wantsReplicas: false, contributions: [], asks: [], alerts: [] } as const;

function rows(owner: string, revision: number, texts: Readonly<Record<string, string | undefined>>): Contribution {
  return { owner, revision, rows: Object.entries(texts).map(([name, text]) => ({ name, text })) };
}

function rule(what: DecisionKind, generation = 0, detail = "{}"): Decision {
  return { kind: "rule", key: "rule-a", what, generation, detail };
}

const ASK = { asks: ["one"] } as const;

export function describeStore(name: string, create: () => ContractStore | Promise<ContractStore>): void {
  describe(`a shared store: ${name}`, () => {
    let store: SharedStore;
    let empty: ContractStore["empty"];
    beforeEach(async () => {
      ({ store, empty } = await create());
      await empty();
    });
    const callers = () => [createCaller(store, "a"), createCaller(store, "b")] as const;

    test("returns a row of every owner that has it, as each wrote it last", async () => {
      const [a, b] = callers();
      await a.tick({ contributions: [rows("a", 1, { one: "first", two: "x" })] });
      await a.tick({ contributions: [rows("a", 2, { one: "second" }), rows("other", 1, { one: "of another owner" })] });
      await b.tick({ contributions: [rows("b", 7, { one: "of b", three: "" })] });
      const { answers } = await b.tick({ asks: ["one", "two", "none"] });
      expect(answers.map((rows) => rows.toSorted((x, y) => (x.owner < y.owner ? -1 : 1)))).toEqual([
        [
          { owner: "a", text: "second" },
          { owner: "b", text: "of b" },
          { owner: "other", text: "of another owner" },
        ],
        [{ owner: "a", text: "x" }],
        [],
      ]);
    });

    test("removes a row without text", async () => {
      const [a] = callers();
      await a.tick({ contributions: [rows("a", 1, { one: "x", two: "y" })] });
      await a.tick({ contributions: [rows("a", 2, { one: undefined })] });
      expect(await store.rowsOf("a")).toEqual(new Map([["two", "y"]]));
    });

    test("ignores rows that come late, and says which revision it had", async () => {
      const [a] = callers();
      await a.tick({ contributions: [rows("a", 5, { one: "new" })] });
      const late = await a.tick({ contributions: [rows("a", 4, { one: "old" }), rows("b", 1, {})], ...ASK });
      expect(late).toMatchObject({ revisions: [5, 0], answers: [[{ owner: "a", text: "new" }]] });
    });

    test("lists who has rows, and reads all rows of one of them", async () => {
      const [a, b] = callers();
      const long = "é\u0001".repeat(30_000);
      await a.tick({ contributions: [rows("a", 1, { one: long })] });
      const { at } = await b.tick({ contributions: [rows("b", 1, { one: "y" })] });
      const owners = await store.owners();
      expect(owners.map(({ owner }) => owner).toSorted()).toEqual(["a", "b"]);
      expect(owners).toContainEqual({ owner: "b", heardAt: at, about: '{"name":"b"}' });
      expect(await store.rowsOf("a")).toEqual(new Map([["one", long]]));
      expect(await store.rowsOf("nobody")).toEqual(new Map());
    });

    test("tells every replica of an alert", async () => {
      const [a, b] = callers();
      expect((await a.tick({ alerts: ["rule-a"] })).alerts).toEqual(["rule-a"]);
      await a.tick({ alerts: ["rule-b"] });
      expect((await b.tick()).alerts.toSorted()).toEqual(["rule-a", "rule-b"]);
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

    test("lets a step back and a command of force outrank those that it lost", async () => {
      const [a] = callers();
      const { rules, force } = await a.tick({
        wants: [rule("back", 4), { kind: "force", after: 3, detail: "{}" }],
      });
      expect([rules, force]).toMatchObject([[{ generation: 5 }], { number: 4 }]);
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
      const { store: before } = await a.tick({ contributions: [rows("a", 1, { one: "x" })] });
      await empty();
      await b.tick();
      const reply = await a.tick({ contributions: [rows("a", 2, { one: "y" })], wants: [rule("back")], ...ASK });
      expect(reply).toMatchObject({ isForeign: true, outcomes: ["stale"], rules: [], revisions: [0], answers: [[]] });
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
