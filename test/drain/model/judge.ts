/** Judges whether a drain kept its promises in one run. */
import type { Witness } from "../../../src/model/exchange.ts";
import { Problem, type ProblemReason } from "../../../src/model/problem.ts";
import { ANSWER_BOUND } from "./run.ts";
import type { Trace } from "./scenario.ts";

const RANK: Readonly<Record<Witness, number>> = { none: 0, count: 1, cover: 2 };
/** What a drain may say instead of a list. */
const REASONS: ReadonlySet<ProblemReason> = new Set<ProblemReason>([
  "DRAIN_INCOMPLETE",
  "DRAIN_TOO_LARGE",
  "LIST_UNPROVEN",
  "UPSTREAM_INVALID",
  "UPSTREAM_UNREACHABLE",
  "UPSTREAM_TIMEOUT",
]);

/** Every promise that was broken, in words; none in a good run. */
export function brokenPromises(trace: Trace): readonly string[] {
  return trace.left === undefined ? [...ofEnd(trace), ...ofList(trace), ...ofWork(trace)] : ofLeaving(trace);
}

/** What the list claimed: its witness, or the floor of one that was streamed to its end; undefined when there is no whole list. */
export function claimOf({ result, error, ended }: Trace): Witness | undefined {
  if (result === undefined || result.kind === "refused" || error !== undefined || !ended) return undefined;
  return result.kind === "list" ? result.witness : result.floor;
}

/** Records that were there throughout and are not in the list, hidden ones left out. */
export function lostIn({ persistent, out, scenario }: Trace): readonly string[] {
  return [...persistent].filter((key) => !out.includes(key) && !(scenario.hidden ?? "").includes(key));
}

function ofEnd(trace: Trace): readonly string[] {
  const { ended, error, result } = trace;
  if (!ended) return [trace.requests.length < ANSWER_BOUND ? "it hangs" : "it does not end"];
  if (error !== undefined) {
    if (!(error instanceof Problem)) return [`rejected with ${String(error)}`];
    return REASONS.has(error.reason) ? [] : [`rejected with ${error.reason} ${String(error.cause)}`];
  }
  const refused = trace.steps.some((step) => step.includes("503"));
  return result?.kind === "refused" && !refused ? ["refused, though the platform refused nothing"] : [];
}

function ofList(trace: Trace): readonly string[] {
  const { out, scenario } = trace;
  const claim = claimOf(trace);
  const whole = trace.facts.at(-1)?.witness;
  const hidden = out.filter((key) => (scenario.hidden ?? "").includes(key));
  return [
    ...when(new Set(out).size !== out.length, `a record came twice: ${out}`),
    ...when(claim === "cover" && !ascends(out), `claims cover and does not ascend: ${out}`),
    ...when(hidden.length > 0, `hidden records are shown: ${hidden}`),
    ...when(claim === "cover" && lostIn(trace).length > 0, `claims cover and lost: ${lostIn(trace)}`),
    ...when(
      claim !== undefined && RANK[claim] < RANK[scenario.require ?? "none"],
      `claims ${claim}, which is too little`,
    ),
    ...when(trace.result?.kind === "list" && claim !== whole, `says ${claim} and reports ${whole}`),
    ...when(claim !== undefined && RANK[whole ?? "none"] < RANK[claim], `promised ${claim} and reports ${whole}`),
    ...when(whole === "cover" && claim !== undefined && lostIn(trace).length > 0, "reports cover and lost a record"),
    ...when(claim === "cover" && byBlindCursor(trace), "claims cover for pages that only tokens of unknown kind join"),
    ...ofCount(trace),
  ];
}

function ofCount(trace: Trace): readonly string[] {
  const { result, out, scenario } = trace;
  if (result?.kind !== "list" || scenario.hidden !== undefined) return [];
  return when(result.records !== out.length, `counts ${result.records} records of ${out}`);
}

/** More than one page, none of them asked for by `skip`, and tokens that may be anything. */
function byBlindCursor({ requests, scenario }: Trace): boolean {
  const skips = requests.some((request) => (request.skip ?? 0) > 0);
  return scenario.declared !== "keyset" && requests.length > 1 && !skips;
}

function ofWork(trace: Trace): readonly string[] {
  const { scenario, claims, most, facts, ended, result, error, requests: asks } = trace;
  const outcome = facts.at(-1)?.outcome;
  if (!ended) return [];
  return [
    ...when(most.atOnce > scenario.measures.readers, `more pages at a time than readers: ${most.atOnce}`),
    ...when(claims.taken !== claims.released, `${claims.taken} slots taken and ${claims.released} given back`),
    ...when(facts.length !== (result?.kind === "long" ? 2 : 1), `${facts.length} reports`),
    ...when(claimOf(trace) !== undefined && outcome !== "complete", `a whole list is reported as ${outcome}`),
    ...when(error !== undefined && outcome === "complete", "a list that failed is reported as complete"),
    ...when(asks.length > 5 * (scenario.start.length + 2) && !trace.faulted, `asks for too many pages: ${asks.length}`),
    ...when(trace.leftOver > 0, `ended with ${trace.leftOver} pages still under way`),
  ];
}

function ofLeaving(trace: Trace): readonly string[] {
  const { left, requests, claims } = trace;
  const later = requests.length - (left ?? 0);
  return [
    ...when(later > 0, `${later} pages asked for after the client had left`),
    ...when(trace.leftOver > 0, `${trace.leftOver} pages still under way after the client had left`),
    ...when(
      claims.taken !== claims.released,
      `${claims.taken} slots taken and ${claims.released} given back after the client had left`,
    ),
  ];
}

function ascends(keys: readonly string[]): boolean {
  return keys.every((key, i) => i === 0 || (keys[i - 1] ?? "") < key);
}

function when(broken: boolean, words: string): readonly string[] {
  return broken ? [words] : [];
}
