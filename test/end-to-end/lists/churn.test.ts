/**
 * A record that is there all the time is never left out of a list that says `cover`, nor shown twice, while others create, delete
 * and rename. Where one was left out, the list says less. `CHURN=10` reads ten times as many lists.
 */
import { describe, expect, it } from "vitest";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";
import { variants } from "../../support/tier.ts";
import { createLister, type Lister } from "./memory.ts";
import { faultsOf } from "./outcome.ts";
import { createPlatform, type Habits, type Platform } from "./platform.ts";
import { BUFFERED, checkAfterEach, GROUPS, INVITES, STREAMED, until } from "./rig.ts";
import { byUid, createDice, createShelf, type Dice, newestFirst, rowsOf } from "./shelf.ts";
import { anywhere, atBorders, leftToRight, type Writers } from "./writers.ts";

checkAfterEach();

const TIMES = Number(process.env["CHURN"] ?? scale(1, 3));

/** What was seen of lists of one kind. */
interface Tally {
  lists: number;
  /** Persistent records, summed over all lists that came. */
  records: number;
  lost: number;
  twice: number;
  /** Lists that lost a record. */
  lossy: number;
}

const tallies = new Map<string, Tally>();

function tally(kind: string): Tally {
  const known = tallies.get(kind) ?? { lists: 0, records: 0, lost: 0, twice: 0, lossy: 0 };
  tallies.set(kind, known);
  return known;
}

interface Style {
  readonly name: string;
  readonly habits: Partial<Habits>;
  readonly flags: Readonly<Record<string, string>>;
  readonly target?: string;
  /** Lists of all lengths that come whole are proved. */
  readonly provable?: true;
}

const STYLES: readonly Style[] = [
  { name: "keyset", habits: {}, flags: { upstreamV2PageTokens: "keyset" }, provable: true },
  { name: "offset", habits: { tokens: "offset" }, flags: { upstreamV2PageTokens: "offset" }, provable: true },
  { name: "keyset?", habits: {}, flags: {} },
  { name: "offset?", habits: { tokens: "offset" }, flags: {} },
  { name: "keyset, no skip", habits: { skip: "ignored" }, flags: { upstreamV2PageTokens: "keyset" } },
  {
    name: "offset, no skip",
    habits: { tokens: "offset", skip: "ignored" },
    flags: { upstreamV2PageTokens: "offset" },
  },
  { name: "keyset?, no skip", habits: { skip: "ignored" }, flags: {} },
  { name: "offset?, no skip", habits: { tokens: "offset", skip: "ignored" }, flags: {} },
  { name: "keyset, newest first", habits: {}, flags: { upstreamV2PageTokens: "keyset" }, target: INVITES },
  { name: "offset?, newest first", habits: { tokens: "offset" }, flags: {}, target: INVITES },
];
const WRITERS: readonly ((dice: Dice) => Writers)[] = [anywhere, leftToRight, atBorders];
/** How many lists of each length are read with each style. */
const LENGTHS = variants(
  [
    { length: 450, lists: 12 },
    { length: 1_400, lists: 6 },
  ],
  [
    { length: 150, lists: 60 },
    { length: 450, lists: 120 },
    { length: 2_000, lists: 45 },
    { length: 10_600, lists: 6 },
  ],
);
/** Lists of a style that are proved, at least. */
const PROVED = variants(12, scale(40, 100));

/** Lets others run, sometimes more of them: so that pages come in another order than they were asked for. */
function unevenly(dice: Dice): Habits["wait"] {
  return async () => {
    for (let turns = dice(4); turns > 0; turns--) await new Promise<void>((resolve) => setImmediate(resolve));
  };
}

