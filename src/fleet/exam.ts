/** May native v1 be switched off for a client? The judgement of all that is known of it. */
import { RENAMES_ONLY, reasonsOf } from "../ledger/difficulty.ts";
import type { ClientEntry } from "../ledger/entry.ts";
import { comparisonsNeeded, isBelow, upperBound } from "../rollout/upper-bound.ts";
import { counted, percent } from "../rules/words.ts";
import {
  belowText,
  EXAM_TERMS,
  type ExamDifference,
  type ExamOperation,
  type ExamTerms,
  examOperations,
  looksAt,
  nameOf,
  type OperationSources,
} from "./exam-operations.ts";
import type { FleetRule } from "./fleet.ts";
import { troubleTexts } from "./judge.ts";
import { durationText } from "./merge.ts";

export type ExamVerdict = "pass" | "fail" | "unknown";

/** The output of `--json`. Times are ISO 8601 in UTC. */
export interface Exam {
  readonly version: 1;
  readonly client: string;
  readonly owner: string | null;
  readonly contact: string | null;
  /** `unknown`: nothing speaks against it, and too little is known. */
  readonly verdict: ExamVerdict;
  readonly at: string;
  /** A pass holds until then, or until the client calls something new. Null without a pass. */
  readonly holdsUntil: string | null;
  /** Since when its requests are counted. */
  readonly since: string;
  /** v1 requests of the operations below. */
  readonly requests: number;
  /** How many responses of the translation it rests on, and how many of them differ or failed. */
  readonly looks: number;
  readonly bad: number;
  /** Upper bound (95 %) of their share. */
  readonly bound: number;
  /** Why it fails. */
  readonly against: readonly string[];
  /** Facts that are still missing. */
  readonly open: readonly string[];
  /** Changes that the team of the client must make, before native v1 is switched off and before carryover is removed. */
  readonly changes: { readonly beforeV1: readonly string[]; readonly beforeCarryover: readonly string[] };
  readonly operations: readonly ExamOperation[];
  /** Operations that it has not called in the window. */
  readonly leftOut: readonly string[];
  readonly differences: readonly ExamDifference[];
  readonly rehearsal: ExamRehearsal | null;
  /** Of `requests`, those that a rehearsal would refuse. */
  readonly refusals: number;
}

/** A rule that switched native v1 off for the client alone. */
export interface ExamRehearsal {
  readonly rule: string;
  readonly until: string;
  /** `stopped`: more failed than it allowed. `guarded`: v2 failed. */
  readonly state: "running" | "stopped" | "guarded" | "over";
  /** Requests that count, and those of them that were refused or failed. */
  readonly requests: number;
  readonly failures: number;
  readonly why: string | null;
}

type KnownRule = Pick<FleetRule, "name" | "cause" | "byGuard" | "guard" | "evidence" | "causes" | "rehearsal">;

export interface FailureSources extends OperationSources {
  readonly rules: readonly Pick<KnownRule, "name" | "cause" | "byGuard" | "evidence" | "rehearsal">[];
}

export interface ExamSources extends FailureSources {
  readonly client: ClientEntry;
  readonly rules: readonly KnownRule[];
  /** Since when every instance has been watching, in milliseconds since 1970. */
  readonly watchedSince: number;
  /** Every address responded. */
  readonly complete: boolean;
  /** What overrides every rule on an instance: `native (by …)`. Undefined: nothing. */
  readonly forced?: string | undefined;
}

