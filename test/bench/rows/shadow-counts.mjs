/** Counts the shadow comparisons of a carryover by result. */

/** How many by result, from its metrics. */
export async function comparisonsOf({ adminUrl }) {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  const counts = new Map();
  for (const [, result, count] of text.matchAll(/^carryover_comparisons_total\{[^}]*result="(\w+)"[^}]*\} (\d+)/gm)) {
    counts.set(result, (counts.get(result) ?? 0) + Number(count));
  }
  return counts;
}

/** What a run cannot be believed for; `ends`: comparisons by result, at its end, by the side's key. */
export function doubtsAbout(ends) {
  const doubts = [];
  const [native, shadow, hanging] = ["native", "shadow", "hanging"].map((key) => ends.get(key));
  if (native.size > 0) doubts.push("native compares answers");
  if (!shadow.has("equal")) doubts.push("shadow compared nothing");
  const others = [...shadow.keys()].filter((result) => result !== "equal" && result !== "failed");
  if (others.length > 0) doubts.push(`shadow finds ${others} where both platforms hold the same`);
  if ([...hanging.keys()].some((result) => result !== "failed")) doubts.push("a v2 that hangs was compared with");
  if (!hanging.has("failed")) doubts.push("nothing was sent to the v2 that hangs");
  return doubts;
}
