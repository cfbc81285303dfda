import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createDrains } from "../../src/drain/drain.ts";
import type { ListPage, ListPlan } from "../../src/model/list.ts";
import { Problem } from "../../src/model/problem.ts";
import { drainParts } from "../support/drains.ts";
import { listPage } from "./simulator.ts";

const decoder = new TextDecoder();

const LIMITS = { pageSize: 5, maxRecords: 4, maxBytes: 12 };
/** Longer pages are streamed. */
const ROOM = 8;

/** How a list ended that begins with `page`, and then repeats it; `stepwise`: the records are shown one way or another, so that its steps are gone through. */
async function ending(
  page: ListPage,
  about: Pick<ListPlan, "keyOrder" | "bareMeans"> & {
    require: "none" | "count" | "cover";
    totals: "verify" | "ignore";
  },
  stepwise: boolean,
) {
  const reports: unknown[] = [];
  const parts = drainParts(async () => ({ status: 200, headers: [["etag", "1"]], body: new Uint8Array() }));
  const { longDrain } = createDrains({
    ...parts,
    // How far a list of several pages was read when it broke off depends on how it is shown.
    limits: { ...parts.limits, ...LIMITS, bufferBytes: page.nextPageToken === "" ? ROOM : 2 ** 20 },
    totals: about.totals,
    require: () => about.require,
    report: (...told) => reports.push(told),
  });
  const plan: ListPlan = {
    resource: "group",
    ...about,
    request: () => ({ method: "GET", target: "/", headers: [] }),
    read: () => page,
    show: stepwise ? async (chunk) => ({ kind: "shown", joinedBytes: 0, parts: [chunk] }) : undefined,
  };
  try {
    const { only: _, ...list } = await longDrain(plan).then(async (got) => {
      if (got.kind === "refused") throw new Error("nothing is refused here");
      if (got.kind === "list") return { ...got, chunks: got.chunks.map((chunk) => decoder.decode(chunk)) };
      const chunks: string[] = [];
      for await (const chunk of got.chunks) chunks.push(decoder.decode(chunk));
      return { ...got, chunks, only: undefined };
    });
    return { list, reports };
  } catch (error) {
    return { error: String(error), reports };
  }
}

const page = fc
  .tuple(
    fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 6 }),
    fc.record({
      totalCount: fc.constantFrom(undefined, 0, 1, 2, 3),
      skipped: fc.constantFrom(undefined, 0, 2),
      nextPageToken: fc.constantFrom("", "", "", "t"),
      bare: fc.boolean(),
    }),
    fc.option(fc.array(fc.constantFrom(0, 1), { minLength: 6, maxLength: 6 })),
    fc.boolean(),
  )
  .map(([keys, also, hidden, sorted]) =>
    listPage(sorted ? [...new Set(keys)].sort() : keys, JSON.stringify, {
      ...also,
      bare: also.bare && keys.length === 0,
      hidden: hidden === null ? undefined : Uint8Array.from(hidden),
    }),
  );

describe("a list of one page", () => {
  it("ends as it would by the steps of a longer list, whatever its page says", async () => {
    const about = fc.record({
      keyOrder: fc.boolean(),
      bareMeans: fc.constantFrom("empty" as const, "nothing" as const),
      require: fc.constantFrom("none" as const, "count" as const, "cover" as const),
      totals: fc.constantFrom("verify" as const, "ignore" as const),
    });
    await fc.assert(
      fc.asyncProperty(page, about, async (one, how) => {
        expect(await ending(one, how, false)).toEqual(await ending(one, how, true));
      }),
      { numRuns: 1_000 },
    );
  });

  it("counts a first page that cannot be read, as any other", async () => {
    const reports: unknown[] = [];
    const { longDrain } = createDrains({
      ...drainParts(async () => ({ status: 200, headers: [], body: new Uint8Array() })),
      report: (facts) => reports.push(facts),
    });
    const read = (): never => {
      throw new Problem("UPSTREAM_INVALID", "no page");
    };
    const plan = {
      resource: "group",
      keyOrder: true,
      request: () => ({ method: "GET", target: "/", headers: [] }),
      read,
    };
    await expect(longDrain(plan)).rejects.toMatchObject({ reason: "UPSTREAM_INVALID" });
    // A list whose first page cannot be read is read once more.
    expect(reports).toMatchObject([{ pages: 2, outcome: "incomplete" }]);
  });
});
