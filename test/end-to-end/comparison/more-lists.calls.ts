/** v1 calls that list records in unusual ways, and long lists. */
import { type JsonObject, member } from "../../../src/model/json.ts";
import { at, type Call, get, idOf, many, post, rootId, type Scenario, type Seen, scenario, small } from "./call.ts";
import { atPlace, inPlace, MISSING } from "./words.ts";

const LISTS = [
  "/iam/v1/groups",
  "/iam/v1/identities",
  "/iam/v1/roles",
  "/iam/v1/rolebindings",
  "/iam/v1/identityProviders",
  "/registry/v1/repos",
  "/registry/v1/tags",
];
const ADVISORIES = "/vulnerabilities/v1/advisories";

/** A record of the list, and the places around it. */
const around = (path: string, extra: Partial<Call> = {}): readonly Call[] => [
  get("everything", path, { items: "some", ...extra }),
  ...["ancestors_of", "ancestorsOf", "descendants_of", "childrenOf"].flatMap((filter) => [
    get(`${filter} the first`, at(`${path}?uidp.${filter}=`, idOf("everything")), extra),
    get(`${filter} what is above it`, at(`${path}?uidp.${filter}=`, above("everything")), extra),
    get(`${filter} the root`, at(`${path}?uidp.${filter}=`, rootId), extra),
    get(`${filter} nothing that is there`, `${path}?uidp.${filter}=${MISSING}`, { items: 0, ...extra }),
  ]),
  get(
    "among several, some of them unknown",
    (seen) => `${path}?${several("everything")(seen)}&uidp.ids=${MISSING}`,
    extra,
  ),
  get(
    "among several and below the root",
    (seen) => `${path}?${several("everything")(seen)}&uidp.descendants_of=${seen.known.root}`,
    extra,
  ),
  get(
    "among several and right above",
    (seen) => `${path}?${several("everything")(seen)}&uidp.children_of=${above("everything")(seen)}`,
    extra,
  ),
  get("among several, not in the root", (seen) => `${path}?${several("everything")(seen)}&uidp.in_root=false`, extra),
  get("among several, in the root", (seen) => `${path}?${several("everything")(seen)}&uidp.inRoot=true`, extra),
  get(
    "by an id and the same among several",
    (seen) => `${path}?id=${seen.id("everything")}&${several("everything")(seen)}`,
    { items: 1, ...extra },
  ),
  get("by an id in the root", (seen) => `${path}?id=${seen.id("everything")}&uidp.in_root=true`, extra),
  get(
    "by an id of an ancestor",
    (seen) => `${path}?id=${seen.id("everything")}&uidp.ancestors_of=${seen.known.leaf}`,
    extra,
  ),
  get("an empty one among several", `${path}?uidp.ids=`, extra),
  get("an empty one beside another", at(`${path}?uidp.ids=&uidp.ids=`, idOf("everything")), extra),
];

/** The uid without its last segment, else the uid. */
function above(call: string): (seen: Seen) => string {
  return (seen) => seen.id(call).split("/").slice(0, -1).join("/") || seen.id(call);
}

/** Thirty ids of the list that `call` got, in both spellings of the parameter. */
function several(call: string): (seen: Seen) => string {
  return (seen) => {
    const items = member(seen.answer(call), "items") as JsonObject[];
    const ids = items.map((one) => String(one["id"])).toSorted();
    return ids
      .slice(0, 30)
      .map((id) => `uidp.ids=${encodeURIComponent(id)}`)
      .join("&");
  };
}

const placed: readonly Scenario[] = [
  ...LISTS.map((path) => ({ name: `places of ${path}`, calls: around(path) })),
  {
    name: `places of ${ADVISORIES}`,
    calls: around(`${ADVISORIES}?page_size=200&`.replace(/&$/, ""), { ordered: true }).map(pagedQuery),
  },
];

/** Queries of advisories begin with a page size: what follows it is joined by an ampersand. */
function pagedQuery(call: Call): Call {
  const { path } = call;
  const joined = (text: string): string => {
    const [before, ...queries] = text.split("?");
    return `${before}?${queries.join("&")}`;
  };
  return { ...call, path: typeof path === "function" ? (seen) => joined(path(seen)) : joined(path) };
}

/** A member of the first advisory that has it, ready for a query. */
const first =
  (name: string) =>
  (seen: Seen): string => {
    const items = member(seen.answer("everything"), "items") as JsonObject[];
    const found = items
      .map((one) => one[name])
      .find((value) => (Array.isArray(value) ? value.length > 0 : Boolean(value)));
    return encodeURIComponent(String(Array.isArray(found) ? found[0] : found));
  };
/** What an event of the first advisory that has it says. */
const ofEvent =
  (name: string) =>
  (seen: Seen): string => {
    const items = member(seen.answer("everything"), "items") as JsonObject[];
    const events = items.flatMap((one) => one["events"] as JsonObject[]);
    return encodeURIComponent(String(events.map((event) => event[name]).find(Boolean)));
  };
const filter = (name: string, parameter: string, value: (seen: Seen) => string): Call =>
  get(name, at(`${ADVISORIES}?page_size=200&${parameter}=`, value), { ordered: true });

