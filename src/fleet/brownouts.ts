/** What a brownout did: which clients it refused, and whether they came back, and how. */
import type { ClientEntry } from "../ledger/entry.ts";
import { compareText } from "../ledger/record.ts";

/**
 * `running`: the window is not over. After it: `moved`: calls v2 only. `both`: calls v1 and v2. `unchanged`: calls v1 only. `silent`: called neither.
 */
export const BROWNOUT_OUTCOMES = ["running", "unchanged", "both", "silent", "moved"] as const;
export type BrownoutOutcome = (typeof BROWNOUT_OUTCOMES)[number];

/** A client that the last brownout refused. Times are ISO 8601 in UTC. */
export interface BrownoutLine {
  readonly client: string;
  readonly owner: string | null;
  readonly contact: string | null;
  readonly rule: string;
  readonly from: string;
  readonly until: string;
  /** v1 requests that were refused. */
  readonly refused: number;
  readonly outcome: BrownoutOutcome;
  /** Null: not since the window began. */
  readonly lastV1: string | null;
  readonly lastV2: string | null;
}

/** By owner; clients without one last. Within an owner those that have most to do come first. `at`: milliseconds since 1970. */
export function brownoutLines(clients: readonly ClientEntry[], at: number): readonly BrownoutLine[] {
  const lines = clients.flatMap((client) => (client.refused === undefined ? [] : [lineOf(client, client.refused, at)]));
  const rank = ({ outcome }: BrownoutLine): number => BROWNOUT_OUTCOMES.indexOf(outcome);
  return lines.sort(
    (a, b) =>
      Number(a.owner === null) - Number(b.owner === null) ||
      compareText(a.owner ?? "", b.owner ?? "") ||
      rank(a) - rank(b) ||
      b.refused - a.refused ||
      compareText(a.client, b.client),
  );
}

function lineOf(
  { name, owner, contact, lastV1, lastV2 }: ClientEntry,
  { rule, start, end, requests, first }: NonNullable<ClientEntry["refused"]>,
  at: number,
): BrownoutLine {
  const v1 = lastV1 !== undefined && lastV1 >= end;
  const v2 = lastV2 !== undefined && lastV2 >= first;
  return {
    client: name,
    owner: owner ?? null,
    contact: contact ?? null,
    rule,
    from: timeOf(start),
    until: timeOf(end),
    refused: requests,
    outcome: at < end ? "running" : v1 ? (v2 ? "both" : "unchanged") : v2 ? "moved" : "silent",
    lastV1: v1 ? timeOf(lastV1) : null,
    lastV2: v2 ? timeOf(lastV2) : null,
  };
}

function timeOf(at: number): string {
  return new Date(at).toISOString();
}

const WORDS: Readonly<Record<BrownoutOutcome, string>> = {
  running: "the window is not over",
  unchanged: "came back unchanged, on v1",
  both: "came back on v1 and v2",
  silent: "did not come back",
  moved: "came back on v2",
};

export function outcomeText({ outcome }: Pick<BrownoutLine, "outcome">): string {
  return WORDS[outcome];
}
