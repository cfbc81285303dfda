/** v1 calls on roles. */
import { at, del, get, idOf, leafId, many, post, put, roleId, rootId, type Scenario, scenario, small } from "./call.ts";
import { MISSING } from "./words.ts";

const ROLES = "/iam/v1/roles";
const below = at(`${ROLES}/`, leafId);
const one = at(`${ROLES}/`, idOf("one"));
const listed = at(`${ROLES}?parent=`, leafId);
const builtIn = at(`${ROLES}/`, roleId("viewer"));

const reading: readonly Scenario[] = [
  scenario("lists of roles", [
    get("everything", ROLES, { items: "some" }),
    get("as a viewer", ROLES, { as: "viewer", items: "some" }),
    get("as an outsider", ROLES, { as: "outsider", items: "some" }),
    get("as somebody who may do nothing", ROLES, { as: "powerless" }),
    get("without a token", ROLES, 401, { as: "anonymous" }),
    get("built-in ones", `${ROLES}?parent=/`, { items: "some" }),
    get("built-in ones, the slash encoded", `${ROLES}?parent=%2F`, { items: "some" }),
    get("built-in ones as an outsider", `${ROLES}?parent=/`, { as: "outsider", items: "some" }),
    get("in the root, the other way", `${ROLES}?uidp.in_root=true`, { items: "some" }),
    get("in the root, both ways", `${ROLES}?uidp.in_root=true&parent=/`, { items: "some" }),
    get("built-in ones by name", `${ROLES}?name=viewer&parent=/`, { items: 1, every: { name: "viewer" } }),
    get("of the organisation", at(`${ROLES}?parent=`, rootId)),
    get("of a place that is not there", `${ROLES}?parent=${MISSING}`, { items: 0 }),
    get("empty filters", `${ROLES}?parent=&name=&id=`, { items: "some" }),
    get("two parents", `${ROLES}?parent=/&parent=/`, 400),
    get("an empty boolean", `${ROLES}?uidp.in_root=`, 400),
    get("by name", `${ROLES}?name=viewer`, { items: "some", every: { name: "viewer" } }),
    get("by nobody's name", `${ROLES}?name=no-such-role`, { items: 0 }),
    get("by the id of a built-in one", at(`${ROLES}?id=`, roleId("viewer")), { items: 1 }),
    get("by that id, as an outsider", at(`${ROLES}?id=`, roleId("owner")), { as: "outsider", items: 1 }),
    get("by id and name", at(`${ROLES}?name=viewer&id=`, roleId("viewer")), { items: 1 }),
    get("by id and another name", at(`${ROLES}?name=owner&id=`, roleId("viewer")), { items: 0 }),
    get("by id and parent", at(`${ROLES}?parent=/&id=`, roleId("viewer")), { items: 1 }),
    get("by id and another parent", ({ known }) => `${ROLES}?parent=${known.root}&id=${known.role("viewer")}`, {
      items: 0,
    }),
    get("by id and the root", at(`${ROLES}?uidp.in_root=true&id=`, roleId("viewer")), { items: 1 }),
    get("by an id that is not there", `${ROLES}?id=${MISSING}`, { items: 0 }),
    get("by uids", ({ known }) => `${ROLES}?uidp.ids=${known.role("viewer")}&uidp.ids=${known.role("owner")}`, {
      items: 2,
    }),
    get("by uids, one unknown", ({ known }) => `${ROLES}?uidp.ids=${known.role("viewer")}&uidp.ids=${MISSING}`, {
      items: 1,
    }),
    get("paging parameters do nothing", `${ROLES}?page_size=1&skip=1&order_by=name`, { items: "some" }),
  ]),
  small("more than 200 roles", [
    many("of one parent", 203, (index) =>
      post(`number ${index}`, below, { name: `number ${index}`, capabilities: ["groups.list"] }),
    ),
    get("all of a parent", listed, { items: 203 }),
    get("all of a place", at(`${ROLES}?uidp.children_of=`, leafId), { items: 203 }),
    get("one of a name", `${ROLES}?name=number%20150`, { items: 1 }),
  ]),
];

