/** v1 calls with every value of v1's enumerations, by name and by number. */
import { CAPABILITIES } from "../../../sandbox/src/data/capabilities.ts";
import { KINDS } from "../../fixtures/group.ts";
import { PRINCIPAL_NAMES } from "../../fixtures/principals.ts";
import { at, type Call, get, idOf, many, post, put, type Scenario, scenario } from "./call.ts";
import { atPlace, inPlace, madeBy } from "./words.ts";

const roles = inPlace("/iam/v1/roles");
const granted = CAPABILITIES.filter(([v1]) => v1 !== "");
/** Those that only staff may grant come last. */
const INTERNAL = granted.flatMap(([v1, , , internal]) => (internal ? [v1] : []));
const EVERY = [...granted.flatMap(([v1, , , internal]) => (internal ? [] : [v1])), ...INTERNAL];
/** The list that a role of this one capability has: what is internal needs `internal` beside it. */
const alongside = (capability: string): string[] =>
  INTERNAL.includes(capability) ? [capability, "internal"] : [capability];

const capabilities: readonly Scenario[] = [
  atPlace("capabilities of roles", [
    many("of each capability", EVERY.length, (index) => {
      const held = alongside(EVERY[index] ?? "");
      return post(
        `with ${EVERY[index]}`,
        roles,
        { name: `with ${index}`, capabilities: held },
        { shows: { capabilities: held } },
      );
    }),
    get("each of them", at("/iam/v1/roles?parent=", idOf("place")), { items: 216 }),
    post("of all of them", roles, { name: "all", capabilities: EVERY }, { shows: { capabilities: EVERY } }),
    put(
      "the other way round",
      madeBy("/iam/v1/roles", "of all of them"),
      { name: "all", capabilities: EVERY.toReversed() },
      { shows: { capabilities: EVERY.toReversed() } },
    ),
    put("one of them twice", madeBy("/iam/v1/roles", "of all of them"), {
      name: "all",
      capabilities: ["groups.list", "groups.list"],
    }),
    put("all of them again", madeBy("/iam/v1/roles", "of all of them"), { name: "all", capabilities: EVERY }),
    get("that one", at("/iam/v1/roles?id=", idOf("of all of them")), { items: 1, every: { capabilities: EVERY } }),
    post("somebody", inPlace("/iam/v1/identities"), {
      name: "somebody",
      claimMatch: { issuer: "https://i", subject: "s" },
    }),
    post("its use", inPlace("/iam/v1/rolebindings"), (seen) => ({
      identity: seen.id("somebody"),
      role: seen.id("of all of them"),
    })),
    get("in a list of role bindings", at("/iam/v1/rolebindings?id=", idOf("its use")), {
      items: 1,
      every: { role: { capabilities: EVERY } },
    }),
    post(
      "an invite to it",
      inPlace("/iam/v1/group_invites"),
      (seen) => ({ role: seen.id("of all of them"), ttl: "60s" }),
      { shows: { role: { capabilities: EVERY } } },
    ),
    get("in a list of invites", at("/iam/v1/group_invites?group=", idOf("place")), {
      items: 1,
      every: { role: { capabilities: EVERY } },
    }),
    ...["Groups.list", "groups.list ", "groups_list", "UNKNOWN", "CAP_IAM_GROUPS_LIST", "103", "groups"].map((name) =>
      post(
        `with ${JSON.stringify(name)}, which there is not`,
        roles,
        { name: "x", capabilities: ["groups.list", name] },
        400,
      ),
    ),
    post("what is internal by itself", roles, { name: "x", capabilities: [INTERNAL[0] ?? ""] }, 400),
  ]),
];

const identity = (name: string, servicePrincipal: string | number, shown: string): Call =>
  post(name, inPlace("/iam/v1/identities"), { name: name.toLowerCase(), servicePrincipal }, 200, {
    shows: { servicePrincipal: shown },
  });
const root = (name: string, kind: string | number, shown: string): Call =>
  post(name, "/iam/v1/groups/", { name: name.toLowerCase(), kind }, { shows: { kind: shown } });

const named: readonly Scenario[] = [
  atPlace("services and kinds of organisations", [
    ...PRINCIPAL_NAMES.flatMap((name, index) => [
      identity(name, name, name),
      identity(`service ${index + 1}`, index + 1, name),
    ]),
    get("services", at("/iam/v1/identities?uidp.children_of=", idOf("place")), { items: 26 }),
    ...PRINCIPAL_NAMES.map((name, index) =>
      put(`to ${name}`, madeBy("/iam/v1/identities", "COSIGNED"), { name: "one", servicePrincipal: index + 1 }, 200, {
        shows: { servicePrincipal: name },
      }),
    ),
    ...KINDS.flatMap((name, index) => [root(name, name, name), root(`kind ${index}`, index, name)]),
    ...KINDS.slice(1).map(
      (name, index): Call =>
        put(
          `of the kind ${name}`,
          madeBy("/iam/v1/groups", "ORG_KIND_UNSPECIFIED"),
          { name: "one", kind: index + 1 },
          { shows: { kind: name } },
        ),
    ),
    get("organisations", "/iam/v1/groups?uidp.in_root=true", { items: 14 }),
  ]),
];

const ADVISORIES = "/vulnerabilities/v1/advisories";
const paged: Partial<Call> = { ordered: true };
const STATES = ["UNKNOWN", "PENDING", "APPROVED", "REQUEST_CHANGES", "REJECTED"];
const EVENTS = [
  "DETECTION",
  "TRUE_POSITIVE_DETERMINATION",
  "FIXED",
  "FALSE_POSITIVE_DETERMINATION",
  "ANALYSIS_NOT_PLANNED",
  "FIX_NOT_PLANNED",
  "PENDING_UPSTREAM_FIX",
  "PATCHED",
].map((name) => `EVENT_TYPE_FILTER_${name}`);
const ORDERS = [
  "ORDER_BY_UNSPECIFIED",
  ...["ID", "CREATED_AT", "ALIASES", "UPDATED_AT", "DELETED_AT"].flatMap((name) => [`${name}_ASC`, `${name}_DESC`]),
];
const query = (name: string, value: string | number): Call =>
  get(`${name} ${value}`, `${ADVISORIES}?page_size=200&${name}=${value}`, paged);

const queried: readonly Scenario[] = [
  scenario("filters and orders of advisories by their names and numbers", [
    ...STATES.slice(1).flatMap((name, index) => [query("eventStatuses", name), query("event_statuses", index + 1)]),
    ...EVENTS.flatMap((name, index) => [query("eventTypes", name), query("event_types", index + 1)]),
    ...EVENTS.flatMap((name, index) => [query("latestEventType", name), query("latest_event_type", index + 1)]),
    ...ORDERS.flatMap((name, index) => [query("orderBy", name), query("order_by", index)]),
    get("two kinds of events", `${ADVISORIES}?page_size=200&eventTypes=${EVENTS[0]}&eventTypes=3`, paged),
    get(
      "by two states, one by its number",
      `${ADVISORIES}?page_size=200&eventStatuses=1&event_statuses=REJECTED`,
      paged,
    ),
    get("an order in small letters", `${ADVISORIES}?orderBy=id_asc`, 400),
  ]),
];

export const enumScenarios: readonly Scenario[] = [...capabilities, ...named, ...queried];
