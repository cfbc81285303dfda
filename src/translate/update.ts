/** The PATCH for a v1 full replace, and whether it took effect. Pure. */

import { parseExact } from "../json/exact.ts";
import { isJsonObject, type Json, type JsonObject, member } from "../model/json.ts";
import { isWritable, type Row, type Value, type WritableRow } from "../model/resource.ts";
import { snakeCase } from "../model/text.ts";
import type { SentField, V2Body } from "./body.ts";
import { isNumberless, isUnlisted } from "./enums.ts";
import { isSame, isZero, mapKey, typeOfMember } from "./same.ts";

/** How a mask names a field: by its JSON name, or as some gateways require, by its proto name. */
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
  /** The client left it out, and clearing it may need another capability: when the platform refuses, the field is left unchanged. */
  readonly yields: boolean;
}

export interface Patch {
  readonly body: string;
  readonly asked: readonly AskedField[];
  /** v1 fields that the client left out and that become zero. */
  readonly defaulted: readonly string[];
  /** v1 fields that a full replace would have made zero, and that are left unchanged (conditional rows). */
  readonly leftAlone: readonly UnchangedField[];
}

export interface UnchangedField {
  readonly v1: string;
  readonly v2Path: readonly string[];
  readonly row: Row;
}

/** Why an update reads the stored record first: its mask depends on it, or only what is sent for a message does. */
export type StoredUse = "mask" | "message" | undefined;

/** `numbersOnly`: the client has numbers for enum values and no names, as over gRPC. */
export function useOfStored(rows: readonly Row[], body: V2Body, numbersOnly: boolean): StoredUse {
  const uses = rows.map((row) => (isWritable(row) ? useByRow(row, body.fields.get(row.v1), numbersOnly) : undefined));
  return uses.includes("mask") ? "mask" : uses.find((use) => use !== undefined);
}

function useByRow(row: Row & WritableRow, sent: SentField | undefined, numbersOnly: boolean): StoredUse {
  if (row.mask === "unless-synced" || row.syncs === true) return "mask";
  if (numbersOnly && mayHideName(row, sent)) return "mask";
  if (sent === undefined) return undefined;
  if (row.mask === "members" && row.kind === "message") {
    return sent.nested && useOfStored(row.rows, sent.nested, numbersOnly);
  }
  if (row.mask === "when-changed") return isUnspecified(row, sent) ? undefined : "mask";
  const isSent = sent.nested !== undefined || !isZero(parseExact(sent.raw), row);
  return isSent && row.mask !== "never" && holdsMessages(row) ? "message" : undefined;
}

/** The mask would name an enum as zero, which is also what a client with numbers sees in place of a name without one. */
function mayHideName(row: Row & WritableRow, sent: SentField | undefined): boolean {
  if (row.kind !== "enum" || row.list === true) return false;
  if (sent !== undefined) return isZero(parseExact(sent.raw), row) && row.mask !== "never" && !isUnspecified(row, sent);
  return row.mask === undefined || row.mask === "always" || row.mask === "unless-synced";
}

/** True when the mask names the row only if the value sent differs from the stored one. */
export function isCompared(row: Row): boolean {
  return isWritable(row) && (row.mask === "when-changed" || row.mask === "unless-synced");
}

/** The client left the choice to the platform. */
function isUnspecified(row: Row & WritableRow, sent: SentField): boolean {
  return row.zeroUnsaid === true && isZero(parseExact(sent.raw), row);
}

/** True when the stored record is synced, so that the platform refuses to change some of its fields. */
export function isSynced(rows: readonly Row[], stored: Json | undefined): boolean {
  return rows.some((row) => isWritable(row) && row.syncs === true && !isZero(member(stored, row.v2 ?? ""), row));
}

/**
 * The PATCH for a full replace: every field that v1 could set and v2 can patch, with explicit zeros for those left out.
 * Never the mask `*`, which would clear fields that v1 does not know. `stored`: the v2 record, where `useOfStored` asks for it. Members of
 * its messages that v1 does not know are sent along, since a message is replaced whole.
 */
