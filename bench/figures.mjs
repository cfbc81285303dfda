/** Medians, spreads, goals and tables: how the bench writes its numbers. */
import { appendFileSync } from "node:fs";

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Median, least and greatest. */
export function spread(values) {
  return { median: median(values), low: Math.min(...values), high: Math.max(...values) };
}

/** The same of `a[i] / b[i]`: neighbours in time met the same noise. */
export function ratios(a, b) {
  return spread(a.map((value, i) => value / b[i]));
}

/** The value below which a share of `share` (0 to 1) of the numbers in `sorted` lies. */
export function quantile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/**
 * One line of the first table. `key` names it in recorded.json. `value` was measured, `target` is to be reached; `least`: less is better. No `target`: measured
 * without a number to reach. `gate`: a ratio, more is better, that CI compares with the recorded one.
 */
export function goal({ key, what, against = "–", value, text, target, least = false, unit = "", gate }) {
  const asked = target === undefined ? "–" : `${least ? "≤" : "≥"} ${target}${unit}`;
  const met = least ? value <= target : value >= target;
  return { key, what, against, asked, text, reached: target === undefined ? "measured" : met ? "yes" : "no", gate };
}

/** A Markdown table. */
export function table(head, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** Median and, in brackets, least to most. */
export function range({ median, low, high }, digits) {
  return `${median.toFixed(digits)} (${low.toFixed(digits)} to ${high.toFixed(digits)})`;
}

/** Bytes as MiB. */
export function mib(bytes) {
  return (bytes / 2 ** 20).toFixed(1);
}

/**
 * Keeps a figure for docs/trust.md, one line of JSON each, where TRUST_FIGURES names a file. (The counterpart of test/support/figures.ts.)
 */
export function figure(id, what, value, unit) {
  const file = process.env.TRUST_FIGURES;
  if (file === undefined || file === "") return;
  appendFileSync(file, `${JSON.stringify({ id, what, value, unit })}\n`);
}
