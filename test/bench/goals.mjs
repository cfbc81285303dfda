/**
 * One line of the first table. `first` and `second` are the numbers asked for, `value` the one measured; `least` says that
 * less is better. No `first`: measured without a number to reach.
 */
export function goal({ what, against = "–", value, text, first, second, least = false, unit = "" }) {
  const sign = least ? "≤" : "≥";
  const asked = [first, second].filter((number) => number !== undefined).map((number) => `${sign} ${number}${unit}`);
  return { what, against, asked: asked.join(", then ") || "–", text, reached: reached(value, first, second, least) };
}

function reached(value, first, second, least) {
  if (first === undefined) return "measured";
  const met = (number) => number !== undefined && (least ? value <= number : value >= number);
  if (met(second)) return "yes, the second";
  if (met(first)) return second === undefined ? "yes" : "yes, the first";
  return "no";
}
