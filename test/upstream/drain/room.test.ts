/** Is what lies ahead bounded in bytes, and is no end believed behind which something was seen? */
import { describe, expect, it } from "vitest";
import { settled } from "../clock.ts";
import { KEYS, queued, SEGMENTS, taken } from "./queued.ts";
import { drained, type Platform, pageOf, quiet, raw, respond, uidsOf } from "./simulator.ts";
import { knowing, SEGMENTS as LIMITS, SMALL } from "./stage.ts";

describe("bytes that lie ahead", () => {
  it("hold up all parts but the one in front, until they are taken", async () => {
    // A page is ten records of 17 bytes and their commas.
    const { flow, open, queue, asked } = queued({ ...SEGMENTS, aheadBytes: 300 }, 200);
    await settled();
    expect(open).toHaveLength(4);
    for (const call of [...open]) await call.answer();
    await settled();
    // One page of each has come: only the part in front goes on.
    expect(asked()).toEqual([`k:${KEYS[17]}`]);
    await flow();
    expect(asked()).toEqual([]);
    expect(await taken(queue)).toEqual([KEYS[8], KEYS[18], KEYS[28]]);
    expect(queue.advance()).toBe(true);
    await flow();
    expect(await taken(queue)).toEqual([KEYS[36], KEYS[46], KEYS[56]]);
  });

  it("are held by nobody after the queue is closed: who waited for room goes", async () => {
    const { flow, open, queue } = queued({ ...SEGMENTS, aheadBytes: 1 }, 200);
    await flow();
    queue.close();
    await settled();
    expect(open).toEqual([]);
    expect(await queue.step()).toBeUndefined();
  });

  it("bring a list whole, however small the room is", async () => {
    const outcome = await drained(quiet(KEYS), { limits: LIMITS, parts: knowing(true, "keyset") });
    expect(uidsOf(outcome)).toEqual(KEYS);
  });
});

describe("an end behind which something was seen", () => {
  /** The page that holds the record of that rank says that it is the last. */
  const cutAt = (rank: number, times: number): Platform => {
    let left = times;
    return (s) => {
      const page = pageOf(KEYS, s, "keyset");
      const holds = page.items.some((item) => (item as { uid: string }).uid === KEYS[rank]);
      if (!holds || left <= 0) return respond(page);
      left -= 1;
      return respond({ ...page, next: "", total: undefined });
    };
  };

  it("is asked about again, and the list goes on when it was none", async () => {
    for (const limits of [SMALL, LIMITS]) {
      const outcome = await drained(cutAt(60, 1), { limits, parts: knowing(true, "keyset") });
      expect(uidsOf(outcome)).toEqual(KEYS);
      expect(outcome.notes).toContain("list-page-again");
    }
  });

  it("is believed when it is said again: it may really have gone", async () => {
    const gone = KEYS.slice(0, 60);
    const outcome = await drained((s, call) => quiet(call < 6 ? KEYS : gone)(s, call), {
      limits: SMALL,
      parts: knowing(true),
    });
    expect(gone.filter((key) => !uidsOf(outcome).includes(key))).toEqual([]);
  });
});

describe("an answer of nothing at all", () => {
  it("is no end of a part: the list is read again, and refused when it stays so", async () => {
    for (const tokens of ["keyset", "unknown"] as const) {
      const nothing = (times: number): Platform => {
        let left = times;
        return (s, call) =>
          s.token === `k:${KEYS[47]}` && left-- > 0 ? raw(200, '{"items":[],"next":""}') : quiet(KEYS)(s, call);
      };
      const once = await drained(nothing(1), { limits: LIMITS, parts: knowing(true, tokens) });
      expect(uidsOf(once)).toEqual(KEYS);
      const always = await drained(nothing(Infinity), { limits: LIMITS, parts: knowing(true, tokens) });
      if (always.result?.kind === "list") expect(uidsOf(always)).toEqual(KEYS);
      else expect(always.problem?.http).toBe(502);
    }
  });
});
