import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compareAnswers } from "../../src/shadow/compare.ts";
import type { DetailedComparison } from "../../src/shadow/differences.ts";
import { compare, compareLists, countsOf, driven, LIST, ONE } from "./compared.ts";
import { expectedCounts, expectedOfLists, type Rec } from "./oracle.ts";

const TIMES = ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000Z", "2026-01-01T02:00:00+02:00", "2026-01-02T00:00:00Z"];

const scalar = fc.oneof(
  fc.constantFrom(null, "", 0, false, true, "x", "y", 'é\n"', 1, -2.5, "1", "NONE", "0"),
  fc.constantFrom(...TIMES),
);
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: "small" },
    scalar,
    fc.array(tie("any"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("a", "b", "id", "at", "kind"), tie("any"), { maxKeys: 3 }),
    fc.uniqueArray(fc.constantFrom("p", "q", "r"), { maxLength: 3 }).map((ids) => ids.map((id) => ({ id, a: 1 }))),
  ),
})).any;

/** A record without its id: members of every sort, often with what belongs there. */
const record: fc.Arbitrary<Rec> = fc.record(
  {
    name: scalar,
    at: fc.oneof(fc.constantFrom(...TIMES), scalar),
    seen: fc.oneof(fc.constantFrom(...TIMES), scalar),
    tags: fc.oneof(fc.array(fc.constantFrom("x", "y", "z"), { maxLength: 4 }), scalar),
    kind: fc.constantFrom("NONE", "SOME", "", null),
    big: fc.constantFrom("0", "9007199254740993", "9007199254740992", 0),
    labels: fc.oneof(fc.dictionary(fc.constantFrom("k", "l", "my key"), scalar, { maxKeys: 3 }), scalar),
    apps: fc.dictionary(fc.constantFrom("1", "2"), fc.record({ at: fc.constantFrom(...TIMES, "") }), { maxKeys: 2 }),
    box: value,
    other: value,
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Rec>;

/** Two records that have much in common. */
const twins = fc.tuple(record, record, fc.func(fc.nat(3))).map(([one, other, choose]): [Rec, Rec] => {
  const second: Rec = { ...other };
  for (const [name, held] of Object.entries(one)) if (choose(name) > 0) second[name] = held;
  return [one, second];
});

/** Two lists, most of whose records are twins of one id. */
const lists = fc
  .uniqueArray(fc.tuple(fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), maxLength: 6 }), twins, fc.nat(9)), {
    maxLength: 12,
    size: "max",
    selector: ([id]) => id,
  })
  .map((made): [Rec[], Rec[]] => [
    made.flatMap(([id, [one], where]) => (where === 0 ? [] : [{ id: `r${id}`, ...one }])),
    made.flatMap(([id, [, other], where]) => (where === 1 ? [] : [{ ...other, id: `r${id}` }])),
  ]);

function sorted(counts: ReadonlyMap<string, number>): readonly (readonly [string, number])[] {
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
}

function withoutOrder(judged: DetailedComparison): readonly (readonly [string, number])[] {
  return sorted(countsOf(judged)).filter(([place]) => place !== "order items[]");
}

/** Everything that is found, and how often; volatile members apart. */
function found(judged: DetailedComparison): unknown {
  const counts = countsOf(judged);
  const shown = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return { counts: sorted(counts), noise: judged.total - shown, result: judged.result };
}

describe("against an independent reading", () => {
  test("records by themselves", () => {
    fc.assert(
      fc.property(twins, ([one, other]) => {
        expect(found(compare(one, other, ONE))).toEqual(expectedCounts(one, other));
      }),
      { numRuns: 500 },
    );
  });

  test("lists of records", () => {
    fc.assert(
      fc.property(lists, fc.func(fc.nat()), ([native, translated], rank) => {
        const moved = [...translated].sort((a, b) => rank(a["id"]) - rank(b["id"]));
        expect(found(compareLists(native, moved))).toEqual(expectedOfLists(native, moved));
      }),
      { numRuns: 150 },
    );
  });
});