/** One list while others write; what it lost and showed twice goes into the tallies. */
async function readOne(platform: Platform, list: Lister["list"], style: Style, as: string): Promise<void> {
  const watch = platform.shelf.watch();
  const { outcome, facts } = await list(as, style.target ?? GROUPS);
  const persistent = watch.persistent();
  if (outcome.kind !== "whole") {
    tally(`${style.name}: no list`).lists += 1;
    if (outcome.kind === "error") expect([502, outcome.reason]).toEqual([outcome.status, "DRAIN_INCOMPLETE"]);
    return;
  }
  // A stream's header says what it will prove at least; what it did prove is in the list's facts.
  const witness = outcome.streamed ? (facts?.witness ?? outcome.witness) : outcome.witness;
  const { lost, twice } = faultsOf(outcome.ids, persistent);
  const sum = tally(`${style.name}: ${witness}`);
  sum.lists += 1;
  sum.records += persistent.length;
  sum.lost += lost;
  sum.twice += twice;
  sum.lossy += lost > 0 ? 1 : 0;
  const claimed = witness === "cover" || outcome.witness === "cover";
  const label = `${style.name}, ${persistent.length} records, ${outcome.streamed ? "streamed" : "whole"}`;
  expect({ label, twice }).toEqual({ label, twice: 0 });
  if (claimed) expect({ label, lost }).toEqual({ label, lost: 0 });
}

async function readMany(platform: Platform, list: Lister["list"], style: Style, lists: number): Promise<void> {
  const state = { left: lists };
  const reader = async (as: string) => {
    while (state.left > 0) {
      state.left -= 1;
      await readOne(platform, list, style, as);
    }
  };
  await Promise.all(["alice", "bob", "carol", "dave"].map(reader));
}

describe("DIFF-04, T-DRN-03, T-DRN-04, T-DRN-27: lists that are read while others create, delete and rename", () => {
  it.each(STYLES)(
    "$name: what stayed is there once where the list says cover, else it says less",
    async (style) => {
      const order = style.target === INVITES ? newestFirst : byUid;
      for (const { length, lists } of LENGTHS) {
        for (const [at, writers] of WRITERS.entries()) {
          const dice = createDice(length + at);
          const platform = createPlatform(
            { ...style.habits, ...writers(dice), wait: unevenly(dice) },
            createShelf(rowsOf(length, at + 1), order),
          );
          // By turns answered whole and as a stream.
          const how = at % 2 === 0 ? BUFFERED : STREAMED;
          const { list } = await createLister(platform.send, {
            ...style.flags,
            ...how,
          });
          await readMany(platform, list, style, Math.ceil(lists / WRITERS.length) * TIMES);
          await until(() => platform.busy.now === 0, "pages are still read");
        }
      }
    },
    600_000,
  );

  it("were proved, most of them, and where nothing can be proved some did lose records", () => {
    const of = (kind: string) => tallies.get(kind) ?? { lists: 0, records: 0, lost: 0, twice: 0, lossy: 0 };
    for (const { name, provable } of STYLES) {
      if (provable === undefined) continue;
      const [proved, none] = [of(`${name}: cover`).lists, of(`${name}: no list`).lists];
      expect({ name, proved: proved >= PROVED, refused: none > proved / 20 }).toEqual({
        name,
        proved: true,
        refused: false,
      });
      expect([...tallies.keys()].filter((kind) => kind.startsWith(`${name}: `) && !/cover|no list/.test(kind))).toEqual(
        [],
      );
    }
    // If the writers did no harm, the test would prove nothing.
    expect(of("offset?, no skip: none").lossy + of("offset?, no skip: count").lossy).toBeGreaterThan(0);
    const proved = [...tallies].filter(([kind]) => kind.endsWith(": cover")).map(([, each]) => each);
    for (const [what, key] of [
      ["lists proved complete while others wrote", "lists"],
      ["records in them that were there throughout", "records"],
      ["records lost of those", "lost"],
      ["records shown twice in them", "twice"],
    ] as const) {
      const sum = proved.reduce((total, each) => total + each[key], 0);
      figure("T-DRN-03", what, sum, key === "lists" ? "lists" : "records");
    }
  });
});
