/** What do v1 clients ask of group invites, which have one shape when asked for, one when made and one in lists? */
import type { JsonObject } from "../../src/model/json.ts";
import { at, type Call, del, escapedId, get, idOf, post, type Scenario, type Seen } from "./call.ts";
import { atPlace, badBodies, inPlace, MISSING, madeBy, otherMethods, strangers } from "./words.ts";

const INVITES = "/iam/v1/group_invites";
const here = inPlace(INVITES);
const listed = at(`${INVITES}?group=`, idOf("place"));
const DAY = "86400s";

/** An invitation to the built-in role `viewer`. */
const invitation =
  (extra: JsonObject = {}) =>
  (seen: Seen): JsonObject => ({ role: seen.known.role("viewer"), ttl: DAY, ...extra });
const viewer = (seen: Seen): JsonObject => ({ role: { id: seen.known.role("viewer"), name: "viewer" } });
const ownRole: Call = post(
  "a role",
  inPlace("/iam/v1/roles"),
  { name: "own", description: "of the house", capabilities: ["groups.list", "role_bindings.list", "gulfstream"] },
  200,
);
const ofOwnRole = (seen: Seen): JsonObject => ({
  role: {
    id: seen.id("a role"),
    name: "own",
    description: "of the house",
    capabilities: ["groups.list", "role_bindings.list", "gulfstream"],
  },
});

const creating: readonly Scenario[] = [
  atPlace("creating group invites", [
    ownRole,
    post("one", here, invitation(), 200, { shows: viewer }),
    post("to a role of the house", here, (seen) => ({ role: seen.id("a role"), ttl: DAY }), 200, { shows: ofOwnRole }),
    post("for somebody", here, invitation({ email: "new@example.com" }), 200),
    post("for once", here, invitation({ singleUse: true }), 200),
    post("for once, in the other spelling", here, invitation({ single_use: true }), 200),
    post("for somebody and once", here, invitation({ email: "new@example.com", singleUse: true }), 200),
    post("explicit zeros", here, invitation({ email: "", singleUse: false }), 200),
    post("null members are left out", here, invitation({ email: null, singleUse: null, group: null }), 200),
    post("of another group in the body", here, (seen) => invitation({ group: seen.known.root })(seen), 200),
    post(
      "members of the server do nothing",
      here,
      invitation({ id: "mine", code: "mine", keyId: "mine", expiration: "2099-01-01T00:00:00Z", createdAt: "t" }),
      200,
    ),
    post("unknown members do nothing", here, invitation({ roleUid: "x", colour: {} }), 200),
    post("for a second", here, invitation({ ttl: "1s" }), 200),
    post("for parts of a second", here, invitation({ ttl: "3600.500s" }), 200),
    get("all of them, without their codes", listed, 200, { items: 13 }),
    get("one by id", at(`${INVITES}?id=`, idOf("one")), 200, {
      items: 1,
      every: (seen) => ({ ...viewer(seen), email: "", singleUse: false }),
    }),
    get("one of a role of the house", at(`${INVITES}?id=`, idOf("to a role of the house")), 200, {
      items: 1,
      every: ofOwnRole,
    }),
    get("one for somebody and once", at(`${INVITES}?id=`, idOf("for somebody and once")), 200, {
      items: 1,
      every: { email: "new@example.com", singleUse: true },
    }),
    get(
      "one by its key",
      at(`${INVITES}?key_id=`, (seen) => String((seen.answer("one") as JsonObject)["keyId"])),
      200,
      { items: 1 },
    ),
    get(
      "one by its group, id and key",
      (seen) =>
        `${INVITES}?group=${seen.id("place")}&id=${seen.id("one")}&keyId=${(seen.answer("one") as JsonObject)["keyId"]}`,
      200,
      { items: 1 },
    ),
    get(
      "one by the key of another",
      (seen) => `${INVITES}?id=${seen.id("for once")}&keyId=${(seen.answer("one") as JsonObject)["keyId"]}`,
      200,
      { items: 0 },
    ),
    get("as an outsider", listed, 200, { as: "outsider", items: 0 }),
    get("as a viewer", listed, 200, { as: "viewer", items: 13 }),
  ]),
  atPlace("group invites that cannot be created", [
    ...badBodies((name, body, status) => post(name, here, body, status), "role"),
    post("without a role", here, { ttl: DAY }, 400, { field: "role" }),
    post("with an empty role", here, { ttl: DAY, role: "" }, 400, { field: "role" }),
    post("with v2's name of a role", here, (seen) => ({ ttl: DAY, roleUid: seen.known.role("viewer") }), 400, {
      field: "role",
    }),
    post("with a role that is not there", here, { ttl: DAY, role: MISSING }, 404),
    post("with a role as an object", here, (seen) => ({ ttl: DAY, role: { id: seen.known.role("viewer") } }), 400),
    post("for no time", here, invitation({ ttl: "0s" }), 400, { field: "ttl" }),
    post("until yesterday", here, invitation({ ttl: "-1s" }), 400, { field: "ttl" }),
    post("for an hour, in the wrong words", here, invitation({ ttl: "1h" }), 400),
    post("for a number", here, invitation({ ttl: 60 }), 400),
    post("for an empty text", here, invitation({ ttl: "" }), 400),
    post("for once, as a text", here, invitation({ singleUse: "yes" }), 400),
    post("for a number for somebody", here, invitation({ email: 1 }), 400),
    post("with both spellings", here, invitation({ singleUse: true, single_use: true }), 400),
    post("of a group that is not there", `${INVITES}/${MISSING}`, invitation(), 404),
    ...strangers((name, status, extra) => post(name, here, invitation(), status, extra)),
    get("none of them is there", listed, 200, { items: 0 }),
  ]),
];

