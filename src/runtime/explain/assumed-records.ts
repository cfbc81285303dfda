/** The records that the assumed platform holds: examples of the catalogue, made to fit the request. */

import { type ApiRequest, pathOf } from "../../model/http.ts";
import { isJsonObject, type Json, type JsonObject } from "../../model/json.ts";
import type { OperationMatch } from "../../model/request.ts";
import type { Example, Examples, Join, Operation, Resource, Row, Value } from "../../model/resource.ts";
import { camelCase } from "../../model/text.ts";
import { isUid } from "../../model/uid.ts";
import { createBodyNotes, readBody, type V2Body } from "../../translate/body.ts";
import { isSame, isZero } from "../../translate/same.ts";
import { isCompared } from "../../translate/update.ts";

/** How a stored record differs from the body of an update. */
export interface StoredDifference {
  /** v2 members, to be merged into a record. */
  readonly record: JsonObject;
  /** Dotted v1 names of the fields in which it differs. */
  readonly fields: readonly string[];
  /** Whether the record is assumed to be synced; undefined where no record of its kind is. */
  readonly synced: boolean | undefined;
}

export const NO_DIFFERENCE: StoredDifference = { record: {}, fields: [], synced: undefined };

/**
 * A difference that makes an update write every field of `bytes`, the v1 body, whose writing depends on the stored record:
 * those of class `when-changed` or `unless-synced` differ. All others are the same, since v2 never changes some of them.
 * The record is synced when the body speaks of its sync; `otherwise`: when it does not. Throws as `readBody` does.
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

/** A value in every field that a full replace clears by omitting it. */
function clearable(rows: readonly Row[], body: V2Body): JsonObject {
  const cleared = rows.flatMap((row) => {
    const isKept = row.access === "output" || row.mask !== "unless-synced" || body.fields.has(row.v1);
    return isKept || row.v2 === null ? [] : [[row.v2, anotherValue(null, row)]];
  });
  return Object.fromEntries(cleared);
}

/** The row as if v2 stored whatever is sent. */
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

/** A value of the same kind that differs from `value`. */
function anotherValue(value: Json, as: Value): Json {
  if (as.kind === "map") return isZero(value, as) ? { stored: as.of === "int32" ? 1 : "stored" } : {};
  if (as.list === true) return isZero(value, as) ? [nonZero(as)] : [];
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

/** An element of a list. */
function nonZero(as: Exclude<Value, { kind: "map" }>): Json {
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

/** The largest record among the examples, if possible of the operation itself. */
export function recordOf(examples: Examples, resource: Resource, operation: string | undefined): JsonObject {
  const answers = (examples.get(resource.name) ?? []).filter((example) => example.of === "answer");
  const own = answers.filter((example) => example.operation === operation);
  const sizeOf = ({ v2 }: { readonly v2: JsonObject }) => JSON.stringify(v2).length;
  const [largest] = (own.length > 0 ? own : answers).toSorted((a, b) => sizeOf(b) - sizeOf(a));
  return { uid: "0".repeat(16), ...largest?.v2 };
}

/** The response to a verb: the example of one, else only the uid of the path. */
export function verbAnswer(examples: Examples, match: OperationMatch | undefined): Json {
  if (match === undefined) return {};
  const answers = (examples.get(match.resource.name) ?? []).filter((example) => example.of === "answer");
  const found = answers.find(({ operation }) => operation === match.operation.name);
  return found === undefined ? { uid: match.uid } : aboutUid(found.v2, found.v2["uid"], match.uid);
}

/** The response in the example that shows this very call; undefined when there is none. */
export function exchangeAnswer(
  { method, target }: ApiRequest,
  subject: CallSubject,
  match: OperationMatch | undefined,
  paths: CataloguePaths & { readonly examples: Examples },
): Json | undefined {
  if (match === undefined || (subject.kind !== "other" && subject.kind !== "part")) return undefined;
  const prefix = `/${match.resource.domain}/${paths.version}/`;
  const tail = tailOf(target.slice(prefix.length));
  const exchanges = (paths.examples.get(match.resource.name) ?? []).filter(
    (example): example is Example & { of: "exchange" } =>
      example.of === "exchange" && example.operation === match.operation.name && (example.status ?? 200) === 200,
  );
  for (const { calls } of exchanges) {
    for (const { call, status, answer } of calls) {
      const [shownMethod, path = ""] = call.split(" ");
      if ((status ?? 200) !== 200 || shownMethod !== method || tailOf(path) !== tail) continue;
      return aboutUid(answer, callSubjectOf(prefix + path, paths).uid, subject.uid);
    }
  }
  return undefined;
}

/** What differs between paths of one operation: the verb, or the last segment. */
function tailOf(path: string): string {
  const plain = pathOf(path);
  const last = plain.slice(plain.lastIndexOf("/") + 1);
  const colon = last.lastIndexOf(":");
  return colon < 0 ? last : last.slice(colon);
}

/** `answer` with `uid` in place of `shown`, also at the start of longer uids. */
function aboutUid(answer: Json, shown: Json | undefined, uid: string): Json {
  if (typeof shown !== "string" || shown === "" || uid === "") return answer;
  const rewrite = (value: Json): Json => {
    if (typeof value === "string") {
      return value === shown || value.startsWith(`${shown}/`) ? uid + value.slice(shown.length) : value;
    }
    if (Array.isArray(value)) return value.map(rewrite);
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, rewrite(inner)]));
  };
  return rewrite(answer);
}

