/** Does v2's record hold what a create that was built, and not sent, says? */

import { isDeepStrictEqual } from "node:util";
import type { Difference } from "../model/comparison.ts";
import { camelCase, snakeCase } from "../model/field-names.ts";
import { isJsonObject, type Json, type JsonObject, member } from "../model/json.ts";
import type { OperationMatch } from "../model/request.ts";
import type { Operation, Row, WritableRow } from "../model/resource.ts";
import { type AskedField, findMismatches, isCompared, isSame, isZero } from "../translate/update.ts";
import { parsedObject } from "./bounded-json.ts";
import type { CapturedExchange } from "./capture.ts";
import { shortened } from "./differences.ts";
import type { InterceptedWrite } from "./dry-run.ts";

/** What the record of a create shows. */
export interface CreateJudgement {
  /** Members, by v1 names, that the record holds otherwise than the built body, or that the body lacks. */
  readonly differences: readonly Difference[];
  /** v1 members of a create's answer that a read never shows (a code that is told once): not to be compared. */
  readonly untold: ReadonlySet<string>;
}

const NO_CREATE_JUDGEMENT: CreateJudgement = { differences: [], untold: new Set() };

/**
 * `caught`: the POST of a create, answered with the record; `seen`: the create as native served it, decoded. Left out is what a Get of the resource is known to hold back (its
 * `v2Only`), where this record holds nothing there: no read shows it. Yields between its steps.
 */
export function* judgeCreate(
  { resource, operation }: OperationMatch,
  { request, stored: held }: InterceptedWrite,
  seen: CapturedExchange,
): Generator<void, CreateJudgement> {
  if (operation.kind !== "create" || request.method !== "POST") return NO_CREATE_JUDGEMENT;
  const body = parsedObject(request.body) ?? {};
  yield;
  const record = parsedObject(held.body) ?? {};
  yield;
  const heldBack = heldBackByGet(resource);
  const isShown = (row: Row): boolean => !heldBack.has(row.v2) || isRead(row, record);
  const asked = operation.body.rows.filter(isShown).flatMap((row) => askedOf(row, body, { v1: "", v2: [] }));
  const patch = { body: "", asked, defaulted: [], leftAlone: [] };
  const mismatches = findMismatches(patch, record);
  yield;
  const sent = parsedObject(seen.request) ?? {};
  yield;
  const native = parsedObject(seen.answer.body) ?? {};
  yield;
  return {
    differences: [
      ...mismatches.map(({ v1 }) => differenceOf(v1, asked, record)),
      ...lostFields(sent, native, body, operation.body.rows),
    ],
    untold: new Set(operation.answer.rows.filter((row) => row.v2 !== null && !isShown(row)).map(({ v1 }) => v1)),
  };
}

/** A place where v2 holds something else than a write asked for; `raw` and `found`: JSON texts, where they are known. */
export function mismatch(v1: string, raw?: string, found?: Json): Difference {
  return {
    class: raw !== undefined && found === undefined ? "missing" : "value",
    path: v1,
    id: undefined,
    native: raw?.slice(0, MAX_VALUE_TEXT),
    translated: found === undefined ? undefined : JSON.stringify(found).slice(0, MAX_VALUE_TEXT),
  };
}
const MAX_VALUE_TEXT = 200;

function differenceOf(v1: string, asked: readonly AskedField[], record: JsonObject): Difference {
  const field = asked.find((one) => one.v1 === v1);
  return mismatch(
    v1,
    field?.raw,
    field?.v2Path.reduce<Json | undefined>((at, name) => member(at, name), record),
  );
}

/** The members of the built body that `row` is about; those of a message one by one, since some of them are never read. */
function askedOf(row: Row, body: JsonObject, place: { v1: string; v2: readonly string[] }): AskedField[] {
  if (!isWritable(row) || row.v2 === null) return [];
  const value = member(body, row.v2);
  if (value === undefined) return [];
  const v1 = place.v1 === "" ? row.v1 : `${place.v1}.${row.v1}`;
  const v2Path = [...place.v2, row.v2];
  if (row.kind === "message" && row.list !== true && isJsonObject(value)) {
    return row.rows.flatMap((inner) => askedOf(inner, value, { v1, v2: v2Path }));
  }
  return [{ v1, v2Path, mask: { camelCase: "", snake_case: "" }, row, raw: JSON.stringify(value), yields: false }];
}

function isWritable(row: Row): row is Row & WritableRow {
  return row.access !== "output";
}

/** v2 names that a Get of the resource is known not to show. */
function heldBackByGet({ operations }: OperationMatch["resource"]): ReadonlySet<string | null> {
  const get = operations.find(({ kind }) => kind === "get");
  return new Set(get?.kind === "get" ? get.answer.v2Only : []);
}

