/** Creates several records at once, all or none: a batch of role bindings. */

import { createPageRewriter, type PageResult } from "../../json/rewrite.ts";
import { parseTree, rawOf } from "../../json/tree.ts";
import type { Row } from "../../model/resource.ts";
import { camelCase, snakeCase } from "../../model/text.ts";
import { isBlank, parseBody } from "../body.ts";
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
import { responsePlan } from "../response-plan.ts";
import { describe, invalidBody } from "../scalars.ts";

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
