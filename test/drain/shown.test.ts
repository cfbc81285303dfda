import { describe, expect, it } from "vitest";
import type { ListPlan, ShownChunk } from "../../src/model/list.ts";
import { Problem } from "../../src/model/problem.ts";
import { settled } from "../upstream/clock.ts";
import {
  broken,
  drained,
  keysOf,
  type Options,
  pageOf,
  planOf,
  quiet,
  raw,
  respond,
  stage,
  uidsOf,
} from "./simulator.ts";
import { holding, knowing, pull, SMALL, streamed, uidsIn } from "./stage.ts";

const KEYS = keysOf(40);
const CURSOR = { limits: SMALL, parts: knowing(false) } satisfies Options;

const planWith = (show: ListPlan["show"]): ListPlan => ({ ...planOf(), show });
const as = (uids: readonly string[]): ShownChunk => ({
  kind: "shown",
  joinedBytes: 0,
  parts: [new TextEncoder().encode(uids.map((uid) => JSON.stringify({ uid: `shown-${uid}` })).join(","))],
});

describe("chunks are shown", () => {
  it("in the order of the list, one at a time", async () => {
    const seen: string[][] = [];
    let busy = 0;
    const plan = planWith(async (chunk) => {
      busy += 1;
      expect(busy).toBe(1);
      seen.push(uidsIn(chunk));
      await settled();
      busy -= 1;
      return as(uidsIn(chunk));
    });
    for (const heeds of [true, false]) {
      seen.length = 0;
      const outcome = await drained(quiet(KEYS), { limits: SMALL, parts: knowing(heeds), plan });
      expect(seen.flat()).toEqual(KEYS);
      expect(uidsOf(outcome)).toEqual(KEYS.map((uid) => `shown-${uid}`));
    }
  });

  it("in a list that goes out while it is read, too", async () => {
    const { uids } = await streamed(quiet(KEYS), { ...CURSOR, plan: planWith(async (chunk) => as(uidsIn(chunk))) });
    expect(uids).toEqual(KEYS.map((uid) => `shown-${uid}`));
  });

  it("while the next page is fetched", async () => {
    for (const ask of ["drain", "longDrain"] as const) {
      const { served, open, flow } = holding(quiet(KEYS));
      const pending: (() => void)[] = [];
      const plan = planWith((chunk) => new Promise((resolve) => pending.push(() => resolve(as(uidsIn(chunk))))));
      const listed = stage(served, CURSOR)[ask](plan);
      await settled();
      await open[0]?.answer();
      expect([pending.length, open.map((call) => call.selector.token)]).toEqual([1, ["k:u000009"]]);
      await open[0]?.answer();
      // One chunk ahead, and no more.
      expect([pending.length, open.length]).toEqual([1, 0]);
      const show = async () => {
        while (pending.length > 0) {
          pending.shift()?.();
          await flow();
        }
      };
      await show();
      expect(await listed).toMatchObject({ kind: "list", records: 40 });
    }
  });

  it("as large as they were made, for the buffer", async () => {
    const plan = planWith(async (chunk) => {
      const [first] = uidsIn(chunk);
      return as([first ?? ""]);
    });
    const size = 4 * '{"uid":"shown-u000000"}'.length;
    const on = (bufferBytes: number) => stage(quiet(KEYS), { ...CURSOR, limits: { ...SMALL, bufferBytes } });
    expect((await on(size).longDrain(plan)).kind).toBe("list");
    const { rest } = pull(await on(size - 1).longDrain(plan));
    expect((await rest()).uids).toHaveLength(4);
  });

  it("not at all when they belong to a reading that was given up", async () => {
    const seen: string[] = [];
    const plan = planWith(async (chunk) => {
      seen.push(uidsIn(chunk)[0] ?? "");
      return as(uidsIn(chunk));
    });
    // The second page leads to itself: that is noticed before its records are shown.
    const circle = broken(quiet(KEYS), 1, (s) => respond({ ...pageOf(KEYS, s, "keyset"), next: s.token ?? "" }));
    const outcome = await drained(circle, { ...CURSOR, plan });
    expect(uidsOf(outcome)).toEqual(KEYS.map((uid) => `shown-${uid}`));
    expect(outcome.notes).toContain("list-read-again");
    expect(seen.filter((uid) => uid === "u000010")).toHaveLength(1);
  });
});