const removing: readonly Scenario[] = [
  atPlace("group invites whose role is gone", [
    ownRole,
    post("one", here, (seen) => ({ role: seen.id("a role"), ttl: DAY }), 200, { shows: ofOwnRole }),
    get("it", listed, 200, { items: 1, every: ofOwnRole }),
    {
      name: "the role with another name",
      method: "PUT",
      path: madeBy("/iam/v1/roles", "a role"),
      body: { name: "other", capabilities: ["roles.list"] },
      status: 200,
    },
    get("it, with the role as it is now", listed, 200, {
      items: 1,
      every: { role: { name: "other", description: "", capabilities: ["roles.list"] } },
    }),
    del("the role", madeBy("/iam/v1/roles", "a role"), 200),
    get("it, of a role that is gone", listed, 200, {
      items: 1,
      every: (seen) => ({ role: { id: seen.id("a role") } }),
    }),
    get("it by id, of a role that is gone", at(`${INVITES}?id=`, idOf("one")), 200, {
      items: 1,
      every: (seen) => ({ role: { id: seen.id("a role") } }),
    }),
  ]),
  atPlace("removing group invites", [
    post("one", here, invitation(), 200),
    post("two", here, invitation(), 200),
    ...strangers((name, status, extra) => del(name, madeBy(INVITES, "one"), status, extra)),
    ...otherMethods(madeBy(INVITES, "one"), ["PUT", "PATCH", "HEAD"]),
    get("both are there", listed, 200, { items: 2 }),
    del("one", madeBy(INVITES, "one"), 200, { shows: {} }),
    get("one is there", listed, 200, { items: 1 }),
    del("one once more", madeBy(INVITES, "one"), 404),
    del("two with %2F", at(`${INVITES}/`, escapedId("two")), 200, { shows: {} }),
    del("one that was never there", `${INVITES}/${MISSING}`, 404),
    get("none is there", listed, 200, { items: 0 }),
  ]),
];

export const groupInviteScenarios: readonly Scenario[] = [...creating, ...removing];
