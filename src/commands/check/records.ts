/** Probes of single records: their fields, zeros and times, and what a missing record is answered with. */
import { grouped } from "../../model/group.ts";
import { isJsonObject, type Json, type JsonObject, member } from "../../model/json.ts";
import { Problem } from "../../model/problem.ts";
import { isUnpublished, type Row } from "../../model/resource.ts";
import { counted } from "../../rules/words.ts";
import { isTypedRefusal, MISSING_OR_FORBIDDEN } from "../../translate/error.ts";
import type { ListOperation } from "../../translate/list.ts";
import { fail, type Judgement, listed, note, ok, skipped, warn } from "./finding.ts";
import {
  byLength,
  type CheckProbe,
  type ListWithPage,
  type PlatformApi,
  type PlatformResponse,
  type ProbeContext,
  shownStatus,
} from "./platform.ts";

/** Members of every list envelope. */
const PAGING: ReadonlySet<string> = new Set(["nextPageToken", "totalCount", "skipped"]);

export const fields: CheckProbe = {
  id: "fields",
  asks: "Which names does v2 send that the catalogue does not know, and the reverse? (names only, never values)",
  run: (context) => {
    const all = byLength(context);
    const full = all.filter(({ page }) => page.records.length > 0);
    const empty = all.filter(({ page }) => page.records.length === 0);
    const judged = full.flatMap((list) => judgeFields(list, context).map((judgement) => ({ list, judgement })));
    const findings = grouped(judged, ({ judgement }) => [judgement]).map((group): Judgement => {
      const [{ judgement }] = group;
      return { ...judgement, what: `${listed(group.map(({ list }) => list.resource.name))}: ${judgement.what}` };
    });
    if (full.length > 0 && !findings.some(({ level }) => level === "warn")) {
      const records = full.reduce((count, { page }) => count + page.records.length, 0);
      findings.unshift(ok(`every name in ${counted(records, "record")} is known`));
    }
    if (empty.length > 0) {
      const names = listed(empty.map(({ resource }) => resource.name));
      findings.push(skipped(`no record to look at: ${names}`, "check with a token that can read some"));
    }
    return findings;
  },
};

/** Without the name of the resource, so that several can share a finding. */
function judgeFields({ operation, page }: ListWithPage, { config }: ProbeContext): Judgement[] {
  const seen = lookAtRecords(page.records, operation);
  const envelope = new Set(operation.envelope?.map(({ v2 }) => v2));
  const extra = Object.keys(page.envelope).filter((member) => !PAGING.has(member) && !envelope.has(member));
  const unknown = [...seen.unknown, ...extra.map((member) => `page.${member}`)];
  const findings: Judgement[] = [];
  if (unknown.length > 0) {
    const shown =
      config.unknownFields.response === "pass"
        ? "are shown them: where one refuses names that it does not know, set unknownFields.response: drop"
        : "are not shown them";
    const what = `v2 sends what the catalogue does not know: ${listed(unknown)}`;
    findings.push(warn(what, `update carryover; v1 clients ${shown}`));
  }
  if (seen.unknownValues.size > 0) {
    const values = [...seen.unknownValues].slice(0, 12).join(", ");
    const what = `enum names that the catalogue does not know: ${values}`;
    findings.push(warn(what, "update carryover; v1 clients are shown v2's names"));
  }
  // Of a oneof most members are never there.
  const never = rowsOf(operation.answer.rows).filter(
    ({ row, path }) => row.oneof === undefined && seen.possible.has(path) && !seen.present.has(path),
  );
  if (never.length > 0)
    findings.push(note(`never seen in ${counted(seen.records, "record")}: ${listed(never.map(({ path }) => path))}`));
  return findings;
}

/** How many members `zeros` names. */
const EXAMPLES = 4;

export const zeros: CheckProbe = {
  id: "zeros",
  asks: "Does v2 leave zero values out?",
  run: (context) => {
    const configured = context.config.upstream.v2.omitsZeros;
    // Members that some records of a list have and others lack, and members that were there as zeros.
    const left: string[] = [];
    const shown: string[] = [];
    for (const { resource, operation, page } of byLength(context)) {
      const seen = lookAtRecords(page.records, operation);
      for (const { row, path } of rowsOf(operation.answer.rows)) {
        const present = seen.present.get(path) ?? 0;
        if (!mayOmitZero(row) || present === 0) continue;
        if (present < (seen.possible.get(path) ?? 0)) left.push(`${resource.name}.${path}`);
        else if (seen.zeros.has(path)) shown.push(`${resource.name}.${path}`);
      }
    }
    if (left.length > 0) {
      const what = `v2 leaves zero values out (sometimes there, sometimes not: ${listed(left, EXAMPLES)})`;
      const set = { path: "upstream.v2.omitsZeros", value: "yes" };
      if (configured === "no") return [fail(what, "v1 clients miss them: let carryover insert them", set)];
      return [configured === "yes" ? ok(what) : note(what, "auto does this already; yes says so", set)];
    }
    if (shown.length === 0)
      return [skipped("no record has a zero value, none lacks a member", "auto is right whatever v2 does")];
    // A few records do not prove that zeros are never omitted: `no` is the operator's decision.
    return [ok(`v2 sends zero values (${listed(shown, EXAMPLES)}); ${configured} is right`)];
  },
};

