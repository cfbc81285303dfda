/** Compares the responses of two servers as a v1 client would. */

import { type ApiResponse, header } from "../../../src/model/http.ts";
import { isJsonObject, type Json, type JsonObject, member } from "../../../src/model/json.ts";
import { jsonDifferences, repeatsKey } from "./json-diff.ts";

/** How an answer is read. */
export interface Reading {
  /** The list's order is documented: its records are compared as they stand. */ readonly ordered?: boolean;
}

// What v1's gateway sets beside the body: absent on one side only is a difference too.
// `grpc-metadata-content-type` says that a handler answered and not the gateway before it, so a refusal before either has none.
const HANDLED = "grpc-metadata-content-type";
const SET_BY_V1 = ["www-authenticate", HANDLED, "retry-after"];

/**
 * What a client could notice between native v1's answer and the translated one, one line a difference; empty when nothing.
 * Records of a list without a documented order are matched by `id` (or `group`), with their number; page tokens only by
 * being there, since each server mints its own; the details of an error without regard to their order.
 *
 * A refusal of carryover's own has its own words in place of a decoder's, which differ
 * from build to build anyway: status and code must be equal, it must be a 400 (or the 409 of a name that is taken, which v1
 * could be asked to refuse and v2 cannot), and a field that native names must be named.
 */
export function differences(native: ApiResponse, carried: ApiResponse, reading: Reading = {}): string[] {
  const found: string[] = [];
  if (native.status !== carried.status) found.push(`status: ${native.status}, ${carried.status}`);
  const own = OWN.has(carried.status) && isOwnRefusal(read(carried).value ?? null);
  for (const name of own ? SET_BY_V1.filter((one) => one !== HANDLED) : SET_BY_V1)
    note(found, `header ${name}`, header(native.headers, name), header(carried.headers, name));
  note(found, "media type", mediaType(native), mediaType(carried));
  return [...found, ...bodyDifferences(native, carried, reading)];
}

/** What carryover may refuse by itself where native v1 refuses too. */
const OWN: ReadonlySet<number> = new Set([400, 409]);

function note(found: string[], what: string, left: string | undefined, right: string | undefined): void {
  if (left !== right) found.push(`${what}: ${left ?? "(absent)"}, ${right ?? "(absent)"}`);
}

function mediaType(answer: ApiResponse): string | undefined {
  return answer.body.length === 0
    ? undefined
    : header(answer.headers, "content-type")?.split(";")[0]?.trim().toLowerCase();
}

function bodyDifferences(native: ApiResponse, carried: ApiResponse, reading: Reading): string[] {
  if (Buffer.compare(native.body, carried.body) === 0) return [];
  const left = read(native);
  const right = read(carried);
  if (left.value === undefined || right.value === undefined || left.repeats || right.repeats) {
    return left.text === right.text && left.repeats === right.repeats
      ? []
      : [`body: ${left.text.slice(0, 300)}, ${right.text.slice(0, 300)}`];
  }
  if (native.status < 400) return jsonDifferences(comparable(left.value, reading), comparable(right.value, reading));
  if (OWN.has(carried.status) && isOwnRefusal(right.value)) return refusalDifferences(left.value, right.value);
  return jsonDifferences(sortedDetails(left.value), sortedDetails(right.value));
}

interface Read {
  readonly text: string;
  readonly value: Json | undefined;
  readonly repeats: boolean;
}

function read(answer: ApiResponse): Read {
  const text = new TextDecoder().decode(answer.body);
  try {
    const value = JSON.parse(text) as Json;
    return { text, value, repeats: repeatsKey(text, value) };
  } catch {
    return { text, value: undefined, repeats: false };
  }
}

function comparable(body: Json, reading: Reading): Json {
  const items = member(body, "items");
  if (!isJsonObject(body) || !Array.isArray(items)) return body;
  const list: JsonObject = { ...body, items: reading.ordered === true ? items : items.toSorted(byIdentity) };
  const token = list["nextPageToken"];
  if (typeof token === "string" && token !== "") list["nextPageToken"] = "(a token)";
  return list;
}

function byIdentity(left: Json, right: Json): number {
  const [first, second] = [identity(left), identity(right)];
  return first < second ? -1 : Number(first > second);
}

/** What a record is found by: its id, or its group where v1 has no id. */
function identity(record: Json): string {
  const id = member(record, "id") ?? member(record, "group");
  return typeof id === "string" ? id : JSON.stringify(record);
}

function details(error: Json): Json[] {
  const list = member(error, "details");
  return Array.isArray(list) ? list : [];
}

function sortedDetails(error: Json): Json {
  if (!isJsonObject(error) || !Array.isArray(error["details"])) return error;
  return { ...error, details: details(error).toSorted((a, b) => (detailType(a) < detailType(b) ? -1 : 1)) };
}

function detailType(detail: Json): string {
  return `${member(detail, "@type")} ${JSON.stringify(detail)}`;
}

function isOwnRefusal(error: Json): boolean {
  return details(error).some((detail) => member(detail, "domain") === "carryover");
}

function refusalDifferences(native: Json, own: Json): string[] {
  const found: string[] = [];
  const [left, right] = [member(native, "code"), member(own, "code")];
  if (left !== right) found.push(`/code: ${JSON.stringify(left)}, ${JSON.stringify(right)}`);
  for (const field of namedFields(native)) {
    if (!JSON.stringify(own).includes(field)) found.push(`/details: native names ${field}, the refusal does not`);
  }
  return found;
}

/** The fields that the BadRequest details of an error name. */
export function namedFields(error: Json): string[] {
  return details(error)
    .flatMap((detail) => {
      const violations = member(detail, "fieldViolations");
      return Array.isArray(violations) ? violations : [];
    })
    .map((violation) => member(violation, "field"))
    .filter((field) => typeof field === "string");
}
