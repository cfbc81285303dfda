/**
 * What do v1 clients ask of the lists of the other resources?
 * Repos are not here yet: v1 shows a repo's readme, which v2 keeps beside the repo.
 */
import { member } from "../../src/model/json.ts";
import { at, get, idOf, type Scenario, type Seen } from "./call.ts";

const PROVIDERS = "/iam/v1/identityProviders";
const ASSOCIATIONS = "/iam/v1/account_associations";
const INVITES = "/iam/v1/group_invites";
const TAGS = "/registry/v1/tags";
const MISSING = `${"0".repeat(40)}/${"0".repeat(16)}`;

/** A member of the first record (by id) of the list that `call` got. */
const of =
  (call: string, name: string) =>
  (seen: Seen): string =>
    encodeURIComponent(String(member(seen.item(call, "id", seen.id(call)), name)));

/** The uid without its last segment. */
const parentOf =
  (call: string) =>
  (seen: Seen): string =>
    seen.id(call).split("/").slice(0, -1).join("/");

/** What every list owes its callers. */
function callers(path: string) {
  return [
    get("everything", path, 200, { items: "some" }),
    get("as a viewer", path, 200, { as: "viewer", items: "some" }),
    get("as an outsider", path, 200, { as: "outsider" }),
    get("as somebody who may do nothing", path, 200, { as: "powerless", items: 0 }),
    get("without a token", path, 401, { as: "anonymous", code: 16 }),
    get("with a forged token", path, 401, { as: "forged", code: 16 }),
    get("unknown parameters do nothing", `${path}?verbose=1&uid=x&skip=1`, 200, { items: "some" }),
    { name: "head only", method: "HEAD", path, status: 501 },
  ];
}

/** What every list with an `id` filter owes. */
function ids(path: string) {
  return [
    get("by id", at(`${path}?id=`, idOf("everything")), 200, { items: 1 }),
    get(
      "by id with %2F",
      at(`${path}?id=`, (seen) => encodeURIComponent(seen.id("everything"))),
      200,
      { items: 1 },
    ),
    get("by id, not for this caller", at(`${path}?id=`, idOf("everything")), 200, { as: "powerless", items: 0 }),
    get("by id without a token", at(`${path}?id=`, idOf("everything")), 401, { as: "anonymous", code: 16 }),
    get("by an id that is not there", `${path}?id=${MISSING}`, 200, { items: 0 }),
    get("by id twice", `${path}?id=a&id=b`, 400, { code: 3 }),
    get("by no id", `${path}?id=`, 200, { items: "some" }),
  ];
}

/** What every list with the `uidp` filters owes. */
function places(path: string) {
  return [
    get(
      "below the root",
      at(`${path}?uidp.descendants_of=`, (seen) => seen.known.root),
      200,
      { items: "some" },
    ),
    get(
      "in camel case",
      at(`${path}?uidp.descendantsOf=`, (seen) => seen.known.root),
      200,
      { items: "some" },
    ),
    get("right below its parent", at(`${path}?uidp.children_of=`, parentOf("everything")), 200, { items: "some" }),
    get("right below it", at(`${path}?uidp.childrenOf=`, idOf("everything")), 200, { items: 0 }),
    get("of a place that is not there", `${path}?uidp.children_of=${MISSING}`, 200, { items: 0 }),
    get("in the root", `${path}?uidp.in_root=true`, 200),
    get("an empty boolean", `${path}?uidp.in_root=`, 400, { code: 3 }),
    get("no boolean", `${path}?uidp.inRoot=yes`, 400, { code: 3 }),
    get("ancestors", at(`${path}?uidp.ancestors_of=`, idOf("everything")), 200),
    get("by uids", (seen) => `${path}?uidp.ids=${seen.id("everything")}&uidp.ids=${MISSING}`, 200, { items: 1 }),
    get(
      "by id and its place",
      (seen) => `${path}?id=${seen.id("everything")}&uidp.descendants_of=${seen.known.root}`,
      200,
    ),
    get("by id and another place", (seen) => `${path}?id=${seen.id("everything")}&uidp.children_of=${MISSING}`, 200, {
      items: 0,
    }),
    get("a message", `${path}?uidp=x`, 400, { code: 3 }),
    get("empty filters", `${path}?uidp.children_of=&uidp.descendants_of=`, 200, { items: "some" }),
  ];
}

/** What every list with a `name` filter owes. */
function names(path: string) {
  return [
    get("by name", at(`${path}?name=`, of("everything", "name")), 200, { items: "some" }),
    get("by nobody's name", `${path}?name=no-such-name`, 200, { items: 0 }),
    get("by no name", `${path}?name=`, 200, { items: "some" }),
    get("by name twice", `${path}?name=a&name=b`, 400, { code: 3 }),
    get("by id and name", (seen) => `${path}?id=${seen.id("everything")}&name=${of("everything", "name")(seen)}`, 200, {
      items: 1,
    }),
    get("by id and another name", at(`${path}?name=no-such-name&id=`, idOf("everything")), 200, { items: 0 }),
  ];
}

