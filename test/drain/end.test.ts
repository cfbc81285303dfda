import { describe, expect, it } from "vitest";
import {
  type CommittedList,
  checkWitness,
  emptyList,
  isMiscounted,
  witnessOf,
} from "../../src/drain/committed-list.ts";

const whole = (more: Partial<CommittedList> = {}): CommittedList => ({
  ...emptyList(true),
  pages: 2,
  distinct: 20,
  firstTotal: 20,
  ...more,
});

describe("the witness of a list", () => {
  it("is its proof, where there is one", () => {
    expect(witnessOf(whole())).toBe("cover");
    expect(witnessOf(whole({ firstTotal: undefined, steady: false }))).toBe("cover");
    expect(witnessOf(whole({ firstTotal: 21 }))).toBe("cover");
  });

  it("is no proof without the order of keys, or what rests on nothing else", () => {
    expect(witnessOf(whole({ ascending: false }))).toBe("count");
    expect(witnessOf(whole({ proved: false }))).toBe("count");
    expect(witnessOf({ ...emptyList(false), pages: 1, firstTotal: 0 })).toBe("count");
  });

  it("is no proof where the only page miscounts its own records", () => {
    expect(witnessOf(whole({ pages: 1 }))).toBe("cover");
    expect(witnessOf(whole({ pages: 1, firstTotal: 21 }))).toBe("none");
    expect(witnessOf(whole({ pages: 1, firstTotal: undefined, steady: false }))).toBe("cover");
  });

  it("is a count only when every page named it, and as many records came", () => {
    expect(witnessOf(whole({ proved: false, firstTotal: 21 }))).toBe("none");
    expect(witnessOf(whole({ proved: false, firstTotal: 19 }))).toBe("none");
    expect(witnessOf(whole({ proved: false, steady: false }))).toBe("none");
    expect(witnessOf(whole({ proved: false, firstTotal: undefined }))).toBe("none");
  });
});

describe("a list is miscounted", () => {
  it("when it was counted, and not as what came", () => {
    expect(isMiscounted(whole())).toBe(false);
    expect(isMiscounted(whole({ firstTotal: 21 }))).toBe(true);
    expect(isMiscounted(whole({ steady: false }))).toBe(true);
    expect(isMiscounted(whole({ firstTotal: undefined, steady: false }))).toBe(false);
  });
});

describe("what is required", () => {
  it("is met by as much or more, and by nothing less", () => {
    const order = ["none", "count", "cover"] as const;
    for (const [i, witness] of order.entries()) {
      for (const [j, required] of order.entries()) {
        const check = () => checkWitness("groups", witness, required);
        if (i >= j) expect(check).not.toThrow();
        else {
          expect(check).toThrow(expect.objectContaining({ reason: "LIST_UNPROVEN", metadata: { required, witness } }));
        }
      }
    }
  });
});
