/** Composites whose messages v2 wraps or flattens: an update of a caller's own metadata, and creating many records at once. */

import { parseExact } from "../../json/exact.ts";
import { createPageRewriter, type PageResult } from "../../json/rewrite.ts";
import { parseTree, rawOf } from "../../json/tree.ts";
import type { ApiRequest } from "../../model/http.ts";
import { Problem } from "../../model/problem.ts";
import type { Row } from "../../model/resource.ts";
import { camelCase, snakeCase } from "../../model/text.ts";
import { isBlank, parseBody, type SentField, type V2Body } from "../body.ts";
import { errorResponse, type FieldNames, isSuccess, STATE_UNKNOWN } from "../error.ts";
import { respondWith, writeHeaders } from "../headers.ts";
import {
  type Composite,
  noteReports,
  type ResourceContext,
  readRequestBody,
  type Tools,
  type V1Request,
  verbPath,
  wrappedBody,
} from "../operation.ts";
import { invalidResponse, pagePlan, readUpstream } from "../pages.ts";
import { createRecordRewriter } from "../record-rewriter.ts";
import { mismatchHeader, parseRecord, sendPatch, verifyPatches } from "../replace.ts";
import { responsePlan } from "../response-plan.ts";
import { isZero } from "../same.ts";
import { describe, invalidBody } from "../scalars.ts";
import { buildPatch } from "../update.ts";

/**
 * A message without a v2 name does not exist in v2: its rows are members of the message around it. v1 had no mask, so the
 * mask names every row, and what the client leaves out becomes zero. The mask is in the body; its spelling is learned apart.
 * What a client sends for a row without a v2 name is lost; the response names it like a mismatch.
 */
export const createUpdateWrapped: Composite = (operation, parts) => {
  const { wrap, rows } = wrappedBody(operation, parts);
  const flat = rows.flatMap(flatten);
  const readable = rows.map(withV2Name);
  const target = verbPath(operation, parts);
  const names = wrappedNames(wrap, flat, parts);
  const rewriter = createRecordRewriter(operation.answer, [], { ...parts, names });
  return async (request, tools) => {
    const body = flattenBody(readRequestBody(request.body, readable, parts.options.unknownRequest, tools));
    const lost = lostFields(flat, body);
    if (parts.options.mismatch === "fail") refuse(lost);
    const patch = buildPatch(flat, body, undefined);
    const headers = writeHeaders(request.headers, "one");
    const requestWith = (mask: string): ApiRequest => ({
      method: "PATCH",
      target,
      headers,
      body: Buffer.from(`{${JSON.stringify(wrap)}:${patch.body},"updateMask":${JSON.stringify(mask)}}`),
    });
    const { response, spelling } = await sendPatch(patch, requestWith, tools, tools.bodyMask);
    if (!isSuccess(response)) return errorResponse(response, names);
    tools.exchange.defaultedFields.push(...patch.defaulted);
    return rewriter.respond(response, undefined, request, tools, STATE_UNKNOWN, () => {
      const record = parseRecord(response, STATE_UNKNOWN);
      tools.exchange.mismatches.push(...lost);
      const differing = verifyPatches([{ patch, record, spelling }], parts, tools, tools.bodyMask);
      return mismatchHeader([...differing, ...lost]);
    });
  };
};

/** The row as v2 has it: rows of a message that v2 does not have get their dotted v1 names. */
function flatten(row: Row): readonly Row[] {
  if (row.kind !== "message" || row.v2 !== null) return [row];
  return row.rows.map((inner) => ({ ...inner, v1: `${row.v1}.${inner.v1}` }));
}

/** Rows without a v2 name would not be read, so they get one. */
function withV2Name(row: Row): Row {
  if (row.v2 !== null) return row;
  return row.kind === "message" ? { ...row, v2: row.v1, rows: row.rows.map(withV2Name) } : { ...row, v2: row.v1 };
}

/** What was sent, by the names of `flatten`. */
function flattenBody(body: V2Body): V2Body {
  const fields = new Map<string, SentField>();
  const passed = [...body.passed];
  for (const [name, sent] of body.fields) {
    fields.set(name, sent);
    for (const [inner, field] of sent.nested?.fields ?? []) fields.set(`${name}.${inner}`, field);
    passed.push(...(sent.nested?.passed ?? []));
  }
  return { fields, passed };
}

