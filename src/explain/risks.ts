/** What can go wrong with a request, or turn out otherwise than v1 had it? */
import type { Config } from "../config.ts";
import { PROBLEMS, type ProblemReason } from "../model/problem.ts";
import type { EnumTable, Operation, Row } from "../model/resource.ts";
import { MAX_READS } from "../translate/others.ts";
import type { ExplainedField, Risk } from "./explanation.ts";
import type { Recording } from "./record.ts";

export interface RiskParts {
  readonly resource: string;
  readonly operation: Operation;
  readonly recording: Recording;
  readonly fields: readonly ExplainedField[];
  readonly settings: Pick<Config, "lists" | "updates" | "unknownFields" | "upstream">;
}

/** The likeliest first. What any call can meet (no connection, 401, 429) is told once, at the end. */
export function explainRisks(parts: RiskParts): Risk[] {
  const { recording } = parts;
  const writes = recording.calls.filter(({ request }) => !["GET", "OPTIONS"].includes(request.method));
  return [
    ...(recording.exchange.list === undefined ? [] : listRisks(parts)),
    ...joinRisks(parts.operation),
    ...(replaces(parts.operation) ? updateRisks(parts) : []),
    ...(parts.operation.docs?.differs ?? []).map(platform),
    ...assumedRisks(recording),
    ...severalRisks(writes.length, recording.calls.length),
    ...bodyRisks(parts),
    ...(writes.length > 0 ? [own("UPSTREAM_UNREACHABLE", WRITE_LOST)] : []),
    platform("what the platform refuses comes back as it said it, with v1's field names"),
  ];
}

const WRITE_LOST =
  "the connection fails after the write was sent: the error's metadata says `state: unknown`, and it is not sent again; read the record to see";

function own(reason: ProblemReason, when: string): Risk {
  return { status: PROBLEMS[reason].http, reason, when };
}

function platform(when: string): Risk {
  return { status: null, reason: null, when };
}

function listRisks({ resource, settings }: RiskParts): Risk[] {
  const { lists } = settings;
  const required = lists.require.resources.get(resource) ?? lists.require.default;
  const limits = `${lists.maxPages} pages, ${lists.maxRecords} records or ${lists.maxBytes} bytes`;
  return [
    own("DRAIN_TOO_LARGE", `the list has more than ${limits} (lists.max…): narrow it with a filter`),
    own("DRAIN_INCOMPLETE", "the platform's pages contradict each other twice: never a short list with 200"),
    own("UPSTREAM_TIMEOUT", `the list takes longer than ${lists.maxSeconds} s (lists.maxSeconds)`),
    own(
      "OVERLOADED",
      `${lists.maxConcurrent} long lists are read at a time; others wait, and one that would wait beyond ${lists.maxSeconds} s is refused`,
    ),
    ...(required === "none" ? [] : [own("LIST_UNPROVEN", `the list cannot be proved to ${required} (lists.require)`)]),
  ];
}

function joinRisks(operation: Operation): Risk[] {
  const joins = "joins" in operation ? (operation.joins ?? []) : [];
  if (joins.length === 0) return [];
  const vital = joins.filter(({ missing }) => missing === "error");
  const budget = `the records name so many others that more than ${MAX_READS} reads would be needed`;
  return [
    ...(operation.kind === "list" ? [own("DRAIN_TOO_LARGE", budget)] : []),
    ...vital.map(({ resource, v1 }) =>
      own("DRAIN_INCOMPLETE", `a ${resource} that a record names cannot be read (${v1})`),
    ),
  ];
}

/** What the client leaves out becomes empty, and the platform's answer is compared with what was asked for. */
function replaces(operation: Operation): boolean {
  return operation.kind === "update" || (operation.kind === "composite" && operation.by === "update-wrapped");
}