/** `record` after a PATCH: a member that `mask` lists is replaced whole, others member by member. */
export function patched(record: JsonObject, sent: JsonObject, mask: string): JsonObject {
  return mergedOver(record, sent, new Set(mask.split(",").map(camelCase)));
}

/** `top` merged into `base`. Objects are merged by member, but for the paths in `whole`. */
export function mergedOver(
  base: JsonObject,
  top: JsonObject,
  whole: ReadonlySet<string> = new Set(),
  prefix = "",
): JsonObject {
  const merged: JsonObject = { ...base };
  for (const [key, value] of Object.entries(top)) {
    const before = merged[key];
    const path = prefix + key;
    const byMember = isJsonObject(before) && isJsonObject(value) && Object.keys(value).length > 0;
    merged[key] = byMember && !whole.has(camelCase(path)) ? mergedOver(before, value, whole, `${path}.`) : value;
  }
  return merged;
}

/** A uid that was sent also stands inside the object that it refers to (`roleUid` and `role.uid`). */
export function withSentUids(record: JsonObject, sent: JsonObject, match: OperationMatch): JsonObject {
  const { operation } = match;
  const rows = "body" in operation && operation.body !== undefined ? operation.body.rows : [];
  const merged: JsonObject = { ...record };
  for (const { v2, from } of rows) {
    const value = v2 === null ? undefined : sent[v2];
    if (value === undefined) continue;
    for (const path of from ?? []) {
      const [name = "", inner, ...deeper] = path.split(".");
      const object = merged[name];
      if (inner === undefined || deeper.length > 0 || !isJsonObject(object)) continue;
      merged[name] = { ...object, [inner]: value };
    }
  }
  return merged;
}

/** What a call is about, in the catalogue's words. */
export interface CallSubject {
  readonly resource: Resource | undefined;
  /** `list`: the collection itself; `record`: one uid below it; `part`: a sub-resource of one; `other`: a verb. */
  readonly kind: "list" | "record" | "part" | "other";
  /** Of the record; empty when the path has none. */
  readonly uid: string;
  /** The segment of the sub-resource, else empty. */
  readonly sub: string;
  readonly params: URLSearchParams;
}

/** The part of the catalogue that paths are looked up in. */
export interface CataloguePaths {
  readonly resources: readonly Resource[];
  /** v2's version segment. */
  readonly version: string;
}

/** `target`: origin form, v2. */
export function callSubjectOf(target: string, { resources, version }: CataloguePaths): CallSubject {
  const [path = "", query = ""] = target.split("?");
  const none = { kind: "other", uid: "", sub: "", params: new URLSearchParams(query) } as const;
  for (const resource of resources) {
    const collection = `/${resource.domain}/${version}/${resource.v2}`;
    if (path === collection) return { ...none, resource, kind: "list" };
    if (!path.startsWith(`${collection}/`)) continue;
    const rest = path.slice(collection.length + 1);
    const slash = rest.lastIndexOf("/");
    const verb = rest.lastIndexOf(":");
    // A colon before the last slash belongs to a digest.
    if (verb > slash) return { ...none, resource, uid: rest.slice(0, verb) };
    const sub = rest.slice(slash + 1);
    if (isSubResource(resource, sub, resources))
      return { ...none, resource, kind: "part", uid: rest.slice(0, slash), sub };
    return { ...none, resource, kind: isUid(rest) ? "record" : "other", uid: rest };
  }
  return { ...none, resource: resources.find(({ domain }) => path.startsWith(`/${domain}/`)) };
}

/** Whether a join reads `segment` after the uid of a record (`readme`). */
function isSubResource(resource: Resource, segment: string, resources: readonly Resource[]): boolean {
  const joins = resources.flatMap(({ operations }) => operations.flatMap(joinsOf));
  return joins.some(({ resource: name, sub }) => name === resource.name && sub === segment);
}

/** The joins of an operation, if it is of a kind that has any. */
export function joinsOf(operation: Operation): readonly Join[] {
  return "joins" in operation ? (operation.joins ?? []) : [];
}
