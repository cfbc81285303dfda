/** What is each recorded call for, and which further ones may there be? */

import type { Config } from "../../config/config.ts";
import type { Exchange } from "../../model/exchange.ts";
import type { ApiRequest } from "../../model/http.ts";
import { type Json, member } from "../../model/json.ts";
import { PROBLEMS, type ProblemReason } from "../../model/problem.ts";
import type { EnumTable, Join, Operation, Row } from "../../model/resource.ts";
import { BATCH_RECORDS, MAX_READS } from "../../translate/joins.ts";
import type { StoredDifference } from "./assumed-records.ts";
import type { ExplainedCall, ExplainedField, ExplainedRisk } from "./explanation.ts";
import type { RecordedCall, Recording } from "./recording.ts";
import type { AskedRequest } from "./request.ts";
import { shownRequest } from "./secrets.ts";

export interface ExplainedCallParts {
  readonly operation: Operation | undefined;
  readonly recording: Recording;
  /** The same request against a platform that is known to want snake_case; undefined when the spelling is fixed. */
  readonly respelled: Recording | undefined;
  /** What the stored record is read for, and assumed to be. */
  readonly differing: StoredDifference;
  /** The same request for a record that is synced, where `differing` is not, or the other way round; undefined where none is ever synced. */
  readonly otherwise: Recording | undefined;
  readonly pageSize: number;
  /** Whether the client's own request speaks of this uid. */
  asked(uid: string): boolean;
}

/** The calls of an operation in their order. */
export function explainCalls(parts: ExplainedCallParts): ExplainedCall[] {
  return parts.recording.calls.map((call, index): ExplainedCall => {
    const { request } = call;
    return {
      upstream: "v2",
      ...shownRequest({ ...request, target: withPlaceholder(call, index, parts) }),
      mask: maskOf(request),
      ...purposeOf(call, index, parts),
      assuming: call.assuming,
    };
  });
}

/** The one call of a request that passes through. */
export function passedCall(request: AskedRequest, pass: NonNullable<Recording["pass"]>): ExplainedCall {
  return {
    upstream: pass.upstream,
    ...shownRequest({ ...request, target: pass.target }),
    mask: null,
    purpose: pass.target === request.target ? "the client's own bytes" : "the client's own bytes, but for aud",
    assuming: "",
    also: [],
  };
}

/** Behind the path, or (of a verb) in the body. */
function maskOf({ target, body }: ApiRequest): readonly string[] | null {
  const given = new URLSearchParams(target.split("?")[1] ?? "").get("updateMask") ?? maskIn(body);
  return given?.split(",") ?? null;
}

function maskIn(body: Uint8Array | undefined): string | null {
  if (body === undefined || body.length === 0) return null;
  const mask = member(JSON.parse(Buffer.from(body).toString("utf8")) as Json, "updateMask");
  return typeof mask === "string" ? mask : null;
}

/** A uid that only an assumed answer held is nobody's: a word stands for it. */
function withPlaceholder(
  { request, place }: RecordedCall,
  index: number,
  { operation, asked }: ExplainedCallParts,
): string {
  const join = joinOf({ request, place }, index, operation);
  const word = (join?.by ?? "uid").replaceAll(".", "_").toUpperCase();
  if (place.params.has("uidp.ids") && join !== undefined) {
    const [first, ...more] = place.params.getAll("uidp.ids");
    const others = more.map((uid) => `&uidp.ids=${encodeURIComponent(uid)}`).join("");
    return request.target.replace(`uidp.ids=${encodeURIComponent(first ?? "")}${others}`, `uidp.ids=${word}`);
  }
  const { uid } = place;
  return uid === "" || asked(uid) ? request.target : request.target.replace(uid, word);
}

type Purpose = Pick<ExplainedCall, "purpose" | "also">;

