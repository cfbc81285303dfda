/** Which PATCH does a v1 full replace become, and did it take effect? (Design: updates.) */

import { snakeCase } from "../model/field-names.ts";
import { isJsonObject, type Json, type JsonObject, member } from "../model/json.ts";
import type { Row, Value, WritableRow } from "../model/resource.ts";
import type { SentField, V2Body } from "./body.ts";

/** How a mask names a field: by its JSON name, as the specification does, or as the public gateway wants it. */
export type MaskSpelling = "camelCase" | "snake_case";

/** One field that the PATCH names. */
export interface AskedField {
  /** Dotted v1 path, for messages and metrics. */
  readonly v1: string;
  readonly v2Path: readonly string[];
  readonly mask: Readonly<Record<MaskSpelling, string>>;
  readonly row: Row & WritableRow;
  /** JSON text sent; a zero when the client left the field out. */
  readonly raw: string;
  /** The client left it out, and a caller without further capabilities may not clear it: where the platform refuses, it is left alone. */
  readonly yields: boolean;
}

export interface Patch {
  readonly body: string;
  readonly asked: readonly AskedField[];
  /** v1 fields that the client left out and that become zero. */
  readonly defaulted: readonly string[];
  /** v1 fields left alone although a full replace would have made them zero (conditional rows). */
  readonly leftAlone: readonly UnchangedField[];
}

/** A field that the PATCH does not name although the client left it out. */
export interface UnchangedField {
  readonly v1: string;
  readonly v2Path: readonly string[];
  readonly row: Row;
}

/** True when a field is named only if it differs from the stored record: then one read comes first. */
export function needsStored(rows: readonly Row[], body: V2Body): boolean {
  return rows.some((row) => {
    if (!isWritable(row)) return false;
    if (row.mask === "unless-synced" || row.syncs === true) return true;
    const sent = body.fields.get(row.v1);
    if (sent === undefined) return false;
    if (row.mask === "members" && row.kind === "message") {
      return sent.nested !== undefined && needsStored(row.rows, sent.nested);
    }
    return row.mask === "when-changed" && !isUnspecified(row, sent);
  });
}

/** True when the mask names the row only if what the client sent differs from the stored record. */
export function isCompared(row: Row): boolean {
  return isWritable(row) && (row.mask === "when-changed" || row.mask === "unless-synced");
}

/** The client left the choice open. */
function isUnspecified(row: Row & WritableRow, sent: SentField): boolean {
  return row.zeroUnsaid === true && isZero(parse(sent.raw), row);
}

/** True when the stored record is synced: the platform refuses to change some of its fields. */
export function isSynced(rows: readonly Row[], stored: Json | undefined): boolean {
  return rows.some((row) => isWritable(row) && row.syncs === true && !isZero(member(stored, row.v2 ?? ""), row));
}

/**
 * The PATCH for a full replace: every field that v1 could set and v2 lets a PATCH change, explicit zeros for what was
 * left out. `stored`: the v2 record as read before, when `needsStored`. Never `*`: it would wipe what v1 cannot know.
 * `synced`: whether the record is. `yields`: without the fields of which `AskedField` says so.
 */
export function buildPatch(
  rows: readonly Row[],
  body: V2Body,
  stored: Json | undefined,
  { synced = isSynced(rows, stored), yields = false }: { readonly synced?: boolean; readonly yields?: boolean } = {},
): Patch {
  const plan: PatchPlan = { synced, yields, asked: [], defaulted: [], leftAlone: [] };
  const members = collect(rows, body, stored, { v1: "", v2: [] }, plan);
  const { asked, defaulted, leftAlone } = plan;
  return { body: `{${members.join(",")}}`, asked, defaulted, leftAlone };
}

interface PatchPlan {
  readonly synced: boolean;
  readonly yields: boolean;
  readonly asked: AskedField[];
  readonly defaulted: string[];
  readonly leftAlone: UnchangedField[];
}
interface PatchedField {
  readonly v1: string;
  readonly v2: readonly string[];
}

