/** Where the migration stands, in one sentence. */
import type { MigrationReport } from "../report/report.ts";

export interface Standing {
  /** Of all v1 requests, 0 to 1; null without any. */
  readonly translated: number | null;
  /** Clients that no longer call v1, of all. */
  readonly moved: number;
  readonly clients: number;
}

export function standingOf({ resources, requests, clients }: MigrationReport): Standing {
  const translated = resources.reduce((all, { translate }) => all + translate, 0);
  return {
    translated: requests.v1 === 0 ? null : translated / requests.v1,
    moved: clients.filter(({ onV1 }) => !onV1).length,
    clients: clients.length,
  };
}

/** `31 % of v1 requests translated; 12 of 44 clients moved` */
export function standingText({ translated, moved, clients }: Standing): string {
  const share = translated === null ? "no v1 request yet" : `${wholePercent(translated)} % of v1 requests translated`;
  return `${share}; ${moved} of ${clients} ${clients === 1 ? "client" : "clients"} moved`;
}

/** 0 and 100 only where that is exact. */
function wholePercent(share: number): number {
  return share <= 0 || share >= 1 ? Math.round(share * 100) : Math.min(99, Math.max(1, Math.round(share * 100)));
}
