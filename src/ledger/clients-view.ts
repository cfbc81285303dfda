/** The views `/clients` (JSON) and `/clients.txt` (a table) of the ledger. */

import { FAULT_ORIGINS, Problem } from "../model/problem.ts";
import { counted } from "../rules/words.ts";
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

/** What the rollout knows of clients. */
export interface ClientsRollout {
  /** 0 to below 100: a rule with a percentage takes the clients below it. */
  readonly bucketOf: (client: string) => number;
  /** The rule that the query names; undefined: it names none. */
  readonly rule?: AskedRule | undefined;
}

export interface AskedRule {
  readonly name: string;
  /** What it does with the requests that it takes. */
  readonly doing: string;
  readonly takes: (entry: ClientEntry) => TakenOperations;
}

/** Of the v1 operations that a client calls. */
export interface TakenOperations {
  readonly taken: readonly string[];
  /** Why it takes those, or none. */
  readonly why: string;
}

/** A snapshot, with the errors and the difficulty of each client. */
export interface ClientsView extends Omit<LedgerSnapshot, "clients"> {
  /** `taken`: clients of `clients` of which it takes an operation at least. */
  readonly rule?: { readonly name: string; readonly doing: string; readonly taken: number } | undefined;
  readonly clients: readonly ClientView[];
}

interface ClientView extends Omit<ClientEntry, "days"> {
  readonly days: ClientDaysView;
  /** The sum of its operations' errors; absent where there is none. */
  readonly errors?: OperationErrors | undefined;
  readonly difficulty: Difficulty;
  readonly why: string;
  /** 0.0 to 99.9, rounded down: a rule with `percent: 10` takes clients below 10. */
  readonly bucket?: number | undefined;
  readonly rule?: TakenOperations | undefined;
}

/**
 * `?client=NAME` (or `NAME*`, may be repeated): these clients only. `?v1=only`: clients that called v1 only. Throws `Problem`
 * INVALID_REQUEST for another value of `v1`.
 */
export function clientsView(
  snapshot: LedgerSnapshot,
  query = new URLSearchParams(),
  rollout?: ClientsRollout,
): ClientsView {
  const rule = rollout?.rule;
  const clients = selected(snapshot, query).map((entry) => ({
    ...entry,
    days: daysView(entry.days),
    errors: errorsOf(entry),
    difficulty: difficultyOf(entry),
    why: difficultyWords(entry),
    bucket: rollout && bucketIn(rollout, entry),
    rule: rule?.takes(entry),
  }));
  const taken = clients.filter((one) => (one.rule?.taken.length ?? 0) > 0).length;
  return { ...snapshot, rule: rule && { name: rule.name, doing: rule.doing, taken }, clients };
}

function bucketIn({ bucketOf }: ClientsRollout, { name }: ClientEntry): number {
  return Math.floor(bucketOf(name) * 10) / 10;
}

function errorsOf({ operations }: ClientEntry): OperationErrors | undefined {
  return addErrors(operations.map(({ errors }) => errors));
}

/** One line for each client, most v1 requests first, with the same filters. */
export function clientsTable(
  snapshot: LedgerSnapshot,
  query = new URLSearchParams(),
  rollout?: ClientsRollout,
): string {
  const clients = selected(snapshot, query);
  const columns = columnsFor(clients, rollout);
  const rows = [columns.map(({ head }) => head), ...clients.map((entry) => columns.map(({ cell }) => cell(entry)))];
  // In characters, not UTF-16 units.
  const widthOf = (cell = "") => [...cell].length;
  const widths = columns.map((_, column) => Math.max(...rows.map((row) => widthOf(row[column]))));
  const lines = rows.map((row) => {
    const cells = row.map((cell, column) => {
      const blanks = " ".repeat((widths[column] ?? 0) - widthOf(cell));
      return columns[column]?.right === true ? blanks + cell : cell + blanks;
    });
    return cells.join("  ").trimEnd();
  });
  return `${[...lines, "", ...footer(snapshot, clients, rollout?.rule)].join("\n")}\n`;
}

