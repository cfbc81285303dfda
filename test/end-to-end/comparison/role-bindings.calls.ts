/** v1 calls on role bindings. */
import {
  at,
  del,
  escapedId,
  get,
  idOf,
  leafId,
  post,
  put,
  rootId,
  type Scenario,
  type Seen,
  scenario,
} from "./call.ts";
import { MISSING } from "./words.ts";

const BINDINGS = "/iam/v1/rolebindings";
const below = at(`${BINDINGS}/`, leafId);
const one = at(`${BINDINGS}/`, idOf("one"));
const listed = at(`${BINDINGS}?uidp.children_of=`, leafId);

const somebody = post("somebody", at("/iam/v1/identities/", leafId), {
  name: "somebody",
  claimMatch: { issuer: "https://issuer.example.com", subject: "a subject" },
});
const somebodyElse = post("somebody else", at("/iam/v1/identities/", leafId), {
  name: "somebody else",
  servicePrincipal: "INGESTER",
});
const ownRole = post("a role", at("/iam/v1/roles/", leafId), {
  name: "own",
  description: "of the house",
  capabilities: ["groups.list", "roles.list"],
});
const bound = (identity: string, role: string) => (seen: Seen) => ({
  identity: seen.id(identity),
  role: seen.known.role(role),
});

const reading: readonly Scenario[] = [
  scenario("lists of role bindings", [
    somebody,
    somebodyElse,
    ownRole,
    post("one", below, bound("somebody", "viewer")),
    post("two", below, (seen) => ({ identity: seen.id("somebody else"), role: seen.id("a role") })),
    get("more than 200, with groups, roles and identities", BINDINGS, { items: "over 200" }),
    get("as a viewer", BINDINGS, { as: "viewer", items: "over 200" }),
    get("as an outsider", BINDINGS, { as: "outsider" }),
    get("as somebody who may do nothing", BINDINGS, { as: "powerless", items: 0 }),
    get("without a token", BINDINGS, 401, { as: "anonymous" }),
    get("of one group", listed, { items: 2 }),
    get("in camel case", at(`${BINDINGS}?uidp.childrenOf=`, leafId), { items: 2 }),
    get("below the root", at(`${BINDINGS}?uidp.descendants_of=`, rootId), { items: "some" }),
    get("of a place that is not there", `${BINDINGS}?uidp.children_of=${MISSING}`, { items: 0 }),
    get("in the root", `${BINDINGS}?uidp.in_root=true`),
    get("an empty boolean", `${BINDINGS}?uidp.inRoot=`, 400),
    get("empty filters", `${BINDINGS}?id=&uidp.children_of=`, { items: "some" }),
    get("by id: group and role in full", at(`${BINDINGS}?id=`, idOf("one")), {
      items: 1,
      every: ({ known }) => ({
        group: { id: known.leaf, verified: false },
        role: { name: "viewer" },
        claimMatchIssuer: "https://issuer.example.com",
        claimMatchSubject: "a subject",
      }),
    }),
    get("by id, with a role of its own", at(`${BINDINGS}?id=`, idOf("two")), {
      items: 1,
      every: { role: { name: "own", capabilities: ["groups.list", "roles.list"] } },
    }),
    get("by id with %2F", at(`${BINDINGS}?id=`, escapedId("one")), { items: 1 }),
    get("by id, as a viewer", at(`${BINDINGS}?id=`, idOf("one")), { as: "viewer", items: 1 }),
    get("by id, not for this caller", at(`${BINDINGS}?id=`, idOf("one")), { as: "outsider", items: 0 }),
    get("by an id that is not there", `${BINDINGS}?id=${MISSING}`, { items: 0 }),
    get("by id twice", `${BINDINGS}?id=a&id=b`, 400),
    get("by id and place", (seen) => `${BINDINGS}?id=${seen.id("one")}&uidp.children_of=${seen.known.leaf}`, {
      items: 1,
    }),
    get("by id and another place", (seen) => `${BINDINGS}?id=${seen.id("one")}&uidp.children_of=${seen.known.root}`, {
      items: 0,
    }),
    get("by uids", (seen) => `${BINDINGS}?uidp.ids=${seen.id("one")}&uidp.ids=${seen.id("two")}`, { items: 2 }),
    get("v1 has no other filters", (seen) => `${listed(seen)}&identity=x&group=y&role=z&page_size=1`, { items: 2 }),
  ]),
];

