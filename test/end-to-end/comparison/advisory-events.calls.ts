/** v1 calls on the events of one advisory. */
import { type JsonObject, member } from "../../../src/model/json.ts";
import { advisoryId, at, get, many, type Scenario, type Seen, scenario } from "./call.ts";
import { MISSING, otherMethods } from "./words.ts";

const ADVISORIES = "/vulnerabilities/v1/advisories";
const events = at(`${ADVISORIES}/`, advisoryId, "/events");

/** The id of the advisory of this number among those that have events, by id. (Whose an empty list is depends on who leaves zeros out.) */
const numbered =
  (index: number) =>
  (seen: Seen): string =>
    (member(seen.answer("all of them"), "items") as JsonObject[])
      .filter(({ events }) => Array.isArray(events) && events.length > 0)
      .map((one) => String(one["id"]))
      .toSorted()[index] ?? "";

export const advisoryEventScenarios: readonly Scenario[] = [
  scenario("events of an advisory", [
    get("of one", events, { items: "some", shows: ({ known }) => ({ parentId: known.advisory }) }),
    get("as a viewer", events, { as: "viewer", items: "some" }),
    get("without a token", events, 401, { as: "anonymous" }),
    get("with a forged token", events, 401, { as: "forged" }),
    get(
      "with %2F",
      at(`${ADVISORIES}/`, (seen) => encodeURIComponent(seen.known.advisory), "/events"),
      { items: "some" },
    ),
    get("parameters do nothing", (seen) => `${events(seen)}?page_size=1&id=x&skip=1`, { items: "some" }),
    ...otherMethods(events, ["PATCH", "HEAD"]),
    get("all of them", `${ADVISORIES}?page_size=200`, { items: "some", ordered: true }),
    many("of each", 55, (index) =>
      get(`of number ${index}`, at(`${ADVISORIES}/`, numbered(index), "/events"), { ordered: true }),
    ),
  ]),
  scenario("events of an advisory that is not theirs", [
    get("as an outsider", events, 403, { as: "outsider" }),
    get("as somebody who may do nothing", events, 403, { as: "powerless" }),
    get("of one that is not there", `${ADVISORIES}/${MISSING}/events`, 404),
  ]),
];
