/** JSON for files that people compare: what fits into a line of 160 characters stands on one. */
const WIDTH = 160;

/** Gives `value` as JSON without a line break at its end. */
export function compactJson(value, indent = "") {
  const flat = JSON.stringify(value);
  if (indent.length + flat.length <= WIDTH || typeof value !== "object" || value === null) return flat;
  const inner = `${indent}  `;
  const members = Array.isArray(value)
    ? value.map((item) => `${inner}${compactJson(item, inner)}`)
    : Object.entries(value).map(([key, item]) => `${inner}${JSON.stringify(key)}: ${compactJson(item, inner)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return `${open}\n${members.join(",\n")}\n${indent}${close}`;
}