export function examOf(sources: ExamSources, terms: ExamTerms): Exam {
  const { client, at } = sources;
  const operations = examOperations(sources, terms);
  const rehearsal = rehearsalOf(sources);
  const sum = (of: (one: ExamOperation) => number) => operations.reduce((all, one) => all + of(one), 0);
  const looks = sum(looksAt);
  const bad = sum(({ differing, replayDiffering, failed }) => differing + replayDiffering + failed);
  const requests = sum((one) => one.requests);
  const seen = sum((one) => (one.verdict === "unseen" ? 0 : one.requests));
  const against = againstOf(operations, rehearsal);
  const open = [
    ...operations.flatMap((one) => (one.verdict === "unseen" ? [`${nameOf(one)}: ${one.why}`] : [])),
    ...boundTexts({ requests: seen, looks, bad }, terms),
    ...openTexts(sources, rehearsal, terms),
  ];
  const verdict = against.length > 0 ? "fail" : open.length > 0 ? "unknown" : "pass";
  return {
    version: 1,
    client: client.name,
    owner: client.owner ?? null,
    contact: client.contact ?? null,
    verdict,
    at: timeOf(at),
    holdsUntil: verdict === "pass" ? timeOf(at + terms.window) : null,
    since: timeOf(client.firstSeen),
    requests,
    looks,
    bad,
    bound: upperBound(bad, looks),
    against,
    open,
    changes: changesOf(client, operations),
    operations,
    leftOut: client.operations.filter(({ lastSeen }) => lastSeen < at - terms.window).map(nameOf),
    differences: differencesOf(sources, operations),
    rehearsal: rehearsal ?? null,
    refusals: sum((one) => (one.isRefused ? one.requests : 0)),
  };
}

function againstOf(operations: readonly ExamOperation[], rehearsal: ExamRehearsal | undefined): readonly string[] {
  return [
    ...operations.flatMap((one) => (one.verdict === "bad" ? [`${nameOf(one)}: ${one.why}`] : [])),
    ...(rehearsal?.state === "stopped" ? [`rehearsal ${rehearsal.rule} stopped: ${rehearsal.why}`] : []),
  ];
}

/** Why the client has failed. Undefined: it has not, or too little is known. */
export function failureOf(sources: FailureSources, terms: ExamTerms = EXAM_TERMS): string | undefined {
  return againstOf(examOperations(sources, terms), rehearsalOf(sources))[0];
}

/** `requests`: of operations that were looked at often enough. Where each of them was looked at, a bound says no more. */
function boundTexts(
  { requests, looks, bad }: Pick<Exam, "requests" | "looks" | "bad">,
  terms: ExamTerms,
): readonly string[] {
  if (looks >= requests || isBelow(terms.below, bad, looks)) return [];
  const needed = comparisonsNeeded(terms.below, bad);
  const more = Number.isFinite(needed) ? `: ${needed - looks} more without a difference are enough` : "";
  return [
    `${counted(looks, "response")} of the translation ${looks === 1 ? "is" : "are"} too few to say that less than ${belowText(terms)} are wrong${more}`,
  ];
}

function openTexts(
  { rules, at, watchedSince, complete, forced }: ExamSources,
  rehearsal: ExamRehearsal | undefined,
  { minAge, needsRehearsal }: ExamTerms,
): readonly string[] {
  const watched = Math.max(0, at - watchedSince);
  const age = (ms: number): string => durationText(ms / 1_000);
  return [
    ...(complete ? [] : ["not every instance responded"]),
    ...(watched < minAge ? [`the ledger has been watching for ${age(watched)}, not for ${age(minAge)}`] : []),
    ...(forced === undefined ? [] : [`rules do not decide: forced to ${forced}`]),
    ...rules.flatMap((rule) => troubleTexts(rule).map((text) => `rule ${rule.name}: ${text}`)),
    ...(rehearsal?.state === "guarded" ? [`rehearsal ${rehearsal.rule} stopped, v2 failed: ${rehearsal.why}`] : []),
    ...(needsRehearsal ? rehearsalTexts(rehearsal) : []),
  ];
}

function rehearsalTexts(rehearsal: ExamRehearsal | undefined): readonly string[] {
  if (rehearsal === undefined) return ["it was not rehearsed: no rule with fallback: refuse names it"];
  const { rule, state, requests } = rehearsal;
  if (state === "running") return [`rehearsal ${rule} is not over`];
  return state === "over" && requests === 0 ? [`rehearsal ${rule} saw no request`] : [];
}

