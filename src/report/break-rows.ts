/** How does each thing that would break read in a table? */
import { isUnknown } from "../ledger/difficulty.ts";
import { amount } from "./amounts.ts";
import type { BreakLine } from "./shape.ts";

/** Clients named in one line. */
const MOST_NAMES = 4;

const WORDS: Readonly<Record<BreakLine["kind"], string>> = {
  lacking: "operation that v2 lacks",
  native: "served by native v1",
  "full-replace": "PUT zeroes what it leaves out",
  "long-list": "list longer than a v2 page",
  "unknown-field": "field that v2 refuses",
  unseen: "not looked into",
  operation: "v1 call",
};

/** What, where, how much, whose. */
export function breakRows(lines: readonly BreakLine[]): readonly (readonly string[])[] {
  return lines.map((line) => [WORDS[line.kind], placeOf(line), sizeOf(line), namesOf(line.clients)]);
}

function placeOf({ resource, operation, field }: BreakLine): string {
  if (isUnknown({ resource })) return "paths that carryover does not know";
  if (operation !== null) return `${resource} ${operation}`;
  return field === null ? resource : `${resource}: ${field}`;
}

function sizeOf({ records, requests }: BreakLine): string {
  if (records !== null) return `${amount(records)} records`;
  return requests === null ? "" : `${amount(requests)} ${requests === 1 ? "request" : "requests"}`;
}

function namesOf(clients: readonly string[]): string {
  const more = clients.length - MOST_NAMES;
  const named = clients.slice(0, MOST_NAMES).join(", ");
  return more > 0 ? `${named} and ${amount(more)} more` : named;
}