const writing: readonly Scenario[] = [
  scenario("creating role bindings", [
    somebody,
    post("one: names only", below, bound("somebody", "viewer"), {
      shows: ({ known }) => ({ group: known.leaf, role: known.role("viewer") }),
    }),
    post(
      "another group in the body does nothing",
      below,
      (seen) => ({ ...bound("somebody", "owner")(seen), group: seen.known.root }),
      { shows: ({ known }) => ({ group: known.leaf }) },
    ),
    post("unknown members do nothing", below, (seen) => {
      return { ...bound("somebody", "editor")(seen), identityUid: "x", roleUid: "y", id: "z", createTime: "t" };
    }),
    post("without an identity", below, (seen) => ({ role: seen.known.role("viewer") }), 400, { field: "identity" }),
    post("without a role", below, (seen) => ({ identity: seen.id("somebody") }), 400, { field: "role" }),
    post(
      "with v2's names",
      below,
      (seen) => ({ identityUid: seen.id("somebody"), roleUid: seen.known.role("viewer") }),
      400,
    ),
    post("with empty names", below, { identity: "", role: "" }, 400),
    post("with null", below, (seen) => ({ identity: null, role: seen.known.role("viewer") }), 400, {
      field: "identity",
    }),
    post("with objects", below, (seen) => ({ identity: { id: seen.id("somebody") }, role: "x" }), 400),
    post("with nothing", below, {}, 400),
    post("with null for a body", below, null, 400),
    post("with an array", below, [], 400),
    post("with bad JSON", below, "{,}", 400),
    post("with one name twice", below, '{"identity":"a","identity":"b","role":"c"}', 400),
    post(
      "of an identity that is not there",
      below,
      (seen) => ({ identity: MISSING, role: seen.known.role("viewer") }),
      404,
    ),
    post("of a role that is not there", below, (seen) => ({ identity: seen.id("somebody"), role: MISSING }), 404),
    post("of a group that is not there", `${BINDINGS}/${MISSING}`, bound("somebody", "viewer"), 404),
    post("by a viewer", below, bound("somebody", "viewer"), 403, { as: "viewer" }),
    post("by an outsider", below, bound("somebody", "viewer"), 403, { as: "outsider" }),
    post("without a token", below, bound("somebody", "viewer"), 401, { as: "anonymous" }),
    get("three are there", listed, { items: 3 }),
  ]),
  scenario("replacing and removing role bindings", [
    somebody,
    somebodyElse,
    post("one", below, bound("somebody", "viewer")),
    put("another role", one, bound("somebody", "editor"), {
      shows: ({ known }) => ({ group: known.leaf, role: known.role("editor") }),
    }),
    put("another identity", one, bound("somebody else", "editor")),
    put(
      "another group does nothing",
      one,
      (seen) => ({ ...bound("somebody", "viewer")(seen), group: seen.known.root }),
      { shows: ({ known }) => ({ group: known.leaf }) },
    ),
    put("what the create answered", one, (seen) => seen.answer("one")),
    put("without a role", one, (seen) => ({ identity: seen.id("somebody") }), 400, { field: "role" }),
    put("without an identity", one, (seen) => ({ role: seen.known.role("viewer") }), 400, { field: "identity" }),
    put("with objects", one, (seen) => ({ identity: { id: seen.id("somebody") }, role: {} }), 400),
    put("by null", one, null, 400),
    put("one that is not there", `${BINDINGS}/${MISSING}`, bound("somebody", "viewer"), 404),
    put("by a viewer", one, bound("somebody", "viewer"), 403, { as: "viewer" }),
    put("by an outsider", one, bound("somebody", "viewer"), 403, { as: "outsider" }),
    get("it is as it was", at(`${BINDINGS}?id=`, idOf("one")), { items: 1, every: { role: { name: "viewer" } } }),
    del("by a viewer", one, 403, { as: "viewer" }),
    del("it", one, { shows: {} }),
    del("it once more: nothing to do", one, { shows: {} }),
    del("one that was never there", `${BINDINGS}/${MISSING}`, { shows: {} }),
    get("it is gone", at(`${BINDINGS}?id=`, idOf("one")), { items: 0 }),
    { name: "by another method", method: "PATCH", path: one, body: {}, status: 501, code: 12 },
    { name: "head only", method: "HEAD", path: BINDINGS, status: 501 },
  ]),
];

export const roleBindingScenarios: readonly Scenario[] = [...reading, ...writing];
