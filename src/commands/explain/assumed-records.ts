/** What would a stored record say, so that every field of a request that hangs on it is written? */

import { camelCase } from "../../model/field-names.ts";
import type { ApiRequest } from "../../model/http.ts";
import { isJsonObject, type Json, type JsonObject } from "../../model/json.ts";
import type { OperationMatch } from "../../model/request.ts";
import type { Example, Join, Resource, Row, Value } from "../../model/resource.ts";
import { isUid } from "../../model/uid.ts";
import { createBodyNotes, readBody, type V2Body } from "../../translate/body.ts";
import { isCompared, isSame, isZero } from "../../translate/update.ts";

export interface StoredDifference {
  /** v2 members, to be laid over a record. */
  readonly record: JsonObject;
  /** Dotted v1 names of the fields in which it differs. */
  readonly fields: readonly string[];
  /** Whether the record is assumed to be synced; undefined where none of its kind is. */
  readonly synced: boolean | undefined;
}

/**
 * `bytes`: the v1 body. Another value for every field of class `when-changed` or `unless-synced` that it sends, and the same for all others:
 * some of them v2 never changes. The record is synced when the body speaks of its sync; `otherwise`: when it does not. Throws as
 * `readBody` does.
 */
export function differingFrom(bytes: Uint8Array, rows: readonly Row[], otherwise: boolean): StoredDifference {
  const body = readBody(bytes, rows.map(storableRow), "drop", createBodyNotes());
  const { record, fields } = differencesIn(body, "");
  const sync = rows.find((row) => row.access !== "output" && row.syncs === true);
  if (sync === undefined || sync.v2 === null) return { record, fields, synced: undefined };
  const synced = body.fields.has(sync.v1) !== otherwise;
  if (!synced) return { record: { ...clearable(rows, body), ...record, [sync.v2]: null }, fields, synced };
  return { record: { [sync.v2]: anotherValue(null, sync), ...record }, fields, synced };
}

/** Something in every field that a full replace clears when it is left out. */
function clearable(rows: readonly Row[], body: V2Body): JsonObject {
  const held = rows.flatMap((row) => {
    if (row.access === "output" || row.v2 === null || row.mask !== "unless-synced" || body.fields.has(row.v1))
      return [];
    return [[row.v2, anotherValue(null, row)]];
  });
  return Object.fromEntries(held);
}

/** A row as if v2 stored whatever is sent. */
function storableRow(row: Row): Row {
  if (row.access === "output") return row;
  const settable = row.mask === "never" ? ({ ...row, mask: "always" } as const) : row;
  if (settable.kind !== "message" || row.mask !== "members") return settable;
  return { ...settable, rows: settable.rows.map((each) => storableRow({ ...each, v2: each.v2 ?? each.v1 })) };
}

function differencesIn(body: V2Body, prefix: string): Omit<StoredDifference, "synced"> {
  const record: JsonObject = {};
  const fields: string[] = [];
  for (const { row, raw, nested } of body.fields.values()) {
    if (row.v2 === null || row.access === "output") continue;
    const at = `${prefix}${row.v1}`;
    if (row.mask === "members" && nested !== undefined) {
      const inner = differencesIn(nested, `${at}.`);
      record[row.v2] = inner.record;
      fields.push(...inner.fields);
    } else if (isCompared(row)) {
      const sent = JSON.parse(raw) as Json;
      const other = anotherValue(sent, row);
      if (isSame(sent, other, row, false)) continue;
      record[row.v2] = other;
      if (row.kind !== "enum" || !isZero(sent, row)) fields.push(at);
    } else {
      record[row.v2] = JSON.parse(raw) as Json;
    }
  }
  return { record, fields };
}

/** A value of the same kind, and another one than `value`. */
function anotherValue(value: Json, as: Value): Json {
  if (as.kind === "map") return isZero(value, as) ? { stored: as.of === "int32" ? 1 : "stored" } : {};
  if (as.list === true) return isZero(value, as) ? [oneOf(as)] : [];
  switch (as.kind) {
    case "message":
      return isZero(value, as) ? { stored: true } : {};
    case "enum":
      return (
        as.values.values.find(
          ([v1, , v2]) => v1 !== null && v2 !== null && v2 !== value && !(isZero(value, as) && isZero(v2, as)),
        )?.[2] ?? null
      );
    case "bool":
      return value !== true;
    case "int32":
    case "uint32":
      return Number(value) === 1 ? 2 : 1;
    case "int64":
      return Number(value) === 1 ? "2" : "1";
    case "timestamp":
      return value === "2001-01-01T00:00:00Z" ? "2002-01-01T00:00:00Z" : "2001-01-01T00:00:00Z";
    case "duration":
      return value === "1s" ? "2s" : "1s";
    default:
      return value === "stored" ? "stored before" : "stored";
  }
}

