/** Whether v2's record holds what a write said, field by field. */
import type { Difference } from "../model/comparison.ts";
import { isJsonObject, type Json, type JsonObject, member } from "../model/json.ts";
import type { OperationMatch } from "../model/request.ts";
import type { Operation, Row, WritableRow } from "../model/resource.ts";
import { camelCase, snakeCase } from "../model/text.ts";
import { createBodyNotes, readBody } from "../translate/body.ts";
import { isSame, isZero } from "../translate/same.ts";
import { type AskedField, findMismatches, isCompared } from "../translate/update.ts";
import { parsedObject } from "./bounded-json.ts";
import { shortened } from "./differences.ts";
import type { InterceptedWrite } from "./dry-run.ts";

export interface CreateJudgement {
  /** Fields that the record holds otherwise than the built body, or that the body lacks. */
  readonly differences: readonly Difference[];
  /** v1 fields of the response that a read never shows (a code that is shown once): not to be compared. */
  readonly hidden: ReadonlySet<string>;
}

const NO_CREATE_JUDGEMENT: CreateJudgement = { differences: [], hidden: new Set() };

/**
 * Judges a create by the record that native made of it. Fields that a Get of the resource is known to hold back (its `v2Only`)
 * are left out where the record has no value for them: no read shows them. Yields between its steps.
 */
export function* judgeCreate(
  { resource, operation }: OperationMatch,
  { request, stored }: InterceptedWrite,
  sent: JsonObject,
  native: JsonObject,
): Generator<void, CreateJudgement> {
  if (operation.kind !== "create" || request.method !== "POST") return NO_CREATE_JUDGEMENT;
  const record = stored ?? {};
  const body = parsedObject(request.body) ?? {};
  yield;
  const get = resource.operations.find(({ kind }) => kind === "get");
  const heldBack: ReadonlySet<string | null> = new Set(get?.kind === "get" ? get.answer.v2Only : []);
  const isShown = (row: Row): boolean => !heldBack.has(row.v2) || hasValue(row, record);
  const asked = operation.body.rows.filter(isShown).flatMap((row) => askedFields(row, body, { v1: "", v2: [] }));
  const mismatches = findMismatches({ body: "", asked, defaulted: [], leftAlone: [] }, record);
  yield;
  const differences = mismatches.map(({ v1 }) => {
    const field = asked.find((one) => one.v1 === v1);
    const found = field && valueAt(record, field.v2Path);
    const of = field !== undefined && found === undefined ? "missing" : "value";
    return fieldDifference(of, v1, field?.raw, found === undefined ? undefined : JSON.stringify(found));
  });
  return {
    differences: [...differences, ...lostFields(sent, native, body, operation.body.rows)],
    hidden: new Set(operation.answer.rows.filter((row) => row.v2 !== null && !isShown(row)).map(({ v1 }) => v1)),
  };
}

/** `native` and `translated`: JSON texts, where they are known. */
export function fieldDifference(of: "missing" | "value", v1: string, native?: string, translated?: string): Difference {
  const path = shortened(v1);
  return {
    class: of,
    path,
    id: undefined,
    native: native && shortened(native),
    translated: translated && shortened(translated),
  };
}

function valueAt(record: JsonObject, path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>((value, name) => member(value, name), record);
}

/** The fields of the built body for `row`; those of a message one by one, since reads never show some of them. */
function askedFields(row: Row, body: JsonObject, parent: { v1: string; v2: readonly string[] }): AskedField[] {
  if (!isWritable(row) || row.v2 === null) return [];
  const value = member(body, row.v2);
  if (value === undefined) return [];
  const v1 = parent.v1 === "" ? row.v1 : `${parent.v1}.${row.v1}`;
  const v2Path = [...parent.v2, row.v2];
  if (row.kind === "message" && row.list !== true && isJsonObject(value)) {
    return row.rows.flatMap((inner) => askedFields(inner, value, { v1, v2: v2Path }));
  }
  return [{ v1, v2Path, mask: { camelCase: "", snake_case: "" }, row, raw: JSON.stringify(value), yields: false }];
}

function isWritable(row: Row): row is Row & WritableRow {
  return row.access !== "output";
}

/** The record has a value for the row, or where the row is read from. */
function hasValue(row: Row, record: JsonObject): boolean {
  const paths = [...(row.v2 === null ? [] : [row.v2]), ...(row.from ?? [])];
  return paths.some((path) => !isZero(valueAt(record, path.split(".")), row));
}

/** A read after native's write shows what native has just written, so it proves only what the mask names. */
export interface UnnamedJudgement {
  /** Fields that v1 clients can set with a create, and that the update would not change. */
  readonly differences: readonly Difference[];
  /** The client sent what the PATCH leaves out on purpose, or an unknown field: no read tells whether native changed it. */
  readonly unproved: boolean;
}

