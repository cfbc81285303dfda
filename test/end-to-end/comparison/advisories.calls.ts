/** v1 calls on advisories: v1 itself pages and orders this list. */
import { member } from "../../../src/model/json.ts";
import { advisoryId, at, type Call, get, idOf, rootId, type Scenario, type Seen, scenario } from "./call.ts";
import { MISSING } from "./words.ts";

const ADVISORIES = "/vulnerabilities/v1/advisories";

/** A page: its records come in the documented order. */
function page(name: string, path: Call["path"], extra: Partial<Call> = {}): Call {
  return get(name, path, { ordered: true, ...extra });
}

/** The token that leads on from the page that `call` got. Each side minted its own. */
const after =
  (call: string) =>
  (seen: Seen): string =>
    encodeURIComponent(String(member(seen.answer(call), "nextPageToken") ?? ""));

/** A member of the first record that has it in the list that `call` got. */
const of =
  (call: string, name: string) =>
  (seen: Seen): string => {
    const items = member(seen.answer(call), "items");
    const values = (Array.isArray(items) ? items : []).map((item) => member(item, name));
    return encodeURIComponent(String(values.find((value) => typeof value === "string" && value !== "")));
  };

export const advisoryScenarios: readonly Scenario[] = [
  scenario("pages of advisories", [
    page("the first page", ADVISORIES, { items: "some" }),
    page("as a viewer", ADVISORIES, { as: "viewer", items: "some" }),
    page("as an outsider", ADVISORIES, { as: "outsider" }),
    page("as somebody who may do nothing", ADVISORIES, { as: "powerless", items: 0 }),
    get("without a token", ADVISORIES, 401, { as: "anonymous" }),
    page("two records", `${ADVISORIES}?page_size=2`, { items: 2 }),
    page("the next two", at(`${ADVISORIES}?page_size=2&page_token=`, after("two records")), { items: 2 }),
    page("the next two, in camel case", at(`${ADVISORIES}?pageSize=2&pageToken=`, after("the next two")), { items: 2 }),
    page("one of the same token", at(`${ADVISORIES}?page_size=1&page_token=`, after("two records")), { items: 1 }),
    page("200 records", `${ADVISORIES}?page_size=200`, { items: "some" }),
    page("what is left of them", at(`${ADVISORIES}?page_size=200&page_token=`, after("200 records"))),
    page("no size", `${ADVISORIES}?page_size=0`, { items: "some" }),
    page("no token", `${ADVISORIES}?page_token=`, { items: "some" }),
    get("an empty size", `${ADVISORIES}?page_size=`, 400),
    get("no number for a size", `${ADVISORIES}?page_size=many`, 400),
    get("a size below zero", `${ADVISORIES}?page_size=-1`, 400, { field: "page_size" }),
    get("a size far below zero", `${ADVISORIES}?page_size=-9223372036854775808`, 400, { field: "page_size" }),
    get("a size below zero, of one", at(`${ADVISORIES}?page_size=-1&id=`, advisoryId), 400, { field: "page_size" }),
    get("two sizes", `${ADVISORIES}?page_size=1&page_size=2`, 400),
    page("by id", at(`${ADVISORIES}?id=`, idOf("the first page")), { items: 1 }),
    page("by id, not for this caller", at(`${ADVISORIES}?id=`, idOf("the first page")), { as: "powerless", items: 0 }),
    page("by an id that is not there", `${ADVISORIES}?id=${MISSING}`, { items: 0 }),
    page("v1 does not skip", `${ADVISORIES}?skip=3&page_size=2`, { items: 2 }),
    page("v1 has no query", `${ADVISORIES}?query=nothing&page_size=2`, { items: 2 }),
  ]),
  scenario("orders of advisories", [
    page("as documented", `${ADVISORIES}?page_size=20&orderBy=ID_ASC`, { items: 20 }),
    page("without one", `${ADVISORIES}?page_size=20&order_by=ORDER_BY_UNSPECIFIED`, { items: 20 }),
    page("the other way", `${ADVISORIES}?page_size=20&order_by=ID_DESC`, { items: 20 }),
    page("the other way, on", at(`${ADVISORIES}?page_size=20&order_by=ID_DESC&page_token=`, after("the other way")), {
      items: "some",
    }),
    page("the oldest", `${ADVISORIES}?page_size=20&orderBy=CREATED_AT_ASC`, { items: 20 }),
    page("the newest", `${ADVISORIES}?page_size=20&orderBy=CREATED_AT_DESC`, { items: 20 }),
    get("none that there is", `${ADVISORIES}?orderBy=BY_CHANCE`, 400),
    get("v2's words for one", `${ADVISORIES}?orderBy=uid%20desc`, 400),
  ]),
  scenario("filters of advisories", [
    page("the first page", `${ADVISORIES}?page_size=200`, { items: "some" }),
    page("by advisory id", at(`${ADVISORIES}?advisory_ids=`, of("the first page", "advisoryId")), { items: "some" }),
    page("by two advisory ids", at(`${ADVISORIES}?advisoryIds=none&advisoryIds=`, of("the first page", "advisoryId")), {
      items: "some",
    }),
    page("by nobody's advisory id", `${ADVISORIES}?advisoryIds=none`, { items: 0 }),
    page("by artifact type", at(`${ADVISORIES}?artifact_type=`, of("the first page", "artifactType")), {
      items: "some",
    }),
    page("by artifact name", at(`${ADVISORIES}?artifactName=`, of("the first page", "artifactName")), {
      items: "some",
    }),
    page("by architecture", at(`${ADVISORIES}?artifact_architecture=`, of("the first page", "artifactArchitecture")), {
      items: "some",
    }),
    page("by nobody's artifact name", `${ADVISORIES}?artifact_name=none`, { items: 0 }),
    page("by component", at(`${ADVISORIES}?component_name=`, of("the first page", "componentName")), { items: "some" }),
    page("by component type", at(`${ADVISORIES}?componentType=`, of("the first page", "componentType")), {
      items: "some",
    }),
    page("by component location", at(`${ADVISORIES}?componentLocation=`, of("the first page", "componentLocation"))),
    page("v2's names of filters do nothing", `${ADVISORIES}?artifactNames=none&component_names=none&page_size=2`, {
      items: 2,
    }),
    page("by alias", `${ADVISORIES}?aliases=none`, { items: 0 }),
    page("by state", `${ADVISORIES}?eventStatuses=APPROVED`),
    page("by two states", `${ADVISORIES}?event_statuses=PENDING&event_statuses=REJECTED`),
    get("by v2's name of a state", `${ADVISORIES}?eventStatuses=REVIEW_STATE_APPROVED`, 400),
    get("by no state that there is", `${ADVISORIES}?eventStatuses=LOST`, 400),
    page("by kind of event", `${ADVISORIES}?eventTypes=EVENT_TYPE_FILTER_FIXED`),
    page("by the newest event", `${ADVISORIES}?latest_event_type=EVENT_TYPE_FILTER_DETECTION`),
    get("by no kind of event that there is", `${ADVISORIES}?latestEventType=EVENT_TYPE_FILTER_NONE`, 400),
    ...["advisory_ids", "advisoryIds", "artifactName", "aliases", "uidp.ids", "event_author"].map((name) =>
      page(`by an empty element of ${name}`, `${ADVISORIES}?${name}=`, { items: 0 }),
    ),
    page("by an empty component", `${ADVISORIES}?componentName=&page_size=200`),
    page("without an empty author", `${ADVISORIES}?excludeEventAuthor=&page_size=200`),
    ...["EVENT_TYPE_FILTER_UNSPECIFIED", "0"].map((zero) =>
      page(`by the zero ${zero} among kinds of events`, `${ADVISORIES}?eventTypes=${zero}`, { items: 0 }),
    ),
    page("by the zero among states", `${ADVISORIES}?eventStatuses=UNKNOWN&page_size=200`),
    page("by an author that there is not", `${ADVISORIES}?eventAuthor=nobody`, { items: 0 }),
    page("without an author that there is not", `${ADVISORIES}?excludeEventAuthor=nobody&page_size=200`, {
      items: "some",
    }),
    page("below the root", at(`${ADVISORIES}?uidp.descendants_of=`, rootId)),
    page("below a place that is not there", `${ADVISORIES}?uidp.descendantsOf=${MISSING}`, { items: 0 }),
    get("an empty boolean", `${ADVISORIES}?uidp.in_root=`, 400),
  ]),
];