function oneOf(as: Exclude<Value, { kind: "map" }>): Json {
  switch (as.kind) {
    case "message":
      return { stored: true };
    case "enum":
      return as.values.values.find(([v1, number, v2]) => v1 !== null && v2 !== null && number !== 0)?.[2] ?? null;
    case "bool":
      return true;
    case "int32":
    case "uint32":
      return 1;
    default:
      return "stored";
  }
}

/** What do the catalogue's examples say that the platform answers? (With the uid that is asked for, not the example's.) */

/** The fullest record among the examples, best of the operation itself. */
export function recordOf(resource: Resource, operation: string | undefined): JsonObject {
  const answers = resource.examples.filter((example) => example.of === "answer");
  const own = answers.filter((example) => example.operation === operation);
  const fullest = [...(own.length > 0 ? own : answers)].sort((a, b) => sizeOf(b.v2) - sizeOf(a.v2))[0];
  return { uid: "0".repeat(16), ...fullest?.v2 };
}

function sizeOf(value: JsonObject): number {
  return JSON.stringify(value).length;
}

/** What a verb of its own answers: as an example of an answer has it, else nothing but the uid in the path. */
export function verbAnswer(match: OperationMatch | undefined): Json {
  if (match === undefined) return {};
  const answers = match.resource.examples.filter((example) => example.of === "answer");
  const found = answers.find(({ operation }) => operation === match.operation.name);
  return found === undefined ? { uid: match.uid } : aboutUid(found.v2, found.v2["uid"], match.uid);
}

/** The answer of the example that shows this very call of the operation; undefined when none does. */
export function exchangeAnswer(
  { method, target }: ApiRequest,
  place: CallTarget,
  match: OperationMatch | undefined,
  paths: CataloguePaths,
): Json | undefined {
  if (match === undefined || (place.kind !== "other" && place.kind !== "part")) return undefined;
  const prefix = `/${match.resource.domain}/${paths.version}/`;
  const tail = tailOf(target.slice(prefix.length));
  const exchanges = match.resource.examples.filter(
    (example): example is Example & { of: "exchange" } =>
      example.of === "exchange" && example.operation === match.operation.name && (example.status ?? 200) === 200,
  );
  for (const { calls } of exchanges) {
    for (const { call, status, answer } of calls) {
      const [shownMethod, path = ""] = call.split(" ");
      if ((status ?? 200) !== 200 || shownMethod !== method || tailOf(path) !== tail) continue;
      return aboutUid(answer, callTargetOf(prefix + path, paths).uid, place.uid);
    }
  }
  return undefined;
}

/** What tells paths apart that lead to different records: the verb, or the last segment. */
function tailOf(path: string): string {
  const plain = path.split("?")[0] ?? "";
  const last = plain.slice(plain.lastIndexOf("/") + 1);
  const colon = last.lastIndexOf(":");
  return colon < 0 ? last : last.slice(colon);
}

/** `answer` with `uid` wherever it speaks of `shown`, or of what lies below that. */
function aboutUid(answer: Json, shown: Json | undefined, uid: string): Json {
  if (typeof shown !== "string" || shown === "" || uid === "") return answer;
  const rewrite = (value: Json): Json => {
    if (typeof value === "string") {
      return value === shown || value.startsWith(`${shown}/`) ? uid + value.slice(shown.length) : value;
    }
    if (Array.isArray(value)) return value.map(rewrite);
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, held]) => [name, rewrite(held)]));
  };
  return rewrite(answer);
}

/** What does a record say, once what was sent is stored in it? */

/** `top` laid over `base`, members of objects one by one. */
export function mergedOver(base: JsonObject, top: JsonObject): JsonObject {
  return laidOver(base, top, () => false, "");
}

