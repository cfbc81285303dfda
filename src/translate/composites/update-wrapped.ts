/** How is a message changed whose PATCH is wrapped, and which v2 keeps flatter than v1? (Trap T59: a caller's own metadata.) */

import { camelCase, snakeCase } from "../../model/field-names.ts";
import type { ApiRequest } from "../../model/http.ts";
import { Problem } from "../../model/problem.ts";
import type { Row } from "../../model/resource.ts";
import type { SentField, V2Body } from "../body.ts";
import { errorResponse, type FieldNames } from "../error.ts";
import { respondWith, writeHeaders } from "../headers.ts";
import { type Composite, type ResourceContext, readRequestBody, verbPath, wrappedBody } from "../operation.ts";
import { createRecordRewriter } from "../record-rewriter.ts";
import { mismatchHeader, parseRecord, sendPatch, verifyPatches } from "../replace.ts";
import { isSuccess, STATE_UNKNOWN } from "../single-call.ts";
import { buildPatch, isZero } from "../update.ts";

/**
 * A message without a v2 name is one that v2 does not have: its rows are members of the message around it. v1 had no mask,
 * so what the client leaves out becomes zero: the mask names every row. It stands in the body, whose spelling is learned by itself.
 * A row without a v2 name cannot be carried: what a client says of it is named in the answer, as a mismatch is.
 */
export const createUpdateWrapped: Composite = (operation, parts) => {
  const { wrap, rows } = wrappedBody(operation, parts);
  const flat = rows.flatMap(flatten);
  const readable = rows.map(withV2Name);
  const show = createRecordRewriter(operation.answer, [], parts);
  const target = verbPath(operation, parts);
  const names = wrappedNames(wrap, flat, parts);
  return async (request, tools) => {
    const body = flattenBody(readRequestBody(request.body, readable, parts.options.unknownRequest, tools));
    const lost = lostFields(flat, body);
    if (parts.options.mismatch === "fail") refuse(lost);
    const patch = buildPatch(flat, body, undefined);
    const headers = writeHeaders(request.headers, "one");
    const written = (mask: string): ApiRequest => ({
      method: "PATCH",
      target,
      headers,
      body: Buffer.from(`{${JSON.stringify(wrap)}:${patch.body},"updateMask":${JSON.stringify(mask)}}`),
    });
    const { response, spelling } = await sendPatch(patch, written, tools, tools.bodyMask);
    if (!isSuccess(response)) return errorResponse(response, names);
    tools.exchange.defaultedFields.push(...patch.defaulted);
    const shown = await show.rewriteOne(response.body, undefined, request, tools, STATE_UNKNOWN);
    if (shown.kind === "refused") return errorResponse(shown.response, names);
    const effect = { patch, record: parseRecord(response, STATE_UNKNOWN), spelling };
    tools.exchange.mismatches.push(...lost);
    const differing = verifyPatches([effect], parts, tools, tools.bodyMask);
    return respondWith(response, 200, shown.bytes, mismatchHeader([...differing, ...lost]));
  };
};

/** The row as v2 has it: those of a message that v2 does not have, under their dotted v1 names. */
function flatten(row: Row): readonly Row[] {
  if (row.kind !== "message" || row.v2 !== null) return [row];
  return row.rows.map((inner) => ({ ...inner, v1: `${row.v1}.${inner.v1}` }));
}

/** Rows without a v2 name are not read, so they get one: what is said of them is looked at here. */
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
    for (const [inner, held] of sent.nested?.fields ?? []) fields.set(`${name}.${inner}`, held);
    passed.push(...(sent.nested?.passed ?? []));
  }
  return { fields, passed };
}

/** v1 names of what the client said and v2 has no place for. */
function lostFields(flat: readonly Row[], body: V2Body): string[] {
  return flat.flatMap((row) => {
    const sent = row.v2 === null ? body.fields.get(row.v1) : undefined;
    return sent === undefined || isZero(JSON.parse(sent.raw), row) ? [] : [row.v1];
  });
}

function refuse(lost: readonly string[]): void {
  if (lost.length === 0) return;
  throw new Problem("INVALID_BODY", `invalid body: ${lost.join(", ")}: v2 has no such field`, {
    fieldViolations: lost.map((field) => ({ field, description: "v2 has no such field" })),
  });
}

/** v2 names its fields with the wrapper before them, or without. */
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
