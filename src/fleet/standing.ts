/** Where a migration stands: for `carryover report` and `carryover status`. */
import type { ClientEntry } from "../ledger/entry.ts";
import type { RequestTotalsRow } from "../telemetry/progress.ts";

/** The progress of one instance, or of several merged. */
export interface StandingSource {
  /** Requests of the window by kind. */
  readonly counts: readonly RequestTotalsRow[];
  readonly clients: readonly ClientEntry[];
}

export interface Standing {
  /** Of the v1 requests that native v1 or the translation served, the share that was translated; null if none is known. */
  readonly translatedShare: number | null;
  /** Clients that did not call v1 in the window, of all that are known. */
  readonly moved: number;
  readonly clients: number;
}

/** `from`: start of the window in milliseconds since 1970; undefined: as far as the counts reach. */
export function standingOf(source: StandingSource, from?: number): Standing {
  const { counts, clients } = source;
  const left = clients.filter((client) => callsV1(client, from));
  const v1 = counts.filter(({ apiVersion }) => apiVersion === "v1");
  const requestsOf = (...modes: readonly string[]) =>
    v1.reduce((sum, { mode, requests }) => sum + (modes.includes(mode) ? requests : 0), 0);
  const served = requestsOf("native", "shadow", "translate");
  return {
    translatedShare: served === 0 ? null : requestsOf("translate") / served,
    moved: clients.length - left.length,
    clients: clients.length,
  };
}

/** True for a client that called v1 in the window. */
export function callsV1({ lastV1 }: Pick<ClientEntry, "lastV1">, from: number | undefined): boolean {
  return lastV1 !== undefined && (from === undefined || lastV1 >= from);
}

/** `31 % of v1 requests translated; 12 of 44 clients moved` */
export function movedText({ translatedShare, moved, clients }: Standing): string {
  if (translatedShare === null && clients === 0) return "no v1 requests";
  const share =
    translatedShare === null
      ? "unknown how many v1 requests are translated"
      : `${wholePercent(translatedShare)} of v1 requests translated`;
  // Requests of excluded clients, or refused ones, make no entry: that no client is known says nothing about who moved.
  if (clients === 0) return `${share}; no client is known`;
  return `${share}; ${moved} of ${clients} ${clients === 1 ? "client" : "clients"} moved`;
}

/** Only nothing reads as 0 %, and only all as 100 %. */
function wholePercent(share: number): string {
  if (share > 0 && share < 0.01) return "< 1 %";
  if (share < 1 && share > 0.99) return "> 99 %";
  return `${Math.round(share * 100)} %`;
}
