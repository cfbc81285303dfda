/** Which v2 names does the catalogue know in a list, and which of them does a record hold? */
import { isJsonObject, type Json, type JsonObject, member } from "../../model/json.ts";
import { isUnpublished, type Row } from "../../model/resource.ts";
import { isTypedRefusal, MISSING_OR_FORBIDDEN } from "../../translate/error.ts";
import { type Finding, findingsFor, listed } from "./finding.ts";
import {
  byLength,
  type CheckedListOperation,
  type CheckProbe,
  type PlatformAnswer,
  type PlatformApi,
  type PlatformListRead,
  type PlatformPage,
  type ProbeContext,
  shownStatus,
} from "./platform.ts";

/** What was seen in the records of one list. Names are dotted from the top of the record. */
export interface SeenMembers {
  readonly records: number;
  /** Members in no row. */
  readonly unknown: Set<string>;
  /** `field: NAME` for enum names in no table. */
  readonly unknownValues: Set<string>;
  /** How many times each row's member was there, and how many times its message was. */
  readonly present: Map<string, number>;
  readonly possible: Map<string, number>;
  /** Rows that held a zero value. */
  readonly zeros: Set<string>;
}

/** A row and where its member stands, dotted from the top of the record. */
interface RowAtPath {
  readonly row: Row;
  readonly path: string;
}

/** What the catalogue knows of one message. */
interface KnownMessage {
  readonly members: ReadonlyMap<string, KnownMember>;
  /** Names that may be there without a row. */
  readonly others: ReadonlySet<string>;
}

interface KnownMember {
  readonly row: Row;
  readonly path: string;
  /** Names of the enum, all and those of its zero. */
  readonly names: ReadonlySet<string>;
  readonly zeroNames: ReadonlySet<string>;
  /** Of the message, or of each message in a map. */
  readonly inner: KnownMessage | undefined;
}

/** Looks at the records as the list of `operation` shows them. */
export function lookAtRecords(records: readonly JsonObject[], operation: CheckedListOperation): SeenMembers {
  const seen: SeenMembers = {
    records: records.length,
    unknown: new Set(),
    unknownValues: new Set(),
    present: new Map(),
    possible: new Map(),
    zeros: new Set(),
  };
  const { rows, v2Only } = operation.answer;
  const known = knownOf(rows, [...v2Only, ...membersReadElsewhere(operation)], "");
  for (const record of records) walkRecord(record, known, "", seen);
  return seen;
}

/** Top-level members that are read by `from` of some row, or by a join. */
function membersReadElsewhere({ answer, joins = [] }: CheckedListOperation): readonly string[] {
  const paths = joins.flatMap(({ by, when, missing }) => [
    by,
    ...(when === undefined ? [] : [when]),
    ...(typeof missing === "object" ? [missing.reduced] : []),
  ]);
  return [...fromOf(answer.rows), ...paths].map((path) => path.split(".")[0] ?? path);
}

function fromOf(rows: readonly Row[]): readonly string[] {
  return rows.flatMap((row) => [...(row.from ?? []), ...(row.kind === "message" ? fromOf(row.rows) : [])]);
}

function knownOf(rows: readonly Row[], others: readonly string[], prefix: string): KnownMessage {
  const members = rows.flatMap((row) =>
    row.v2 === null ? [] : [[row.v2, memberOf(row, `${prefix}${row.v2}`)] as const],
  );
  return { members: new Map(members), others: new Set(others) };
}

function memberOf(row: Row, path: string): KnownMember {
  const values = row.kind === "enum" ? row.values.values : [];
  const names = values.flatMap(([, , v2, number]) => (v2 === null ? [] : [{ v2, number }]));
  return {
    row,
    path,
    names: new Set(names.map(({ v2 }) => v2)),
    zeroNames: new Set(names.flatMap(({ v2, number }) => (number === 0 ? [v2] : []))),
    inner: innerOf(row, path),
  };
}

function innerOf(row: Row, path: string): KnownMessage | undefined {
  if (row.kind === "message") return knownOf(row.rows, row.v2Only ?? [], `${path}.`);
  return row.kind === "map" && typeof row.of !== "string" ? knownOf(row.of.rows, [], `${path}.*.`) : undefined;
}

