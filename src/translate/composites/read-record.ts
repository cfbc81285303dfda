/** How is a record found that v2 names only by its uid? (Trap T48: looking up an identity.) */

import type { ObjectPlan } from "../../json/plan.ts";
import { createValueRewriter } from "../../json/rewrite.ts";
import { collectionPath } from "../../model/request.ts";
import { isUid } from "../../model/uid.ts";
import { errorResponse } from "../error.ts";
import { readHeaders, respondWith } from "../headers.ts";
import { type Composite, filtersOf, noteReports, verbPath } from "../operation.ts";
import { checkKey, invalidResponse, keyOf, readUpstream, V2_KEY } from "../pages.ts";
import { readListQuery } from "../query.ts";
import { createRecordRewriter } from "../record-rewriter.ts";
import { parseRecord } from "../replace.ts";
import { responsePlan } from "../response-plan.ts";

/**
 * The verb gives a uid, also of a record that does not exist; a Get of it says the rest. The platform's refusal of the Get is
 * the answer: 404 is v1's "not found", and a 403 stays one, since nothing is made up of a record that may not be read.
 */
export const createLookUp: Composite = (operation, parts) => {
  const show = createRecordRewriter(operation.answer, [], parts);
  const verb = verbPath(operation, parts);
  const collection = collectionPath(parts.resource, parts.options.version);
  const filters = filtersOf(operation);
  return async (request, tools) => {
    const query = readListQuery(request.match.query, filters);
    if (query.unknown.length > 0) tools.exchange.notes.push("query-unknown");
    const target = query.params.length === 0 ? verb : `${verb}?${query.params.join("&")}`;
    const headers = readHeaders(request.headers);
    const found = await tools.send({ method: "GET", target, headers });
    if (found.status !== 200) return errorResponse(found, parts.names);
    const uid = keyOf(found.body);
    if (typeof uid !== "string" || !isUid(uid)) throw invalidResponse("it names no uid");
    const response = await tools.send({ method: "GET", target: `${collection}/${uid}`, headers });
    if (response.status !== 200) return errorResponse(response, parts.names);
    const shown = await show.rewriteOne(response.body, uid, request, tools);
    if (shown.kind === "refused") return errorResponse(shown.response, parts.names);
    return respondWith(response, 200, shown.bytes);
  };
};

/** How is a list answered that v2 has only as a member of one record? (An advisory's events.) */

const EMPTY_RECORD = Buffer.from("{}");

/**
 * A Get of the record, of which the rows say what v1's answer holds. The platform's refusal is the answer: v1 asked for
 * the record by its path, and judged whether it is there and allowed, which it did not for the filters of its lists.
 */
export const createListMember: Composite = (operation, parts) => {
  const collection = collectionPath(parts.resource, parts.options.version);
  // Zeros whatever v2 does: v1's answer always has its list.
  const shown = responsePlan(operation.answer, { unknown: parts.options.unknownResponse, insertZeros: true });
  const lists = operation.answer.rows.filter((row) => row.kind !== "map" && row.list === true);
  // What else v2's record holds is none of this answer's business.
  const rewrite = createValueRewriter({ ...shown, unknown: "drop", reportUnknown: false } satisfies ObjectPlan);
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
    // Where zeros are left out, v1's answer for an empty list said nothing of whose it is.
    const holdsList = lists.some(({ v2 }) => v2 !== null && record[v2] !== undefined);
    return respondWith(response, 200, holdsList ? bytes : rewrite(EMPTY_RECORD).bytes);
  };
};
