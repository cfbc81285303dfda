/** v1 calls that list the other resources. */
import { at, escapedId, get, idOf, leafId, type Scenario, scenario } from "./call.ts";
import { callers, ids, MISSING, names, of, parentOf, places } from "./words.ts";

const PROVIDERS = "/iam/v1/identityProviders";
const ASSOCIATIONS = "/iam/v1/account_associations";
const INVITES = "/iam/v1/group_invites";
const TAGS = "/registry/v1/tags";

export const otherLists: readonly Scenario[] = [
  scenario("lists of identity providers", [
    ...callers(PROVIDERS),
    ...ids(PROVIDERS),
    ...places(PROVIDERS),
    ...names(PROVIDERS),
  ]),
  scenario("lists of account associations", [
    ...callers(ASSOCIATIONS),
    get("of a group", at(`${ASSOCIATIONS}?group=`, idOf("everything")), { items: 1 }),
    get("of a group with %2F", at(`${ASSOCIATIONS}?group=`, escapedId("everything")), { items: 1 }),
    get("of a group without one", at(`${ASSOCIATIONS}?group=`, leafId), { items: 0 }),
    get("of a group that is not there", `${ASSOCIATIONS}?group=${MISSING}`, { items: 0 }),
    get("of a group that is not theirs", at(`${ASSOCIATIONS}?group=`, idOf("everything")), {
      as: "powerless",
      items: 0,
    }),
    get("of no group", `${ASSOCIATIONS}?group=`, { items: "some" }),
    get("of two groups", `${ASSOCIATIONS}?group=a&group=b`, 400),
    get("by nobody's name", `${ASSOCIATIONS}?name=no-such-name`, { items: 0 }),
    get("by no name", `${ASSOCIATIONS}?name=`, { items: "some" }),
    get("of a group and another name", at(`${ASSOCIATIONS}?name=no-such-name&group=`, idOf("everything")), {
      items: 0,
    }),
    get("v1 has no filter by id", `${ASSOCIATIONS}?id=${MISSING}`, { items: "some" }),
    get("nor by place", `${ASSOCIATIONS}?uidp.children_of=${MISSING}&page_size=1`, { items: "some" }),
  ]),
  scenario("lists of group invites", [
    ...callers(INVITES),
    ...ids(INVITES),
    get("of a group", at(`${INVITES}?group=`, parentOf("everything")), { items: "some" }),
    get("of a group without one", at(`${INVITES}?group=`, leafId), { items: 0 }),
    get("of a group that is not there", `${INVITES}?group=${MISSING}`, { items: 0 }),
    get("of no group", `${INVITES}?group=`, { items: "some" }),
    get("by key", at(`${INVITES}?key_id=`, of("everything", "keyId")), { items: "some" }),
    get("by key in camel case", at(`${INVITES}?keyId=`, of("everything", "keyId")), { items: "some" }),
    get("by nobody's key", `${INVITES}?key_id=no-such-key`, { items: 0 }),
    get("by no key", `${INVITES}?keyId=`, { items: "some" }),
    get("by id and another key", at(`${INVITES}?keyId=no-such-key&id=`, idOf("everything")), { items: 0 }),
    get("by id and group", (seen) => `${INVITES}?id=${seen.id("everything")}&group=${parentOf("everything")(seen)}`, {
      items: 1,
    }),
    get("by id and another group", (seen) => `${INVITES}?id=${seen.id("everything")}&group=${MISSING}`, { items: 0 }),
    get("v1 has no filter by place", `${INVITES}?uidp.children_of=${MISSING}`, { items: "some" }),
    {
      name: "v1 cannot replace one",
      method: "PUT",
      path: at(`${INVITES}/`, idOf("everything")),
      body: {},
      status: 501,
      code: 12,
    },
  ]),
  scenario("lists of tags", [
    ...callers(TAGS),
    ...ids(TAGS),
    ...places(TAGS),
    ...names(TAGS),
    get("by digest", at(`${TAGS}?digest=`, of("everything", "digest")), { items: "some" }),
    get("by nobody's digest", `${TAGS}?digest=sha256:0`, { items: 0 }),
    get("without referrers", `${TAGS}?exclude_referrers=true`),
    get("without referrers, in camel case", `${TAGS}?excludeReferrers=true`),
    get("with referrers, said so", `${TAGS}?exclude_referrers=false`, { items: "some" }),
    get("without dates", `${TAGS}?exclude_dates=true`),
    get("without epochs", `${TAGS}?excludeEpochs=true`),
    get("without any of them", `${TAGS}?exclude_referrers=true&exclude_dates=true&exclude_epochs=true`),
    get("v2's names do nothing", `${TAGS}?include_referrers=false&includeDates=false`, { items: "some" }),
    get("an empty exclusion", `${TAGS}?exclude_dates=`, 400),
    get("no boolean for an exclusion", `${TAGS}?excludeDates=2026`, 400),
    get("since long ago", `${TAGS}?updated_since=2001-01-01T00:00:00Z`, { items: "some" }),
    get("since a time to come", `${TAGS}?updatedSince=2099-01-01T00:00:00Z`, { items: 0 }),
    get("since one tag", at(`${TAGS}?updated_since=`, of("everything", "lastUpdated")), { items: "some" }),
    get("since no time", `${TAGS}?updated_since=lately`, 400),
    get("by id, and without any", at(`${TAGS}?exclude_referrers=true&exclude_dates=true&id=`, idOf("everything"))),
  ]),
];