function walkRecord(record: JsonObject, { members, others }: KnownMessage, prefix: string, seen: SeenMembers): void {
  for (const name of Object.keys(record)) {
    if (!members.has(name) && !others.has(name)) seen.unknown.add(`${prefix}${name}`);
  }
  for (const [name, known] of members) {
    const value = member(record, name);
    countPath(seen.possible, known.path);
    if (value === undefined) continue;
    countPath(seen.present, known.path);
    if (isKnownZero(known, value)) seen.zeros.add(known.path);
    walkInside(known, value, seen);
  }
}

function walkInside({ row, path, names, inner }: KnownMember, value: Json, seen: SeenMembers): void {
  if (row.kind === "map") {
    if (inner === undefined || !isJsonObject(value)) return;
    for (const item of Object.values(value)) if (isJsonObject(item)) walkRecord(item, inner, `${path}.*.`, seen);
    return;
  }
  const items = row.list === true && Array.isArray(value) ? value : [value];
  if (row.kind === "enum") {
    // Only what is spelt as a name is one: anything else could be data.
    for (const item of items) {
      if (typeof item !== "string" || names.has(item) || !/^[A-Z][A-Z0-9_]{0,79}$/.test(item)) continue;
      seen.unknownValues.add(`${path}: ${item}`);
    }
  } else if (inner !== undefined) {
    for (const item of items) if (isJsonObject(item)) walkRecord(item, inner, `${path}.`, seen);
  }
}

/** Only rows whose zero v1 showed and v2 may leave out; messages and times are left out when unset by any platform. */
export function tellsZeros(row: Row): boolean {
  return row.presence !== "explicit" && row.oneof === undefined && !["message", "timestamp"].includes(row.kind);
}

function isKnownZero({ row, zeroNames }: KnownMember, value: Json): boolean {
  if (!tellsZeros(row)) return false;
  if (Array.isArray(value)) return value.length === 0;
  if (isJsonObject(value)) return Object.keys(value).length === 0;
  if (row.kind === "enum") return typeof value === "string" && zeroNames.has(value);
  return value === "" || value === false || value === 0 || value === "0";
}

/** Every row that v2 has a member for, with its dotted path. */
export function rowsOf(rows: readonly Row[], prefix = ""): readonly RowAtPath[] {
  return rows.flatMap((row) => {
    if (row.v2 === null) return [];
    const path = `${prefix}${row.v2}`;
    const below =
      row.kind === "message" ? row.rows : row.kind === "map" && typeof row.of !== "string" ? row.of.rows : [];
    return [{ row, path }, ...rowsOf(below, row.kind === "map" ? `${path}.*.` : `${path}.`)];
  });
}

function countPath(counts: Map<string, number>, path: string): void {
  counts.set(path, (counts.get(path) ?? 0) + 1);
}

/** Do v2's records hold what the catalogue says, no more and no less? */

const fieldsFinding = findingsFor("fields");
/** Members of every list envelope (specification section 2). */
const PAGING: ReadonlySet<string> = new Set(["nextPageToken", "totalCount", "skipped"]);

export const fields: CheckProbe = {
  id: "fields",
  asks: "Which names does v2 send that the catalogue does not know, and the reverse? (names only, never values)",
  run: (subject) => {
    const empty: string[] = [];
    const findings: Finding[] = [];
    let records = 0;
    for (const { resource, operation, page } of byLength(subject)) {
      if (page.records.length === 0) {
        empty.push(resource.name);
        continue;
      }
      const seen = lookAtRecords(page.records, operation);
      records += seen.records;
      findings.push(...judgeFields(resource.name, operation, page, seen, subject));
    }
    const unknown = findings.some(({ level }) => level === "warn");
    if (records > 0 && !unknown) findings.unshift(fieldsFinding.ok(`every name in ${records} records is known`));
    if (empty.length > 0) {
      findings.push(
        fieldsFinding.skipped(`no record to look at: ${listed(empty)}`, "check with a token that can read some"),
      );
    }
    return Promise.resolve(findings);
  },
};

