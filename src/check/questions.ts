/** What does a check ask, in the order of its report, and what of it has no answer yet? */
import { type Finding, sayFor } from "./finding.ts";
import { NATIVE_PROBES, PROBES } from "./probes.ts";

export interface Question {
  readonly id: string;
  readonly asks: string;
}

const BEFORE: readonly Question[] = [
  { id: "certificate", asks: "Is the certificate of each upstream accepted here, and for how long?" },
  { id: "reach", asks: "Does the API answer at each upstream's address, or something else, or nothing?" },
  { id: "clock", asks: "Do this machine and the platform agree on the time?" },
  { id: "version", asks: "Is v2 served under the configured version, or under another one that carryover knows?" },
  {
    id: "credential",
    asks: "Is the token accepted, and (with `upstream.sts.url`) for the audience that exchanged ones get?",
  },
];

const WRITING: readonly Question[] = [
  { id: "mask", asks: "Which spelling does `updateMask` want, and is a field cleared that is named with its zero?" },
  { id: "tokens", asks: "Do page tokens remember a record or a row number?" },
  { id: "write", asks: "Is everything removed again?" },
];

/** Probes that only a check that may write makes. */
export const WRITING_IDS: readonly string[] = WRITING.map(({ id }) => id);

/** What is asked by reading, what only of native v1, and what only by writing. */
export const QUESTIONS: Readonly<Record<"reads" | "native" | "writes", readonly Question[]>> = {
  reads: [...BEFORE, ...PROBES],
  native: NATIVE_PROBES,
  writes: WRITING,
};

/** Ids of what is asked; `native`: where native v1 is configured, `writing`: of a check that may write as well. */
export function idsAsked({
  native,
  writing,
}: {
  readonly native: boolean;
  readonly writing: boolean;
}): readonly string[] {
  const { reads, native: ofNative, writes } = QUESTIONS;
  return [...reads, ...(native ? ofNative : []), ...(writing ? writes : [])].map(({ id }) => id);
}

/** `findings`, and for each of `ids` without one that it was skipped and `why`: nothing that is asked may vanish. */
export function completed(
  findings: readonly Finding[],
  ids: readonly string[],
  why: string,
  remedy?: string,
): readonly Finding[] {
  const there = new Set(findings.map(({ probe }) => probe));
  return [...findings, ...ids.filter((id) => !there.has(id)).map((id) => sayFor(id).skipped(why, remedy))];
}

/** In the order of the questions; findings of one probe stay as they came. */
export function inOrder(findings: readonly Finding[]): readonly Finding[] {
  const ids = idsAsked({ native: true, writing: true });
  return [...findings].sort((a, b) => ids.indexOf(a.probe) - ids.indexOf(b.probe));
}
