/** Where does a figure of the bench go, so that docs/trust.md can show it? (As test/support/figures.ts: a line of JSON each.) */
import { appendFileSync } from "node:fs";

/** Keeps nothing unless TRUST_FIGURES names a file. */
export function figure(id, what, value, unit) {
  const file = process.env.TRUST_FIGURES;
  if (file === undefined || file === "") return;
  appendFileSync(file, `${JSON.stringify({ id, what, value, unit })}\n`);
}