function judgeFields(
  name: string,
  operation: CheckedListOperation,
  page: PlatformPage,
  seen: SeenMembers,
  { config }: ProbeContext,
): readonly Finding[] {
  const findings: Finding[] = [];
  const envelope = new Set(operation.envelope?.map(({ v2 }) => v2));
  const extra = Object.keys(page.envelope).filter((member) => !PAGING.has(member) && !envelope.has(member));
  const unknown = [...seen.unknown, ...extra.map((member) => `page.${member}`)];
  const update = "update carryover";
  if (unknown.length > 0) {
    const passed = config.unknownFields.response === "pass";
    findings.push(
      fieldsFinding.warn(
        `${name}: v2 sends what the catalogue does not know: ${listed(unknown)}`,
        passed
          ? `${update}; v1 clients are shown them: where one refuses names that it does not know, set unknownFields.response: drop`
          : `${update}; v1 clients are not shown them`,
      ),
    );
  }
  if (seen.unknownValues.size > 0) {
    findings.push(
      fieldsFinding.warn(
        `${name}: enum names that the catalogue does not know: ${[...seen.unknownValues].slice(0, 12).join(", ")}`,
        `${update}; v1 clients are shown v2's names`,
      ),
    );
  }
  const never = neverSeen(operation, seen);
  if (never.length > 0)
    findings.push(fieldsFinding.note(`${name}: never seen in ${seen.records} records: ${listed(never)}`));
  return findings;
}

/** Rows that could have been there and never were; of a oneof most members never are. */
function neverSeen(operation: CheckedListOperation, seen: SeenMembers): readonly string[] {
  return rowsOf(operation.answer.rows)
    .filter(({ row, path }) => row.oneof === undefined && seen.possible.has(path) && !seen.present.has(path))
    .map(({ path }) => path);
}

/** Does v2 leave zero values out of its answers? */

const zerosFinding = findingsFor("zeros");
const OMITS_ZEROS = "upstream.v2.omitsZeros";
const EXAMPLES = 4;

export const zeros: CheckProbe = {
  id: "zeros",
  asks: "Does v2 leave zero values out?",
  run: (subject) => Promise.resolve([judgeZeros(subject)]),
};

function judgeZeros(subject: ProbeContext): Finding {
  const configured = subject.config.upstream.v2.omitsZeros;
  const { left, shown } = evidence(subject);
  if (left.length > 0) {
    const what = `v2 leaves zero values out (sometimes there, sometimes not: ${listed(left, EXAMPLES)})`;
    if (configured === "no")
      return zerosFinding.fail(what, "v1 clients miss them: let carryover insert them", {
        path: OMITS_ZEROS,
        value: "yes",
      });
    return configured === "yes"
      ? zerosFinding.ok(what)
      : zerosFinding.note(what, "auto does this already; yes says so", { path: OMITS_ZEROS, value: "yes" });
  }
  if (shown.length === 0)
    return zerosFinding.skipped("no record has a zero value, none lacks a member", "auto is right whatever v2 does");
  // A handful of records does not prove that no zero is ever left out: `no` is for the operator to decide.
  return zerosFinding.ok(`v2 sends zero values (${listed(shown, EXAMPLES)}); ${configured} is right`);
}

/** Members that some records of a list have and others lack, and members that were there as zeros. */
function evidence(subject: ProbeContext): { readonly left: string[]; readonly shown: string[] } {
  const left: string[] = [];
  const shown: string[] = [];
  for (const { resource, operation, page } of byLength(subject)) {
    const seen = lookAtRecords(page.records, operation);
    for (const { row, path } of rowsOf(operation.answer.rows)) {
      const present = seen.present.get(path) ?? 0;
      if (!tellsZeros(row) || present === 0) continue;
      if (present < (seen.possible.get(path) ?? 0)) left.push(`${resource.name}.${path}`);
      else if (seen.zeros.has(path)) shown.push(`${resource.name}.${path}`);
    }
  }
  return { left, shown };
}

/** How does the platform answer for a record that there is not? (v1's id filter becomes a Get; its empty list hangs on this.) */

const missingFinding = findingsFor("missing");

export const missing: CheckProbe = {
  id: "missing",
  asks: "Is a Get of a uid that nobody has refused with a typed 404 or 403?",
  run: async (subject) => {
    const right: string[] = [];
    const wrong = new Map<string, string[]>();
    const uid = impossible(subject);
    for (const { resource, path } of subject.lists) {
      if (!resource.operations.some(({ kind }) => kind === "get")) continue;
      const answer = await subject.api.get(`${path}/${uid}`);
      if (isTypedRefusal(answer.response, MISSING_OR_FORBIDDEN)) right.push(resource.name);
      else wrong.set(refusalWords(answer), [...(wrong.get(refusalWords(answer)) ?? []), resource.name]);
    }
    const findings = [...wrong].map(([words, names]) => judgeMissing(words, names));
    if (right.length > 0) findings.unshift(missingFinding.ok(`refused with a typed 404 or 403: ${listed(right)}`));
    return findings;
  },
};

