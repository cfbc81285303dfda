/** A list that its first page holds as a whole, and that nothing contradicts: it needs none of the steps of longer ones. */

import type { Witness } from "../model/exchange.ts";
import type { HeaderList } from "../model/http.ts";
import type { DrainedList, ListPage, ListPlan } from "../model/list.ts";
import { createSignalController } from "../model/signal.ts";
import { ascends, isEnough, keptBytes } from "./committed-list.ts";
import { type DrainParts, type FirstCall, readPage } from "./list-reader.ts";
import type { CallResult, DrainSettings } from "./state.ts";

/** Calls for the first page. Rejects, with the signal's reason and at once, only when the signal aborts: that is reported. */
export function callForFirst(plan: ListPlan, parts: DrainParts): Promise<FirstCall> {
  const { signal, limits } = parts;
  const startedAt = parts.now();
  const stopper = createSignalController();
  let pages = 0;
  let headers: HeaderList = [];
  const call = { send: parts.send, signal: stopper.signal };
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      parts.report({ pages, records: 0, witness: "none", outcome: "aborted" }, []);
      stopper.abort(signal.reason);
      reject(signal.reason);
    };
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    readPage(plan, { size: limits.pageSize }, call, (came) => {
      pages = 1;
      headers = came;
      return undefined;
    })
      .catch((problem: unknown): CallResult => ({ kind: "failed", problem }))
      .then((got) => {
        signal.removeEventListener("abort", onAbort);
        resolve({ got, headers, pages, startedAt });
      });
  });
}

/** The list, where `first` is a page that holds all of it; undefined where any more has to be read or judged. `room`: bytes that may be buffered. */
export function wholeInOne(
  { show }: ListPlan,
  how: DrainSettings,
  { got, headers }: FirstCall,
  room: number,
): DrainedList | undefined {
  if (got.kind !== "page" || show !== undefined) return undefined;
  const { page } = got;
  if (!isWhole(page, how) || page.bytes.length > room) return undefined;
  const witness = witnessOf(page, how);
  if (!isEnough(witness, how.require)) return undefined;
  const kept = keptBytes(page, undefined);
  const chunks = kept === undefined ? [] : [kept.bytes];
  const only = kept?.records === page.keys.length ? page : undefined;
  return { kind: "list", headers, pages: 1, chunks, records: kept?.records ?? 0, witness, only };
}

/** True when nothing follows `page`, which is in order, within the limits, and counts its records right. */
function isWhole(page: ListPage, { limits }: DrainSettings): boolean {
  const { keys, totalCount: total = keys.length, skipped = 0 } = page;
  return (
    page.nextPageToken === "" &&
    total === keys.length &&
    skipped === 0 &&
    keys.length <= Math.min(limits.pageSize, limits.maxRecords) &&
    page.bytes.length <= limits.maxBytes &&
    (page.ascending ?? ascends(keys))
  );
}

/** As of any list, see `witnessOf` in `committed-list.ts`. */
function witnessOf({ bare, totalCount }: ListPage, { keyOrder, bareProvesNothing }: DrainSettings): Witness {
  if (keyOrder && !(bare === true && bareProvesNothing)) return "cover";
  return totalCount === undefined ? "none" : "count";
}