/** The record says something there, or where the member is read from. */
function isRead(row: Row, record: JsonObject): boolean {
  const paths = [...(row.v2 === null ? [] : [row.v2]), ...(row.from ?? [])];
  return paths.some((path) => {
    const value = path.split(".").reduce<Json | undefined>((at, name) => member(at, name), record);
    return !isZero(value, row);
  });
}

/** What did native make of a full replace that the PATCH which was built does not name? */

/** A read after native's write shows what native has just written: it proves only what the mask names. */
export interface UnnamedJudgement {
  /** Members that v1 clients can give a record when they make it, and that the update would not change. */
  readonly differences: readonly Difference[];
  /** The client sent what the PATCH leaves out on purpose, or nobody knows: no read tells whether native changed it. */
  readonly unproved: boolean;
}

interface UnnamedFinding {
  /** Mask paths in camelCase. */
  readonly named: ReadonlySet<string>;
  readonly operation: Operation & { readonly kind: "update" };
  readonly differences: Difference[];
  unproved: boolean;
}

/** One message of the request beside native's answer. */
interface MessageLevel {
  readonly rows: readonly Row[];
  /** What a create takes there. */
  readonly created: readonly Row[];
  readonly sent: JsonObject;
  readonly native: JsonObject;
  readonly v1: string;
  readonly v2: string;
}

const NOTHING_UNNAMED: UnnamedJudgement = { differences: [], unproved: false };

/**
 * `sent` and `native`: the request of an update and native's answer, parsed; `caught`: what was built. Looked at is each
 * member that the mask does not name and that native shows as a full replace makes it: as it was sent, or zero when it was
 * left out. A row that a create takes and the update declares otherwise is a `missing` difference. A member whose row is
 * declared `never`, or output, or is none, is unproved when it was sent. Proved although unnamed is what is compared with the stored
 * record (`when-changed`, `unless-synced`): the translation itself has found it at its v2 name. Nothing is said of rows of a mask class that were left out: whether v1
 * emptied them nobody can tell afterwards.
 */
export function judgeUnnamed(
  match: OperationMatch,
  caught: readonly InterceptedWrite[],
  sent: Json,
  native: Json,
): UnnamedJudgement {
  const { operation, resource, uidPath } = match;
  if (operation.kind !== "update" || !isJsonObject(sent) || !isJsonObject(native)) return NOTHING_UNNAMED;
  const create = resource.operations.find(({ kind }) => kind === "create");
  const finding: UnnamedFinding = { named: namedBy(caught, uidPath), operation, differences: [], unproved: false };
  // The path says which record it is, whatever the body says.
  const without = (rows: readonly Row[]): readonly Row[] => rows.filter(({ v1 }) => v1 !== resource.key);
  const rows = without(operation.body.rows);
  const created = without(create?.kind === "create" ? create.body.rows : []);
  judgeLevel({ rows, created, sent: withoutKey(sent, resource.key), native, v1: "", v2: "" }, finding);
  return finding;
}

function withoutKey(sent: JsonObject, key: string): JsonObject {
  return Object.fromEntries(Object.entries(sent).filter(([name]) => name !== key && name !== snakeCase(key)));
}