export function buildPatch(
  rows: readonly Row[],
  body: V2Body,
  stored: Json | undefined,
  { synced = isSynced(rows, stored), yields = false, numbersOnly = false }: PatchOptions = {},
): Patch {
  const plan: PatchPlan = { synced, yields, numbersOnly, asked: [], defaulted: [], leftAlone: [] };
  const members = collect(rows, body, stored, { v1: "", v2Path: [] }, plan);
  return { body: `{${members.join(",")}}`, ...plan };
}

export interface PatchOptions {
  /** The record is synced. Default: as `stored` says. */
  readonly synced?: boolean;
  /** Leaves out the fields with `AskedField.yields`. Default: false. */
  readonly yields?: boolean;
  /** As of `useOfStored`. Default: false. */
  readonly numbersOnly?: boolean;
}

interface PatchPlan {
  readonly synced: boolean;
  readonly yields: boolean;
  readonly numbersOnly: boolean;
  readonly asked: AskedField[];
  readonly defaulted: string[];
  readonly leftAlone: UnchangedField[];
}

/** A dotted v1 path and the v2 path beside it. */
interface FieldPath {
  readonly v1: string;
  readonly v2Path: readonly string[];
}

/** The members of one message of the PATCH body; fields that the mask names go into `plan`. */
function collect(
  rows: readonly Row[],
  body: V2Body,
  stored: Json | undefined,
  parent: FieldPath,
  plan: PatchPlan,
): string[] {
  const members: string[] = [];
  for (const row of rows) {
    if (!isWritable(row) || row.v2 === null) continue;
    const storedValue = member(stored, row.v2);
    const given = body.fields.get(row.v1);
    const inside = row.mask === "members" && given?.nested !== undefined;
    const sent = given === undefined || inside ? given : withUnknownMembers(row, given, storedValue);
    const v1 = parent.v1 === "" ? row.v1 : `${parent.v1}.${row.v1}`;
    const at: FieldPath = { v1, v2Path: [...parent.v2Path, row.v2] };
    const raw = inside
      ? collectMembers(row, given.nested, storedValue, at, plan)
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
  at: FieldPath,
  plan: PatchPlan,
): string | undefined {
  if (nested === undefined || row.kind !== "message") return undefined;
  const members = collect(row.rows, nested, stored, at, plan);
  return members.length === 0 ? undefined : `{${members.join(",")}}`;
}

/** The JSON text to send for this row; undefined when the mask does not name it. */
function chooseValue(
  row: Row & WritableRow,
  sent: SentField | undefined,
  stored: Json | undefined,
  at: FieldPath,
  plan: PatchPlan,
): string | undefined {
  const leftAlone = (): undefined => {
    plan.leftAlone.push({ ...at, row });
    return undefined;
  };
  const cleared = (): string | undefined => {
    if (isZero(stored, row)) return undefined;
    if (plan.yields) return leftAlone();
    plan.defaulted.push(at.v1);
    return zeroText(row);
  };
  if (
    plan.numbersOnly &&
    stored !== undefined &&
    row.kind === "enum" &&
    mayHideName(row, sent) &&
    isNumberless(row.values, stored)
  ) {
    return leftAlone();
  }
  switch (row.mask ?? "always") {
    case "always":
      if (sent === undefined) plan.defaulted.push(at.v1);
      return sent?.raw ?? zeroText(row);
    case "when-present":
      // An empty secret counts as left out: reads never return it, and sending it would clear it.
      if (sent !== undefined && !(row.presence !== "explicit" && isZero(parseExact(sent.raw), row))) return sent.raw;
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

/** Compared exactly: another order of a list is a change that the client asked for. */
function unlessSame(row: Row & WritableRow, { raw }: SentField, stored: Json | undefined): string | undefined {
  return isSame(parseExact(raw), stored, row, false) ? undefined : raw;
}

function askedField(row: Row & WritableRow, at: FieldPath, raw: string, yields: boolean): AskedField {
  const names = at.v2Path.map(snakeCase);
  if (row.v2Proto !== undefined) names[names.length - 1] = row.v2Proto;
  const mask = { camelCase: at.v2Path.join("."), snake_case: names.join(".") };
  return { ...at, mask, row, raw, yields };
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
  /** It should have become zero and did not. */
  readonly zero: boolean;
  /** It lacks a value that only v2 can know: v2 drops names that it does not know in silence. */
  readonly dropped: boolean;
}

/** v1 names of fields that kept a value although the client left them out, which cleared them in v1. */
export function findKept(patch: Patch, record: Json): string[] {
  return patch.leftAlone.filter(({ v2Path, row }) => !isZero(valueAt(record, v2Path), row)).map(({ v1 }) => v1);
}

/** The value at a path of member names; undefined when there is none. */
export function valueAt(record: Json, path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>(member, record);
}

/** Compares v2's record after the PATCH with what was asked for, field by field. */
export function findMismatches(patch: Patch, record: Json): Mismatch[] {
  const mismatches: Mismatch[] = [];
  for (const { v1, v2Path, row, raw } of patch.asked) {
    if (row.echo === "none") continue;
    // What v1 does not know is v2's own affair, whatever came of it.
    const wanted = knownOnly(parseExact(raw), row);
    const shown = knownOnly(valueAt(record, v2Path), row);
    const found = isZero(shown, row) ? (fromElsewhere(row, record) ?? shown) : shown;
    if (isSame(wanted, found, row, row.echo === "normalised")) continue;
    mismatches.push({ v1, zero: isZero(wanted, row), dropped: lacksNewValue(wanted, found, row) });
  }
  return mismatches;
}

/**
 * True when `wanted` has an enum value that the catalogue does not list and that `found`, v2's response, does not have. One that is
 * there instead of it was not dropped.
 */
export function lacksNewValue(wanted: Json | undefined, found: Json | undefined, as: Value): boolean {
  if (as.kind === "enum") {
    const isNew = (value: Json) => !isZero(value, as) && isUnlisted(as.values, value);
    if (!Array.isArray(wanted)) return wanted !== undefined && isNew(wanted) && isZero(found, as);
    const there = new Set(Array.isArray(found) ? found : []);
    return wanted.some((value) => isNew(value) && !there.has(value));
  }
  if (Array.isArray(wanted))
    return wanted.some((item, index) => lacksNewValue(item, Array.isArray(found) ? found[index] : undefined, as));
  if (!isJsonObject(wanted)) return false;
  return Object.entries(wanted).some(([name, value]) => {
    const type = typeOfMember(as, name, "v2");
    return type !== undefined && lacksNewValue(value, member(found, name), type);
  });
}

/** Responses may show a reference only inside the object that it leads to (`role.uid` for `roleUid`). */
function fromElsewhere(row: Row, record: Json): Json | undefined {
  for (const path of row.from ?? []) {
    const value = valueAt(record, path.split("."));
    if (!isZero(value)) return value;
  }
  return undefined;
}

/** True for a value that is a message, or has some in it. */
function holdsMessages(as: Value): boolean {
  return as.kind === "message" || (as.kind === "map" && typeof as.of === "object");
}

/**
 * `sent`, and what the message `stored` in v2 has beyond the catalogue, at every depth. Elements of a list are paired by what is known of
 * them, or by their place in lists of one length. The client's bytes stay as they are where nothing is added.
 */
function withUnknownMembers(row: Row, sent: SentField, stored: Json | undefined): SentField {
  if (stored === undefined || !holdsMessages(row)) return sent;
  const before = parseExact(sent.raw);
  const after = merged(before, stored, row);
  return after === before ? sent : { ...sent, raw: JSON.stringify(after) };
}

/** `value` without members that the catalogue does not know. */
function knownOnly(value: Json | undefined, as: Value): Json | undefined {
  if (Array.isArray(value)) return value.map((item) => knownOnly(item, as) ?? null);
  if (!isJsonObject(value) || !holdsMessages(as)) return value;
  const entries = Object.entries(value);
  if (as.kind === "map")
    return Object.fromEntries(entries.map(([key, each]) => [key, knownOnly(each, inMap(as)) ?? null]));
  const kept = entries.flatMap(([name, each]) => {
    const row = rowOf(as, name);
    return row === undefined ? [] : [[name, knownOnly(each, row) ?? null] as const];
  });
  return Object.fromEntries(kept);
}

function rowOf(as: Value, name: string): Row | undefined {
  return as.kind === "message" ? as.rows.find(({ v2 }) => v2 === name) : undefined;
}

function inMap({ of }: Value & { kind: "map" }): Value {
  return typeof of === "object" ? { kind: "message", rows: of.rows } : { kind: of };
}

/** `sent` itself where nothing is added. */
function merged(sent: Json, stored: Json | undefined, as: Value): Json {
  if (!holdsMessages(as)) return sent;
  if (Array.isArray(sent) && Array.isArray(stored)) return mergedList(sent, stored, as);
  if (!isJsonObject(sent) || !isJsonObject(stored)) return sent;
  return as.kind === "map" ? mergedMap(sent, stored, as) : mergedMessage(sent, stored, as);
}

function mergedMessage(sent: JsonObject, stored: JsonObject, as: Value): JsonObject {
  const changes = Object.entries(stored).flatMap(([name, value]) => {
    const own = member(sent, name);
    const row = rowOf(as, name);
    if (own === undefined)
      return row === undefined && value !== null && !choosesAnew(sent, stored, as) ? [[name, value] as const] : [];
    const after = row === undefined ? own : merged(own, value, row);
    return after === own ? [] : [[name, after] as const];
  });
  return changes.length === 0 ? sent : { ...sent, ...Object.fromEntries(changes) };
}

/** True when the client sets a oneof where the stored message has no known member. An unknown one may be set there, and would contradict. */
function choosesAnew(sent: JsonObject, stored: JsonObject, as: Value): boolean {
  const rows = as.kind === "message" ? as.rows : [];
  const chosen = (record: JsonObject) =>
    new Set(
      rows.flatMap(({ oneof, v2 }) =>
        oneof !== undefined && (member(record, v2 ?? "") ?? null) !== null ? [oneof] : [],
      ),
    );
  const before = chosen(stored);
  return [...chosen(sent)].some((oneof) => !before.has(oneof));
}

function mergedMap(sent: JsonObject, stored: JsonObject, as: Value & { kind: "map" }): JsonObject {
  const byKey = new Map(Object.entries(stored).map(([key, value]) => [mapKey(key, as), value]));
  const changes = Object.entries(sent).flatMap(([key, own]) => {
    const after = merged(own, byKey.get(mapKey(key, as)), inMap(as));
    return after === own ? [] : [[key, after] as const];
  });
  return changes.length === 0 ? sent : { ...sent, ...Object.fromEntries(changes) };
}

/** Pairing each with each takes time for long lists. */
const MOST_PAIRS = 10_000;

function mergedList(sent: Json[], stored: Json[], as: Value): Json[] {
  // Nothing to add: the usual case.
  if (stored.every((item) => isSame(item, knownOnly(item, as), undefined, false))) return sent;
  const searched = sent.length * stored.length <= MOST_PAIRS;
  const after = sent.map((own, index) => {
    const isPair = (item: Json | undefined) => item !== undefined && isSame(own, knownOnly(item, as), as, false);
    const pair = isPair(stored[index]) ? stored[index] : searched ? stored.find(isPair) : undefined;
    return merged(own, pair ?? (sent.length === stored.length ? stored[index] : undefined), as);
  });
  return after.every((item, index) => item === sent[index]) ? sent : after;
}