export const missing: CheckProbe = {
  id: "missing",
  asks: "Is a Get of an unused uid refused with a typed 404 or 403?",
  run: async ({ api, lists, hex }) => {
    // Below a group that the credential can see: elsewhere any platform answers 403.
    const group = lists.find(({ resource }) => resource.name === "group")?.page?.uids[0];
    const uid = group === undefined ? hex(40) : `${group}/${hex(16)}`;
    const right: string[] = [];
    const wrong = new Map<string, string[]>();
    for (const { resource, path, response: listResponse } of lists) {
      if (!resource.operations.some(({ kind }) => kind === "get")) continue;
      // Where the whole collection is missing, the finding about its list says so.
      if (!(listResponse instanceof Problem) && listResponse.status === 404) continue;
      const response = await api.get(`${path}/${uid}`);
      const words = refusalWords(response);
      if (isTypedRefusal(response.response, MISSING_OR_FORBIDDEN)) right.push(resource.name);
      else wrong.set(words, [...(wrong.get(words) ?? []), resource.name]);
    }
    return [
      ...(right.length === 0 ? [] : [ok(`refused with a typed 404 or 403: ${listed(right)}`)]),
      ...[...wrong].map(([words, names]) =>
        warn(
          `answered ${words}: ${listed(names)}`,
          "nothing to set: where v1 answered an id filter with an empty list, clients now get this as an error; see what stands in front of the platform",
        ),
      ),
    ];
  },
};

function refusalWords(response: PlatformResponse): string {
  const untyped = response.status === 404 || response.status === 403;
  return `${shownStatus(response)}${untyped ? ", without the code and the ErrorInfo or ResourceInfo of the API" : ""}`;
}

/** Compares one record of each list with native v1: for `v1.recordTimes`. */
export const times: CheckProbe = {
  id: "times",
  asks: "Does native v1 show the same times of a record as carryover?",
  async run(context) {
    if (context.native === undefined) return [];
    const found: ShownTime[] = [];
    for (const list of byLength(context)) found.push(...(await nativeTimes(context.native, list)));
    const namesOf = (shown: boolean) => found.filter((time) => time.shown === shown).map(({ name }) => name);
    return [judgeTimes(context, namesOf(true), namesOf(false))];
  },
};

/** A time that v2 has a value for (`resource.name`), and whether native v1 shows it. */
interface ShownTime {
  readonly name: string;
  readonly shown: boolean;
}

/** Native v1 is asked by the list's filter for one record: every v1 has that. */
async function nativeTimes(
  native: PlatformApi,
  { resource, operation, page }: ListWithPage,
): Promise<readonly ShownTime[]> {
  const rows = operation.answer.rows.filter(isUnpublished);
  const record = page.records.find((each) => rows.some((row) => holds(each, row)));
  const filter = operation.filters.find(({ use }) => use === "get")?.v1;
  if (record === undefined || filter === undefined) return [];
  const uid = String(member(record, "uid") ?? "");
  const target = `/${resource.domain}/v1/${resource.v1}?${filter}=${encodeURIComponent(uid)}`;
  const { status, json } = await native.get(target);
  const items = status === 200 ? member(json, "items") : undefined;
  const found = Array.isArray(items) ? items.find((each) => member(each, resource.key) === uid) : undefined;
  if (!isJsonObject(found)) return [];
  return rows
    .filter((row) => holds(record, row))
    .map(({ v1 }) => ({ name: `${resource.name}.${v1}`, shown: hasValue(found, v1) }));
}

/** Whether carryover would have a time to show there. */
function holds(record: JsonObject, { v2, from }: Row): boolean {
  return (from ?? (v2 === null ? [] : [v2])).some((name) => hasValue(record, name));
}

function hasValue(record: JsonObject, name: string): boolean {
  return (member(record, name) ?? null) !== null;
}

function judgeTimes({ config }: ProbeContext, shown: readonly string[], lacking: readonly string[]): Judgement {
  const { recordTimes } = config.v1;
  const path = "v1.recordTimes";
  if (shown.length + lacking.length === 0)
    return skipped("no record of both versions to compare", "check with a token that can read some");
  const fits = recordTimes === "all" ? lacking.length === 0 : shown.length === 0;
  if (fits) return ok("native v1 shows the times that carryover shows");
  const [what, harm] =
    recordTimes === "all"
      ? [
          `native v1 does not show ${listed(lacking)}, and carryover does`,
          "clients break that refuse fields they do not know",
        ]
      : [`native v1 shows ${listed(shown)}, and carryover does not`, "clients miss them"];
  if (shown.length > 0 && lacking.length > 0) return warn(what, `${harm}; neither value of ${path} fits all records`);
  return warn(what, harm, { path, value: recordTimes === "all" ? "published" : "all" });
}

