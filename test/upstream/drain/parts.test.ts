import { describe, expect, it } from "vitest";
import { settled } from "../clock.ts";
import { firstOf, KEYS, queued, SEGMENTS, taken } from "./queued.ts";
import { type Platform, pageOf as pageAt, quiet, respond } from "./simulator.ts";
import { changed, knowing, moving } from "./stage.ts";

describe("a part of several pages", () => {
  it("is a chain of tokens, which ends where it meets the next one", async () => {
    const { flow, queue, asked } = queued({ ...SEGMENTS, readers: 2, ahead: 2 }, 200);
    await settled();
    expect(asked()).toEqual([8, 36]);
    await flow();
    expect(await taken(queue)).toEqual([KEYS[8], KEYS[18], KEYS[28]]);
    queue.advance();
    expect(await taken(queue)).toEqual([KEYS[36], KEYS[46], KEYS[56]]);
  });

  it("is taken page by page, as they come", async () => {
    const { open, queue } = queued(SEGMENTS, 200);
    await settled();
    await open[0]?.answer();
    expect(firstOf(await queue.step())).toBe(KEYS[8]);
    let there = false;
    const next = queue.step();
    void next.then(() => {
      there = true;
    });
    await settled();
    expect(there).toBe(false);
    await open.find((call) => call.selector.token !== undefined)?.answer();
    expect(firstOf(await next)).toBe(KEYS[18]);
  });

  it("ends early when it meets the next one early", async () => {
    const { flow, queue } = queued(SEGMENTS, 200, moving(changed(KEYS, 4, KEYS.slice(20, 34))));
    await flow();
    // Of what was behind rank 20 there is only the next part.
    expect(await taken(queue)).toEqual([KEYS[8], KEYS[18]]);
  });

  it("ends where it meets the next one exactly, and not a record before", async () => {
    const cut = { ...SEGMENTS, step: 29 };
    const { flow, queue } = queued(cut, 200);
    await flow();
    expect(await taken(queue)).toEqual([KEYS[8], KEYS[18], KEYS[28]]);
    const apart = queued({ ...SEGMENTS, step: 30 }, 200);
    await apart.flow();
    expect(await taken(apart.queue)).toEqual([KEYS[8], KEYS[18], KEYS[28], KEYS[38]]);
  });

  it("goes on where records were put into it, for as many pages again", async () => {
    const more = (count: number) => Array.from({ length: count }, (_, i) => `u000020-${String(i).padStart(3, "0")}`);
    for (const [count, pages] of [
      [10, 4],
      [25, 6],
      [60, 6],
    ] as const) {
      const { flow, queue } = queued({ ...SEGMENTS, readers: 2 }, 60, moving(changed(KEYS, 2, [], more(count))));
      await flow();
      expect(await taken(queue)).toHaveLength(pages);
    }
  });

  it("ends with its last page when nothing is known of a next one", async () => {
    const last = queued(SEGMENTS, 30);
    await last.flow();
    expect(await taken(last.queue)).toEqual([KEYS[8], KEYS[18], KEYS[28]]);
    const narrow = queued(SEGMENTS, 200, quiet(KEYS), knowing(undefined));
    await settled();
    for (const asked of [8, `k:${KEYS[17]}`, `k:${KEYS[27]}`, 36]) {
      expect(narrow.asked()).toEqual([asked]);
      await narrow.open[0]?.answer();
    }
  });

  it("ends with the end of the list", async () => {
    const { flow, queue } = queued(SEGMENTS, 30, quiet(KEYS.slice(0, 22)));
    await flow();
    expect(await taken(queue)).toEqual([KEYS[8], KEYS[18]]);
  });

  it("is known by the first record of its first page that has one", async () => {
    const platform: Platform = (s) => {
      if (s.skip === 36) return respond({ items: [], next: `k:${KEYS[35]}`, total: "200", skipped: 36 });
      return respond(pageAt(KEYS, s, "keyset"));
    };
    const { open, flow, queue } = queued({ ...SEGMENTS, readers: 2, ahead: 2 }, 200, platform);
    await settled();
    await open[1]?.answer();
    await open[1]?.answer();
    await flow();
    expect(await taken(queue)).toEqual([KEYS[8], KEYS[18], KEYS[28]]);
  });

  it("that is empty for a page still knows how far it came", async () => {
    const platform: Platform = (s) => {
      if (s.token === `k:${KEYS[37]}`) return respond({ items: [], next: "e:", total: "200", skipped: 0 });
      return respond(pageAt(KEYS, s, "keyset"));
    };
    // The third page ends with the head of the next part only when that is known: here it comes late.
    const { open, queue } = queued({ ...SEGMENTS, readers: 2, ahead: 2 }, 200, platform);
    await settled();
    for (let i = 0; i < 3; i++) await open.find((call) => call.selector.skip !== 36)?.answer();
    await open.find((call) => call.selector.skip === 36)?.answer();
    expect(await taken(queue)).toEqual([KEYS[8], KEYS[18], KEYS[28]]);
  });

  it("is not read on when it is dropped, and what it brought is forgotten", async () => {
    const { asked, flow, open, queue } = queued({ ...SEGMENTS, readers: 2, ahead: 2 }, 200);
    await settled();
    await open[0]?.answer();
    expect(asked()).toEqual([36, `k:${KEYS[17]}`]);
    queue.drop();
    expect(await queue.step()).toBeUndefined();
    await flow();
    expect(await queue.step()).toBeUndefined();
    expect(queue.advance()).toBe(true);
    expect(await taken(queue)).toEqual([KEYS[36], KEYS[46], KEYS[56]]);
  });

  it("may be dropped when there is none", async () => {
    const { queue } = queued(SEGMENTS, 8);
    queue.drop();
    expect(await queue.step()).toBeUndefined();
  });

  it("follows no token when the queue was closed meanwhile", async () => {
    const { asked, open, queue } = queued({ ...SEGMENTS, readers: 1 }, 200);
    await settled();
    queue.close();
    await open[0]?.answer();
    expect(asked()).toEqual([]);
  });
});
