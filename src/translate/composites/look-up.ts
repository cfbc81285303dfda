/** How is a record found that v2 names only by its uid? (Trap T48: looking up an identity.) */
import { collectionPath } from "../../model/match.ts";
import { isUid } from "../../model/uid.ts";
import { errorAnswer } from "../error.ts";
import { answerWith, readHeaders } from "../headers.ts";
import { invalidAnswer, keyOf } from "../pages.ts";
import { readListQuery } from "../query.ts";
import { createShow } from "../show.ts";
import { type Composite, filtersOf, verbPath } from "./composite.ts";

/**
 * The verb gives a uid, also of a record that does not exist; a Get of it says the rest. The platform's refusal of the Get is
 * the answer: 404 is v1's "not found", and a 403 stays one, since nothing is made up of a record that may not be read.
 */
export const createLookUp: Composite = (operation, parts) => {
  const show = createShow(operation.answer, [], parts);
  const verb = verbPath(operation, parts);
  const collection = collectionPath(parts.resource, parts.options.version);
  const filters = filtersOf(operation);
  return async (request, tools) => {
    const query = readListQuery(request.match.query, filters);
    if (query.unknown.length > 0) tools.exchange.notes.push("query-unknown");
    const target = query.params.length === 0 ? verb : `${verb}?${query.params.join("&")}`;
    const headers = readHeaders(request.headers);
    const found = await tools.send({ method: "GET", target, headers });
    if (found.status !== 200) return errorAnswer(found, parts.names);
    const uid = keyOf(found.body);
    if (typeof uid !== "string" || !isUid(uid)) throw invalidAnswer("it names no uid");
    const response = await tools.send({ method: "GET", target: `${collection}/${uid}`, headers });
    if (response.status !== 200) return errorAnswer(response, parts.names);
    const shown = await show.one(response.body, uid, request, tools);
    if (shown.kind === "refused") return errorAnswer(shown.response, parts.names);
    return answerWith(response, 200, shown.bytes);
  };
};
