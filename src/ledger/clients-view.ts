/** The views `/clients` (JSON) and `/clients.txt` (a table) of the ledger. */

import { FAULT_ORIGINS, Problem } from "../model/problem.ts";
import { type ClientDaysView, daysView } from "./days.ts";
import { difficultyOf, difficultyWords } from "./difficulty.ts";
import {
  addErrors,
  type ClientEntry,
  countErrors,
  type Difficulty,
  type LedgerSnapshot,
  type OperationErrors,
} from "./entry.ts";

/** A snapshot, with the errors and the difficulty of each client. */
export interface ClientsView extends Omit<LedgerSnapshot, "clients"> {
  readonly clients: readonly ClientView[];
}

interface ClientView extends Omit<ClientEntry, "days"> {
  readonly days: ClientDaysView;
  /** The sum of its operations' errors; absent where there is none. */
  readonly errors?: OperationErrors | undefined;
  readonly difficulty: Difficulty;
  readonly why: string;
}

/**
 * `?client=NAME` (or `NAME*`, may be repeated): these clients only. `?v1=only`: clients that called v1 only. Throws `Problem`
 * INVALID_REQUEST for another value of `v1`.
 */
export function clientsView(snapshot: LedgerSnapshot, query = new URLSearchParams()): ClientsView {
  const clients = selected(snapshot, query).map((entry) => ({
    ...entry,
    days: daysView(entry.days),
    errors: errorsOf(entry),
    difficulty: difficultyOf(entry),
    why: difficultyWords(entry),
  }));
  return { ...snapshot, clients };
}

function errorsOf({ operations }: ClientEntry): OperationErrors | undefined {
  return addErrors(operations.map(({ errors }) => errors));
}

/** One line for each client, most v1 requests first, with the same filters. */
export function clientsTable(snapshot: LedgerSnapshot, query = new URLSearchParams()): string {
  const clients = selected(snapshot, query);
  const rows = [HEAD, ...clients.map(rowOf)];
  // In characters, not UTF-16 units.
  const widthOf = (cell = "") => [...cell].length;
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => widthOf(row[column]))));
  const lines = rows.map((row) => {
    const cells = row.map((cell, column) => {
      const blanks = " ".repeat((widths[column] ?? 0) - widthOf(cell));
      return RIGHT.has(column) ? blanks + cell : cell + blanks;
    });
    return cells.join("  ").trimEnd();
  });
  return `${[...lines, "", ...footer(snapshot, clients.length)].join("\n")}\n`;
}

const HEAD = ["client", "v1", "v2", "last v1", "difficulty", "v1 errors", "v1 operations"] as const;
/** Columns of numbers. */
const RIGHT: ReadonlySet<number> = new Set([1, 2]);
const MOST_OPERATIONS = 4;

function rowOf(entry: ClientEntry): readonly string[] {
  const { name, requests, over, lastV1, operations } = entry;
  const shown = operations.slice(0, MOST_OPERATIONS).map(({ resource, operation, requests: count, errors }) => {
    const failed = countErrors(errors);
    const called = resource === operation ? resource : `${resource} ${operation}`;
    return `${called} ${count}${failed === 0 ? "" : ` (${failed} failed)`}`;
  });
  const more = operations.length - shown.length;
  return [
    over === 0 ? name : `${name} (-${over})`,
    String(requests.v1),
    String(requests.v2),
    lastV1 === undefined ? "never" : utcMinute(lastV1),
    difficultyOf(entry),
    errorWords(errorsOf(entry)),
    [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join(", "),
  ];
}

/** By who was at fault: `6 client, 2 translation`. */
function errorWords(errors: OperationErrors = {}): string {
  return FAULT_ORIGINS.flatMap((fault) => (errors[fault] === undefined ? [] : [`${errors[fault]} ${fault}`])).join(
    ", ",
  );
}

function footer({ requests, since, at, bound, clients }: LedgerSnapshot, shown: number): readonly string[] {
  const counted = `${shown} of ${clients.length} clients; ${requests.v1} v1 and ${requests.v2} v2 requests, ${utcMinute(since)} to ${utcMinute(at)}`;
  const off = `v1 counts may be too high by the number in brackets; a client that is not listed made at most ${bound} v1 requests.`;
  const rest = requests.v2 - clients.reduce((sum, one) => sum + one.requests.v2, 0);
  const left = `${rest} v2 requests are of clients that are not listed, or were not for a while: callers of v1 go first.`;
  return [counted, ...(bound === 0 ? [] : [off]), ...(rest > 0 ? [left] : [])];
}

/** `2026-11-21 14:05Z`. */
export function utcMinute(at: number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? "?" : `${date.toISOString().slice(0, 16).replace("T", " ")}Z`;
}

function selected({ clients }: LedgerSnapshot, query: URLSearchParams): readonly ClientEntry[] {
  const v1 = query.get("v1");
  if (v1 !== null && v1 !== "only") {
    throw new Problem("INVALID_REQUEST", "v1: expected `only` (clients that called v1), or leave it out");
  }
  const wanted = query.getAll("client");
  return clients.filter(
    ({ name, lastV1 }) =>
      (v1 === null || lastV1 !== undefined) &&
      (wanted.length === 0 || wanted.some((pattern) => matchesPattern(name, pattern))),
  );
}

function matchesPattern(name: string, pattern: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
