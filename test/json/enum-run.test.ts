import { describe, expect, it } from "vitest";
import { JsonError } from "../../src/json/error.ts";
import type { ValuePlan } from "../../src/json/plan.ts";
import { rewriteValue } from "../../src/json/rewrite.ts";
import { text, utf8 } from "./documents.ts";

const PLAN: ValuePlan = {
  kind: "array",
  items: {
    kind: "enum",
    names: new Map([
      ["SAME", "SAME"],
      ["LONG_A", "A"],
      ["LONG_AB", "AB"],
      ["", "EMPTY"],
    ]),
    numbers: new Map([
      [1, "ONE"],
      [12, "TWELVE"],
    ]),
  },
};
const rewritten = (source: string) => rewriteValue(utf8(source), PLAN);

describe("a run of enum values", () => {
  it.each([
    ['["LONG_A","LONG_A","LONG_A"]', '["A","A","A"]'],
    ['["SAME","SAME","LONG_A","SAME"]', '["SAME","SAME","A","SAME"]'],
    ['["LONG_A","LONG_AB","LONG_A"]', '["A","AB","A"]'],
    ['["LONG_AB","LONG_A","LONG_AB"]', '["AB","A","AB"]'],
    ['["",  "","SAME"]', '["EMPTY",  "EMPTY","SAME"]'],
    ["[1,12,1,12]", '["ONE","TWELVE","ONE","TWELVE"]'],
    ['["\\u004cONG_A","LONG_A","\\u004cONG_A"]', '["A","A","A"]'],
    ['["LONG_A",null,{"a":"LONG_A"},"LONG_A"]', '["A",null,{"a":"LONG_A"},"A"]'],
  ])("%s", (source, wanted) => {
    expect(text(rewritten(source).bytes)).toBe(wanted);
  });

  it("counts a value in no table each time", () => {
    const { reports } = rewritten('["NEW","LONG_A","NEW","NEW"]');
    expect(reports).toEqual([{ kind: "enum", object: "", member: "", value: "NEW", count: 3 }]);
  });

  it("is refused wherever it is cut off", () => {
    const whole = '["LONG_A","LONG_A"]';
    for (let end = 0; end < whole.length; end++) {
      expect(() => rewritten(whole.slice(0, end)), whole.slice(0, end)).toThrow(JsonError);
    }
  });
});