interface TableColumn {
  readonly head: string;
  readonly cell: (entry: ClientEntry) => string;
  /** Aligned to the right, as numbers are. */
  readonly right?: true;
}

/** Owners have a column where a client has one. */
function columnsFor(clients: readonly ClientEntry[], rollout: ClientsRollout | undefined): readonly TableColumn[] {
  const rule = rollout?.rule;
  return [
    { head: "client", cell: ({ name, over }) => (over === 0 ? name : `${name} (-${over})`) },
    ...(clients.some(({ owner, contact }) => owner !== undefined || contact !== undefined)
      ? [{ head: "owner", cell: ownerText }]
      : []),
    { head: "v1", cell: ({ requests }) => String(requests.v1), right: true },
    { head: "v2", cell: ({ requests }) => String(requests.v2), right: true },
    { head: "last v1", cell: ({ lastV1 }) => (lastV1 === undefined ? "never" : utcMinute(lastV1)) },
    { head: "difficulty", cell: difficultyOf },
    ...(rollout === undefined
      ? []
      : [{ head: "bucket", cell: (entry: ClientEntry) => bucketIn(rollout, entry).toFixed(1), right: true as const }]),
    ...(rule === undefined
      ? []
      : [{ head: `rule ${rule.name}`, cell: (entry: ClientEntry) => takenText(rule, entry) }]),
    { head: "v1 errors", cell: (entry) => errorWords(errorsOf(entry)) },
    { head: "v1 operations", cell: operationsCell },
  ];
}

/** `Build team (#build)`; empty where neither is known. */
export function ownerText({ owner, contact }: Pick<ClientEntry, "owner" | "contact">): string {
  if (owner === undefined || contact === undefined) return owner ?? contact ?? "";
  return `${owner} (${contact})`;
}

function takenText({ takes }: AskedRule, entry: ClientEntry): string {
  const { taken, why } = takes(entry);
  return `${taken.length === 0 ? "no" : "yes"}: ${why}`;
}

const MOST_OPERATIONS = 4;

function operationsCell({ operations }: ClientEntry): string {
  const shown = operations.slice(0, MOST_OPERATIONS).map(({ resource, operation, requests: count, errors }) => {
    const failed = countErrors(errors);
    const called = resource === operation ? resource : `${resource} ${operation}`;
    return `${called} ${count}${failed === 0 ? "" : ` (${failed} failed)`}`;
  });
  const more = operations.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join(", ");
}

/** By who was at fault: `6 client, 2 translation`. */
function errorWords(errors: OperationErrors = {}): string {
  return FAULT_ORIGINS.flatMap((fault) => (errors[fault] === undefined ? [] : [`${errors[fault]} ${fault}`])).join(
    ", ",
  );
}

function footer(
  { requests, since, at, bound, clients }: LedgerSnapshot,
  shown: readonly ClientEntry[],
  rule: AskedRule | undefined,
): readonly string[] {
  const listed = `${shown.length} of ${counted(clients.length, "client")}; ${requests.v1} v1 and ${counted(requests.v2, "v2 request")}, ${utcMinute(since)} to ${utcMinute(at)}`;
  const off = `v1 counts may be too high by the number in brackets; a client that is not listed made at most ${counted(bound, "v1 request")}.`;
  const rest = requests.v2 - clients.reduce((sum, one) => sum + one.requests.v2, 0);
  const left = `${counted(rest, "v2 request")} came from clients that are not listed, or were not for a while: callers of v1 go first.`;
  const takes = rule && shown.filter((entry) => rule.takes(entry).taken.length > 0).length;
  return [
    listed,
    ...(rule === undefined ? [] : [`rule ${rule.name} (${rule.doing}) takes requests of ${takes} of them now.`]),
    ...(bound === 0 ? [] : [off]),
    ...(rest > 0 ? [left] : []),
  ];
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
