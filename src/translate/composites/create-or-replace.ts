/** How does a v1 create that also updates find out which of the two is meant? (Traps T12, T61.) */
import type { Json, JsonObject } from "../../model/json.ts";
import { isJsonObject } from "../../model/json.ts";
import type { DrainRefused, ListPlan } from "../../model/list.ts";
import { v2PathOf } from "../../model/match.ts";
import type { ApiResponse } from "../../model/message.ts";
import { Problem } from "../../model/problem.ts";
import type { Filter } from "../../model/resource.ts";
import { isUid, parentOf } from "../../model/uid.ts";
import { bodyText } from "../body.ts";
import { errorAnswer } from "../error.ts";
import { answerWith, readHeaders, writeHeaders } from "../headers.ts";
import { createPageReader, invalidAnswer, pageTarget, readPage, V2_KEY } from "../pages.ts";
import type { Parts } from "../parts.ts";
import { namingHeader, parseRecord, settle } from "../patch.ts";
import { readListQuery } from "../query.ts";
import { isSuccess, STATE_UNKNOWN } from "../records.ts";
import type { Tools, V1Request } from "../tools.ts";
import { type Composite, filtersOf } from "./composite.ts";
import { refuseChanges } from "./fixed.ts";
import { refusedAfter, writeAfter } from "./partial.ts";
import { createWhole, type Whole, type Wish } from "./record-with-sub.ts";
import { replaceWhole } from "./replace-with-sub.ts";

/** Of a record that was just made. */
const NOTHING_HELD = { record: {}, synced: false };

/** What v1 told records below one parent apart by. */
const NAME = "name";

/**
 * v1 updated a record of that name below the parent, unless the one boolean parameter of the operation said otherwise. v2
 * has no such switch, so the name is looked up first. Without a name there is nothing to be found: the platform refuses it.
 * Race: a record that is made between the look-up and the POST is met by v2's own rule for a name that is taken.
 */
export const createCreateOrReplace: Composite = (operation, parts) => {
  const whole = createWhole(operation, parts);
  const filters = filtersOf(operation);
  const find = createFinder(parts, whole);
  return async (request, tools) => {
    const query = readListQuery(request.match.query, filters);
    if (query.unknown.length > 0) tools.exchange.notes.push("query-unknown");
    const wish = whole.wish(request, tools);
    // Before anything is asked: a condition is only good for one call.
    writeHeaders(request.headers, "several");
    const name = nameIn(wish);
    const found = name === "" ? undefined : await find(name, request, tools);
    if (found?.kind === "refused") return errorAnswer(found.response, parts.names);
    if (found?.record === undefined) return createWith({ whole, parts, wish }, request, tools);
    if (forbidsExisting(filters, query.params)) throw alreadyExists(parts);
    const uid = found.record[V2_KEY];
    if (typeof uid !== "string" || !isUid(uid)) throw invalidAnswer("a record without its uid");
    return replaceWhole({ whole, parts, wish, uid, stored: found.record }, request, tools);
  };
};

function nameIn({ body }: Wish): string {
  const sent = body.fields.get(NAME);
  return sent === undefined ? "" : (JSON.parse(sent.raw) as string);
}

function forbidsExisting(filters: readonly Filter[], params: readonly string[]): boolean {
  return filters.some((filter) => filter.use === "send" && params.includes(`${filter.v2}=true`));
}

function alreadyExists({ resource }: Parts): Problem {
  return new Problem("ALREADY_EXISTS", `a ${resource.name} of this name exists already below this parent`, {
    fieldViolations: [{ field: NAME, description: "is taken" }],
  });
}

type Found = { readonly kind: "found"; readonly record: JsonObject | undefined } | DrainRefused;

/** Looks for the child of the request's parent that has exactly this name, on all pages of v2's list. */
function createFinder(parts: Parts, whole: Whole) {
  const pages = createPageReader(parts.resource, "copy");
  return async (name: string, { match, headers }: V1Request, tools: Tools): Promise<Found> => {
    const params = [`uidp.children_of=${encodeURIComponent(match.uid)}`, `${NAME}=${encodeURIComponent(name)}`];
    const plan: ListPlan = {
      resource: parts.resource.name,
      keyOrder: parts.resource.orderedByUid,
      request: (page) => ({
        method: "GET",
        target: pageTarget(whole.collection, params, page),
        headers: readHeaders(headers),
      }),
      read: (response) => readPage(response, pages, [(uid) => parentOf(uid) === match.uid], () => {}),
    };
    const list = await tools.drain(plan);
    if (list.kind === "refused") return list;
    for (const chunk of list.chunks) {
      const records = JSON.parse(`[${Buffer.from(chunk).toString("utf8")}]`) as Json[];
      const record = records.filter(isJsonObject).find((each) => each[NAME] === name);
      if (record !== undefined) return { kind: "found", record };
    }
    return { kind: "found", record: undefined };
  };
}

interface Creation {
  readonly whole: Whole;
  readonly parts: Parts;
  readonly wish: Wish;
}

/** The record first: its part has no place without it. Repeating the request after a failure writes the part. */
async function createWith({ whole, parts, wish }: Creation, request: V1Request, tools: Tools): Promise<ApiResponse> {
  const { resource } = parts;
  refuseChanges(wish.fixed, {});
  const response = await tools.send({
    method: "POST",
    target: v2PathOf(request.match, parts.options.version),
    headers: writeHeaders(request.headers, "several"),
    body: Buffer.from(bodyText(wish.body)),
  });
  if (!isSuccess(response)) return errorAnswer(response, parts.names);
  const uid = parseRecord(response, STATE_UNKNOWN)[V2_KEY];
  if (typeof uid !== "string" || !isUid(uid)) throw invalidAnswer("a record without its uid", STATE_UNKNOWN);
  // The part is written by this uid: never into a record that was not made here.
  if (parentOf(uid) !== request.match.uid) throw invalidAnswer("it is another record", STATE_UNKNOWN);
  const part = await writeAfter(resource.name, tools, () =>
    whole.part.write(uid, wish.part, NOTHING_HELD, request, tools),
  );
  if (part.kind === "refused") return refusedAfter(resource.name, part.answer, tools);
  const shown = whole.show(response, uid, part.effect.record, tools);
  return answerWith(response, 200, shown, namingHeader(settle([part.effect], parts, tools)));
}