/** What was seen in the records of one list. Names are dotted from the top of the record. */
interface SeenMembers {
  readonly records: number;
  /** Members without a row. */
  readonly unknown: Set<string>;
  /** `field: NAME` for enum names in no table. */
  readonly unknownValues: Set<string>;
  /** How often the member of each row was there, and how often the message around it was. */
  readonly present: Map<string, number>;
  readonly possible: Map<string, number>;
  /** Rows that held a zero value. */
  readonly zeros: Set<string>;
}

/** Compares the records with the rows that show them in the list of `operation`. */
export function lookAtRecords(records: readonly JsonObject[], operation: ListOperation): SeenMembers {
  const { answer, joins = [] } = operation;
  const seen: SeenMembers = {
    records: records.length,
    unknown: new Set(),
    unknownValues: new Set(),
    present: new Map(),
    possible: new Map(),
    zeros: new Set(),
  };
  // Top-level members that a row's `from` or a join reads.
  const elsewhere = [
    ...fromOf(answer.rows),
    ...joins.flatMap(({ by, when, missing }) => [
      by,
      ...(when === undefined ? [] : [when]),
      ...(typeof missing === "object" ? [missing.reduced] : []),
    ]),
  ].map((path) => path.split(".")[0] ?? path);
  const others = [...answer.v2Only, ...elsewhere];
  for (const record of records) lookAtMessage(record, answer.rows, others, "", seen);
  return seen;
}

function fromOf(rows: readonly Row[]): readonly string[] {
  return rows.flatMap((row) => [...(row.from ?? []), ...(row.kind === "message" ? fromOf(row.rows) : [])]);
}

/** `others`: names that may be there without a row. */
function lookAtMessage(
  message: JsonObject,
  rows: readonly Row[],
  others: readonly string[],
  prefix: string,
  seen: SeenMembers,
): void {
  for (const name of Object.keys(message)) {
    if (!others.includes(name) && !rows.some(({ v2 }) => v2 === name)) seen.unknown.add(`${prefix}${name}`);
  }
  for (const row of rows) {
    if (row.v2 === null) continue;
    const path = `${prefix}${row.v2}`;
    const value = member(message, row.v2);
    seen.possible.set(path, (seen.possible.get(path) ?? 0) + 1);
    if (value === undefined) continue;
    seen.present.set(path, (seen.present.get(path) ?? 0) + 1);
    if (mayOmitZero(row) && isZeroOfV2(row, value)) seen.zeros.add(path);
    lookInside(row, path, value, seen);
  }
}

function lookInside(row: Row, path: string, value: Json, seen: SeenMembers): void {
  if (row.kind === "map") {
    if (typeof row.of === "string" || !isJsonObject(value)) return;
    for (const item of Object.values(value))
      if (isJsonObject(item)) lookAtMessage(item, row.of.rows, [], `${path}.*.`, seen);
    return;
  }
  for (const item of row.list === true && Array.isArray(value) ? value : [value]) {
    if (row.kind === "message" && isJsonObject(item)) {
      lookAtMessage(item, row.rows, row.v2Only ?? [], `${path}.`, seen);
    }
    // Only text that is spelled as a name is one: anything else could be data.
    if (row.kind !== "enum" || typeof item !== "string" || !/^[A-Z][A-Z0-9_]{0,79}$/.test(item)) continue;
    if (!row.values.values.some(([, , v2]) => v2 === item)) seen.unknownValues.add(`${path}: ${item}`);
  }
}

/** Rows whose zero v1 showed and v2 may omit. Every platform omits messages and times that are not set. */
function mayOmitZero(row: Row): boolean {
  return row.presence !== "explicit" && row.oneof === undefined && !["message", "timestamp"].includes(row.kind);
}

/** `translate/update.ts` compares what v1 shows; here an enum has v2's names. */
function isZeroOfV2(row: Row, value: Json): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isJsonObject(value)) return Object.keys(value).length === 0;
  if (row.kind === "enum") return row.values.values.some(([, , v2, number]) => v2 === value && number === 0);
  return value === "" || value === false || value === 0 || value === "0";
}

/** Every row that v2 has a member for, with its path dotted from the top of the record. */
export function rowsOf(rows: readonly Row[], prefix = ""): readonly { readonly row: Row; readonly path: string }[] {
  return rows.flatMap((row) => {
    if (row.v2 === null) return [];
    const path = `${prefix}${row.v2}`;
    if (row.kind === "message") return [{ row, path }, ...rowsOf(row.rows, `${path}.`)];
    const inMap = row.kind === "map" && typeof row.of !== "string" ? row.of.rows : [];
    return [{ row, path }, ...rowsOf(inMap, `${path}.*.`)];
  });
}