/** The members of one message of the PATCH body; what the mask names goes into `plan`. */
function collect(
  rows: readonly Row[],
  body: V2Body,
  stored: Json | undefined,
  place: PatchedField,
  plan: PatchPlan,
): string[] {
  const members: string[] = [];
  for (const row of rows) {
    if (!isWritable(row) || row.v2 === null) continue;
    const sent = body.fields.get(row.v1);
    const at: PatchedField = { v1: place.v1 === "" ? row.v1 : `${place.v1}.${row.v1}`, v2: [...place.v2, row.v2] };
    const storedValue = member(stored, row.v2);
    const inside = row.mask === "members" && sent?.nested !== undefined;
    const raw = inside
      ? collectMembers(row, sent.nested, storedValue, at, plan)
      : chooseValue(row, sent, storedValue, at, plan);
    if (raw === undefined) continue;
    members.push(`${JSON.stringify(row.v2)}:${raw}`);
    if (inside) continue;
    const yields = sent === undefined && (row.mask === "unless-synced" || row.syncs === true);
    plan.asked.push(askedField(row, at, raw, yields));
  }
  for (const { key, raw } of body.passed) members.push(`${JSON.stringify(key)}:${raw}`);
  return members;
}

function collectMembers(
  row: Row & WritableRow,
  nested: V2Body | undefined,
  stored: Json | undefined,
  at: PatchedField,
  plan: PatchPlan,
): string | undefined {
  if (nested === undefined || row.kind !== "message") return undefined;
  const members = collect(row.rows, nested, stored, at, plan);
  return members.length === 0 ? undefined : `{${members.join(",")}}`;
}

/** The JSON text that the PATCH names for this row, or undefined when it does not name it. */
function chooseValue(
  row: Row & WritableRow,
  sent: SentField | undefined,
  stored: Json | undefined,
  at: PatchedField,
  plan: PatchPlan,
): string | undefined {
  const leftAlone = (): undefined => {
    plan.leftAlone.push({ v1: at.v1, v2Path: at.v2, row });
    return undefined;
  };
  const cleared = (): string | undefined => {
    if (isZero(stored, row)) return undefined;
    if (plan.yields) return leftAlone();
    plan.defaulted.push(at.v1);
    return zeroText(row);
  };
  switch (row.mask ?? "always") {
    case "always":
      if (sent === undefined) plan.defaulted.push(at.v1);
      return sent?.raw ?? zeroText(row);
    case "when-present":
      // An empty secret counts as left out: reads never return it, and naming it would clear it.
      if (sent !== undefined && !(row.presence !== "explicit" && isZero(parse(sent.raw), row))) return sent.raw;
      return leftAlone();
    case "when-changed":
      if (sent === undefined || isUnspecified(row, sent)) return leftAlone();
      return unlessSame(row, sent, stored);
    case "unless-synced":
      if (sent !== undefined) return unlessSame(row, sent, stored);
      return plan.synced ? leftAlone() : cleared();
    case "members":
      return row.syncs === true ? cleared() : leftAlone();
    case "never":
      return undefined;
  }
}

/** Exactly: another order of a list is a change that the client asked for. */
function unlessSame(row: Row & WritableRow, { raw }: SentField, stored: Json | undefined): string | undefined {
  return isSame(parse(raw), stored, row, false) ? undefined : raw;
}

function askedField(row: Row & WritableRow, at: PatchedField, raw: string, yields: boolean): AskedField {
  const names = at.v2.map((name, index) =>
    index === at.v2.length - 1 ? (row.v2Proto ?? snakeCase(name)) : snakeCase(name),
  );
  return {
    v1: at.v1,
    v2Path: at.v2,
    mask: { camelCase: at.v2.join("."), snake_case: names.join(".") },
    row,
    raw,
    yields,
  };
}

/** The zero of a row in v2's spelling. */
function zeroText(row: Row & WritableRow): string {
  if (row.kind === "enum" && row.list !== true && row.zero !== null) {
    const zero = row.values.values.find(([v1]) => v1 === row.zero);
    return JSON.stringify(zero?.[2] ?? null);
  }
  return JSON.stringify(row.zero);
}

/** A field that the platform did not store as asked. */
export interface Mismatch {
  readonly v1: string;
  /** It was to become zero and did not. */
  readonly zero: boolean;
}

/** v1 names of fields that kept a value although the client left them out, which meant zero in v1. */
export function findKept(patch: Patch, record: Json): string[] {
  return patch.leftAlone.filter(({ v2Path, row }) => !isZero(valueAt(record, v2Path), row)).map(({ v1 }) => v1);
}

function valueAt(record: Json, path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>((value, name) => member(value, name), record);
}

/** Compares the v2 record after the PATCH with what was asked, field by field. */
export function findMismatches(patch: Patch, record: Json): Mismatch[] {
  const mismatches: Mismatch[] = [];
  for (const { v1, v2Path, row, raw } of patch.asked) {
    if (row.echo === "none") continue;
    const wanted = parse(raw);
    const shown = valueAt(record, v2Path);
    const found = isZero(shown, row) ? (fromElsewhere(row, record) ?? shown) : shown;
    if (!isSame(wanted, found, row, row.echo === "normalised")) mismatches.push({ v1, zero: isZero(wanted, row) });
  }
  return mismatches;
}

