/** A page of nothing that seems to be the last one makes no short list: it is an error, a broken connection, or read past. */
import { describe, expect, it } from "vitest";
import type { Fault, Habits } from "./platform.ts";
import { BUFFERED, checkAfterEach, expectWhole, rigFor, type Setting, STREAMED, uidsOf, wireRigFor } from "./rig.ts";
import { createShelf, rowsOf } from "./shelf.ts";

checkAfterEach();

/** An expired token, or a replica that is ill: no records and no token, the right count. From rank `from` on, behind a token. */
function emptyFrom(from: number, times = Number.POSITIVE_INFINITY): Fault {
  let left = times;
  return (page, ask) => {
    if (ask.token === undefined || page.start < from || left-- <= 0) return page;
    return { ...page, rows: [], members: { ...page.members, nextPageToken: "" } };
  };
}

/** A first page of nothing, and nothing behind its token either. */
const emptyFirst: Fault = (page, ask) => {
  const nextPageToken = ask.token === undefined ? page.members["nextPageToken"] : "";
  return ask.skip > 0 ? page : { ...page, rows: [], members: { ...page.members, nextPageToken } };
};

const keyset = { upstreamV2PageTokens: "keyset" };
const ignored = { skip: "ignored" } as const;

interface Finding extends Setting {
  readonly name: string;
  readonly records: number;
  readonly habits: Partial<Habits>;
}

const BUFFERED_LISTS: readonly Finding[] = [
  { name: "skip ignored, keyset tokens", records: 1000, habits: { ...ignored, fault: emptyFrom(400) }, flags: keyset },
  {
    name: "the same, cover required",
    records: 1000,
    habits: { ...ignored, fault: emptyFrom(400) },
    flags: { ...keyset, listsRequire: "cover" },
  },
  {
    name: "the first page empty, with a token",
    records: 1000,
    habits: { ...ignored, fault: emptyFirst },
    flags: keyset,
  },
  { name: "tokens of unknown kind", records: 1000, habits: { ...ignored, fault: emptyFrom(400) }, flags: {} },
  {
    name: "tokens that are row numbers",
    records: 1000,
    habits: { ...ignored, tokens: "offset", fault: emptyFrom(400) },
    flags: { upstreamV2PageTokens: "offset" },
  },
];

describe("T-DRN-12, V05: a page of nothing behind a token, its count right", () => {
  it.each(BUFFERED_LISTS)("$name: is an error that names both numbers", async ({ records, habits, flags }) => {
    const rig = await rigFor({ habits, shelf: createShelf(rowsOf(records)), flags: { ...flags, ...BUFFERED } });
    const outcome = await rig.list();
    expect(outcome).toMatchObject({ kind: "error", status: 502, reason: "DRAIN_INCOMPLETE" });
    expect(JSON.stringify(outcome)).toMatch(/counts 1000 records, and (400|0) were read/);
  });

  it("is read past by rank where skip is honoured, however short pages are", async () => {
    for (const cap of [40, 200]) {
      const shelf = createShelf(rowsOf(1000));
      const rig = await rigFor({ habits: { cap, fault: emptyFrom(400) }, shelf, flags: { ...keyset, ...BUFFERED } });
      expectWhole(await rig.list(), uidsOf(shelf));
    }
  });

  it("costs nothing but a second reading where it passes", async () => {
    const shelf = createShelf(rowsOf(1000));
    const rig = await rigFor({ habits: { ...ignored, fault: emptyFrom(400, 1) }, shelf, flags: BUFFERED });
    expectWhole(await rig.list(), uidsOf(shelf));
  });

  it("breaks the connection of a list that is being sent", async () => {
    const habits = { ...ignored, fault: emptyFrom(4000) };
    const flags = { ...keyset, ...STREAMED };
    const rig = await wireRigFor({ habits, shelf: createShelf(rowsOf(6000)), flags });
    const outcome = await rig.list();
    expect(outcome.kind).toBe("broken");
    expect(rig.exchanges.at(-1)?.list).toMatchObject({ witness: "none", outcome: "incomplete" });
  });

  it("is believed where totals are ignored", async () => {
    const flags = { ...keyset, ...BUFFERED, upstreamV2Totals: "ignore" };
    const shelf = createShelf(rowsOf(1000));
    const rig = await rigFor({ habits: { ...ignored, fault: emptyFrom(400) }, shelf, flags });
    expectWhole(await rig.list(), uidsOf(shelf).slice(0, 400));
  });
});
