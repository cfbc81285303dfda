/** v1 calls on group invites, which have one shape in a get, one in a create and one in lists. */
import type { JsonObject } from "../../../src/model/json.ts";
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
const ownRole: Call = post("a role", inPlace("/iam/v1/roles"), {
  name: "own",
  description: "of the house",
  capabilities: ["groups.list", "role_bindings.list", "gulfstream"],
});
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
    post("one", here, invitation(), { shows: viewer }),
    post("to a role of the house", here, (seen) => ({ role: seen.id("a role"), ttl: DAY }), { shows: ofOwnRole }),
    post("for somebody", here, invitation({ email: "new@example.com" })),
    post("for once", here, invitation({ singleUse: true })),
    post("for once, in the other spelling", here, invitation({ single_use: true })),
    post("for somebody and once", here, invitation({ email: "new@example.com", singleUse: true })),
    post("explicit zeros", here, invitation({ email: "", singleUse: false })),
    post("null members are left out", here, invitation({ email: null, singleUse: null, group: null })),
    post("of another group in the body", here, (seen) => invitation({ group: seen.known.root })(seen)),
    post(
      "members of the server do nothing",
      here,
      invitation({ id: "mine", code: "mine", keyId: "mine", expiration: "2099-01-01T00:00:00Z", createdAt: "t" }),
    ),
    post("unknown members do nothing", here, invitation({ roleUid: "x", colour: {} })),
    post("for a second", here, invitation({ ttl: "1s" })),
    post("for parts of a second", here, invitation({ ttl: "3600.500s" })),
    get("all of them, without their codes", listed, { items: 13 }),
    get("one by id", at(`${INVITES}?id=`, idOf("one")), {
      items: 1,
      every: (seen) => ({ ...viewer(seen), email: "", singleUse: false }),
    }),
    get("one of a role of the house", at(`${INVITES}?id=`, idOf("to a role of the house")), {
      items: 1,
      every: ofOwnRole,
    }),
    get("one for somebody and once", at(`${INVITES}?id=`, idOf("for somebody and once")), {
      items: 1,
      every: { email: "new@example.com", singleUse: true },
    }),
    get(
      "one by its key",
      at(`${INVITES}?key_id=`, (seen) => String((seen.answer("one") as JsonObject)["keyId"])),
      { items: 1 },
    ),
    get(
      "one by its group, id and key",
      (seen) =>
        `${INVITES}?group=${seen.id("place")}&id=${seen.id("one")}&keyId=${(seen.answer("one") as JsonObject)["keyId"]}`,
      { items: 1 },
    ),
    get(
      "one by the key of another",
      (seen) => `${INVITES}?id=${seen.id("for once")}&keyId=${(seen.answer("one") as JsonObject)["keyId"]}`,
      { items: 0 },
    ),
    get("as an outsider", listed, { as: "outsider", items: 0 }),
    get("as a viewer", listed, { as: "viewer", items: 13 }),
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
    get("none of them is there", listed, { items: 0 }),
  ]),
];

const removing: readonly Scenario[] = [
  atPlace("group invites whose role is gone", [
    ownRole,
    post("one", here, (seen) => ({ role: seen.id("a role"), ttl: DAY }), { shows: ofOwnRole }),
    get("it", listed, { items: 1, every: ofOwnRole }),
    {
      name: "the role with another name",
      method: "PUT",
      path: madeBy("/iam/v1/roles", "a role"),
      body: { name: "other", capabilities: ["roles.list"] },
      status: 200,
    },
    get("it, with the role as it is now", listed, {
      items: 1,
      every: { role: { name: "other", description: "", capabilities: ["roles.list"] } },
    }),
    del("the role", madeBy("/iam/v1/roles", "a role")),
    get("it, of a role that is gone", listed, { items: 1, every: (seen) => ({ role: { id: seen.id("a role") } }) }),
    get("it by id, of a role that is gone", at(`${INVITES}?id=`, idOf("one")), {
      items: 1,
      every: (seen) => ({ role: { id: seen.id("a role") } }),
    }),
  ]),
  atPlace("removing group invites", [
    post("one", here, invitation()),
    post("two", here, invitation()),
    ...strangers((name, status, extra) => del(name, madeBy(INVITES, "one"), status, extra)),
    ...otherMethods(madeBy(INVITES, "one"), ["PUT", "PATCH", "HEAD"]),
    get("both are there", listed, { items: 2 }),
    del("one", madeBy(INVITES, "one"), { shows: {} }),
    get("one is there", listed, { items: 1 }),
    del("one once more", madeBy(INVITES, "one"), 404),
    del("two with %2F", at(`${INVITES}/`, escapedId("two")), { shows: {} }),
    del("one that was never there", `${INVITES}/${MISSING}`, 404),
    get("none is there", listed, { items: 0 }),
  ]),
];

export const groupInviteScenarios: readonly Scenario[] = [...creating, ...removing];
