/** What each recorded call is for, which further calls there may be, and what can go wrong. */
import type { Config } from "../../config/config.ts";
import { PAGE_SIZE } from "../../drain/limits.ts";
import type { ApiRequest } from "../../model/http.ts";
import { type Json, member } from "../../model/json.ts";
import { PROBLEMS, type ProblemReason } from "../../model/problem.ts";
import type { EnumTable, Join, Operation, Row } from "../../model/resource.ts";
import { MAX_READS } from "../../translate/joins.ts";
import { joinsOf, type StoredDifference } from "./assumed-records.ts";
import type { ExplainedCall, ExplainedField, ExplainedRisk } from "./explanation.ts";
import type { RecordedCall, Recording } from "./recording.ts";
import type { AskedRequest } from "./request.ts";
import { shownRequest } from "./secrets.ts";

interface ExplainedCallParts {
  readonly request: AskedRequest;
  readonly operation: Operation | undefined;
  readonly recording: Recording;
  /** The same request against a platform that is known to want snake_case; undefined when the spelling is fixed. */
  readonly respelled: Recording | undefined;
  /** What the stored record is read for, and assumed to be. */
  readonly differing: StoredDifference;
  /** The same request for a record that is synced, where `differing` is not, or vice versa; undefined where none is. */
  readonly otherwise: Recording | undefined;
}

/** The calls of an operation in their order. */
export function explainCalls(parts: ExplainedCallParts): ExplainedCall[] {
  const { operation, recording } = parts;
  return recording.calls.map((call, index): ExplainedCall => {
    // The first call of an operation never reads a join.
    const join = index === 0 || operation === undefined ? undefined : joinOf(call, operation);
    return {
      upstream: "v2",
      ...shownRequest({ ...call.request, target: withPlaceholder(call, join, parts.request) }),
      mask: maskOf(call.request),
      ...(join === undefined ? purposeOf(call, index, parts) : joinPurpose(join, operation)),
      assuming: call.assuming,
    };
  });
}

/** The one call of a request that passes through. */
export function passedCall(request: AskedRequest, pass: NonNullable<Recording["pass"]>): ExplainedCall {
  const { target, body = request.body } = pass;
  const isUntouched = target === request.target && Buffer.compare(body, request.body) === 0;
  return {
    upstream: pass.upstream,
    ...shownRequest({ ...request, target, body }),
    mask: null,
    purpose: isUntouched ? "the client's own bytes" : "the client's own bytes, but for aud",
    assuming: "",
    also: [],
  };
}

/** In the query, or (of a verb) in the body. */
function maskOf({ target, body }: ApiRequest): readonly string[] | null {
  const json =
    body === undefined || body.length === 0 ? null : (JSON.parse(Buffer.from(body).toString("utf8")) as Json);
  const mask = new URLSearchParams(target.split("?")[1] ?? "").get("updateMask") ?? member(json, "updateMask");
  return typeof mask === "string" ? mask.split(",") : null;
}

/** The target with a word in place of each uid that only an assumed response held. */
function withPlaceholder({ request, subject }: RecordedCall, join: Join | undefined, asked: AskedRequest): string {
  const { target } = request;
  const word = (join?.by ?? "uid").replaceAll(".", "_").toUpperCase();
  if (subject.params.has("uidp.ids") && join !== undefined) {
    const ids = subject.params.getAll("uidp.ids").map((uid) => `uidp.ids=${encodeURIComponent(uid)}`);
    return target.replace(ids.join("&"), `uidp.ids=${word}`);
  }
  const { uid } = subject;
  const texts = [asked.target, asked.target.replaceAll(/%2f/gi, "/"), Buffer.from(asked.body).toString("utf8")];
  return uid === "" || texts.some((text) => text.includes(uid)) ? target : target.replace(uid, word);
}

type Purpose = Pick<ExplainedCall, "purpose" | "also">;