const writing: readonly Scenario[] = [
  scenario("creating roles", [
    post("one", below, { name: "one", description: "d", capabilities: ["groups.list", "role_bindings.list"] }, 200, {
      shows: { name: "one", description: "d", capabilities: ["groups.list", "role_bindings.list"] },
    }),
    post("with one capability", below, { name: "two", capabilities: ["groups.create"] }),
    post("without a description", below, { name: "three", capabilities: ["roles.list"] }, 200, {
      shows: { description: "" },
    }),
    post("members of the server do nothing", below, {
      name: "four",
      capabilities: ["roles.list"],
      id: "x",
      createTime: "t",
    }),
    post(
      "with a capability that nobody knows",
      below,
      { name: "none", capabilities: ["groups.list", "groups.fly"] },
      400,
    ),
    post("with v2's name of a capability", below, { name: "none", capabilities: ["CAP_IAM_GROUPS_LIST"] }, 400),
    post("with an empty capability", below, { name: "none", capabilities: [""] }, 400),
    post("with a capability by number", below, { name: "none", capabilities: [103] }, 400),
    post("with a capability that is null", below, { name: "none", capabilities: [null] }, 400),
    post("with capabilities that are a text", below, { name: "none", capabilities: "groups.list" }, 400),
    post("without a name", below, { capabilities: ["groups.list"] }, 400, { field: "name" }),
    post("by null", below, null, 400),
    post("by an array", below, [], 400),
    post("by bad JSON", below, "{", 400),
    post("one name twice", below, '{"name":"x","capabilities":["groups.list"],"capabilities":[]}', 400),
    post("of a group that is not there", `${ROLES}/${MISSING}`, { name: "x", capabilities: ["groups.list"] }, 404),
    post("by a viewer", below, { name: "x", capabilities: ["groups.list"] }, 403, { as: "viewer" }),
    post("by an outsider", below, { name: "x", capabilities: ["groups.list"] }, 403, { as: "outsider" }),
    post("without a token", below, { name: "x", capabilities: ["groups.list"] }, 401, { as: "anonymous" }),
    get("four are there", listed, { items: 4 }),
    get("one by id", at(`${ROLES}?id=`, idOf("one")), { items: 1, every: { name: "one" } }),
    get("one by id and parent", (seen) => `${ROLES}?id=${seen.id("one")}&parent=${seen.known.leaf}`, { items: 1 }),
    get("one by id, not built in", at(`${ROLES}?parent=/&id=`, idOf("one")), { items: 0 }),
  ]),
  scenario("replacing roles", [
    post("one", below, { name: "one", description: "d", capabilities: ["groups.list", "roles.list"] }),
    put("other capabilities", one, { name: "one", description: "d", capabilities: ["roles.list", "groups.update"] }),
    put("left out, the description is cleared", one, { name: "one", capabilities: ["roles.list"] }, 200, {
      shows: { description: "" },
    }),
    put("another name", one, { name: "uno", capabilities: ["roles.list"] }, { shows: { name: "uno" } }),
    get("it", at(`${ROLES}?id=`, idOf("one")), { items: 1 }),
    put("what a read gave", one, (seen) => seen.item("it", "name", "uno")),
    put("unknown members do nothing", one, { name: "uno", capabilities: ["roles.list"], colour: 1, updateTime: "t" }),
    put("with a capability that nobody knows", one, { name: "uno", capabilities: ["roles.fly"] }, 400),
    put("with v2's name of a capability", one, { name: "uno", capabilities: ["CAP_IAM_ROLES_LIST"] }, 400),
    put("with a capability that is a number", one, { name: "uno", capabilities: [1] }, 400),
    put("without a name", one, { capabilities: ["roles.list"] }, 400, { field: "name" }),
    put("by null", one, null, 400),
    put("one that is not there", `${ROLES}/${MISSING}`, { name: "x", capabilities: ["roles.list"] }, 404),
    put("by a viewer", one, { name: "x", capabilities: ["roles.list"] }, 403, { as: "viewer" }),
    put("by an outsider", one, { name: "x", capabilities: ["roles.list"] }, 403, { as: "outsider" }),
    get("it is as it was", at(`${ROLES}?id=`, idOf("one")), {
      items: 1,
      every: { name: "uno", capabilities: ["roles.list"] },
    }),
  ]),
  scenario("removing roles", [
    post("one", below, { name: "one", capabilities: ["groups.list"] }),
    post("somebody", at("/iam/v1/identities/", leafId), {
      name: "somebody",
      claimMatch: { issuer: "https://i", subject: "s" },
    }),
    post("its use", at("/iam/v1/rolebindings/", leafId), (seen) => {
      return { identity: seen.id("somebody"), role: seen.id("one") };
    }),
    del("one in use", one, 400, { code: 9 }),
    del("its use", at("/iam/v1/rolebindings/", idOf("its use"))),
    del("one by a viewer", one, 403, { as: "viewer" }),
    del("one", one, { shows: {} }),
    del("one once more", one, 404),
    get("it is gone", at(`${ROLES}?id=`, idOf("one")), { items: 0 }),
    del("a built-in one", builtIn, 400, { code: 9 }),
    put("a built-in one", builtIn, { name: "viewer", capabilities: ["groups.list"] }, 400, { code: 9 }),
    { name: "by another method", method: "PATCH", path: one, body: {}, status: 501, code: 12 },
    { name: "head only", method: "HEAD", path: ROLES, status: 501 },
  ]),
];

export const roleScenarios: readonly Scenario[] = [...reading, ...writing];
