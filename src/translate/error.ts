/** Errors of v2 in v1's words: field names are translated, everything else stays as v2 sent it. */

import { JsonError } from "../json/error.ts";
import type { MemberPlan, ObjectPlan } from "../json/plan.ts";
import { rewriteValue } from "../json/rewrite.ts";
import { type ApiResponse, header } from "../model/http.ts";
import { isJsonObject, type Json, member } from "../model/json.ts";
import { Problem, RpcCode, rpcOfHttp } from "../model/problem.ts";
import type { Resource, Row } from "../model/resource.ts";
import { camelCase, snakeCase } from "../model/text.ts";
import { respondWith } from "./headers.ts";

/** v2 field names (dotted, in both spellings) to v1's. */
export type FieldNames = ReadonlyMap<string, string>;

/** The names of every row that the resource's operations speak of. */
export function fieldNames(resource: Resource): FieldNames {
  const names = new Map<string, string>();
  const shapes = resource.operations.filter((operation) => "answer" in operation);
  // The last one wins: lists and Gets, which come first, name a field better than a verb does.
  for (const { answer } of [...shapes].reverse()) addNames(answer.rows, "", "", names);
  // Bodies come last because an error is about what was sent.
  for (const shape of shapes) if ("body" in shape) addNames(shape.body?.rows ?? [], "", "", names);
  return names;
}

/** Adds every spelling of the rows, nested ones included. The prefixes are dotted, or empty. */
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
 * v2's error for a v1 client: status, code, message and details as v2 sent them, with v1's field names. An error without
 * a JSON body, such as a load balancer's, keeps its status and gets a body in the API's form.
 * Throws `Problem` UPSTREAM_INVALID for a response that is no error, such as a redirect.
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

/** Metadata for a write that v2 carried out but whose response cannot be shown. */
export const STATE_UNKNOWN = { state: "unknown" } as const;

/** Throws `Problem` UPSTREAM_INVALID for a response that is neither success nor error. */
export function isSuccess({ status }: ApiResponse): boolean {
  if (status >= 200 && status < 300) return true;
  if (status >= 400) return false;
  throw notAnError(status, STATE_UNKNOWN);
}

/** The error body as a value; undefined when it is none. */
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

/** Some proxies write the HTTP status as the code: such a body is not the API's. */
function isRpcCode(code: Json | undefined): code is number {
  return typeof code === "number" && Number.isInteger(code) && code >= RpcCode.OK && code <= RpcCode.UNAUTHENTICATED;
}

function rewriteError(response: ApiResponse, names: FieldNames): Uint8Array | undefined {
  if (readError(response) === undefined) return undefined;
  try {
    return rewriteValue(response.body, errorPlan(names)).bytes;
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

/** The message does not say where a redirect leads: carryover speaks for the platform. */
function notAnError(status: number, metadata: Readonly<Record<string, string>> = {}): Problem {
  return new Problem("UPSTREAM_INVALID", `the platform answered ${status}, which is neither success nor error`, {
    options: [],
    metadata,
  });
}

/** Missing or forbidden: v1's lists showed both as nothing. */
export const MISSING_OR_FORBIDDEN = [
  [404, RpcCode.NOT_FOUND],
  [403, RpcCode.PERMISSION_DENIED],
] as const;

/** True when the platform itself says so: only its errors carry a typed detail, those of a gateway do not. */
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

/** The edits of an error body: names only. Everything else, unknown details too, stays byte for byte. */
function errorPlan(names: FieldNames): ObjectPlan {
  const badRequest = badRequestPlan(names);
  const detail = { kind: "convert", convert: (raw: Uint8Array) => v1Detail(raw, badRequest) } as const;
  return {
    kind: "object",
    members: new Map<string, MemberPlan>([
      ["message", converted((text) => v1Message(text, names))],
      ["details", { value: { kind: "array", items: detail } }],
    ]),
  };
}

function badRequestPlan(names: FieldNames): ObjectPlan {
  const violation: ObjectPlan = {
    kind: "object",
    members: new Map([["field", converted((field) => v1Field(field, names))]]),
  };
  return { kind: "object", members: new Map([["fieldViolations", { value: { kind: "array", items: violation } }]]) };
}

function converted(convert: (text: string) => string): MemberPlan {
  return { value: { kind: "convert", convert: (raw) => convertString(raw, convert) } };
}

function v1Detail(raw: Uint8Array, badRequest: ObjectPlan): Uint8Array {
  const type = member(JSON.parse(Buffer.from(raw).toString("utf8")), "@type");
  if (typeof type !== "string") return raw;
  if (type.endsWith("/google.rpc.BadRequest")) return rewriteValue(raw, badRequest).bytes;
  return VERSIONED_TYPE.test(type) ? rewriteValue(raw, RETYPED).bytes : raw;
}

/** The one detail type that names its version; v1's package of it has no version segment. */
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

/** Segments of a path that are compared with names; no row lies deeper. */
const MAX_DEPTH = 16;
const MAX_FIELD_LENGTH = 1_000;

/** Renames the longest known prefix (`role_uid` → `role`); the rest and every `[index]` stay. */
function v1Field(field: string, names: FieldNames): string {
  if (field.length > MAX_FIELD_LENGTH) return field;
  // A dot in brackets belongs to a key of a map.
  const parts = field.split(/\.(?![^[]*\])/);
  const plain = parts.slice(0, MAX_DEPTH).map((part) => part.replace(/\[.*$/, ""));
  for (let end = plain.length; end > 0; end -= 1) {
    const v1 = names.get(plain.slice(0, end).join("."));
    if (v1 === undefined) continue;
    const renamed = v1.split(".").map((name, index) => `${name}${parts[index]?.slice(plain[index]?.length) ?? ""}`);
    return [...renamed, ...parts.slice(end)].join(".");
  }
  return field;
}

/** Only the `Invalid argument: NAME:` prefix holds a name; free text stays as it is. */
function v1Message(message: string, names: FieldNames): string {
  // Brackets hold an index, or a key with any characters.
  const match = /^(Invalid argument: )((?:[A-Za-z0-9_.]|\[[^\]]*\])+)(:)/.exec(message);
  if (match === null) return message;
  const [whole, prefix = "", name = "", colon = ""] = match;
  return `${prefix}${v1Field(name, names)}${colon}${message.slice(whole.length)}`;
}
