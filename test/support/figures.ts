/** Keeps figures that a test counted or measured, for docs/trust.md. */
import { appendFileSync } from "node:fs";

/** One figure of one run. */
export interface Figure {
  /** The test that counted it: `T-ISO-01`. */
  readonly id: string;
  /** What was counted, the same words in every run: `answers looked through for foreign markers`. */
  readonly what: string;
  readonly value: number;
  /** `answers`, `bytes`, `ms`, `ratio`, ... */
  readonly unit: string;
}

/** Adds a line of JSON to the file that TRUST_FIGURES names; without it nothing is kept. */
export function figure(id: string, what: string, value: number, unit: string): void {
  const file = process.env["TRUST_FIGURES"];
  if (file === undefined || file === "") return;
  appendFileSync(file, `${JSON.stringify({ id, what, value, unit } satisfies Figure)}\n`);
}
