/** How does a report read on a terminal? (Aligned, bounded in width, and nothing of a stranger's moves the cursor.) */
import { cut, oneLine } from "./one-line.ts";
import { type Column, headline, lastLine, type Section, sectionsOf } from "./sections.ts";
import type { Report } from "./shape.ts";

/** Rows of one table. */
const MOST_ROWS = 50;
/** Characters of one cell; the last column of a table may be longer, nothing stands behind it. */
const WIDEST = 40;
const WIDEST_LAST = 120;
const GAP = "  ";

export function textOf(report: Report): string {
  const sections = sectionsOf(report, MOST_ROWS).map(sectionText);
  return [headline(report), ...sections, lastLine(report)].map((part) => part.trimEnd()).join("\n\n");
}

function sectionText({ title, columns, rows, notes }: Section): string {
  return [title, ...table(columns, rows), ...notes.map((note) => `${GAP}${oneLine(note)}`)].join("\n");
}

function table(columns: readonly Column[], rows: Section["rows"]): readonly string[] {
  if (rows.length === 0) return [];
  const names = columns.map(({ name }) => name);
  const lines = [names, ...rows].map((row) =>
    row.map((cell, at) => cut(cell, at === columns.length - 1 ? WIDEST_LAST : WIDEST)),
  );
  const widths = columns.map((_, at) => Math.max(...lines.map((line) => lengthOf(line[at] ?? ""))));
  return lines.map((line) => {
    const cells = line.map((cell, at) => {
      const blanks = " ".repeat((widths[at] ?? 0) - lengthOf(cell));
      return columns[at]?.right === true ? blanks + cell : cell + blanks;
    });
    return `${GAP}${cells.join(GAP)}`.trimEnd();
  });
}

/** Characters, not their UTF-16 halves. */
function lengthOf(text: string): number {
  return [...text].length;
}