interface UnnamedFinding {
  /** Mask paths in camelCase. */
  readonly named: ReadonlySet<string>;
  readonly operation: Operation & { readonly kind: "update" };
  readonly differences: Difference[];
  unproved: boolean;
}

/** One message of the request, and what native's response has there. */
interface MessageLevel {
  readonly rows: readonly Row[];
  /** The rows of a create there. */
  readonly created: readonly Row[];
  readonly sent: JsonObject;
  readonly native: JsonObject;
  readonly v1: string;
  readonly v2: string;
}

const NOTHING_UNNAMED: UnnamedJudgement = { differences: [], unproved: false };

/**
 * Judges the fields of an update (`sent`) that the mask does not name and that `native`'s response shows as a full replace
 * makes them: as sent, or zero when left out.
 * - A row of the create that the update declares otherwise is a `missing` difference.
 * - A field that was sent is unproved when its row is declared `never` or output, or when it has none.
 * - A row that is compared with the stored record (`when-changed`, `unless-synced`) is proved: the translation has read it.
 * - Rows of a mask class that were left out prove nothing: whether v1 emptied them is unknown afterwards.
 */
export function judgeUnnamed(
  match: OperationMatch,
  intercepted: readonly InterceptedWrite[],
  sent: Json,
  native: Json,
): UnnamedJudgement {
  const { operation, resource, uidPath } = match;
  if (operation.kind !== "update" || !isJsonObject(sent) || !isJsonObject(native)) return NOTHING_UNNAMED;
  const create = resource.operations.find(({ kind }) => kind === "create");
  const finding: UnnamedFinding = { named: namedBy(intercepted, uidPath), operation, differences: [], unproved: false };
  // The path names the record, whatever the body says.
  const { key } = resource;
  const isOther = ({ v1 }: Row): boolean => v1 !== key;
  const level: MessageLevel = {
    rows: operation.body.rows.filter(isOther),
    created: (create?.kind === "create" ? create.body.rows : []).filter(isOther),
    sent: Object.fromEntries(Object.entries(sent).filter(([name]) => name !== key && name !== snakeCase(key))),
    native,
    v1: "",
    v2: "",
  };
  judgeLevel(level, finding);
  return finding;
}

/** What the PATCH of the record itself names; parts of it in sub-resources have paths of their own. */
function namedBy(intercepted: readonly InterceptedWrite[], uidPath: string): ReadonlySet<string> {
  for (const { request } of intercepted) {
    const [path = "", query = ""] = request.target.split("?", 2);
    if (request.method !== "PATCH" || !path.endsWith(`/${uidPath}`)) continue;
    return new Set((new URLSearchParams(query).get("updateMask") ?? "").split(",").map(camelCase));
  }
  return new Set();
}

function judgeLevel(level: MessageLevel, finding: UnnamedFinding): void {
  const { rows, created, sent, native } = level;
  const bySpelling = spellingsOf([...rows, ...created]);
  const values = new Map(Object.entries(sent).map(([name, value]) => [bySpelling.get(name)?.v1 ?? name, value]));
  const creates = new Map(created.map((row) => [row.v1, row]));
  const known = new Set(rows.map(({ v1 }) => v1));
  const addLost = (row: Row, value: Json | undefined): void => {
    finding.differences.push(
      fieldDifference("missing", level.v1 + row.v1, value === undefined ? undefined : JSON.stringify(value)),
    );
  };
  for (const row of rows) {
    const path = pathOf(level.v2, row);
    if (row.v2 !== null && finding.named.has(path)) continue;
    const [value, shown, twin] = [values.get(row.v1), member(native, row.v1), creates.get(row.v1)];
    if (row.kind === "message" && "mask" in row && row.mask === "members" && isJsonObject(value)) {
      const inner: MessageLevel = {
        rows: row.rows,
        created: twin?.kind === "message" ? twin.rows : [],
        sent: value,
        native: isJsonObject(shown) ? shown : {},
        v1: `${level.v1}${row.v1}.`,
        v2: path,
      };
      judgeLevel(inner, finding);
    } else {
      const judgement = judgeRow(row, twin, value, shown, finding.operation);
      if (judgement === "unproved") finding.unproved = true;
      else if (judgement === "lost") addLost(row, value ?? shown);
    }
  }
  for (const row of created) {
    if (known.has(row.v1) || !isSettable(row)) continue;
    const [value, shown] = [values.get(row.v1), member(native, row.v1)];
    if (isReplaced(row, value, shown)) addLost(row, value ?? shown);
  }
  for (const [name, value] of values) {
    if (known.has(name) || creates.has(name) || isZero(value)) continue;
    if (isSame(value, member(native, name), undefined, false)) finding.unproved = true;
  }
}

