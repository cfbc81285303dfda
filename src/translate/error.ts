/** How does a v2 error read in v1's words? (Design: errors; specification section 7.) */
import { JsonError } from "../json/error.ts";
import type { MemberPlan, ObjectPlan } from "../json/plan.ts";
import { rewriteValue } from "../json/rewrite.ts";
import { camelCase, snakeCase } from "../model/field-names.ts";
import { type ApiResponse, header } from "../model/http.ts";
import { isJsonObject, type Json, member } from "../model/json.ts";
import { Problem, RpcCode, rpcOfHttp } from "../model/problem.ts";
import type { Resource, Row } from "../model/resource.ts";
import { respondWith } from "./headers.ts";

/** v2 field names (dotted, both spellings) to v1's. */
export type FieldNames = ReadonlyMap<string, string>;

/** The names of every row that the resource's operations speak of. */
export function fieldNames(resource: Resource): FieldNames {
  const names = new Map<string, string>();
  const shapes = resource.operations.flatMap((operation) => {
    return operation.kind === "native" || operation.kind === "delete" ? [] : [operation];
  });
  // Lists and Gets come first and are shown last: what a verb calls otherwise is not the record's name.
  for (const { answer } of [...shapes].reverse()) addNames(answer.rows, "", "", names);
  // Bodies last: an error is about what was sent, so their names win.
  for (const shape of shapes) if ("body" in shape) addNames(shape.body?.rows ?? [], "", "", names);
  return names;
}

/** Every spelling of the rows, and of the rows of their messages. The prefixes are dotted, or empty. */
function addNames(rows: readonly Row[], v1Prefix: string, v2Prefix: string, names: Map<string, string>): void {
  for (const row of rows) {
    if (row.v2 === null) continue;
    const v1 = `${v1Prefix}${row.v1}`;
    const v2 = `${v2Prefix}${row.v2}`;
    for (const spelling of [v2, snakeCase(v2), camelCase(v2)]) names.set(spelling, v1);
    if (row.v2Proto !== undefined) names.set(`${snakeCase(v2Prefix)}${row.v2Proto}`, v1);
    if (row.kind === "message") addNames(row.rows, `${v1}.`, `${v2}.`, names);
    if (row.kind === "map" && typeof row.of === "object") addNames(row.of.rows, `${v1}.`, `${v2}.`, names);
  }
}

/**
 * v2's error for a v1 client: status, code, message and details as v2 sent them, with field names turned back where they
 * are names. An error without a JSON body (from a front) keeps its status and gets a body in the API's shape.
 * Throws `Problem` UPSTREAM_INVALID for what is no error at all: a redirect, a partial answer.
 */
export function errorResponse(response: ApiResponse, names: FieldNames): ApiResponse {
  if (response.status < 400) throw notAnError(response.status);
  const rewritten = rewriteError(response, names);
  if (rewritten !== undefined) return respondWith(response, response.status, rewritten);
  const body = {
    code: rpcOfHttp(response.status),
    message: `the platform answered ${response.status} without an error body`,
    details: [],
  };
  return respondWith(response, response.status, Buffer.from(JSON.stringify(body)));
}

/** The error body as a value, or undefined when it is none. */
export function readError(response: ApiResponse): { code: number; details: readonly Json[] } | undefined {
  if (response.body.length === 0) return undefined;
  const type = header(response.headers, "content-type");
  if (type !== undefined && !/json/i.test(type)) return undefined;
  try {
    const value = JSON.parse(Buffer.from(response.body).toString("utf8")) as Json;
    if (!isJsonObject(value) || !isRpcCode(value["code"])) return undefined;
    return { code: value["code"], details: Array.isArray(value["details"]) ? value["details"] : [] };
  } catch {
    return undefined;
  }
}

/** A front may write its HTTP status there: that is no body of the API. */
function isRpcCode(code: Json | undefined): code is number {
  return typeof code === "number" && Number.isInteger(code) && code >= RpcCode.OK && code <= RpcCode.UNAUTHENTICATED;
}