/** Of several rules, and of several instances, the one that shows most. */
function rehearsalOf({ client, rules, at }: FailureSources): ExamRehearsal | undefined {
  const all = rules.flatMap((rule): readonly ExamRehearsal[] => {
    const { name, rehearsal, evidence, cause } = rule;
    if (rehearsal?.client !== client.name) return [];
    const { requests = 0, failures = 0 } = evidence ?? {};
    const state = rehearsalState(rule, rehearsal.until, at);
    return [{ rule: name, until: timeOf(rehearsal.until), state, requests, failures, why: cause ?? null }];
  });
  const order = ["stopped", "guarded", "running", "over"];
  return all.sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state) || b.requests - a.requests)[0];
}

function rehearsalState(
  { cause, byGuard }: Pick<KnownRule, "cause" | "byGuard">,
  until: number,
  at: number,
): ExamRehearsal["state"] {
  // Also of a rule that has expired since.
  if (cause !== undefined) return byGuard === true ? "guarded" : "stopped";
  return at < until ? "running" : "over";
}

/** v1 has PUT for the operation of this name, v2 has PATCH. */
const UPDATE = "update";

function changesOf(client: ClientEntry, operations: readonly ExamOperation[]): Exam["changes"] {
  const refused = operations.filter(({ isRefused }) => isRefused);
  const reasons = reasonsOf({ ...client, needs: { ...client.needs, lacking: [], unseen: [] } });
  const updates = operations.filter(({ operation, isRefused }) => operation === UPDATE && !isRefused).map(nameOf);
  return {
    beforeV1: refused.map((one) => {
      if (one.verdict === "unseen") return `find out which ${nameOf(one)} it needs`;
      return one.why === "v2 lacks it" ? `do without ${nameOf(one)}` : `call ${nameOf(one)} of v2 itself`;
    }),
    beforeCarryover: reasons
      .filter(({ what }) => what !== "calls paths that carryover does not know")
      .map(({ what, names, more }) => {
        if (what === RENAMES_ONLY && updates.length > 0)
          return `renames, and PATCH in place of PUT: ${updates.join(", ")}`;
        return names.length === 0 ? what : `${what}: ${names.join(", ")}${more > 0 ? `, and ${more} more` : ""}`;
      }),
  };
}

/** Of the replay, and of samples of operations that differ for this client: these may be another client's. */
function differencesOf(
  { replay, rules }: ExamSources,
  operations: readonly ExamOperation[],
): readonly ExamDifference[] {
  const differing = operations.filter(({ differing }) => differing > 0);
  const sampled = differing.flatMap(({ resource, operation }) =>
    rules
      .flatMap(({ causes }) => causes ?? [])
      .filter((cause) => cause.operation === `${resource} ${operation}`)
      .map(({ what, path, set, samples }) => ({ resource, operation, what, path, count: samples, set: set ?? null })),
  );
  return [...(replay?.differences ?? []), ...sampled];
}

function timeOf(at: number): string {
  return new Date(at).toISOString();
}

/** For people. */
export function verdictText({ verdict }: Pick<Exam, "verdict">): string {
  return { pass: "passed", fail: "FAILED", unknown: "NOT KNOWN yet" }[verdict];
}

/** `120 responses of the translation, 0 of them wrong; at most 3 % are wrong (95 %); 300 v1 requests in all`. */
export function restsOn({ requests, looks, bad, bound }: Pick<Exam, "requests" | "looks" | "bad" | "bound">): string {
  const known = looks === 0 || bound >= 1 ? "" : `; at most ${percent(bound, 2)} are wrong (95 %)`;
  return `${counted(looks, "response")} of the translation, ${bad} of them wrong${known}; ${counted(requests, "v1 request")} in all`;
}

/** 0: each passed; 1: one failed; 2: of one it is not known. */
export function examExitCode(exams: readonly Pick<Exam, "verdict">[]): number {
  if (exams.some(({ verdict }) => verdict === "fail")) return 1;
  return exams.some(({ verdict }) => verdict === "unknown") ? 2 : 0;
}