function updateRisks({ recording, fields, settings }: RiskParts): Risk[] {
  const compared = fields.filter(({ becomes }) => becomes === "when-different").map(({ v1 }) => v1);
  const left = fields.filter(({ becomes }) => becomes === "left-alone").map(({ v1 }) => v1);
  const writes = recording.calls.some(({ request }) => request.method !== "GET");
  const { mismatches } = recording.exchange;
  const lost = fields.filter(({ v1, v2 }) => v2 === null && mismatches.includes(v1)).map(({ v1 }) => v1);
  const nowhere = `${lost.join(", ")}: v2 has no place for it, so it is lost; the answer's carryover-mismatch header lists it`;
  const mismatch = {
    zeros: own(
      "UPDATE_INCOMPLETE",
      "a field that was to become empty did not; other differences are listed in the answer's carryover-mismatch header",
    ),
    fail: own("UPDATE_INCOMPLETE", "the platform stored any field otherwise than asked (updates.mismatch: fail)"),
    report: platform(
      "a field that is stored otherwise than asked is only listed in the answer's carryover-mismatch header",
    ),
  }[settings.updates.mismatch];
  const race = `race: a change that somebody else makes to ${compared.join(", ")} between the read and the PATCH goes unnoticed`;
  const kept = `${left.join(", ")}: left out, so what is stored stays (v1 would have emptied it); the answer's carryover-mismatch header lists what is not empty`;
  return [
    ...(lost.length > 0 ? [platform(nowhere)] : []),
    ...(writes ? [mismatch] : []),
    ...(compared.length > 0 ? [platform(race)] : []),
    ...(left.length > 0 ? [platform(kept)] : []),
  ];
}

/** What carryover refuses only because of what it read: under the assumptions that were made, and perhaps not under others. */
function assumedRisks({ calls, problem }: Recording): Risk[] {
  const assuming = calls.at(-1)?.assuming;
  if (problem === undefined || assuming === undefined || problem.http >= 500) return [];
  return [own(problem.reason, `if, as assumed here, ${assuming}: ${problem.message}`)];
}

function severalRisks(writes: number, calls: number): Risk[] {
  if (writes === 0 || calls < 2) return [];
  const between =
    writes > 1 ? [platform(`${writes} writes are not one: a failure between them leaves the first ones done`)] : [];
  return [own("CONDITION_UNSUPPORTED", "the client adds If-Match: it cannot be kept over several calls"), ...between];
}

function bodyRisks({ operation, settings, recording }: RiskParts): Risk[] {
  if (!("body" in operation) || operation.body === undefined || recording.problem !== undefined) return [];
  const { rows } = operation.body;
  const drops = tablesOf(rows).filter(({ unknown }) => unknown === "drop");
  const refuses = tablesOf(rows).filter(({ unknown }) => unknown === "refuse");
  const lacking = tablesOf(rows).flatMap(({ values }) =>
    values.flatMap(([v1, , v2]) => (v2 === null && v1 !== null ? [v1] : [])),
  );
  const names = (tables: readonly EnumTable[]) => [...new Set(tables.map(({ name }) => name))].join(", ");
  return [
    ...(refuses.length > 0 ? [own("INVALID_BODY", `a name that v1 does not know: ${names(refuses)}`)] : []),
    ...(lacking.length > 0 ? [own("INVALID_BODY", `a value that v2 cannot express: ${some(lacking)}`)] : []),
    ...(drops.length > 0
      ? [platform(`an unknown name of ${names(drops)} is dropped, as v1 did, and counts as left out`)]
      : []),
    ...(settings.unknownFields.request === "refuse"
      ? [own("INVALID_BODY", "a field that v1 does not know (unknownFields.request: refuse)")]
      : []),
  ];
}

/** The first few, and how many more. */
function some(names: readonly string[]): string {
  return names.length <= 4 ? names.join(", ") : `${names.slice(0, 3).join(", ")} and ${names.length - 3} more`;
}

/** The enums that a client can write. */
function tablesOf(rows: readonly Row[]): EnumTable[] {
  return rows.flatMap((row) => {
    if (row.access === "output" || row.v2 === null || row.mask === "never") return [];
    if (row.kind === "enum") return [row.values];
    return row.kind === "message" ? tablesOf(row.rows) : [];
  });
}