describe("what is shown counts towards lists.maxBytes", () => {
  const RECORD = '{"uid":"u000000"}';
  const within = (maxBytes: number) => ({ ...CURSOR, limits: { ...SMALL, maxBytes } });
  const longer = (joinedBytes: number) =>
    planWith(async (chunk) => ({ kind: "shown", joinedBytes, parts: [chunk, chunk, chunk] }));

  it("over all chunks", async () => {
    const size = 3 * (40 * (RECORD.length + 1) - 4);
    expect((await drained(quiet(KEYS), { ...within(size), plan: longer(0) })).result).toMatchObject({ kind: "list" });
    const { error, facts } = await drained(quiet(KEYS), { ...within(size - 1), plan: longer(0) });
    expect(error).toMatchObject({ reason: "DRAIN_TOO_LARGE", metadata: { limit: String(size - 1), unit: "bytes" } });
    expect(facts).toMatchObject([{ outcome: "too-large" }]);
  });

  it("before it is made", async () => {
    const { error } = await drained(quiet(KEYS), { ...within(100_000), plan: longer(100_001) });
    expect(error).toMatchObject({ reason: "DRAIN_TOO_LARGE", metadata: { count: "100001" } });
  });

  it("without a reading that was given up", async () => {
    const size = 3 * (40 * (RECORD.length + 1) - 4);
    const circle = broken(quiet(KEYS), 1, (s) => respond({ ...pageOf(KEYS, s, "keyset"), next: s.token ?? "" }));
    const { result, notes } = await drained(circle, { ...within(size), plan: longer(0) });
    expect([result?.kind, notes.includes("list-read-again")]).toEqual(["list", true]);
  });
});

describe("showing that fails", () => {
  const answer = { kind: "refused" as const, response: raw(403, '{"code":7}') };

  it("with a refusal refuses the list, and reads no further", async () => {
    for (const heeds of [true, false]) {
      let calls = 0;
      const plan = planWith(async (chunk) => (++calls === 2 ? answer : as(uidsIn(chunk))));
      const keys = keysOf(400);
      const outcome = await drained(quiet(keys), { limits: SMALL, parts: knowing(heeds), plan });
      expect(outcome.result).toEqual(answer);
      expect(outcome.facts).toMatchObject([{ outcome: "refused", witness: "none" }]);
      expect(outcome.claims).toEqual({ taken: 1, released: 1 });
      const asked = outcome.requests.length;
      expect(asked).toBeLessThan(16);
      await settled();
      expect(outcome.requests).toHaveLength(asked);
    }
  });

  it("waits for no page that is still under way", async () => {
    for (const boom of [undefined, new Error("boom")]) {
      const { served, open } = holding(quiet(KEYS));
      const plan = planWith(async () => {
        await settled();
        expect(open).toHaveLength(1);
        if (boom !== undefined) throw boom;
        return answer;
      });
      const done = drained(served, { ...CURSOR, plan });
      await settled();
      await open[0]?.answer();
      const outcome = await done;
      expect(outcome.result ?? outcome.error).toEqual(boom ?? answer);
      expect(outcome.facts).toMatchObject([{ outcome: boom === undefined ? "refused" : "incomplete" }]);
      expect(open).toEqual([]);
    }
  });

  it("with a refusal breaks off a list that was begun", async () => {
    let calls = 0;
    const plan = planWith(async (chunk) => (++calls === 3 ? answer : as(uidsIn(chunk))));
    const { uids, error, facts, claims } = await streamed(quiet(KEYS), { ...CURSOR, plan });
    expect(uids).toHaveLength(20);
    expect(error).toMatchObject({ reason: "DRAIN_INCOMPLETE", metadata: { status: "403" } });
    expect(facts.at(-1)).toMatchObject({ outcome: "refused" });
    expect(claims).toEqual({ taken: 1, released: 1 });
  });

  it("with an error fails with it, and the list is not begun anew", async () => {
    for (const boom of [new Error("boom"), new Problem("UPSTREAM_INVALID", "no")]) {
      const plan = planWith(async () => {
        throw boom;
      });
      const outcome = await drained(quiet(KEYS), { ...CURSOR, plan });
      expect(outcome.error).toBe(boom);
      expect(outcome.facts).toMatchObject([{ outcome: "incomplete" }]);
      expect(outcome.claims).toEqual({ taken: 1, released: 1 });
      expect(outcome.requests.length).toBeLessThanOrEqual(3);
    }
  });
});