function purposeOf(call: RecordedCall, index: number, parts: ExplainedCallParts): Purpose {
  const { operation, recording } = parts;
  const join = joinOf(call, index, operation);
  if (join !== undefined) return joinPurpose(join, operation);
  switch (call.request.method) {
    case "GET":
      return readPurpose(call, index, parts);
    case "PATCH":
      return {
        purpose:
          call.place.sub === ""
            ? "changes the fields that updateMask lists, and nothing else"
            : `writes the ${call.place.sub}`,
        also: respelling(call, index, parts),
      };
    case "POST":
      if (call.place.kind === "other") return { purpose: "does what the verb says", also: [] };
      return {
        purpose: operation?.kind === "update" ? "writes the record by creating it again" : "creates the record",
        also: [],
      };
    case "DELETE":
      return { purpose: "deletes the record", also: [] };
    case "OPTIONS":
      return { purpose: "asks what v2 allows here; PATCH is shown as PUT", also: [] };
    default:
      return { purpose: `${recording.exchange.operation} of the ${recording.exchange.resource}`, also: [] };
  }
}

function readPurpose({ place, request }: RecordedCall, index: number, parts: ExplainedCallParts): Purpose {
  const { operation, recording, differing } = parts;
  const compared = differing.fields;
  const { exchange } = recording;
  if (operation?.kind === "list" && index === 0) return listPurpose(place, request, exchange, parts.pageSize);
  if (operation?.kind === "create" && place.kind === "list") {
    return { purpose: "looks for a record that is there already", also: [pagesOf(parts.pageSize)] };
  }
  const writes = recording.calls.slice(index + 1).some((later) => later.request.method !== "GET");
  if (writes && compared.length > 0) {
    const names = compared.join(", ");
    const one = compared.length === 1;
    return {
      purpose: `reads the stored record: ${names} ${one ? "goes" : "go"} into updateMask only if the record says otherwise`,
      also:
        differing.synced === undefined
          ? [`without ${one ? names : `any of ${names}`} in the body, this read is not made`]
          : writesOtherwise(parts),
    };
  }
  if (writes) return { purpose: "reads the stored record first", also: writesOtherwise(parts) };
  if (exchange.notes.includes("update-empty")) {
    return { purpose: "reads the record: nothing is to be written, so it is shown as it is", also: [] };
  }
  if (place.kind === "other") return { purpose: "asks v2's counterpart", also: [] };
  if (place.kind === "record") return { purpose: "reads the record", also: [] };
  return { purpose: "reads the list", also: exchange.list === undefined ? [] : [pagesOf(parts.pageSize)] };
}

/** What is written instead to a record that is synced, or is not. */
function writesOtherwise({ differing, otherwise }: ExplainedCallParts): readonly string[] {
  if (differing.synced === undefined || otherwise === undefined) return [];
  const writes = otherwise.calls.filter(({ request }) => request.method !== "GET");
  const made = writes.map(({ request: { method, target } }) => `${method} ${target}`).join(" and ");
  return [
    `of a record that is ${differing.synced ? "not synced" : "synced"}: ${made === "" ? "nothing is written" : made}`,
  ];
}

function listPurpose(place: RecordedCall["place"], request: ApiRequest, { list }: Exchange, pageSize: number): Purpose {
  if (place.kind === "record") {
    return {
      purpose: "reads the one record: an id filter becomes a Get",
      also: ["404 or 403 from the platform itself: the answer is an empty list with 200, as v1 did"],
    };
  }
  if (list !== undefined) {
    return {
      purpose: "reads the list",
      also: [pagesOf(pageSize)],
    };
  }
  if (request.target.endsWith("?page_size=1")) {
    return { purpose: "nothing can match; asks only whether the caller may ask", also: [] };
  }
  return { purpose: "reads one page: v1 itself paged this list, and so does v2", also: [] };
}

function pagesOf(pageSize: number): string {
  return `again for every further page of ${pageSize} records: by skip, several at a time, where records are counted and come by uid; else by page_token, one after another`;
}

/** The join for whose sake a call is made; the first call of an operation never is. */
function joinOf(
  { place, request }: Pick<RecordedCall, "place" | "request">,
  index: number,
  operation: Operation | undefined,
): Join | undefined {
  if (index === 0 || request.method !== "GET" || operation === undefined || !("joins" in operation)) return undefined;
  return (operation.joins ?? []).find(({ resource, read, sub }) => {
    if (resource !== place.resource?.name) return false;
    if (sub !== undefined) return place.sub === sub;
    return read === "get" ? place.kind === "record" : place.params.has("uidp.ids");
  });
}