function purposeOf(call: RecordedCall, index: number, parts: ExplainedCallParts): Purpose {
  const { operation, recording, respelled } = parts;
  const { subject, request } = call;
  switch (request.method) {
    case "GET":
      return readPurpose(call, index, parts);
    case "PATCH": {
      const purpose =
        subject.sub === "" ? "changes the fields that updateMask lists, and nothing else" : `writes the ${subject.sub}`;
      // While the spelling of masks is unknown, a refused one is sent again in the other spelling.
      const other = respelled?.calls[index]?.request;
      if (other === undefined || other.target === request.target) return { purpose, also: [] };
      const mask = maskOf(other)?.join(",") ?? "";
      const also = `refused with 400 (code 3): sent once more with updateMask=${mask}, and the spelling remembered`;
      return { purpose, also: [also] };
    }
    case "POST":
      if (subject.kind === "other") return { purpose: "does what the verb says", also: [] };
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

const FURTHER_PAGES = `again for every further page of ${PAGE_SIZE} records: by skip, several at a time, where records are counted and come by uid; else by page_token, one after another`;

function readPurpose({ subject, request }: RecordedCall, index: number, parts: ExplainedCallParts): Purpose {
  const { operation, recording, differing } = parts;
  const { list, notes } = recording.exchange;
  const pages = list === undefined ? [] : [FURTHER_PAGES];
  if (operation?.kind === "list" && index === 0) {
    if (subject.kind === "record") {
      return {
        purpose: "reads the one record: an id filter becomes a Get",
        also: ["404 or 403 from the platform itself: the answer is an empty list with 200, as v1 did"],
      };
    }
    if (list !== undefined) return { purpose: "reads the list", also: pages };
    return request.target.endsWith("?page_size=1")
      ? { purpose: "nothing can match; asks only whether the caller may ask", also: [] }
      : { purpose: "reads one page: v1 itself paged this list, and so does v2", also: [] };
  }
  if (operation?.kind === "create" && subject.kind === "list") {
    return { purpose: "looks for a record that is there already", also: [FURTHER_PAGES] };
  }
  if (recording.calls.slice(index + 1).some((later) => later.request.method !== "GET")) {
    const names = differing.fields.join(", ");
    if (names === "") return { purpose: "reads the stored record first", also: writesOtherwise(parts) };
    const isOne = differing.fields.length === 1;
    return {
      purpose: `reads the stored record: ${names} ${isOne ? "goes" : "go"} into updateMask only if the record says otherwise`,
      also:
        differing.synced === undefined
          ? [`without ${isOne ? names : `any of ${names}`} in the body, this read is not made`]
          : writesOtherwise(parts),
    };
  }
  if (notes.includes("update-empty"))
    return { purpose: "reads the record: nothing is to be written, so it is shown as it is", also: [] };
  if (subject.kind === "other") return { purpose: "asks v2's counterpart", also: [] };
  if (subject.kind === "record") return { purpose: "reads the record", also: [] };
  return { purpose: "reads the list", also: pages };
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

/** The join that a call reads. */
function joinOf({ subject, request }: RecordedCall, operation: Operation): Join | undefined {
  if (request.method !== "GET") return undefined;
  return joinsOf(operation).find(({ resource, read, sub }) => {
    if (resource !== subject.resource?.name) return false;
    if (sub !== undefined) return subject.sub === sub;
    return read === "get" ? subject.kind === "record" : subject.params.has("uidp.ids");
  });
}

function joinPurpose({ resource, sub, read, by, v1 }: Join, operation: Operation | undefined): Purpose {
  const each =
    read === "get" || sub !== undefined
      ? `one such call for each value of ${by} that was not read yet`
      : `one such call for each page that names values of ${by} not read yet, more where these are long`;
  return {
    purpose:
      sub === undefined
        ? `reads the ${resource} that a record names at ${by}, for v1's ${v1}`
        : `reads the ${sub} of the ${resource}, for v1's ${v1}`,
    also: operation?.kind === "list" ? [`${each}; at most ${MAX_READS} such calls for one page`] : [],
  };
}

interface RiskParts {
  readonly resource: string;
  readonly operation: Operation;
  readonly recording: Recording;
  readonly fields: readonly ExplainedField[];
  readonly settings: Pick<Config, "lists" | "updates" | "unknownFields" | "upstream">;
}

/** What can go wrong with a request, or differ from v1: the likeliest first. */
export function explainRisks(parts: RiskParts): ExplainedRisk[] {
  const { operation, recording } = parts;
  const { calls, exchange } = recording;
  const writes = calls.filter(({ request }) => !["GET", "OPTIONS"].includes(request.method)).length;
  const isFullReplace =
    operation.kind === "update" || (operation.kind === "composite" && operation.by === "update-wrapped");
  return [
    ...(exchange.list === undefined ? [] : listRisks(parts)),
    ...joinRisks(operation),
    ...(isFullReplace ? updateRisks(parts) : []),
    ...(operation.docs?.differs ?? []).map(platformRisk),
    ...assumedRisks(recording),
    ...(writes > 0 && calls.length > 1
      ? [ownRisk("CONDITION_UNSUPPORTED", "the client adds If-Match: it cannot be kept over several calls")]
      : []),
    ...(writes > 1
      ? [platformRisk(`${writes} writes are not one: a failure between them leaves the first ones done`)]
      : []),
    ...bodyRisks(parts),
    ...(writes > 0 ? [ownRisk("UPSTREAM_UNREACHABLE", WRITE_LOST)] : []),
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
  const joins = joinsOf(operation);
  if (joins.length === 0) return [];
  const vital = joins.filter(({ missing }) => missing === "error");
  const budget = `the records of one page name so many others that more than ${MAX_READS} reads would be needed`;
  return [
    ...(operation.kind === "list" ? [ownRisk("DRAIN_TOO_LARGE", budget)] : []),
    ...vital.map(({ resource, v1 }) =>
      ownRisk("DRAIN_INCOMPLETE", `a ${resource} that a record names cannot be read (${v1})`),
    ),
  ];
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

/** What carryover refuses only because of an assumed response. */
function assumedRisks({ calls, problem }: Recording): ExplainedRisk[] {
  const assuming = calls.at(-1)?.assuming;
  if (problem === undefined || assuming === undefined || problem.http >= 500) return [];
  return [ownRisk(problem.reason, `if, as assumed here, ${assuming}: ${problem.message}`)];
}

function bodyRisks({ operation, settings, recording }: RiskParts): ExplainedRisk[] {
  if (!("body" in operation) || operation.body === undefined || recording.problem !== undefined) return [];
  const tables = tablesOf(operation.body.rows);
  const drops = tables.filter(({ unknown }) => unknown === "drop");
  const refuses = tables.filter(({ unknown }) => unknown === "refuse");
  const lacking = tables.flatMap(({ values }) =>
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
