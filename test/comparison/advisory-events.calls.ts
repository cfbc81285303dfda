/** What do v1 clients ask of the events of one advisory? */
import { type JsonObject, member } from "../../src/model/json.ts";
import { at, get, many, type Scenario, type Seen } from "./call.ts";
import { MISSING, otherMethods } from "./words.ts";

const ADVISORIES = "/vulnerabilities/v1/advisories";
const events = at(`${ADVISORIES}/`, (seen) => seen.known.advisory, "/events");

/** The id of the advisory of this number, by id. */
const numbered =
  (index: number) =>
  (seen: Seen): string =>
    (member(seen.answer("all of them"), "items") as JsonObject[]).map((one) => String(one["id"])).toSorted()[index] ??
    "";

export const advisoryEventScenarios: readonly Scenario[] = [
  {
    name: "events of an advisory",
    calls: [
      get("of one", events, 200, { items: "some", shows: ({ known }) => ({ parentId: known.advisory }) }),
      get("as a viewer", events, 200, { as: "viewer", items: "some" }),
      get("without a token", events, 401, { as: "anonymous", code: 16 }),
      get("with a forged token", events, 401, { as: "forged", code: 16 }),
      get(
        "with %2F",
        at(`${ADVISORIES}/`, (seen) => encodeURIComponent(seen.known.advisory), "/events"),
        200,
        { items: "some" },
      ),
      get("parameters do nothing", (seen) => `${events(seen)}?page_size=1&id=x&skip=1`, 200, { items: "some" }),
      ...otherMethods(events, ["PATCH", "HEAD"]),
      get("all of them", `${ADVISORIES}?page_size=200`, 200, { items: "some", ordered: true }),
      many("of each", 60, (index) =>
        get(`of number ${index}`, at(`${ADVISORIES}/`, numbered(index), "/events"), 200, { ordered: true }),
      ),
    ],
  },
  {
    name: "events of an advisory that is not theirs",
    calls: [
      get("as an outsider", events, 403, { as: "outsider", code: 7 }),
      get("as somebody who may do nothing", events, 403, { as: "powerless", code: 7 }),
      get("of one that is not there", `${ADVISORIES}/${MISSING}/events`, 404, { code: 5 }),
    ],
  },
];
