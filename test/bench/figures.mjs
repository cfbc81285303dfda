/**
 * Writes figures of the bench, one line of JSON each, for docs/trust.md. (The counterpart of test/support/figures.ts.)
 */
import { appendFileSync } from "node:fs";

/** Keeps nothing unless TRUST_FIGURES names a file. */
export function figure(id, what, value, unit) {
  const file = process.env.TRUST_FIGURES;
  if (file === undefined || file === "") return;
  appendFileSync(file, `${JSON.stringify({ id, what, value, unit })}\n`);
}
