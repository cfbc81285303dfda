/** Formats numbers and tables in Markdown. */

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