/** Answers may show a reference only inside the object it leads to (`role.uid` for `roleUid`). */
function fromElsewhere(row: Row, record: Json): Json | undefined {
  for (const path of row.from ?? []) {
    const value = path.split(".").reduce<Json | undefined>((at, name) => member(at, name), record);
    if (!isZero(value)) return value;
  }
  return undefined;
}

function isWritable(row: Row): row is Row & WritableRow {
  return row.access !== "output";
}

function parse(raw: string): Json {
  return JSON.parse(raw) as Json;
}

/** Do two v2 values say the same, although one may leave zeros out? (Design: updates, the echo check.) */

/**
 * True for what an unset v2 member looks like: absent, null, the zero of its kind, a message of nothing but zeros.
 * A map with a key in it is never zero, whatever stands behind the key.
 */
export function isZero(value: Json | undefined, as?: Value): boolean {
  if (value === undefined || value === null || value === "" || value === 0 || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  if (isJsonObject(value)) {
    // Names alone: a map may have a hundred thousand of them, and is mostly told by the first.
    const names = Object.keys(value);
    return as?.kind === "map" ? names.length === 0 : names.every((name) => isZero(value[name], typeOfMember(as, name)));
  }
  if (isInteger(as)) return Number(value) === 0;
  return as?.kind === "enum" && as.values.values.some(([, number, v2]) => number === 0 && v2 === value);
}

/** Whether two v2 values of `row` are equal. `asSets`: the order and repeats of list elements do not matter. */
export function isSame(a: Json | undefined, b: Json | undefined, row: Row, asSets: boolean): boolean {
  return sameValue(a, b, row, asSets);
}

function sameValue(a: Json | undefined, b: Json | undefined, as: Value | undefined, asSets: boolean): boolean {
  const zero = isZero(a, as);
  if (zero || isZero(b, as)) return zero === isZero(b, as);
  if (Array.isArray(a) && Array.isArray(b)) return sameLists(a, b, as, asSets);
  if (isJsonObject(a) && isJsonObject(b)) return sameMembers(a, b, as, asSets);
  if (typeof a === "string" && typeof b === "string" && as?.kind === "timestamp")
    return a === b || Date.parse(a) === Date.parse(b);
  if (isInteger(as) && isText(a) && isText(b) && Number.isSafeInteger(Number(a))) return Number(a) === Number(b);
  return isText(a) && isText(b) ? String(a) === String(b) : a === b;
}

/** A message may leave zeros out; the keys of a map are data, and must all be there. */
function sameMembers(a: JsonObject, b: JsonObject, as: Value | undefined, asSets: boolean): boolean {
  const [keys, others] = [Object.keys(a), Object.keys(b).filter((key) => !Object.hasOwn(a, key))];
  if (as?.kind === "map" && (others.length > 0 || !keys.every((key) => Object.hasOwn(b, key)))) return false;
  return (
    keys.every((key) => sameValue(a[key], own(b, key), typeOfMember(as, key), asSets)) &&
    others.every((key) => sameValue(undefined, b[key], typeOfMember(as, key), asSets))
  );
}

/** What the member `key` of a value of kind `as` holds, where that is known. */
function typeOfMember(as: Value | undefined, key: string): Value | undefined {
  if (as?.kind === "message") return as.rows.find((row) => row.v2 === key);
  return as?.kind === "map" && typeof as.of === "object" ? { kind: "message", rows: as.of.rows } : undefined;
}

function sameLists(a: Json[], b: Json[], as: Value | undefined, asSets: boolean): boolean {
  if (!asSets) return a.length === b.length && a.every((item, index) => sameValue(item, b[index], as, asSets));
  // Long lists are lists of names: those are told apart without comparing each with each.
  if (as?.kind === "string" || as?.kind === "enum") return sameNames(new Set(a), new Set(b));
  const within = (items: Json[], others: Json[]) =>
    items.every((item) => others.some((other) => sameValue(item, other, as, asSets)));
  return within(a, b) && within(b, a);
}

function sameNames(a: ReadonlySet<Json>, b: ReadonlySet<Json>): boolean {
  return a.size === b.size && [...a].every((name) => b.has(name));
}

function isInteger(as: Value | undefined): boolean {
  return as?.kind === "int32" || as?.kind === "uint32" || as?.kind === "int64";
}

/** 64-bit integers come as strings, but a number says the same. */
function isText(value: Json | undefined): value is string | number {
  return typeof value === "string" || typeof value === "number";
}

function own(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