/** What the PATCH of the record itself names; a part of it in a sub-resource has a path of its own. */
function namedBy(caught: readonly InterceptedWrite[], uidPath: string): ReadonlySet<string> {
  for (const { request } of caught) {
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
  for (const row of rows) {
    const path = pathOf(level.v2, row);
    if (row.v2 !== null && finding.named.has(path)) continue;
    const [value, shown, twin] = [values.get(row.v1), member(native, row.v1), creates.get(row.v1)];
    if (row.kind === "message" && "mask" in row && row.mask === "members" && isJsonObject(value)) {
      const within = twin?.kind === "message" ? twin.rows : [];
      const into = isJsonObject(shown) ? shown : {};
      judgeLevel(
        { rows: row.rows, created: within, sent: value, native: into, v1: `${level.v1}${row.v1}.`, v2: path },
        finding,
      );
    } else
      noteFinding(judgeRow(row, twin, value, shown, finding.operation), level.v1 + row.v1, value ?? shown, finding);
  }
  for (const row of created) {
    if (known.has(row.v1) || !isTaken(row)) continue;
    const [value, shown] = [values.get(row.v1), member(native, row.v1)];
    if (isDone(row, value, shown)) noteFinding("lost", level.v1 + row.v1, value ?? shown, finding);
  }
  for (const [name, value] of values) {
    if (known.has(name) || creates.has(name) || isZero(value)) continue;
    if (isDeepStrictEqual(member(native, name), value)) finding.unproved = true;
  }
}

function noteFinding(
  judgement: "lost" | "unproved" | undefined,
  v1: string,
  value: Json | undefined,
  finding: UnnamedFinding,
): void {
  if (judgement === "unproved") finding.unproved = true;
  if (judgement !== "lost") return;
  const native = value === undefined ? undefined : shortened(JSON.stringify(value));
  finding.differences.push({ class: "missing", path: shortened(v1), id: undefined, native, translated: undefined });
}

/** Of a row that is not named; `twin`: the same one of a create. */
function judgeRow(
  row: Row,
  twin: Row | undefined,
  value: Json | undefined,
  shown: Json | undefined,
  operation: UnnamedFinding["operation"],
): "lost" | "unproved" | undefined {
  if (!isDone(row, value, shown) || isElsewhere(row, operation)) return undefined;
  const said = !isV1Zero(value, row);
  if (isCompared(row) && row.v2 !== null && (said || isPlainZero(row, value))) return undefined;
  const declared = maskOf(row) === "always" || twin === undefined ? false : maskOf(row) === maskOf(twin);
  if (twin !== undefined && isTaken(twin) && !declared) return "lost";
  // A time that neither operation takes is the server's own, and clients send it back as they read it.
  const isServersTime = row.access === "output" && row.kind === "timestamp";
  return said && !isServersTime ? "unproved" : undefined;
}

/** Native shows what a full replace makes of the member: what was sent, or zero. */
function isDone(row: Row, value: Json | undefined, shown: Json | undefined): boolean {
  if (isV1Zero(value, row)) return isV1Zero(shown, row);
  return !isV1Zero(shown, row) && isSame(enumNameOf(value, row), shown, row, true);
}

/** Told by the path, or written behind another path, where the translation looks for itself. */
function isElsewhere({ v1, v2, from }: Row, { joins }: UnnamedFinding["operation"]): boolean {
  return v2 === null && (from !== undefined || (joins ?? []).some((join) => join.v1 === v1 && join.sub !== undefined));
}

/** An explicit zero is compared with the stored value as any other. */
function isPlainZero(row: Row, value: Json | undefined): boolean {
  return value !== undefined && value !== null && !("zeroUnsaid" in row && row.zeroUnsaid === true);
}

/** v2 has it, and a client may set it. */
function isTaken(row: Row): boolean {
  return row.access !== "output" && row.v2 !== null;
}

function maskOf(row: Row): string {
  return row.access === "output" ? "output" : (row.mask ?? "always");
}

function pathOf(parent: string, row: Row): string {
  const own = camelCase(row.v2Proto ?? snakeCase(row.v2 ?? ""));
  return parent === "" ? own : `${parent}.${own}`;
}

/** `isZero` knows the names that v2 gives to enum values. */
function isV1Zero(value: Json | undefined, row: Row): boolean {
  if (row.kind !== "enum" || row.list === true) return isZero(value, row);
  const zero = row.values.values.find(([, number]) => number === 0);
  return isZero(value) || (zero !== undefined && value === zero[0]);
}

/** Clients may send an enum's number; answers have its name. */
function enumNameOf(value: Json | undefined, row: Row): Json | undefined {
  if (row.kind !== "enum" || typeof value !== "number") return value;
  return row.values.values.find(([, number]) => number === value)?.[0] ?? value;
}

/** What did native store of a create that the built call does not say? */

/**
 * Members that the client sent, that native answered with as they were sent, and that `built` (v2's body) lacks: v2 would not
 * have them. Only for creates: an update may send back what is stored anyway. What the path says need not be in a body.
 * Rows are looked at once, however many members there are; names are shortened as in all differences.
 */
export function lostFields(sent: Json, native: Json, built: JsonObject, rows: readonly Row[]): Difference[] {
  if (!isJsonObject(sent) || !isJsonObject(native)) return [];
  const spellings = spellingsOf(rows);
  return Object.entries(sent).flatMap(([name, value]) => {
    const row = spellings.get(name);
    const [v1, v2] = [row?.v1 ?? name, row?.v2 ?? name];
    // First what costs nothing: most members that no row knows are not in native's answer either.
    if (!Object.hasOwn(native, v1) || Object.hasOwn(built, v2) || (row?.v2 === null && row.from !== undefined))
      return [];
    if (isZero(value, row) || !isDeepStrictEqual(native[v1], value)) return [];
    const text = shortened(JSON.stringify(value));
    return [{ class: "missing", path: shortened(v1), id: undefined, native: text, translated: undefined }];
  });
}

/** Each row by every name that v1 takes for it; the first of two rows counts. */
export function spellingsOf(rows: readonly Row[]): ReadonlyMap<string, Row> {
  const spellings = new Map<string, Row>();
  for (const row of rows) {
    const { v1, v1Proto = v1 } = row;
    for (const name of [v1, v1Proto, snakeCase(v1)]) if (!spellings.has(name)) spellings.set(name, row);
  }
  return spellings;
}
