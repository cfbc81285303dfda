/** A rewriter does the same on its thousandth text as on its first, whatever came before. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JsonError } from "../../src/json/error.ts";
import type { ConvertPlan, MemberPlan, ObjectPlan } from "../../src/json/plan.ts";
import { createPageRewriter, createValueRewriter, rewriteValue } from "../../src/json/rewrite.ts";
import { scale } from "../support/scale.ts";
import { variants } from "../support/tier.ts";
import { documents, plans, text, utf8, write } from "./documents.ts";

const noise = fc.array(fc.nat(1000), { minLength: 1, maxLength: 40 });
const renaming: ObjectPlan = {
  kind: "object",
  label: "thing",
  members: new Map([["uid", { rename: "id" }]]),
  insert: [{ key: "kind", value: '"K"' }],
};

function shown(run: () => { bytes: Uint8Array; reports: readonly object[] }): unknown {
  try {
    const { bytes, reports } = run();
    return { text: text(bytes), reports };
  } catch (error) {
    return error instanceof JsonError ? error.message : error;
  }
}

describe("a rewriter that is used again", () => {
  it("gives what a fresh one gives, after any texts, broken ones too", () => {
    fc.assert(
      fc.property(
        plans,
        fc.array(fc.tuple(documents, fc.nat(30)), { minLength: 2, maxLength: 8 }),
        noise,
        (plan, made, spacing) => {
          const again = createValueRewriter(plan);
          for (const [document, broken] of made) {
            const whole = write(document, spacing);
            const source = utf8(broken < 8 ? whole.slice(0, broken) : whole);
            expect(shown(() => again(source))).toEqual(shown(() => rewriteValue(source, plan)));
          }
        },
      ),
      { numRuns: variants(300, scale(600, 1_500)) },
    );
  });

  it("knows a name from a longer text when a text ends within it", () => {
    const rewrite = createValueRewriter(renaming);
    const long = `{"uid":"a","${"n".repeat(250)}":1}`;
    expect(text(rewrite(utf8(long)).bytes)).toBe(`${long.slice(0, -1).replace("uid", "id")},"kind":"K"}`);
    for (let end = 0; end < long.length; end++) expect(() => rewrite(utf8(long.slice(0, end)))).toThrow(JsonError);
    expect(text(rewrite(utf8("{}")).bytes)).toBe('{"kind":"K"}');
  });

  it("forgets names rather than remember ever more of them", () => {
    const rewrite = createValueRewriter(renaming);
    for (let i = 0; i < 300; i++) {
      const names = Array.from({ length: 40 }, (_, at) => `"${"x".repeat(at * 8)}${i * 40 + at}":0`).join(",");
      const source = `{"uid":"a",${names},"":1}`;
      expect(text(rewrite(utf8(source)).bytes)).toBe(`{"id":"a",${names},"":1,"kind":"K"}`);
    }
  });

  it("takes no name for one that it has forgotten", () => {
    const rewrite = createValueRewriter({ kind: "object", members: new Map([["aaaa", { rename: "A" }]]) });
    const give = (source: string): string => text(rewrite(utf8(source)).bytes);
    for (let i = 0; i < 6000; i++) {
      const source = `{"${String(i).padStart(4, "x")}":1}`;
      // Twice in turns: the name before is what each is first compared with.
      for (let turn = 0; turn < 2; turn++) {
        expect(give('{"aaaa":1}')).toBe('{"A":1}');
        expect(give(source)).toBe(source);
      }
    }
  });

  it("may be called again by its own conversions", () => {
    const inner: ConvertPlan = {
      kind: "convert",
      convert: (raw) => (raw[0] === 0x7b ? rewrite(Buffer.from(raw)).bytes : raw),
    };
    const plan: ObjectPlan = {
      kind: "object",
      members: new Map<string, MemberPlan>([
        ["in", { value: inner }],
        ["a", { rename: "b" }],
      ]),
    };
    const rewrite = createValueRewriter(plan);
    expect(text(rewrite(utf8('{"a":1,"in":{"a":2,"in":{"a":3,"in":4}},"z":5}')).bytes)).toBe(
      '{"b":1,"in":{"b":2,"in":{"b":3,"in":4}},"z":5}',
    );
  });

  it("reads the keys of every page, however they are written", () => {
    const plan = { items: "groups", key: "uid", record: renaming } as const;
    const rewrite = createPageRewriter(plan);
    for (const keys of [["a", "b/c"], [""], ["é", "\ud83d\ude00"], ['q"', "\\"], ["x".repeat(300), "", "y"], []]) {
      const page = utf8(JSON.stringify({ groups: keys.map((uid) => ({ uid })) }));
      expect(rewrite(page).keys).toEqual(keys);
      expect(rewrite(page)).toEqual(createPageRewriter(plan)(page));
    }
  });
});