describe("whatever the answers are", () => {
  const odd = fc.array(fc.oneof(record, scalar), { maxLength: 4 });
  const anyLists = fc.tuple(lists, odd, odd, odd).map(([[one, other], same, left, right]) => ({
    native: [...left, ...one, ...same],
    translated: [...same, ...other, ...right],
  }));

  test("an answer equals itself, in any order of its records but for the order", () => {
    fc.assert(
      fc.property(anyLists, fc.func(fc.nat()), ({ native }, rank) => {
        expect(compareLists(native, structuredClone(native))).toMatchObject({ result: "equal", total: 0 });
        const moved = native.map((each, i) => [rank(i), each] as const).sort(([a], [b]) => a - b);
        const compared = compareLists(
          native,
          moved.map(([, each]) => each),
        );
        expect(["equal", "order"]).toContain(compared.result);
        expect(withoutOrder(compared)).toEqual([]);
      }),
    );
  });

  test("shuffling the records changes nothing but the order", () => {
    fc.assert(
      fc.property(anyLists, fc.func(fc.nat()), ({ native, translated }, rank) => {
        const shuffle = (list: readonly unknown[]) =>
          list
            .map((each, i) => [rank(i, list.length), each] as const)
            .sort(([a], [b]) => a - b)
            .map(([, each]) => each);
        const shuffled = compareLists(shuffle(native), shuffle(translated));
        expect(withoutOrder(shuffled)).toEqual(withoutOrder(compareLists(native, translated)));
      }),
    );
  });

  test("one changed scalar in one record is one difference at its path", () => {
    const depth = fc.array(fc.constantFrom("m", "n", "list"), { maxLength: 5 });
    const records = fc.array(record, { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(records, fc.nat(), depth, fc.constantFrom("x", 7, true), (made, at, names, changed) => {
        const hold = (held: unknown) =>
          names.reduceRight<unknown>(
            (inner, name) => (name === "list" ? { list: [1, inner] } : { [name]: inner }),
            held,
          );
        const index = at % made.length;
        const list = (held: unknown) =>
          made.map((each, i) => ({ ...each, id: `i${i}`, ...(i === index ? { q: hold(held) } : {}) }));
        const compared = compareLists(list("before"), list(changed));
        const path = ["items[]", "q", ...names.map((name) => (name === "list" ? "list[]" : name))].join(".");
        expect(compared.differences).toEqual([
          { class: "value", path, id: `i${index}`, native: '"before"', translated: JSON.stringify(changed) },
        ]);
        expect(compared).toMatchObject({ total: 1, result: "value" });
      }),
    );
  });

  test("no bytes make it throw, and a broken body is an error or equal", () => {
    const text = JSON.stringify({ items: [{ id: "a", m: [1, "é\\n", { b: null }], at: TIMES[0] }], token: "t" });
    const edit = fc.tuple(
      fc.nat(),
      fc.oneof(fc.nat(255), fc.constantFrom(...'{}[],:"\\0e-'.split("").map((c) => c.charCodeAt(0)))),
    );
    fc.assert(
      fc.property(
        fc.array(edit, { minLength: 1, maxLength: 4 }),
        fc.nat(),
        fc.constantFrom(200, 400),
        (edits, cut, status) => {
          const native = new TextEncoder().encode(text);
          const translated = native.slice(0, cut % 5 === 0 ? cut % native.length : native.length);
          for (const [at, byte] of edits) if (translated.length > 0) translated[at % translated.length] = byte;
          const { result } = driven(compareAnswers({ status, body: native }, { status, body: translated }, LIST));
          let readable = true;
          try {
            JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(translated));
          } catch {
            readable = false;
          }
          if (!readable) expect(result).toBe("error");
        },
      ),
      { numRuns: 1500 },
    );
  });
});
