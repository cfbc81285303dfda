import { describe, expect, it } from "vitest";
import { drained, keysOf, type Platform, pageOf, quiet, respond, uidsOf } from "./simulator.ts";
import { knowing, memory, SMALL } from "./stage.ts";

const KEYS = keysOf(100);
const TEN = { limits: SMALL };
const KNOWN = { ...TEN, parts: knowing(true) };

describe("T-DRN-11 skip", () => {
  const ignores: Platform = ({ skip: _, ...rest }, call) => quiet(KEYS)(rest, call);
  const silent: Platform = ({ skip: _, ...rest }) => respond({ ...pageOf(KEYS, rest, "keyset"), skipped: undefined });

  it("that is ignored, as the platform says, is noticed by the first window, and remembered", async () => {
    const { of, told } = memory(undefined);
    const outcome = await drained(ignores, { ...TEN, parts: { memory: of } });
    expect(uidsOf(outcome)).toEqual(KEYS);
    expect(outcome.notes).toEqual(["list-skip-ignored"]);
    expect(outcome.result).toMatchObject({ witness: "count" });
    expect(told).toEqual([["skip", "groups", false]]);
    expect(outcome.requests.filter((s) => s.skip !== undefined).length).toBeLessThanOrEqual(2);
  });

  it("that is ignored in silence is noticed all the same", async () => {
    const outcome = await drained(silent, TEN);
    expect(uidsOf(outcome)).toEqual(KEYS);
    expect(outcome.notes).toEqual(["list-skip-ignored"]);
    expect(outcome.result).toMatchObject({ witness: "count" });
  });

  it("that is ignored where positions are known proves the list by its tokens", async () => {
    for (const platform of [ignores, silent]) {
      const outcome = await drained(platform, { ...TEN, parts: knowing(undefined, "keyset") });
      expect(uidsOf(outcome)).toEqual(KEYS);
      expect(outcome.result).toMatchObject({ witness: "cover" });
    }
  });

  it("that is claimed and not done is noticed by the records", async () => {
    const outcome = await drained((s) => {
      return respond({ ...pageOf(KEYS, { ...s, skip: 0 }, "keyset"), skipped: s.skip ?? 0 });
    }, TEN);
    expect(uidsOf(outcome)).toEqual(KEYS);
    expect(outcome.notes).toEqual(["list-skip-ignored"]);
  });

  it("that stops working midway costs no record", async () => {
    for (const from of [40, 64, 96]) {
      const outcome = await drained((s, call) => ((s.skip ?? 0) >= from ? ignores : quiet(KEYS))(s, call), KNOWN);
      expect(uidsOf(outcome)).toEqual(KEYS);
      expect(outcome.notes).toEqual(["list-skip-ignored"]);
    }
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

  it("that skips too much leaves gaps that are closed, or a list read by its tokens; never a short one", async () => {
    for (const lie of [1, 3, 9, 50, 200]) {
      const outcome = await drained((s) => {
        const skip = s.skip === undefined || s.skip === 0 ? 0 : s.skip + lie;
        return respond({ ...pageOf(KEYS, { ...s, skip }, "keyset"), skipped: s.skip ?? 0 });
      }, TEN);
      expect(uidsOf(outcome)).toEqual(KEYS);
    }
  });

  it("that lies even about the beginning is noted", async () => {
    const outcome = await drained((s) => {
      const skip = s.skip === undefined ? 0 : s.skip + 50;
      return respond({ ...pageOf(KEYS, { ...s, skip }, "keyset"), skipped: s.skip ?? 0 });
    }, TEN);
    expect(outcome.notes).toContain("list-total");
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
