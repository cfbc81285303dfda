/** How does the chart's README list its values? */
import type { Value } from "./values.ts";

const BEGIN = "<!-- values: from values.yaml -->";
const END = "<!-- end of values -->";

/** The README with its list of values regenerated. Throws `Error` when the marks are not in it. */
export function readmeWith(readme: string, values: readonly Value[]): string {
  const [before, rest] = readme.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error(`helm/README.md: no ${BEGIN} … ${END}`);
  return `${before}${BEGIN}\n\n${tables(values)}\n${END}${after}`;
}

function tables(values: readonly Value[]): string {
  const lines: string[] = [];
  for (const value of values) {
    if (value.heading !== undefined) lines.push(`### ${value.heading}`, "", "| value | default | |", "|---|---|---|");
    lines.push(...rows(value));
    if (values[values.indexOf(value) + 1]?.heading !== undefined) lines.push("");
  }
  return `${lines.join("\n")}\n`;
}

function rows(value: Value): readonly string[] {
  const { children, says, path } = value;
  const below = (children ?? []).flatMap(rows);
  if (says === "" && children !== undefined) return below;
  const shown = children === undefined ? `\`${cell(JSON.stringify(value.default))}\`` : "";
  return [`| \`${path.join(".")}\` | ${shown} | ${cell(says)} |`, ...below];
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
