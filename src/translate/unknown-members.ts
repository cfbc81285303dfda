/** Members of a stored message that the catalogue does not know: v2 replaces messages whole, and a v1 client never saw them. */

import { parseExact } from "../json/exact.ts";
import { isJsonObject, type Json, type JsonObject, member } from "../model/json.ts";
import type { Row, Value } from "../model/resource.ts";
import type { SentField } from "./body.ts";
import { isSame, mapKey } from "./same.ts";

/** True for a value that is a message, or has some in it. */
export function holdsMessages(as: Value): boolean {
  return as.kind === "message" || (as.kind === "map" && typeof as.of === "object");
}

/**
 * `sent`, and what the message `stored` in v2 has beyond the catalogue, at every depth. Elements of a list are paired by what is known of
 * them, or by their place in lists of one length. The client's bytes stay as they are where nothing is added.
 */
export function withUnknownMembers(row: Row, sent: SentField, stored: Json | undefined): SentField {
  if (stored === undefined || !holdsMessages(row)) return sent;
  const before = parseExact(sent.raw);
  const after = merged(before, stored, row);
  return after === before ? sent : { ...sent, raw: JSON.stringify(after) };
}

/** `value` without members that the catalogue does not know. */
export function knownOnly(value: Json | undefined, as: Value): Json | undefined {
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
