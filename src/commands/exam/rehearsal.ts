/** The rule of a rehearsal: native v1 is off for one client, for a bounded time. */
import type { Exam } from "../../fleet/exam.ts";
import { utcMinute } from "../../ledger/clients-view.ts";
import { DAY_MS } from "../../ledger/days.ts";
import { counted, duration, percent } from "../../rules/words.ts";

export interface RehearsalPlan {
  /** Milliseconds. */
  readonly lasts: number;
  /** Share of requests that may fail: above 0, below 1. */
  readonly stopAbove: number;
}

const LONGEST_NAME = 63;

/** How many calls it will refuse, in a sentence. Before a person starts it, that person must know. */
export function refusalText(
  { requests, refusals, at, since }: Pick<Exam, "requests" | "refusals" | "at" | "since">,
  { lasts, stopAbove }: RehearsalPlan,
): string {
  if (requests === 0) return "The client has not called v1 in the time that counts: a rehearsal would show nothing.";
  const counts = Math.max(60_000, Date.parse(at) - Date.parse(since));
  // A client that is new would seem to call more often than it does.
  const expected = (count: number): number => Math.round((count * lasts) / Math.max(counts, Math.min(lasts, DAY_MS)));
  const share = refusals / requests;
  const says = `If the client calls as before, a rehearsal of ${duration(lasts)} refuses about ${expected(refusals)} of ${counted(expected(requests), "call")} (${percent(share, 2)})`;
  const isTooMuch = share > stopAbove;
  return `${says}, and stops above ${percent(stopAbove)}${isTooMuch ? ": it would soon stop by itself" : ""}.`;
}

/** How to start it, and its end, which does not move while a person edits the file. */
export function startText({ at }: Pick<Exam, "at">, plan: RehearsalPlan): string {
  return `To start it, put this first below \`rules:\` in the rules file, indented like the rules that are there. It ends at ${utcMinute(endFrom(at, plan))}, ${duration(plan.lasts)} from now (${utcMinute(Date.parse(at))}), whenever you put it there: set a later \`expires\` if you start later.`;
}

function endFrom(at: string, { lasts }: RehearsalPlan): number {
  return Date.parse(at) + lasts;
}

/** A rule to put first into the rules file, indented as the rules of a file are. */
export function rehearsalRule({ client, at }: Pick<Exam, "client" | "at">, plan: RehearsalPlan): string {
  const { stopAbove } = plan;
  const ends = new Date(endFrom(at, plan)).toISOString().replace(/\.\d+Z$/, "Z");
  return [
    `  - name: ${ruleName(client)}`,
    `    match: { client: ${JSON.stringify(client)} }`,
    "    mode: translate",
    "    fallback: refuse",
    `    expires: ${ends}`,
    "    guard: stepBack",
    `    stepBack: { failures: ${stopAbove}, minRequests: 20 }`,
  ].join("\n");
}

function ruleName(client: string): string {
  const readable = client
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
  return `rehearse-${readable === "" ? "client" : readable}`.slice(0, LONGEST_NAME).replace(/-$/, "");
}
