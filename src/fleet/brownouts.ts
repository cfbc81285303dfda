/** What a brownout did: which clients it refused, and whether they came back, and how. */
import type { ClientEntry } from "../ledger/entry.ts";
import { compareText } from "../ledger/record.ts";
import type { FleetRule } from "./fleet.ts";

/**
 * `running`: the brownout may refuse more in its window. After it: `moved`: calls v2 only. `both`: calls v1 and v2. `unchanged`: calls v1 only. `silent`: called neither.
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

/** A rule that may be a brownout. */
export type BrownoutRule = Pick<FleetRule, "name" | "brownout"> & { readonly state: string };

export interface BrownoutSources {
  readonly clients: readonly ClientEntry[];
  /** As they are now: a brownout that was stopped, or whose rule is gone, is over before the end of its window. */
  readonly rules: readonly BrownoutRule[];
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** By owner; clients without one last. Within an owner those that have most to do come first. */
export function brownoutLines({ clients, rules, at }: BrownoutSources): readonly BrownoutLine[] {
  const lines = clients.flatMap((client) => {
    const { refused } = client;
    if (refused === undefined) return [];
    const isOpen = at < refused.end;
    const isOver = !isOpen || !rules.some((rule) => mayRefuse(rule, refused));
    // After a brownout stopped, calls since the last refusal of a client show whether it came back.
    return [lineOf(client, refused, { isOver, overAt: isOpen ? refused.last + 1 : refused.end })];
  });
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

type Refused = NonNullable<ClientEntry["refused"]>;

/** True if the rule may refuse more in the window. A brownout that is held goes on when its cause is gone. */
function mayRefuse({ name, brownout, state }: BrownoutRule, { rule, start }: Pick<Refused, "rule" | "start">): boolean {
  const isOn = brownout?.phase === "running" || brownout?.phase === "held";
  return name === rule && state !== "expired" && isOn && brownout.window?.start === start;
}

function lineOf(
  { name, owner, contact, lastV1, lastV2 }: ClientEntry,
  { rule, start, end, requests, first }: Refused,
  { isOver, overAt }: { readonly isOver: boolean; readonly overAt: number },
): BrownoutLine {
  const v1 = isOver && lastV1 !== undefined && lastV1 >= overAt;
  const v2 = lastV2 !== undefined && lastV2 >= first;
  return {
    client: name,
    owner: owner ?? null,
    contact: contact ?? null,
    rule,
    from: timeOf(start),
    until: timeOf(end),
    refused: requests,
    outcome: !isOver ? "running" : v1 ? (v2 ? "both" : "unchanged") : v2 ? "moved" : "silent",
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