/** Judges a row that the mask does not name; `twin`: the row of a create. */
function judgeRow(
  row: Row,
  twin: Row | undefined,
  value: Json | undefined,
  shown: Json | undefined,
  operation: UnnamedFinding["operation"],
): "lost" | "unproved" | undefined {
  if (!isReplaced(row, value, shown) || isElsewhere(row, operation)) return undefined;
  const said = !isV1Zero(value, row);
  if (isCompared(row) && row.v2 !== null && (said || isPlainZero(row, value))) return undefined;
  const declared = maskOf(row) === "always" || twin === undefined ? false : maskOf(row) === maskOf(twin);
  if (twin !== undefined && isSettable(twin) && !declared) return "lost";
  // A time that neither operation takes is the server's own, and clients send back what they have read.
  const isServersTime = row.access === "output" && row.kind === "timestamp";
  return said && !isServersTime ? "unproved" : undefined;
}

/** Native shows what a full replace makes of the field: what was sent, or zero. */
function isReplaced(row: Row, value: Json | undefined, shown: Json | undefined): boolean {
  if (isV1Zero(value, row)) return isV1Zero(shown, row);
  return !isV1Zero(shown, row) && isSame(value, shown, row, true, "v1");
}

/** The path says it, or it is written at another path, where the translation looks for itself. */
function isElsewhere({ v1, v2, from }: Row, { joins }: UnnamedFinding["operation"]): boolean {
  return v2 === null && (from !== undefined || (joins ?? []).some((join) => join.v1 === v1 && join.sub !== undefined));
}

/** An explicit zero is compared with the stored value like any other. */
function isPlainZero(row: Row, value: Json | undefined): boolean {
  return value !== undefined && value !== null && !("zeroUnsaid" in row && row.zeroUnsaid === true);
}

/** v2 has it, and a client may set it. */
function isSettable(row: Row): boolean {
  return row.access !== "output" && row.v2 !== null;
}

function maskOf(row: Row): string {
  return row.access === "output" ? "output" : (row.mask ?? "always");
}

function pathOf(parent: string, row: Row): string {
  const own = camelCase(row.v2Proto ?? snakeCase(row.v2 ?? ""));
  return parent === "" ? own : `${parent}.${own}`;
}

function isV1Zero(value: Json | undefined, row: Row): boolean {
  return isZero(value, row, "v1");
}

/**
 * Fields of a create that native's response shows as they were sent, and that `built` (v2's body) lacks: v2 would not have
 * them. What the path says need not be in the body. Rows are looked at once, however many fields there are.
 */
export function lostFields(sent: Json, native: Json, built: JsonObject, rows: readonly Row[]): Difference[] {
  if (!isJsonObject(sent) || !isJsonObject(native)) return [];
  const spellings = spellingsOf(rows);
  return Object.entries(sent).flatMap(([name, value]) => {
    const row = spellings.get(name);
    const [v1, v2] = [row?.v1 ?? name, row?.v2 ?? name];
    // The cheap checks first: most fields without a row are not in native's response either.
    if (!Object.hasOwn(native, v1) || Object.hasOwn(built, v2)) return [];
    if (row?.v2 === null && row.from !== undefined) return [];
    if (isZero(value, row, "v1") || !isSame(value, native[v1], row, false, "v1")) return [];
    return [fieldDifference("missing", v1, JSON.stringify(value))];
  });
}

/**
 * `differences` without members for which the client sent an enum value that v1 does not know. Native dropped it, so no read tells
 * what v2 would have made of it.
 */
export function withoutSentOn(
  differences: readonly Difference[],
  { operation }: OperationMatch,
  request: Uint8Array,
): readonly Difference[] {
  if (differences.length === 0 || (operation.kind !== "create" && operation.kind !== "update")) return differences;
  const { rows } = operation.body;
  const notes = createBodyNotes();
  readBody(request, rows, "drop", notes);
  const spellings = spellingsOf(rows);
  const sentOn = new Set(notes.sentOn.map(firstName).map((name) => spellings.get(name)?.v1 ?? name));
  return differences.filter(({ path }) => !sentOn.has(firstName(path)));
}

/** `kinds` of `kinds[0].name`. */
function firstName(path: string): string {
  return path.split(/[.[]/, 1)[0] ?? path;
}

/** Each row by every name that v1 accepts for it; the first of two rows counts. */
export function spellingsOf(rows: readonly Row[]): ReadonlyMap<string, Row> {
  const spellings = new Map<string, Row>();
  for (const row of rows) {
    const { v1, v1Proto = v1 } = row;
    for (const name of [v1, v1Proto, snakeCase(v1)]) if (!spellings.has(name)) spellings.set(name, row);
  }
  return spellings;
}