/** Well-formed, below a group that the credential can see (elsewhere any platform answers 403), and nobody's. */
function impossible({ lists, hex }: ProbeContext): string {
  const group = lists.find(({ resource }) => resource.name === "group")?.page?.uids[0];
  return group === undefined ? hex(40) : `${group}/${hex(16)}`;
}

function refusalWords(answer: PlatformAnswer): string {
  const untyped = answer.status === 404 || answer.status === 403;
  return `${shownStatus(answer)}${untyped ? ", without the code and the ErrorInfo or ResourceInfo of the API" : ""}`;
}

function judgeMissing(words: string, names: readonly string[]): Finding {
  return missingFinding.warn(
    `answered ${words}: ${listed(names)}`,
    "nothing to set: where v1 answered an id filter with an empty list, clients now get this as an error; see what stands in front of the platform",
  );
}

/** Does native v1 show the times that carryover shows? (`v1.recordTimes`.) */

const timesFinding = findingsFor("times");
const RECORD_TIMES = "v1.recordTimes";

export const times: CheckProbe = {
  id: "times",
  asks: "Does native v1 show the same times of a record as carryover?",
  async run(subject) {
    if (subject.native === undefined) return [];
    const found = [];
    for (const list of byLength(subject)) found.push(await compare(subject.native, list));
    return [
      judgeTimes(subject, {
        shown: found.flatMap(({ shown }) => shown),
        lacking: found.flatMap(({ lacking }) => lacking),
      }),
    ];
  },
};

/** Members `resource.name` that v2 has a value for: those that native v1 shows, and those that it does not. */
interface ShownTimes {
  readonly shown: readonly string[];
  readonly lacking: readonly string[];
}

const NO_TIMES: ShownTimes = { shown: [], lacking: [] };

/** One record of the list, as native v1 shows it: by the list's own filter for one record, since v1 has no other read. */
async function compare(
  native: PlatformApi,
  { resource, operation, page }: PlatformListRead & { readonly page: PlatformPage },
): Promise<ShownTimes> {
  const rows = operation.answer.rows.filter(isUnpublished);
  const record = page.records.find((each) => rows.some((row) => holds(each, row)));
  const filter = filterFor(operation);
  if (record === undefined || filter === undefined) return NO_TIMES;
  const uid = String(member(record, "uid") ?? "");
  const target = `/${resource.domain}/v1/${resource.v1}?${filter}=${encodeURIComponent(uid)}`;
  const { status, json } = await native.get(target);
  const items = status === 200 ? member(json, "items") : undefined;
  const told = Array.isArray(items) ? items.find((each) => member(each, resource.key) === uid) : undefined;
  if (!isJsonObject(told)) return NO_TIMES;
  const names = rows.filter((row) => holds(record, row)).map(({ v1 }) => v1);
  const named = (wanted: boolean) =>
    names.filter((name) => isThere(told, name) === wanted).map((name) => `${resource.name}.${name}`);
  return { shown: named(true), lacking: named(false) };
}

function filterFor({ filters }: CheckedListOperation): string | undefined {
  return filters.find(({ use }) => use === "get")?.v1;
}

/** Whether carryover would have a time to show there. */
function holds(record: JsonObject, { v2, from }: Row): boolean {
  return (from ?? (v2 === null ? [] : [v2])).some((name) => isThere(record, name));
}

function isThere(record: JsonObject, name: string): boolean {
  return (member(record, name) ?? null) !== null;
}

function judgeTimes({ config }: ProbeContext, { shown, lacking }: ShownTimes): Finding {
  const { recordTimes } = config.v1;
  if (shown.length + lacking.length === 0) {
    return timesFinding.skipped("no record of both versions to compare", "check with a token that can read some");
  }
  if (recordTimes === "all" && lacking.length > 0) {
    const what = `native v1 does not show ${listed(lacking)}, and carryover does`;
    return differs(what, "clients break that refuse fields they do not know", shown, "published");
  }
  if (recordTimes === "published" && shown.length > 0) {
    return differs(`native v1 shows ${listed(shown)}, and carryover does not`, "clients miss them", lacking, "all");
  }
  return timesFinding.ok("native v1 shows the times that carryover shows");
}

/** `others`: the members with which the other value of the option would be wrong. */
function differs(what: string, harm: string, others: readonly string[], value: string): Finding {
  if (others.length > 0) return timesFinding.warn(what, `${harm}; neither value of ${RECORD_TIMES} fits all records`);
  return timesFinding.warn(what, harm, { path: RECORD_TIMES, value });
}