export const otherLists: readonly Scenario[] = [
  {
    name: "lists of identity providers",
    calls: [...callers(PROVIDERS), ...ids(PROVIDERS), ...places(PROVIDERS), ...names(PROVIDERS)],
  },
  {
    name: "lists of account associations",
    calls: [
      ...callers(ASSOCIATIONS),
      get("of a group", at(`${ASSOCIATIONS}?group=`, idOf("everything")), 200, { items: 1 }),
      get(
        "of a group with %2F",
        at(`${ASSOCIATIONS}?group=`, (seen) => encodeURIComponent(seen.id("everything"))),
        200,
        { items: 1 },
      ),
      get(
        "of a group without one",
        at(`${ASSOCIATIONS}?group=`, (seen) => seen.known.leaf),
        200,
        { items: 0 },
      ),
      get("of a group that is not there", `${ASSOCIATIONS}?group=${MISSING}`, 200, { items: 0 }),
      get("of a group that is not theirs", at(`${ASSOCIATIONS}?group=`, idOf("everything")), 200, {
        as: "powerless",
        items: 0,
      }),
      get("of no group", `${ASSOCIATIONS}?group=`, 200, { items: "some" }),
      get("of two groups", `${ASSOCIATIONS}?group=a&group=b`, 400, { code: 3 }),
      get("by nobody's name", `${ASSOCIATIONS}?name=no-such-name`, 200, { items: 0 }),
      get("by no name", `${ASSOCIATIONS}?name=`, 200, { items: "some" }),
      get("of a group and another name", at(`${ASSOCIATIONS}?name=no-such-name&group=`, idOf("everything")), 200, {
        items: 0,
      }),
      get("v1 has no filter by id", `${ASSOCIATIONS}?id=${MISSING}`, 200, { items: "some" }),
      get("nor by place", `${ASSOCIATIONS}?uidp.children_of=${MISSING}&page_size=1`, 200, { items: "some" }),
    ],
  },
  {
    name: "lists of group invites",
    calls: [
      ...callers(INVITES),
      ...ids(INVITES),
      get("of a group", at(`${INVITES}?group=`, parentOf("everything")), 200, { items: "some" }),
      get(
        "of a group without one",
        at(`${INVITES}?group=`, (seen) => seen.known.leaf),
        200,
        { items: 0 },
      ),
      get("of a group that is not there", `${INVITES}?group=${MISSING}`, 200, { items: 0 }),
      get("of no group", `${INVITES}?group=`, 200, { items: "some" }),
      get("by key", at(`${INVITES}?key_id=`, of("everything", "keyId")), 200, { items: "some" }),
      get("by key in camel case", at(`${INVITES}?keyId=`, of("everything", "keyId")), 200, { items: "some" }),
      get("by nobody's key", `${INVITES}?key_id=no-such-key`, 200, { items: 0 }),
      get("by no key", `${INVITES}?keyId=`, 200, { items: "some" }),
      get("by id and another key", at(`${INVITES}?keyId=no-such-key&id=`, idOf("everything")), 200, { items: 0 }),
      get(
        "by id and group",
        (seen) => `${INVITES}?id=${seen.id("everything")}&group=${parentOf("everything")(seen)}`,
        200,
        { items: 1 },
      ),
      get("by id and another group", (seen) => `${INVITES}?id=${seen.id("everything")}&group=${MISSING}`, 200, {
        items: 0,
      }),
      get("v1 has no filter by place", `${INVITES}?uidp.children_of=${MISSING}`, 200, { items: "some" }),
      {
        name: "v1 cannot replace one",
        method: "PUT",
        path: at(`${INVITES}/`, idOf("everything")),
        body: {},
        status: 501,
        code: 12,
      },
    ],
  },
  {
    name: "lists of tags",
    calls: [
      ...callers(TAGS),
      ...ids(TAGS),
      ...places(TAGS),
      ...names(TAGS),
      get("by digest", at(`${TAGS}?digest=`, of("everything", "digest")), 200, { items: "some" }),
      get("by nobody's digest", `${TAGS}?digest=sha256:0`, 200, { items: 0 }),
      get("without referrers", `${TAGS}?exclude_referrers=true`, 200),
      get("without referrers, in camel case", `${TAGS}?excludeReferrers=true`, 200),
      get("with referrers, said so", `${TAGS}?exclude_referrers=false`, 200, { items: "some" }),
      get("without dates", `${TAGS}?exclude_dates=true`, 200),
      get("without epochs", `${TAGS}?excludeEpochs=true`, 200),
      get("without any of them", `${TAGS}?exclude_referrers=true&exclude_dates=true&exclude_epochs=true`, 200),
      get("v2's names do nothing", `${TAGS}?include_referrers=false&includeDates=false`, 200, { items: "some" }),
      get("an empty exclusion", `${TAGS}?exclude_dates=`, 400, { code: 3 }),
      get("no boolean for an exclusion", `${TAGS}?excludeDates=2026`, 400, { code: 3 }),
      get("since long ago", `${TAGS}?updated_since=2001-01-01T00:00:00Z`, 200, { items: "some" }),
      get("since a time to come", `${TAGS}?updatedSince=2099-01-01T00:00:00Z`, 200, { items: 0 }),
      get("since one tag", at(`${TAGS}?updated_since=`, of("everything", "lastUpdated")), 200, { items: "some" }),
      get("since no time", `${TAGS}?updated_since=lately`, 400, { code: 3 }),
      get(
        "by id, and without any",
        at(`${TAGS}?exclude_referrers=true&exclude_dates=true&id=`, idOf("everything")),
        200,
      ),
    ],
  },
];
