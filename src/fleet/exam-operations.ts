/** The findings of an exam for each v1 operation of a client: how many responses were examined, and with which result. */
import type { IsUntranslated } from "../catalogue/catalogue.ts";
import { DAY_MS } from "../ledger/days.ts";
import { isUnknown } from "../ledger/difficulty.ts";
import type { ClientEntry, ClientOperation } from "../ledger/entry.ts";
import { OTHER_NAME } from "../ledger/record.ts";
import { counted, percent } from "../rules/words.ts";
import type { ComparisonCounts } from "../telemetry/progress.ts";

/** Thresholds for a pass. */
export interface ExamTerms {
  /** The share of requests that differ or fail: above 0, at most 1. */
  readonly below: number;
  /** How often each operation must have been compared, replayed or translated, unless it was called less often. */
  readonly looks: number;
  /** Milliseconds: operations that were not called since then do not count. A pass holds for as long. */
  readonly window: number;
  /** Milliseconds for which the ledger must have watched. */
  readonly minAge: number;
  readonly needsRehearsal: boolean;
}

export const EXAM_TERMS: ExamTerms = {
  below: 0.02,
  looks: 20,
  window: 14 * DAY_MS,
  minAge: 7 * DAY_MS,
  needsRehearsal: false,
};

/** Results of a replay of requests of the client, and of no other client. */
export interface ExamReplay {
  readonly operations: readonly {
    readonly resource: string;
    readonly operation: string;
    readonly compared: number;
  }[];
  /** Without noise. */
  readonly differences: readonly ExamDifference[];
}

/** A place where responses differ. */
export interface ExamDifference {
  readonly resource: string;
  readonly operation: string;
  /** `missing`, `extra`, `value`, … */
  readonly what: string;
  readonly path: string;
  /** Requests, or samples, that differ there. */
  readonly count: number;
  /** The `option: value` that removes it; null: there is none. */
  readonly set: string | null;
}

/** `good`: nothing speaks against it. `bad`: it fails without native v1. `unseen`: too little is known. */
export type OperationVerdict = "good" | "bad" | "unseen";

/** Counts are since the ledger and the comparisons count. */
export interface ExamOperation {
  readonly resource: string;
  readonly operation: string;
  readonly requests: number;
  /** Comparisons in the background, and those that differ. */
  readonly compared: number;
  readonly differing: number;
  readonly replayed: number;
  readonly replayDiffering: number;
  /** Requests that the translation served, and those that failed because of it. */
  readonly translated: number;
  readonly failed: number;
  readonly verdict: OperationVerdict;
  /** Null: nothing speaks against it. */
  readonly why: string | null;
  /** A rehearsal refuses it: neither v2 nor the translation has it. */
  readonly isRefused: boolean;
}

export interface OperationSources {
  readonly client: Pick<ClientEntry, "name" | "operations" | "needs">;
  /** Those of other clients are left out. */
  readonly comparisons: readonly ComparisonCounts[];
  readonly replay?: ExamReplay | undefined;
  readonly isUntranslated: IsUntranslated;
  /** Milliseconds since 1970. */
  readonly at: number;
}

type NamedOperation = { readonly resource: string; readonly operation: string };

/** The operations that the client called in the window, those that speak against it first. */
export function examOperations(sources: OperationSources, terms: ExamTerms): readonly ExamOperation[] {
  const { client, at } = sources;
  const rank = ({ verdict }: ExamOperation): number => ["bad", "unseen", "good"].indexOf(verdict);
  return client.operations
    .filter(({ lastSeen }) => lastSeen >= at - terms.window)
    .map((one) => examined(one, sources, terms))
    .sort((a, b) => rank(a) - rank(b) || b.requests - a.requests);
}

/** `group list`. */
export function nameOf(one: NamedOperation): string {
  return isUnknown(one) ? "paths that carryover does not know" : `${one.resource} ${one.operation}`;
}

function examined(one: ClientOperation, sources: OperationSources, terms: ExamTerms): ExamOperation {
  const { client, comparisons, replay } = sources;
  const { resource, operation, requests } = one;
  const isSame = (other: NamedOperation) => other.resource === resource && other.operation === operation;
  const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0);
  const own = comparisons.filter((row) => row.client === client.name && isSame(row));
  const places = replay?.differences.filter(isSame) ?? [];
  const counts = {
    requests,
    compared: sum(own.map((row) => row.comparisons)),
    differing: sum(own.map((row) => row.differences)),
    replayed: sum(replay?.operations.filter(isSame).map((row) => row.compared) ?? []),
    // A request may differ in several places.
    replayDiffering: Math.max(0, ...places.map(({ count }) => count)),
    translated: one.translated ?? 0,
    failed: one.errors?.translation ?? 0,
  };
  const refused = refusalOf(one, sources);
  const found = refused ?? (resource === OTHER_NAME ? UNTOLD : judged(counts, terms));
  return { resource, operation, ...counts, ...found, isRefused: refused !== undefined };
}

type Judgement = Pick<ExamOperation, "verdict" | "why">;

const UNTOLD: Judgement = { verdict: "unseen", why: "it calls more operations than the ledger tells apart" };

/** Of an operation that only native v1 serves. */
function refusalOf(one: NamedOperation, { client, isUntranslated }: OperationSources): Judgement | undefined {
  if (isUnknown(one)) return { verdict: "unseen", why: "v2 may lack them; the log names them" };
  const isLacking = client.needs.lacking.some(
    ({ resource, operation }) => resource === one.resource && operation === one.operation,
  );
  if (isLacking) return { verdict: "bad", why: "v2 lacks it" };
  return isUntranslated(one) ? { verdict: "bad", why: "carryover does not translate it, v2 has it" } : undefined;
}

type OperationCounts = Omit<ExamOperation, "resource" | "operation" | "verdict" | "why" | "isRefused">;

function judged(counts: OperationCounts, terms: ExamTerms): Judgement {
  const { requests, compared, differing, replayed, replayDiffering, translated, failed } = counts;
  const bad = (why: string): Judgement => ({ verdict: "bad", why });
  const tried = translated + failed;
  if (isTooMuch(failed, tried, terms)) {
    return bad(`${failed} of ${counted(tried, "translated request")} failed because of the translation`);
  }
  // A replay repeats each difference before it counts it.
  if (replayDiffering > 0) return bad(`${replayDiffering} of ${counted(replayed, "replayed request")} differ`);
  if (isTooMuch(differing, compared, terms)) return bad(`${differing} of ${counted(compared, "comparison")} differ`);
  const looks = looksAt(counts);
  const needed = Math.max(1, Math.min(terms.looks, requests));
  if (looks >= needed) return { verdict: "good", why: null };
  const why = looks === 0 ? "nobody has looked at it" : `looked at ${counted(looks, "time")}, ${needed} needed`;
  return { verdict: "unseen", why };
}

function isTooMuch(bad: number, all: number, { below }: ExamTerms): boolean {
  return bad > 0 && bad >= below * all;
}

/** How many responses of the translation were compared, or served to the client. */
export function looksAt({
  compared,
  replayed,
  translated,
  failed,
}: Pick<ExamOperation, "compared" | "replayed" | "translated" | "failed">): number {
  return compared + replayed + translated + failed;
}

/** `2 %`. */
export function belowText({ below }: ExamTerms): string {
  return percent(below);
}