function joinPurpose(join: Join, operation: Operation | undefined): Purpose {
  const each =
    join.read === "get" || join.sub !== undefined
      ? `one such call for each distinct ${join.by}`
      : `one such call for every ${BATCH_RECORDS} distinct values of ${join.by}`;
  const purpose =
    join.sub === undefined
      ? `reads the ${join.resource} that a record names at ${join.by}, for v1's ${join.v1}`
      : `reads the ${join.sub} of the ${join.resource}, for v1's ${join.v1}`;
  const isList = operation?.kind === "list";
  return { purpose, also: isList ? [`${each}; at most ${MAX_READS} reads beside the list`] : [] };
}

/** While nobody knows how the platform spells masks, a refused one is sent again in the other spelling. */
function respelling(call: RecordedCall, index: number, { respelled }: ExplainedCallParts): readonly string[] {
  const other = respelled?.calls[index]?.request;
  if (other === undefined || other.target === call.request.target) return [];
  const mask = maskOf(other)?.join(",") ?? "";
  return [`refused with 400 (code 3): sent once more with updateMask=${mask}, and the spelling remembered`];
}

/** What can go wrong with a request, or turn out otherwise than v1 had it? */

export interface RiskParts {
  readonly resource: string;
  readonly operation: Operation;
  readonly recording: Recording;
  readonly fields: readonly ExplainedField[];
  readonly settings: Pick<Config, "lists" | "updates" | "unknownFields" | "upstream">;
}

/** The likeliest first. What any call can meet (no connection, 401, 429) is told once, at the end. */
export function explainRisks(parts: RiskParts): ExplainedRisk[] {
  const { recording } = parts;
  const writes = recording.calls.filter(({ request }) => !["GET", "OPTIONS"].includes(request.method));
  return [
    ...(recording.exchange.list === undefined ? [] : listRisks(parts)),
    ...joinRisks(parts.operation),
    ...(isFullReplace(parts.operation) ? updateRisks(parts) : []),
    ...(parts.operation.docs?.differs ?? []).map(platformRisk),
    ...assumedRisks(recording),
    ...severalRisks(writes.length, recording.calls.length),
    ...bodyRisks(parts),
    ...(writes.length > 0 ? [ownRisk("UPSTREAM_UNREACHABLE", WRITE_LOST)] : []),
    platformRisk("what the platform refuses comes back as it said it, with v1's field names"),
  ];
}

const WRITE_LOST =
  "the connection fails after the write was sent: the error's metadata says `state: unknown`, and it is not sent again; read the record to see";

function ownRisk(reason: ProblemReason, when: string): ExplainedRisk {
  return { status: PROBLEMS[reason].http, reason, when };
}

function platformRisk(when: string): ExplainedRisk {
  return { status: null, reason: null, when };
}

function listRisks({ resource, settings }: RiskParts): ExplainedRisk[] {
  const { lists } = settings;
  const required = lists.require.resources.get(resource) ?? lists.require.default;
  const limits = `${lists.maxPages} pages, ${lists.maxRecords} records or ${lists.maxBytes} bytes`;
  return [
    ownRisk("DRAIN_TOO_LARGE", `the list has more than ${limits} (lists.max…): narrow it with a filter`),
    ownRisk("DRAIN_INCOMPLETE", "the platform's pages contradict each other twice: never a short list with 200"),
    ownRisk("UPSTREAM_TIMEOUT", `the list takes longer than ${lists.maxSeconds} s (lists.maxSeconds)`),
    ownRisk(
      "OVERLOADED",
      `${lists.maxConcurrent} long lists are read at a time; others wait, and one that would wait beyond ${lists.maxSeconds} s is refused`,
    ),
    ...(required === "none"
      ? []
      : [ownRisk("LIST_UNPROVEN", `the list cannot be proved to ${required} (lists.require)`)]),
  ];
}

function joinRisks(operation: Operation): ExplainedRisk[] {
  const joins = "joins" in operation ? (operation.joins ?? []) : [];
  if (joins.length === 0) return [];
  const vital = joins.filter(({ missing }) => missing === "error");
  const budget = `the records name so many others that more than ${MAX_READS} reads would be needed`;
  return [
    ...(operation.kind === "list" ? [ownRisk("DRAIN_TOO_LARGE", budget)] : []),
    ...vital.map(({ resource, v1 }) =>
      ownRisk("DRAIN_INCOMPLETE", `a ${resource} that a record names cannot be read (${v1})`),
    ),
  ];
}

