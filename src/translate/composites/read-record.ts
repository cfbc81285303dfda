/** Reads that v2 serves only by the uid of a record: looking up an identity, and a list that is a member of one record. */

import type { ObjectPlan } from "../../json/plan.ts";
import { createValueRewriter } from "../../json/rewrite.ts";
import { collectionPath } from "../../model/request.ts";
import { isUid } from "../../model/uid.ts";
import { errorResponse } from "../error.ts";
import { readHeaders, respondWith } from "../headers.ts";
import { type Composite, filtersOf, noteReports, readRequestQuery, verbPath } from "../operation.ts";
import { checkKey, invalidResponse, keyOf, readUpstream, targetWith, V2_KEY } from "../pages.ts";
import { createRecordRewriter } from "../record-rewriter.ts";
import { parseRecord } from "../replace.ts";
import { responsePlan } from "../response-plan.ts";

/**
 * The verb returns a uid, also of a record that does not exist; a Get of that uid returns the rest. The platform's refusal of the
 * Get is the response: its 404 is v1's "not found", and its 403 stays.
 */
export const createLookUp: Composite = (operation, parts) => {
  const rewriter = createRecordRewriter(operation.answer, [], parts);
  const verb = verbPath(operation, parts);
  const collection = collectionPath(parts.resource, parts.options.version);
  const filters = filtersOf(operation);
  return async (request, tools) => {
    const { params } = readRequestQuery(request, filters, tools);
    const headers = readHeaders(request.headers);
    const found = await tools.send({ method: "GET", target: targetWith(verb, params), headers });
    if (found.status !== 200) return errorResponse(found, parts.names);
    const uid = keyOf(found.body);
    if (typeof uid !== "string" || !isUid(uid)) throw invalidResponse("it names no uid");
    const response = await tools.send({ method: "GET", target: `${collection}/${uid}`, headers });
    if (response.status !== 200) return errorResponse(response, parts.names);
    return rewriter.respond(response, uid, request, tools);
  };
};

/**
 * A Get of the record. The rows say what v1's response holds. The platform's refusal is the response, because v1
 * named the record by its path (as opposed to the filters of its lists).
 */
export const createListMember: Composite = (operation, parts) => {
  const collection = collectionPath(parts.resource, parts.options.version);
  // v1's response always has its list, whether v2 leaves zeros out or not.
  const plan = responsePlan(operation.answer, { ...parts.options, insertZeros: true });
  const lists = operation.answer.rows.filter((row) => row.kind !== "map" && row.list === true);
  const rewrite = createValueRewriter({ ...plan, unknown: "drop", reportUnknown: false } satisfies ObjectPlan);
  return async (request, tools) => {
    const { uid, uidPath, query } = request.match;
    if (query !== "") tools.exchange.notes.push("query-unknown");
    const headers = readHeaders(request.headers);
    const response = await tools.send({ method: "GET", target: `${collection}/${uidPath}`, headers });
    if (response.status !== 200) return errorResponse(response, parts.names);
    const { bytes, reports } = readUpstream(() => rewrite(response.body));
    const record = parseRecord(response);
    checkKey(record[V2_KEY], uid);
    noteReports(reports, tools);
    // v1's response for an empty list did not name the record.
    const holdsList = lists.some(({ v2 }) => v2 !== null && record[v2] !== undefined);
    return respondWith(response, 200, holdsList ? bytes : rewrite(Buffer.from("{}")).bytes);
  };
};