/** The body in v1's words; undefined when it is no error body. */
function rewriteError(response: ApiResponse, names: FieldNames): Uint8Array | undefined {
  if (readError(response) === undefined) return undefined;
  try {
    return rewriteValue(response.body, errorPlan(names)).bytes;
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

/** Where a redirect leads is nobody's business: carryover speaks for the platform. */
function notAnError(status: number): Problem {
  return new Problem("UPSTREAM_INVALID", `the platform answered ${status}, which is neither success nor error`);
}

/** Missing, or not allowed: v1 showed both as nothing. */
export const MISSING_OR_FORBIDDEN = [
  [404, RpcCode.NOT_FOUND],
  [403, RpcCode.PERMISSION_DENIED],
] as const;

/** True when the platform itself says so: a typed detail tells its answer from that of a gateway or a wrong base path. */
export function isTypedRefusal(
  response: ApiResponse,
  statuses: readonly (readonly [http: number, code: number])[],
): boolean {
  const error = readError(response);
  if (error === undefined) return false;
  if (!statuses.some(([http, code]) => response.status === http && error.code === code)) return false;
  return error.details.some(
    (detail) => isJsonObject(detail) && /google\.rpc\.(ErrorInfo|ResourceInfo)$/.test(String(detail["@type"])),
  );
}

/** Which words of a v2 error are names that v1 spelled otherwise? (Design: errors; specification section 7.) */

/** v2 field names (dotted, both spellings) to v1's. */
type V1Names = ReadonlyMap<string, string>;

/** The edits of an error body: names only; everything else, unknown details too, stays byte for byte. */
export function errorPlan(names: V1Names): ObjectPlan {
  const badRequest = badRequestPlan(names);
  return {
    kind: "object",
    members: new Map<string, MemberPlan>([
      ["message", converted((text) => v1Message(text, names))],
      [
        "details",
        { value: { kind: "array", items: { kind: "convert", convert: (raw) => v1Detail(raw, badRequest) } } },
      ],
    ]),
  };
}

function badRequestPlan(names: V1Names): ObjectPlan {
  const violation: ObjectPlan = {
    kind: "object",
    members: new Map([["field", converted((field) => v1Field(field, names))]]),
  };
  return {
    kind: "object",
    members: new Map<string, MemberPlan>([["fieldViolations", { value: { kind: "array", items: violation } }]]),
  };
}

function converted(convert: (text: string) => string): MemberPlan {
  return { value: { kind: "convert", convert: (raw) => convertString(raw, convert) } };
}

/** A detail in v1's words, as far as its type is known to hold any. */
function v1Detail(raw: Uint8Array, badRequest: ObjectPlan): Uint8Array {
  const type = member(JSON.parse(Buffer.from(raw).toString("utf8")), "@type");
  if (typeof type !== "string") return raw;
  if (type.endsWith("/google.rpc.BadRequest")) return rewriteValue(raw, badRequest).bytes;
  return VERSIONED_TYPE.test(type) ? rewriteValue(raw, RETYPED).bytes : raw;
}

/** The one detail whose type names the version (trap T51): v1's package of it has no version segment. */
const VERSIONED_TYPE = /\.v2[a-z0-9]*(?=\.TermsNotAcceptedDetail$)/;
const RETYPED: ObjectPlan = {
  kind: "object",
  members: new Map([["@type", converted((type) => type.replace(VERSIONED_TYPE, ""))]]),
};

function convertString(raw: Uint8Array, convert: (text: string) => string): Uint8Array | string {
  const text: unknown = JSON.parse(Buffer.from(raw).toString("utf8"));
  if (typeof text !== "string") return raw;
  const converted = convert(text);
  return converted === text ? raw : JSON.stringify(converted);
}

/** No row lies deeper; a longer path is only looked at so far. */
const DEEPEST = 16;
const LONGEST = 1_000;

/** `role_uid` → `role`; the longest known prefix of a nested path is renamed, the rest and every `[index]` kept. */
function v1Field(field: string, names: V1Names): string {
  if (field.length > LONGEST) return field;
  // A dot in brackets belongs to the user's key.
  const parts = field.split(/\.(?![^[]*\])/);
  const plain = parts.slice(0, DEEPEST).map((part) => part.replace(/\[.*$/, ""));
  for (let end = plain.length; end > 0; end -= 1) {
    const v1 = names.get(plain.slice(0, end).join("."));
    if (v1 === undefined) continue;
    const renamed = v1.split(".").map((name, index) => `${name}${parts[index]?.slice(plain[index]?.length) ?? ""}`);
    return [...renamed, ...parts.slice(end)].join(".");
  }
  return field;
}

/** Only the `Invalid argument: NAME:` prefix holds a name; free text is left alone. */
function v1Message(message: string, names: V1Names): string {
  // In brackets stands an index, or a key: anything.
  const match = /^(Invalid argument: )((?:[A-Za-z0-9_.]|\[[^\]]*\])+)(:)/.exec(message);
  if (match === null) return message;
  const [whole, prefix = "", name = "", colon = ""] = match;
  return `${prefix}${v1Field(name, names)}${colon}${message.slice(whole.length)}`;
}
