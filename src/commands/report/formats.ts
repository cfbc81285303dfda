/** A report as text for a terminal, as Markdown, and its clients as CSV. */
import { cutLine, oneLine } from "../terminal.ts";
import type { ClientLine, MigrationReport } from "./report.ts";
import { headline, lastLine, type ReportColumn, type ReportSection, sectionsOf } from "./sections.ts";

/** Rows of one table on a terminal. */
const MOST_TEXT_ROWS = 50;
/** Characters of one cell; the last column may be longer. */
const WIDEST_TEXT_CELL = 40;
const WIDEST_LAST = 120;
const GAP = "  ";

export function reportText(report: MigrationReport): string {
  const sections = sectionsOf(report, MOST_TEXT_ROWS).map(sectionLines);
  return [headline(report), ...sections, lastLine(report)].map((part) => part.trimEnd()).join("\n\n");
}

function sectionLines({ title, columns, rows, notes }: ReportSection): string {
  return [title, ...textTable(columns, rows), ...notes.map((note) => `${GAP}${oneLine(note)}`)].join("\n");
}

function textTable(columns: readonly ReportColumn[], rows: ReportSection["rows"]): readonly string[] {
  if (rows.length === 0) return [];
  const names = columns.map(({ name }) => name);
  const lines = [names, ...rows].map((row) =>
    row.map((cell, at) => cutLine(cell, at === columns.length - 1 ? WIDEST_LAST : WIDEST_TEXT_CELL)),
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

/** Characters, not UTF-16 units. */
function lengthOf(text: string): number {
  return [...text].length;
}

const MOST_MARKDOWN_ROWS = 500;
const WIDEST_MARKDOWN_CELL = 400;

export function reportMarkdown(report: MigrationReport): string {
  const sections = sectionsOf(report, MOST_MARKDOWN_ROWS).map(sectionMarkdown);
  return [`# ${escapeMarkdown(headline(report))}`, ...sections, `**${escapeMarkdown(lastLine(report))}**`].join("\n\n");
}

function sectionMarkdown({ title, columns, rows, notes }: ReportSection): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const table = [
    line(columns.map(({ name }) => escapeMarkdown(name))),
    line(columns.map(({ right }) => (right === true ? "---:" : "---"))),
    ...rows.map((row) => line(row.map((cell) => escapeMarkdown(cutLine(cell, WIDEST_MARKDOWN_CELL))))),
  ].join("\n");
  return [`## ${escapeMarkdown(title)}`, ...(rows.length === 0 ? [] : [table]), ...notes.map(escapeMarkdown)].join(
    "\n\n",
  );
}

/** Escapes everything that Markdown or HTML interprets; `www.` and `@name` would become links and mentions. */
export function escapeMarkdown(text: string): string {
  return oneLine(text)
    .replaceAll(/[\\`*_{}[\]<>|~#!]/g, "\\$&")
    .replaceAll("&", "&amp;")
    .replaceAll("@", "&#64;")
    .replaceAll(/\b(www)\./gi, "$1&#46;")
    .replaceAll(/\b(https?|ftp):/gi, "$1&#58;");
}

const COLUMNS = [
  "client",
  "label",
  "calls_v1",
  "v1_requests",
  "v2_requests",
  "too_high_by_at_most",
  "hardest_need",
  "last_v1",
  "first_seen",
  "last_seen",
  "v1_operations",
  "lacking",
  "full_replace",
  "long_lists",
  "unknown_fields",
  "not_looked_into",
  "note",
] as const;

/**
 * RFC 4180: one line per client, those on v1 first. An incomplete report says so in every line and has a line for each address
 * without a response.
 */
export function reportCsv(report: MigrationReport): string {
  const silent = report.instances.flatMap(({ address, fault }) =>
    fault === null ? [] : [csvLine([...COLUMNS.slice(1).map(() => ""), `INCOMPLETE: ${address}: ${fault}`])],
  );
  const note = report.complete ? "" : "of an incomplete report";
  const clients = report.clients.map((client) => {
    return csvLine([
      client.name,
      client.label,
      client.onV1 ? "yes" : "no",
      ...[client.v1, client.v2, client.over].map(String),
      client.difficulty,
      ...[client.lastV1 ?? "", client.firstSeen, client.lastSeen],
      operationsCell(client.operations),
      ...needCells(client),
      note,
    ]);
  });
  return [csvLine(COLUMNS), ...silent, ...clients].join("\r\n");
}

function needCells({
  needs: { lacking, zeroedFields, longLists, unknownFields, unseen },
}: ClientLine): readonly string[] {
  const fields = (all: typeof zeroedFields) => all.map(({ resource, field }) => `${resource} ${field}`).join("; ");
  const lists = longLists.map(({ resource, records }) => `${resource} ${records}`).join("; ");
  return [operationsCell(lacking), fields(zeroedFields), lists, fields(unknownFields), operationsCell(unseen)];
}

function operationsCell(all: ClientLine["needs"]["lacking"]): string {
  return all.map(({ resource, operation }) => `${resource} ${operation}`).join("; ");
}

function csvLine(cells: readonly string[]): string {
  return cells.map(cellOf).join(",");
}

/**
 * Spreadsheets run cells that begin like a formula, also with full-width signs. Some split cells at a semicolon or a tab that
 * is not quoted.
 */
export function cellOf(text: string): string {
  const shown = oneLine(text);
  const safe = /^\s*[=+\-@＝＋－＠]/.test(shown) ? `'${shown}` : shown;
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