const advisories: readonly Scenario[] = [
  scenario("every filter of advisories", [
    get("everything", `${ADVISORIES}?page_size=200`, { ordered: true, items: "some" }),
    ...[
      ["advisoryIds", "advisoryId"],
      ["advisory_ids", "advisoryId"],
      ["legacyAdvisoryIds", "legacyAdvisoryID"],
      ["legacy_advisory_ids", "legacyAdvisoryID"],
      ["artifactType", "artifactType"],
      ["artifact_type", "artifactType"],
      ["artifactName", "artifactName"],
      ["artifact_name", "artifactName"],
      ["artifactArchitecture", "artifactArchitecture"],
      ["artifact_architecture", "artifactArchitecture"],
      ["componentName", "componentName"],
      ["component_name", "componentName"],
      ["componentType", "componentType"],
      ["component_type", "componentType"],
      ["componentLocation", "componentLocation"],
      ["component_location", "componentLocation"],
      ["aliases", "aliases"],
    ].flatMap(([parameter = "", name = ""]) => [
      filter(`by ${parameter}`, parameter, first(name)),
      filter(`by ${parameter} twice`, `${parameter}=none&${parameter}`, first(name)),
      filter(`by ${parameter} that nobody has`, parameter, () => "none"),
      filter(`by an empty ${parameter}`, parameter, () => ""),
    ]),
    ...["eventAuthor", "event_author", "excludeEventAuthor", "exclude_event_author"].flatMap((parameter) => [
      filter(`by ${parameter}`, parameter, ofEvent("author")),
      filter(`by ${parameter} twice`, `${parameter}=none&${parameter}`, ofEvent("author")),
    ]),
    ...["eventReviewer", "event_reviewer"].map((parameter) =>
      filter(`by ${parameter}`, parameter, ofEvent("reviewer")),
    ),
    filter("by no reviewer that there is", "eventReviewer", () => "nobody"),
    filter("by an origin that there is not", "origin", () => "elsewhere"),
    filter("by an empty origin", "origin", () => ""),
    filter("by author and state", "eventStatuses=APPROVED&eventAuthor", ofEvent("author")),
    filter("by name and state", "eventStatuses=PENDING&artifactName", first("artifactName")),
    filter("by id and name", "artifactName=none&id", (seen) => seen.id("everything")),
    filter(
      "by id and its own name",
      "id",
      (seen) => `${seen.id("everything")}&artifactName=${ofFirst("artifactName")(seen)}`,
    ),
    filter("by id and another place", `uidp.children_of=${MISSING}&id`, (seen) => seen.id("everything")),
    filter("by id and the root", "id", (seen) => `${seen.id("everything")}&uidp.descendants_of=${seen.known.root}`),
  ]),
];

/** A member of the advisory with the least id. */
function ofFirst(name: string): (seen: Seen) => string {
  return (seen) => encodeURIComponent(String(seen.item("everything", "id", seen.id("everything"))[name]));
}

const long: readonly Scenario[] = [
  atPlace("more than 200 identity providers, two with tokens", [
    many("of one group", 203, (index) =>
      post(`number ${index}`, inPlace("/iam/v1/identityProviders"), (seen) => ({
        name: `number ${index}`,
        defaultRole: seen.known.role("viewer"),
        oidc: { issuer: "https://i", clientId: "c", pkceEnabled: true },
      })),
    ),
    ...[3, 201].map((index) =>
      post(`a token of ${index}`, at("/iam/v1/identityProviders/", idOf(`number ${index}`), ":generateScimToken"), {}),
    ),
    get("all of them", "/iam/v1/identityProviders", { items: 203 }),
    get("one of a name", "/iam/v1/identityProviders?name=number%20201", { items: 1 }),
  ]),
  atPlace("more than 200 group invites", [
    many("of one group", 203, (index) =>
      post(`number ${index}`, inPlace("/iam/v1/group_invites"), (seen) => ({
        role: seen.known.role(index % 2 === 0 ? "viewer" : "owner"),
        ttl: `${index + 60}s`,
      })),
    ),
    get("all of them", "/iam/v1/group_invites", { items: 203 }),
    get("all of a group", at("/iam/v1/group_invites?group=", idOf("place")), { items: 203 }),
  ]),
  small("more than 200 account associations", [
    many("of as many groups", 203, (index) => [
      post(`group ${index}`, at("/iam/v1/groups/", rootId), { name: `group ${index}` }),
      post(`number ${index}`, at("/iam/v1/account_associations/", idOf(`group ${index}`)), {
        name: `number ${index}`,
        amazon: { account: String(index).padStart(12, "0") },
      }),
    ]),
    get("all of them", "/iam/v1/account_associations", { items: 203 }),
    get("one of a name", "/iam/v1/account_associations?name=number%20150", { items: 1 }),
  ]),
  atPlace("more than 200 repos with readmes", [
    many("of one group", 203, (index) =>
      post(
        `number ${index}`,
        inPlace("/registry/v1/repos"),
        { name: `number-${index}`, ...(index % 3 === 0 ? {} : { readme: `# ${index}` }) },
        { as: "staff" },
      ),
    ),
    get("all of them", "/registry/v1/repos", { items: 203 }),
    get("all of them as a viewer", "/registry/v1/repos", { as: "viewer", items: 203 }),
    get("one of a name", "/registry/v1/repos?name=number-151", { items: 1, every: { readme: "# 151" } }),
    post(
      "one again, which is not on the first page",
      inPlace("/registry/v1/repos"),
      { name: "number-202", description: "again", readme: "# 202" },
      { as: "staff", shows: (seen) => ({ id: seen.id("number 202"), description: "again" }) },
    ),
  ]),
];

export const moreLists: readonly Scenario[] = [...placed, ...advisories, ...long];
