import { describe, expect, it } from "vitest";
import { GROUPS, PROMISES, ROWS } from "../../scripts/trust/plan.ts";
import { idsIn, triedIn } from "./titles.ts";

const tried = triedIn();
const applying = ROWS.filter(({ notApplicable }) => notApplicable === undefined).map(({ id }) => id);

describe("the plan", () => {
  it("has every id of every group, once", () => {
    const expected = [...GROUPS].flatMap(([group, count]) =>
      Array.from({ length: count }, (_, index) => `T-${group}-${`${index + 1}`.padStart(2, "0")}`),
    );
    expect(ROWS.map(({ id }) => id).toSorted()).toEqual(expected.toSorted());
  });

  it("says of each promise and each row what it is about, and why a row has no test", () => {
    expect(PROMISES.filter(({ title, says, rows }) => title === "" || says === "" || rows.length === 0)).toEqual([]);
    expect(ROWS.filter(({ what, notApplicable }) => what.length < 8 || notApplicable === "")).toEqual([]);
    expect(new Set(ROWS.map(({ what }) => what)).size).toBe(ROWS.length);
  });
});

describe("the tests", () => {
  it("try something under each id that applies", () => {
    expect(applying.filter((id) => !tried.has(id))).toEqual([]);
  });

  it("try nothing under an id that is said not to apply", () => {
    const without = ROWS.filter(({ notApplicable }) => notApplicable !== undefined).map(({ id }) => id);
    expect(without.filter((id) => tried.has(id))).toEqual([]);
  });

  it("carry no id that the plan lacks", () => {
    const known = new Set(ROWS.map(({ id }) => id));
    expect([...tried].filter(([id]) => !known.has(id))).toEqual([]);
  });
});

describe("an id", () => {
  it("is read from a title, alone, with others, in a table and in a template", () => {
    const text = [
      'it("T-SMG-01: refused", () => {',
      'describe("T-SMG-02, T-SMG-03: both", () => {',
      "  it(`T-SMG-04 of $" + "{count} records`, () => {});",
      '    ["T-SMG-05", "a row"],',
      '  it.each(table)("T-SMG-06 %s", () => {});',
    ].join("\n");
    expect([...idsIn(text)]).toEqual(["T-SMG-01", "T-SMG-02", "T-SMG-03", "T-SMG-04", "T-SMG-05", "T-SMG-06"]);
  });

  it("is not read from a comment or a figure", () => {
    const text = [
      "/** T-SMG-01: why. */",
      "// T-SMG-02",
      ' * "T-SMG-03: no"',
      '  figure("T-SMG-04", "requests", 1, "");',
      "  figure(",
      '    "T-SMG-05",',
      "  );",
      "const T = 1; // T-SMG-06",
    ].join("\n");
    expect([...idsIn(text)]).toEqual([]);
  });
});