/** v1 names of fields that the client sent and v2 does not have. */
function lostFields(flat: readonly Row[], body: V2Body): string[] {
  return flat.flatMap((row) => {
    const sent = row.v2 === null ? body.fields.get(row.v1) : undefined;
    return sent === undefined || isZero(parseExact(sent.raw), row) ? [] : [row.v1];
  });
}

function refuse(lost: readonly string[]): void {
  if (lost.length === 0) return;
  throw new Problem("INVALID_BODY", `invalid body: ${lost.join(", ")}: v2 has no such field`, {
    fieldViolations: lost.map((field) => ({ field, description: "v2 has no such field" })),
    options: [],
  });
}

/** v2 names its fields with or without the name of the wrapper. */
function wrappedNames(wrap: string, flat: readonly Row[], { names }: ResourceContext): FieldNames {
  const all = new Map(names);
  for (const { v1, v2 } of flat) {
    if (v2 === null) continue;
    for (const name of [v2, `${wrap}.${v2}`]) {
      all.set(camelCase(name), v1);
      all.set(snakeCase(name), v1);
    }
  }
  return all;
}

/**
 * v1's bare array becomes v2's requests, each with the parent of the path; the records come back in the same order. A
 * batch larger than v2 takes is the platform's to refuse: in several calls it would no longer be all or none.
 */
export const createBatch: Composite = (operation, parts) => {
  const { wrap, rows } = wrappedBody(operation, parts);
  const target = verbPath(operation, parts);
  const plan = responsePlan(operation.answer, parts.options);
  const pages = createPageRewriter(pagePlan(parts.resource, plan));
  const names = batchNames(wrap, rows, parts);
  return async (request, tools) => {
    const records = readBatchRecords(request, rows, parts, tools);
    const parent = JSON.stringify(request.match.uid);
    const requests = records.map((record) => `{"parent":${parent},${JSON.stringify(wrap)}:${record}}`);
    const response = await tools.send({
      method: "POST",
      target,
      headers: writeHeaders(request.headers, "one"),
      body: Buffer.from(`{"parent":${parent},"requests":[${requests.join(",")}]}`),
    });
    if (!isSuccess(response)) return errorResponse(response, names);
    const page = readUpstream(() => pages(response.body), STATE_UNKNOWN);
    checkRecords(page, records.length);
    noteReports(page.reports, tools);
    const open = Buffer.from(`{${JSON.stringify(parts.resource.items)}:[`);
    return respondWith(response, 200, Buffer.concat([open, page.bytes, Buffer.from("]}")]));
  };
};

/** The elements in v2's spelling. Throws `Problem` INVALID_BODY with the index of the element. */
function readBatchRecords(
  { body }: V1Request,
  rows: readonly Row[],
  { options }: ResourceContext,
  tools: Tools,
): readonly string[] {
  if (isBlank(body)) return [];
  const list = parseBody(body);
  if (list.kind !== "array") throw invalidBody("", `expected an array, found ${describe(list)}`);
  // Read as a member with an empty name, so that paths in errors begin with the index.
  const wrapper: Row = { v1: "", v2: "", kind: "message", rows, list: true, zero: [] };
  const message = Buffer.concat([Buffer.from('{"":'), rawOf(list), Buffer.from("}")]);
  const { fields } = readRequestBody(message, [wrapper], options.unknownRequest, tools);
  const written = parseTree(Buffer.from(fields.get("")?.raw ?? "[]"));
  return written.kind === "array" ? written.items.map((item) => Buffer.from(rawOf(item)).toString("utf8")) : [];
}

/** There must be one record for each request, with its uid. */
function checkRecords({ keys }: PageResult, asked: number): void {
  if (keys.length !== asked) throw invalidResponse(`${keys.length} records for ${asked}`, STATE_UNKNOWN);
  if (keys.includes("")) throw invalidResponse("a record without its uid", STATE_UNKNOWN);
}

/** `requests[3].roleBinding.roleUid` is `[3].role` in v1's bare array; the array itself has the name it has in v1's response. */
function batchNames(wrap: string, rows: readonly Row[], { names, resource }: ResourceContext): FieldNames {
  const all = new Map(names).set("requests", resource.items);
  for (const { v1, v2 } of rows) {
    if (v2 === null) continue;
    for (const name of [`requests.${wrap}.${v2}`, `requests.${v2}`]) {
      all.set(camelCase(name), `.${v1}`);
      all.set(snakeCase(name), `.${v1}`);
    }
    all.set(camelCase(`${wrap}.${v2}`), v1);
    all.set(snakeCase(`${wrap}.${v2}`), v1);
  }
  return all;
}
