/** The clients of a report as CSV. */

import { errorsOf } from "../../fleet/report.ts";
import type { ClientLine, MigrationReport } from "../../fleet/report-lines.ts";
import { FAULT_ORIGINS } from "../../model/problem.ts";
import { oneLine } from "../terminal.ts";

const COLUMNS = [
  "client",
  "label",
  "owner",
  "contact",
  "calls_v1",
  "v1_requests",
  "v2_requests",
  "v1_all_time",
  "v2_all_time",
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
  "client_errors",
  "platform_errors",
  "capacity_errors",
  "translation_errors",
  "v2_errors",
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
      client.owner ?? "",
      client.contact ?? "",
      client.onV1 ? "yes" : "no",
      ...[client.v1 ?? "", client.v2 ?? "", client.allTime.v1, client.allTime.v2 ?? "", client.over].map(String),
      client.difficulty,
      ...[client.lastV1 ?? "", client.firstSeen, client.lastSeen],
      operationsCell(client.operations),
      ...needCells(client),
      ...FAULT_ORIGINS.map((fault) => String(errorsOf(client, fault))),
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