/** `record` behind a PATCH: a member that `mask` lists is replaced whole, others member by member. */
export function patched(record: JsonObject, sent: JsonObject, mask: string): JsonObject {
  const listed = new Set(mask.split(",").map(camelCase));
  return laidOver(record, sent, (path) => listed.has(camelCase(path)), "");
}

function laidOver(base: JsonObject, top: JsonObject, isWhole: (path: string) => boolean, prefix: string): JsonObject {
  const merged: JsonObject = { ...base };
  for (const [key, value] of Object.entries(top)) {
    const below = merged[key];
    const path = prefix + key;
    const inside = isJsonObject(below) && isJsonObject(value) && Object.keys(value).length > 0 && !isWhole(path);
    merged[key] = inside ? laidOver(below, value, isWhole, `${path}.`) : value;
  }
  return merged;
}

/** The uid that was sent is the one inside the object that it leads to as well (`roleUid` and `role.uid`). */
export function withSentUids(record: JsonObject, sent: JsonObject, match: OperationMatch): JsonObject {
  const { operation } = match;
  const rows = "body" in operation && operation.body !== undefined ? operation.body.rows : [];
  const merged: JsonObject = { ...record };
  for (const { v2, from } of rows) {
    const value = v2 === null ? undefined : sent[v2];
    if (value === undefined) continue;
    for (const path of from ?? []) {
      const [name = "", inner, ...deeper] = path.split(".");
      const held = merged[name];
      if (inner !== undefined && deeper.length === 0 && isJsonObject(held)) merged[name] = { ...held, [inner]: value };
    }
  }
  return merged;
}

/** Which record, list or verb of v2 does a call go to? (In the catalogue's words.) */

/** Where a call goes, in the catalogue's words. */
export interface CallTarget {
  readonly resource: Resource | undefined;
  /** `list`: the collection itself; `record`: one uid below it; `part`: a sub-resource of one; `other`: a verb. */
  readonly kind: "list" | "record" | "part" | "other";
  /** Of the record; empty when there is none in the path. */
  readonly uid: string;
  /** The segment of the sub-resource, else empty. */
  readonly sub: string;
  readonly params: URLSearchParams;
}

/** What of the catalogue says where paths lead. */
export interface CataloguePaths {
  readonly resources: readonly Resource[];
  /** v2's version segment. */
  readonly version: string;
}

/** Where `target` (origin form, v2) leads. */
export function callTargetOf(target: string, { resources, version }: CataloguePaths): CallTarget {
  const [path = "", query = ""] = target.split("?");
  const params = new URLSearchParams(query);
  const nowhere = { kind: "other", uid: "", sub: "", params } as const;
  for (const resource of resources) {
    const collection = `/${resource.domain}/${version}/${resource.v2}`;
    if (path === collection) return { ...nowhere, resource, kind: "list" };
    if (path.startsWith(`${collection}/`))
      return targetBelow(resource, path.slice(collection.length + 1), params, resources);
  }
  return { ...nowhere, resource: resources.find((one) => path.startsWith(`/${one.domain}/`)) };
}

function targetBelow(
  resource: Resource,
  rest: string,
  params: URLSearchParams,
  resources: readonly Resource[],
): CallTarget {
  const slash = rest.lastIndexOf("/");
  const verb = rest.lastIndexOf(":");
  // One before the last slash belongs to a digest.
  if (verb > slash) return { resource, kind: "other", uid: rest.slice(0, verb), sub: "", params };
  const last = rest.slice(slash + 1);
  if (subResources(resource, resources).has(last)) {
    return { resource, kind: "part", uid: rest.slice(0, slash), sub: last, params };
  }
  return { resource, kind: isUid(rest) ? "record" : "other", uid: rest, sub: "", params };
}

/** Segments behind a uid that are parts of its record, not uids (`readme`). */
function subResources(resource: Resource, resources: readonly Resource[]): ReadonlySet<string> {
  const joins = resources.flatMap(({ operations }) => operations.flatMap((one): readonly Join[] => joinsOf(one)));
  return new Set(
    joins.flatMap((join) => (join.resource === resource.name && join.sub !== undefined ? [join.sub] : [])),
  );
}

/** The joins of an operation, if it is of a kind that has any. */
export function joinsOf(operation: object): readonly Join[] {
  return "joins" in operation && operation.joins !== undefined ? (operation.joins as readonly Join[]) : [];
}
