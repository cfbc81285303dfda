/** How is a list answered that v2 has only as a member of one record? (An advisory's events.) */
import type { ObjectPlan } from "../../json/plan.ts";
import { createValueRewriter } from "../../json/rewrite.ts";
import { collectionPath } from "../../model/match.ts";
import { answerPlan } from "../answer-plan.ts";
import { errorAnswer } from "../error.ts";
import { answerWith, readHeaders } from "../headers.ts";
import { noteReports } from "../note.ts";
import { checkKey, readUpstream, V2_KEY } from "../pages.ts";
import { parseRecord } from "../patch.ts";
import type { Composite } from "./composite.ts";

const NOTHING = Buffer.from("{}");

/**
 * A Get of the record, of which the rows say what v1's answer holds. The platform's refusal is the answer: v1 asked for
 * the record by its path, and judged whether it is there and allowed, which it did not for the filters of its lists.
 */
export const createListMember: Composite = (operation, parts) => {
  const collection = collectionPath(parts.resource, parts.options.version);
  // Zeros whatever v2 does: v1's answer always has its list.
  const shown = answerPlan(operation.answer, { unknown: parts.options.unknownResponse, insertZeros: true });
  const lists = operation.answer.rows.filter((row) => row.kind !== "map" && row.list === true);
  // What else v2's record holds is none of this answer's business.
  const rewrite = createValueRewriter({ ...shown, unknown: "drop", reportUnknown: false } satisfies ObjectPlan);
  return async (request, tools) => {
    const { uid, uidPath, query } = request.match;
    if (query !== "") tools.exchange.notes.push("query-unknown");
    const headers = readHeaders(request.headers);
    const response = await tools.send({ method: "GET", target: `${collection}/${uidPath}`, headers });
    if (response.status !== 200) return errorAnswer(response, parts.names);
    const { bytes, reports } = readUpstream(() => rewrite(response.body));
    const record = parseRecord(response);
    checkKey(record[V2_KEY], uid);
    noteReports(reports, tools);
    // Where zeros are left out, v1's answer for an empty list said nothing of whose it is.
    const holdsList = lists.some(({ v2 }) => v2 !== null && record[v2] !== undefined);
    return answerWith(response, 200, holdsList ? bytes : rewrite(NOTHING).bytes);
  };
};
