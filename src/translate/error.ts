/** How does a v2 error read in v1's words? (Design: errors; specification section 7.) */
import { JsonError } from "../json/error.ts";
import { rewriteValue } from "../json/rewrite.ts";
import { isJsonObject, type Json } from "../model/json.ts";
import { type ApiResponse, header } from "../model/message.ts";
import { Problem } from "../model/problem.ts";
import type { Resource, Row } from "../model/resource.ts";
import { RpcCode, rpcOfHttp } from "../model/status.ts";
import { errorPlan } from "./error-words.ts";
import { answerWith } from "./headers.ts";
import { camelCase, snakeCase } from "./names.ts";

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
export function errorAnswer(response: ApiResponse, names: FieldNames): ApiResponse {
  if (response.status < 400) throw notAnError(response.status);
  const rewritten = rewriteError(response, names);
  if (rewritten !== undefined) return answerWith(response, response.status, rewritten);
  const body = {
    code: rpcOfHttp(response.status),
    message: `the platform answered ${response.status} without an error body`,
    details: [],
  };
  return answerWith(response, response.status, Buffer.from(JSON.stringify(body)));
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
export const NOT_THERE = [
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
