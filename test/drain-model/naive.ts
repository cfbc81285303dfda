/** How would a drain look that makes the mistakes which the exploration is there to find? */
import type { Witness } from "../../src/model/exchange.ts";
import type { DrainedList, ListPage, ListPlan } from "../../src/model/list.ts";
import { Problem } from "../../src/model/problem.ts";
import type { Handed, MakeDrains } from "./scenario.ts";

/** Windows joined by equal records at their borders alone (the literal claim). */
export const naiveWindows: MakeDrains = (handed) => both(handed, windows);
/** A cursor that takes whatever its tokens lead to for what follows. */
export const naiveCursor: MakeDrains = (handed) => both(handed, cursor);

type Reading = (handed: Handed, plan: ListPlan) => Promise<readonly ListPage[]>;

function both(handed: Handed, reading: Reading): ReturnType<MakeDrains> {
  const drain = async (plan: ListPlan): Promise<DrainedList> => {
    const pages = await reading(handed, plan);
    const keys = merged(pages);
    handed.report({ pages: pages.length, records: keys.length, witness: WITNESS, outcome: "complete" });
    const bytes = new TextEncoder().encode(keys.map((uid) => JSON.stringify({ uid })).join(","));
    const chunks = keys.length === 0 ? [] : [bytes];
    return { kind: "list", headers: [], chunks, records: keys.length, pages: pages.length, witness: WITNESS };
  };
  return { drain, longDrain: drain };
}

const WITNESS: Witness = "cover";

function merged(pages: readonly ListPage[]): readonly string[] {
  const out: string[] = [];
  for (const key of pages.flatMap((page) => page.keys)) if (key > (out.at(-1) ?? "")) out.push(key);
  return out;
}

async function windows(handed: Handed, plan: ListPlan): Promise<readonly ListPage[]> {
  const size = handed.measures.pageSize;
  const read = readerOf(handed, plan);
  const first = await read({ size });
  const count = Math.ceil(((first.totalCount ?? 1) - 1) / (size - 1));
  const skips = Array.from({ length: Math.max(0, count - 1) }, (_, i) => (i + 1) * (size - 1));
  const pages = [first, ...(await Promise.all(skips.map((skip) => read({ size, skip }))))];
  const joined = pages.every((page, i) => i === 0 || page.keys[0] === pages[i - 1]?.keys.at(-1));
  if (!joined) throw new Problem("DRAIN_INCOMPLETE", "a border does not hold");
  return pages;
}

async function cursor(handed: Handed, plan: ListPlan): Promise<readonly ListPage[]> {
  const read = readerOf(handed, plan);
  const pages = [await read({ size: handed.measures.pageSize })];
  for (let token = pages[0]?.nextPageToken; token !== undefined && token !== ""; token = pages.at(-1)?.nextPageToken) {
    pages.push(await read({ size: handed.measures.pageSize, token }));
  }
  return pages;
}

function readerOf(handed: Handed, plan: ListPlan): (page: Parameters<ListPlan["request"]>[0]) => Promise<ListPage> {
  return async (page) => plan.read(await handed.send(plan.request(page), { signal: handed.signal }));
}
