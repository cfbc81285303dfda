/** Where a migration stands: for `carryover report` and `carryover status`. */
import type { ClientEntry } from "../ledger/entry.ts";
import type { RequestTotalsRow } from "../telemetry/progress.ts";
import { isUnseenOnV2, shortList } from "./next-client.ts";

/** The progress of one instance, or of several merged. */
export interface StandingSource {
  /** Requests of the window by kind; undefined: unknown. */
  readonly counts: readonly RequestTotalsRow[] | undefined;
  readonly clients: readonly ClientEntry[];
}

export interface Standing {
  /** Of the v1 requests that native v1 or the translation served, the share that was translated; null if none is known. */
  readonly translatedShare: number | null;
  /** The number of these requests; null: unknown. */
  readonly served: number | null;
  /** Clients that did not call v1 in the window and have called v2 since, of all that are known. */
  readonly moved: number;
  /** Clients that did not call v1 in the window, and not v2 since either. They may have moved, or call seldom. */
  readonly silent: readonly string[];
  readonly clients: number;
}

/** `isLeft`: the client called v1 in the window. */
export function standingOf(source: StandingSource, isLeft: (client: ClientEntry) => boolean): Standing {
  const { counts, clients } = source;
  const left = clients.filter(isLeft);
  const silent = clients.filter((client) => !isLeft(client) && isUnseenOnV2(client)).map(({ name }) => name);
  const { translatedShare, served } = sharesOf(counts);
  return {
    translatedShare,
    served,
    moved: clients.length - left.length - silent.length,
    silent,
    clients: clients.length,
  };
}

/** How many v1 requests native v1 or the translation served, and the share of the translation. */
export function sharesOf(counts: StandingSource["counts"]): Pick<Standing, "translatedShare" | "served"> {
  if (counts === undefined) return { translatedShare: null, served: null };
  const requestsOf = (...modes: readonly string[]) =>
    counts.reduce((sum, row) => sum + (row.apiVersion === "v1" && modes.includes(row.mode) ? row.requests : 0), 0);
  const served = requestsOf("native", "shadow", "translate");
  return { translatedShare: served === 0 ? null : requestsOf("translate") / served, served };
}

/** `says`: `in the last 24 h`; `limits`: `counted for 2 h only`. */
export interface StandingWindow {
  readonly says: string | null;
  readonly limits: string | null;
}

/** `31 % of v1 requests translated in the last 24 h; 12 of 44 clients moved, 1 silent (nightly)`. `ofClients`: requests are not counted by who sent them. */
export function movedText(
  { moved, silent, clients, ...shares }: Standing,
  { says, limits }: StandingWindow,
  ofClients = false,
): string {
  const when = `${says ?? ""}${limits === null ? "" : ` (${limits})`}`;
  const share = ofClients ? `v1 ${when}` : `${shareText(shares)} ${when}`;
  if (shares.served === 0 && clients === 0) return share;
  // Requests of excluded clients, or refused ones, make no entry: that no client is known says nothing about who moved.
  if (clients === 0) return `${share}; no client is known`;
  return `${share}; ${moved} of ${clients} ${clients === 1 ? "client" : "clients"} moved${silent.length === 0 ? "" : `, ${silent.length} silent (${shortList(silent)})`}`;
}

/** `31 % of v1 requests translated`. */
export function shareText({ translatedShare, served }: Pick<Standing, "translatedShare" | "served">): string {
  if (served === 0) return "no v1 requests";
  return translatedShare === null
    ? "unknown how many v1 requests are translated"
    : `${wholePercent(translatedShare)} of v1 requests translated`;
}

/** Only nothing reads as 0 %, and only all as 100 %. */
function wholePercent(share: number): string {
  if (share > 0 && share < 0.01) return "< 1 %";
  if (share < 1 && share > 0.99) return "> 99 %";
  return `${Math.round(share * 100)} %`;
}