/** What the client leaves out becomes empty, and the platform's answer is compared with what was asked for. */
function isFullReplace(operation: Operation): boolean {
  return operation.kind === "update" || (operation.kind === "composite" && operation.by === "update-wrapped");
}

function updateRisks({ recording, fields, settings }: RiskParts): ExplainedRisk[] {
  const compared = fields.filter(({ becomes }) => becomes === "when-different").map(({ v1 }) => v1);
  const left = fields.filter(({ becomes }) => becomes === "left-alone").map(({ v1 }) => v1);
  const writes = recording.calls.some(({ request }) => request.method !== "GET");
  const { mismatches } = recording.exchange;
  const lost = fields.filter(({ v1, v2 }) => v2 === null && mismatches.includes(v1)).map(({ v1 }) => v1);
  const nowhere = `${lost.join(", ")}: v2 has no place for it, so it is lost; the answer's carryover-mismatch header lists it`;
  const mismatch = {
    zeros: ownRisk(
      "UPDATE_INCOMPLETE",
      "a field that was to become empty did not; other differences are listed in the answer's carryover-mismatch header",
    ),
    fail: ownRisk("UPDATE_INCOMPLETE", "the platform stored any field otherwise than asked (updates.mismatch: fail)"),
    report: platformRisk(
      "a field that is stored otherwise than asked is only listed in the answer's carryover-mismatch header",
    ),
  }[settings.updates.mismatch];
  const race = `race: a change that somebody else makes to ${compared.join(", ")} between the read and the PATCH goes unnoticed`;
  const kept = `${left.join(", ")}: left out, so what is stored stays (v1 would have emptied it); the answer's carryover-mismatch header lists what is not empty`;
  return [
    ...(lost.length > 0 ? [platformRisk(nowhere)] : []),
    ...(writes ? [mismatch] : []),
    ...(compared.length > 0 ? [platformRisk(race)] : []),
    ...(left.length > 0 ? [platformRisk(kept)] : []),
  ];
}

/** What carryover refuses only because of what it read: under the assumptions that were made, and perhaps not under others. */
function assumedRisks({ calls, problem }: Recording): ExplainedRisk[] {
  const assuming = calls.at(-1)?.assuming;
  if (problem === undefined || assuming === undefined || problem.http >= 500) return [];
  return [ownRisk(problem.reason, `if, as assumed here, ${assuming}: ${problem.message}`)];
}

function severalRisks(writes: number, calls: number): ExplainedRisk[] {
  if (writes === 0 || calls < 2) return [];
  const between =
    writes > 1 ? [platformRisk(`${writes} writes are not one: a failure between them leaves the first ones done`)] : [];
  return [
    ownRisk("CONDITION_UNSUPPORTED", "the client adds If-Match: it cannot be kept over several calls"),
    ...between,
  ];
}

function bodyRisks({ operation, settings, recording }: RiskParts): ExplainedRisk[] {
  if (!("body" in operation) || operation.body === undefined || recording.problem !== undefined) return [];
  const { rows } = operation.body;
  const drops = tablesOf(rows).filter(({ unknown }) => unknown === "drop");
  const refuses = tablesOf(rows).filter(({ unknown }) => unknown === "refuse");
  const lacking = tablesOf(rows).flatMap(({ values }) =>
    values.flatMap(([v1, , v2]) => (v2 === null && v1 !== null ? [v1] : [])),
  );
  const names = (tables: readonly EnumTable[]) => [...new Set(tables.map(({ name }) => name))].join(", ");
  return [
    ...(refuses.length > 0 ? [ownRisk("INVALID_BODY", `a name that v1 does not know: ${names(refuses)}`)] : []),
    ...(lacking.length > 0 ? [ownRisk("INVALID_BODY", `a value that v2 cannot express: ${some(lacking)}`)] : []),
    ...(drops.length > 0
      ? [platformRisk(`an unknown name of ${names(drops)} is dropped, as v1 did, and counts as left out`)]
      : []),
    ...(settings.unknownFields.request === "refuse"
      ? [ownRisk("INVALID_BODY", "a field that v1 does not know (unknownFields.request: refuse)")]
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
