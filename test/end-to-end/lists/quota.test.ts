/** A pause applies only to the credential that was asked to wait. T-DRN-19. */
import { describe, expect, it } from "vitest";
import { fastClock } from "./clock.ts";
import { checkAfterEach, expectWhole, rigFor, uidsOf } from "./rig.ts";
import { createShelf, rowsOf } from "./shelf.ts";
import { refusal } from "./spoil.ts";

checkAfterEach();

const PAGE_MS = 20;
const FLAGS = { upstreamV2PageTokens: "keyset" };

/** Further pages of credentials that `refuses` names are answered with `status` and `Retry-After`; all take 20 ms. */
async function refusing(status: number, seconds: number, records: number, refuses: (who: string) => boolean) {
  const clock = fastClock();
  const shelf = createShelf(rowsOf(records));
  const refuse = refusal(status, { "retry-after": String(seconds) });
  const rig = await rigFor({
    habits: {
      fault: (page, ask, held) =>
        refuses(ask.who) && (ask.skip > 0 || ask.token !== undefined) ? refuse(page, ask, held) : page,
      wait: ({ index }) => (index >= 0 ? clock.wait(PAGE_MS / 2) : undefined),
    },
    flags: FLAGS,
    shelf,
    clock,
  });
  return { clock, shelf, rig };
}

describe("credentials that are told to wait", () => {
  it.each([
    [429, 3_000],
    [429, 9_000],
    [503, 3_000],
  ])("with %i hold up no other: a list of %i records takes no longer beside two of them", async (status, records) => {
    const { clock, shelf, rig } = await refusing(status, 5, records, (who) => who.startsWith("refused"));
    const timed = async (as: string) => {
      const began = clock.now();
      expectWhole(await rig.list(as), uidsOf(shelf), as);
      return clock.now() - began;
    };
    const alone = await timed("alone");
    const done = { yet: false };
    const others = Array.from({ length: 8 }, async (_, i) => {
      while (!done.yet) await rig.list(`refused-${i % 2}`);
    });
    await clock.wait(12_000);
    const beside = [await timed("bob"), await timed("carol"), await timed("dave")];
    done.yet = true;
    await Promise.all(others);
    expect(Math.max(...beside)).toBeLessThanOrEqual(alone + PAGE_MS);
  });

  it("V71: for ten minutes hear of it at once, however the list is read", async () => {
    for (const records of [3_000, 12_000]) {
      const { clock, rig } = await refusing(429, 600, records, () => true);
      const began = clock.now();
      const outcome = await rig.list("alice");
      expect(outcome).toMatchObject({ kind: "error", status: 429 });
      expect(clock.now() - began).toBeLessThan(10 * PAGE_MS);
    }
  });
});
