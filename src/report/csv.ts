/** How do a report's clients look in a spreadsheet? (RFC 4180, one line a client; a name must not become a formula.) */

import { oneLine } from "./one-line.ts";
import type { ClientLine, Report } from "./shape.ts";

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

/** Clients, those on v1 first; an incomplete report says so in every line, and has one for each instance that was not heard. */
export function csvOf(report: Report): string {
  const silent = report.instances.flatMap(({ address, fault }) =>
    fault === null ? [] : [line([...COLUMNS.slice(1).map(() => ""), `INCOMPLETE: ${address}: ${fault}`])],
  );
  const note = report.complete ? "" : "of an incomplete report";
  const clients = report.clients.map((client) => {
    return line([
      client.name,
      client.label,
      client.onV1 ? "yes" : "no",
      ...[client.v1, client.v2, client.over].map(String),
      client.difficulty,
      ...[client.lastV1 ?? "", client.firstSeen, client.lastSeen],
      operations(client.operations),
      ...needs(client),
      note,
    ]);
  });
  return [line(COLUMNS), ...silent, ...clients].join("\r\n");
}

function needs({ needs: { lacking, zeroedFields, longLists, unknownFields, unseen } }: ClientLine): readonly string[] {
  const fields = (all: typeof zeroedFields) => all.map(({ resource, field }) => `${resource} ${field}`).join("; ");
  const lists = longLists.map(({ resource, records }) => `${resource} ${records}`).join("; ");
  return [operations(lacking), fields(zeroedFields), lists, fields(unknownFields), operations(unseen)];
}

function operations(all: ClientLine["needs"]["lacking"]): string {
  return all.map(({ resource, operation }) => `${resource} ${operation}`).join("; ");
}

function line(cells: readonly string[]): string {
  return cells.map(cellOf).join(",");
}

/** Spreadsheets run what begins like a formula, also in full width; some begin a new cell at a semicolon or a tab that is not quoted. */
export function cellOf(text: string): string {
  const shown = oneLine(text);
  const safe = /^\s*[=+\-@＝＋－＠]/.test(shown) ? `'${shown}` : shown;
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
