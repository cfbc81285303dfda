import { describe, expect, it } from "vitest";
import { drained, keysOf, type Platform, pageOf, quiet, respond, uidsOf } from "./simulator.ts";
import { knowing, memory, SMALL } from "./stage.ts";

const KEYS = keysOf(100);
const TEN = { limits: SMALL };
const KNOWN = { ...TEN, parts: knowing(true) };

describe("T-DRN-11 skip", () => {
  const ignores: Platform = ({ skip: _, ...rest }, call) => quiet(KEYS)(rest, call);

  it("that is ignored, as the platform says, is noticed by the first window, and remembered", async () => {
    const { of, told } = memory(undefined);
    const outcome = await drained(ignores, { ...TEN, parts: { memory: of } });
    expect(uidsOf(outcome)).toEqual(KEYS);
    expect(outcome.notes).toEqual(["list-skip-ignored"]);
    expect(outcome.result).toMatchObject({ witness: "count" });
    expect(told).toEqual([["skip", "groups", false]]);
    expect(outcome.requests.filter((s) => s.skip !== undefined).length).toBeLessThanOrEqual(2);
  });

  it("that stops working while a gap is closed costs no record", async () => {
    let broken = false;
    const outcome = await drained((s, call) => {
      if (s.skip === 40 && !broken) {
        broken = true;
        return respond({ ...pageOf(KEYS, { ...s, skip: 44 }, "keyset"), skipped: 40 });
      }
      return (broken && s.skip !== undefined && s.skip < 48 ? ignores : quiet(KEYS))(s, call);
    }, KNOWN);
    expect(uidsOf(outcome)).toEqual(KEYS);
    expect(outcome.notes.toSorted()).toEqual(["list-repaired", "list-skip-ignored"]);
  });

  it("that stops working ends a list at once that must be proved and cannot be any more", async () => {
    const half: Platform = (s, call) => ((s.skip ?? 0) > 40 ? ignores : quiet(KEYS))(s, call);
    const outcome = await drained(half, { ...KNOWN, require: "cover" });
    expect(outcome.problem).toMatchObject({ reason: "LIST_UNPROVEN", metadata: { required: "cover" } });
    expect(outcome.requests.every((s) => s.token === undefined)).toBe(true);
    const keyset = await drained(half, { ...TEN, require: "cover", parts: knowing(true, "keyset") });
    expect(uidsOf(keyset)).toEqual(KEYS);
  });
});
