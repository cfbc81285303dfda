/** What does a check ask, in the order of its report? (For the documentation.) */
import { PROBES } from "../check.ts";

interface Question {
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

/** A Markdown table of all questions. */
export function questionsTable(): string {
  const row = ({ id, asks }: Question, writes: string) => `| \`${id}\` | ${asks} | ${writes} |`;
  return [
    "| probe | asks | |",
    "|---|---|---|",
    ...BEFORE.map((question) => row(question, "reads")),
    ...PROBES.map((probe) => row(probe, "reads")),
    ...WRITING.map((question) => row(question, "writes")),
  ].join("\n");
}
