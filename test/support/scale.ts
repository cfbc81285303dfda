/** How much a test tries: little in `npm test`, everything promised in `npm run real -- long`. */

/** `long` in `npm run real -- long`, else `short`. Both are real trials; only their number differs. */
export function scale(short: number, long: number): number {
  return process.env["TEST_SCALE"] === "long" ? long : short;
}
