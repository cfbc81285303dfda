/** Which clients get metrics of their own, whoever calls? (Design section 8: bounded series.) */
import { OTHER } from "./series.ts";

/** Requests of one client, or of all that share a label. */
export interface ClientRow {
  v1: number;
  v2: number;
  /** When the last v1 request was counted, in milliseconds since 1970. */
  lastV1: number;
}

/** Requests counted by client. */
export interface ClientSeries {
  /** `at`: milliseconds since 1970. */
  count(label: string, version: "v1" | "v2", at: number): void;
  rows(): Iterable<readonly [label: string, row: ClientRow]>;
}

/** How often a client must have called to get one of the places that are kept for those who stay. */
const STAYS = 20;
/** Clients watched for that, for each place. */
const CANDIDATES = 4;

/**
 * Each of `own` has a row from its first request on and takes no place: configured names are few. Of the `max` places for all
 * others half go to whoever comes first, the rest to clients that were seen 20 times: callers that come once each can fill
 * the first half only. A client keeps its place, so that no counter ever goes down; what it was counted before stays with
 * `other`.
 */
export function createClientSeries(max: number, own: ReadonlySet<string>): ClientSeries {
  let places = 0;
  const rows = new Map<string, ClientRow>();
  const candidates = new Map<string, number>();
  const add = (label: string): ClientRow => {
    const row = { v1: 0, v2: 0, lastV1: 0 };
    rows.set(label, row);
    return row;
  };
  const other = (): ClientRow => rows.get(OTHER) ?? add(OTHER);
  const stays = (label: string): boolean => {
    const seen = (candidates.get(label) ?? 0) + 1;
    if (seen < STAYS) {
      if (candidates.size >= CANDIDATES * max) candidates.clear();
      candidates.set(label, seen);
      return false;
    }
    return candidates.delete(label);
  };
  const rowOf = (label: string): ClientRow => {
    const known = rows.get(label);
    if (known !== undefined) return known;
    if (own.has(label)) return add(label);
    if (places >= max || (places >= max / 2 && !stays(label))) return other();
    places += 1;
    return add(label);
  };
  return {
    count: (label, version, at) => {
      const row = rowOf(label);
      row[version]++;
      // A clock that was set back must not make a request forgotten.
      if (version === "v1" && at > row.lastV1) row.lastV1 = at;
    },
    rows: () => rows,
  };
}
