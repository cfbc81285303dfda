/** What do long lists take up at present? (Design section 5, limits of parallelism.) */
import type { Maker } from "./maker.ts";

/** Read when somebody asks for metrics. */
export interface ListGauges {
  /** Page reads of the upstream. */
  readers(): {
    readonly limit: number;
    readonly inFlight: number;
    readonly waiting: number;
    /** Milliseconds until the platform may be called again. */
    readonly gatedMs: number;
    /** Milliseconds until every credential may call again that waits for itself. */
    readonly pausedMs: number;
  };
  /** Lists of more than one page. */
  slots(): { readonly drains: number; readonly waiting: number };
}

/** Shows them. */
export function createListGauges(make: Maker, { readers, slots }: ListGauges): void {
  make.gauge("list_readers_limit", () => [[[], readers().limit]]);
  make.gauge("list_readers", () => [[[], readers().inFlight]]);
  make.gauge("list_readers_waiting", () => [[[], readers().waiting]]);
  make.gauge("list_readers_paused_seconds", () => [[[], longestRest(readers()) / 1000]]);
  make.gauge("lists_in_progress", () => [[[], slots().drains]]);
  make.gauge("lists_waiting", () => [[[], slots().waiting]]);
}

/** The platform asks one credential to wait as well as everybody: a client that is alone would show nothing else. */
function longestRest({ gatedMs, pausedMs }: ReturnType<ListGauges["readers"]>): number {
  return Math.max(gatedMs, pausedMs);
}
