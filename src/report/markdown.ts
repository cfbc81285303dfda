/** How does a report read as Markdown? (To be put into an issue or a wiki: a name must stay a name there.) */
import { cut, oneLine } from "./one-line.ts";
import { headline, lastLine, type Section, sectionsOf } from "./sections.ts";
import type { Report } from "./shape.ts";

const MOST_ROWS = 500;
const WIDEST = 400;

export function markdownOf(report: Report): string {
  const sections = sectionsOf(report, MOST_ROWS).map(sectionText);
  return [`# ${plain(headline(report))}`, ...sections, `**${plain(lastLine(report))}**`].join("\n\n");
}

function sectionText({ title, columns, rows, notes }: Section): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const table = [
    line(columns.map(({ name }) => plain(name))),
    line(columns.map(({ right }) => (right === true ? "---:" : "---"))),
    ...rows.map((row) => line(row.map((cell) => plain(cut(cell, WIDEST))))),
  ].join("\n");
  return [`## ${plain(title)}`, ...(rows.length === 0 ? [] : [table]), ...notes.map(plain)].join("\n\n");
}

/** Every sign that means something to Markdown or HTML as itself; `www.` and `@name` would become links and calls. */
export function plain(text: string): string {
  return oneLine(text)
    .replaceAll(/[\\`*_{}[\]<>|~#!]/g, "\\$&")
    .replaceAll("&", "&amp;")
    .replaceAll("@", "&#64;")
    .replaceAll(/\b(www)\./gi, "$1&#46;")
    .replaceAll(/\b(https?|ftp):/gi, "$1&#58;");
}
