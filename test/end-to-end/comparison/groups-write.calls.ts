/** v1 calls that write groups. */
import { at, del, escapedId, get, idOf, leafId, post, put, rootId, type Scenario, scenario } from "./call.ts";

const GROUPS = "/iam/v1/groups";
const MISSING = `${GROUPS}/${"0".repeat(40)}/${"0".repeat(16)}`;
const leaf = at(`${GROUPS}/`, leafId);
const root = at(`${GROUPS}/`, rootId);
const one = at(`${GROUPS}/`, idOf("one"));

const creatingGroups: readonly Scenario[] = [
  scenario("creating groups", [
    post("with a description", leaf, { name: "one", description: "the first" }, 200, {
      shows: { name: "one", description: "the first", verified: false },
    }),
    post("with a name only", leaf, { name: "two" }, { shows: { name: "two", description: "" } }),
    post("of the same name once more", leaf, { name: "two" }),
    post("of one letter", leaf, { name: "x" }),
    post("with every kind of letter", leaf, { name: "a.b_c-d 9" }),
    post(
      "with text that needs escapes",
      leaf,
      { name: "esc", description: '"\\/\b\f\n\r\t\u0001<>&\u2028 \u{1f600} é' },
      { shows: { description: '"\\/\b\f\n\r\t\u0001<>&\u2028 \u{1f600} é' } },
    ),
    post(
      "below a parent written with %2F",
      at(`${GROUPS}/`, (seen) => encodeURIComponent(seen.known.leaf)),
      { name: "enc" },
    ),
    post(
      "below a parent written with %2f",
      at(`${GROUPS}/`, (seen) => seen.known.leaf.replaceAll("/", "%2f")),
      { name: "enc" },
    ),
    get("they are there", at(`${GROUPS}?uidp.children_of=`, leafId), { items: 8 }),
    get("by the id of the answer", at(`${GROUPS}?id=`, idOf("with a description")), { items: 1 }),
  ]),
  scenario("creating root groups", [
    post("with a trailing slash", `${GROUPS}/`, { name: "rooted" }, { shows: { name: "rooted" } }),
    post("without one", GROUPS, { name: "rooted too", description: "d" }),
    post("of a kind", GROUPS, { name: "kind", kind: "ORG_KIND_DEV" }, { shows: { kind: "ORG_KIND_DEV" } }),
    post("of a kind by its number", GROUPS, { name: "kind by number", kind: 2 }, 200, {
      shows: { kind: "ORG_KIND_CUSTOMER" },
    }),
    post("of a kind that v1 does not know", GROUPS, { name: "no kind", kind: "ORG_KIND_NOBODY" }, 200, {
      shows: { kind: "ORG_KIND_UNSPECIFIED" },
    }),
    post("of the kind null", GROUPS, { name: "null kind", kind: null }, { shows: { kind: "ORG_KIND_UNSPECIFIED" } }),
    post("of a kind that is no name", GROUPS, { name: "wrong kind", kind: true }, 400),
    post("verified and of a kind, by staff", GROUPS, { name: "v", verified: true, kind: "ORG_KIND_CUSTOMER" }, 200, {
      as: "staff",
      shows: { verified: true },
    }),
    post("verified, by somebody else", GROUPS, { name: "v", verified: true, kind: "ORG_KIND_CUSTOMER" }, 403),
    post("without a name", GROUPS, {}, 400, { field: "name" }),
    get("they are roots", `${GROUPS}?uidp.in_root=true`, { items: "some" }),
  ]),
  scenario("groups that cannot be created", [
    post("without a name", leaf, { description: "d" }, 400, { field: "name" }),
    post("with an empty name", leaf, { name: "" }, 400, { field: "name" }),
    post("with a name of null", leaf, { name: null }, 400, { field: "name" }),
    post("with capitals", leaf, { name: "Upper" }, 400, { field: "name" }),
    post("with a slash", leaf, { name: "a/b" }, 400, { field: "name" }),
    post("with a line break", leaf, { name: "a\nb" }, 400, { field: "name" }),
    post("with other letters", leaf, { name: "é" }, 400, { field: "name" }),
    post("of a parent that is not there", MISSING, { name: "orphan" }, 404),
    post("by a viewer", leaf, { name: "mine" }, 403, { as: "viewer" }),
    post("by somebody who may do nothing", leaf, { name: "mine" }, 403, { as: "powerless" }),
    post("by somebody of another organisation", leaf, { name: "mine" }, 403, { as: "outsider" }),
    post("without a token", leaf, { name: "mine" }, 401, { as: "anonymous" }),
    post("with a forged token", leaf, { name: "mine" }, 401, { as: "forged" }),
    get("none of them is there", at(`${GROUPS}?uidp.children_of=`, leafId), { items: 0 }),
  ]),
  scenario("bodies of groups", [
    post("no body: an empty message", leaf, undefined, 400, { field: "name" }),
    post("an empty body", leaf, "", 400, { field: "name" }),
    post("null", leaf, null, 400),
    post("an array", leaf, [{ name: "x" }], 400),
    post("a text", leaf, '"x"', 400),
    post("a number", leaf, "1", 400),
    post("cut off", leaf, '{"name":"x"', 400),
    post("a trailing comma", leaf, '{"name":"x",}', 400),
    post("single quotes", leaf, "{'name':'x'}", 400),
    post("a comment", leaf, '{"name":"x"/* */}', 400),
    post("a byte order mark", leaf, '\ufeff{"name":"x"}', 400),
    post("a lone surrogate", leaf, '{"name":"x","description":"\\ud800"}', 400),
    post("bytes that are no UTF-8", leaf, new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 400),
    post("a raw control byte in a text", leaf, '{"name":"x","description":"a\u0001"}', 400),
    post("a name that is a number", leaf, { name: 5 }, 400),
    post("a name that is an object", leaf, { name: {} }, 400),
    post("a description that is a list", leaf, { name: "x", description: ["d"] }, 400),
    post("a boolean that is a text", leaf, { name: "x", verified: "true" }, 400),
    post("a map that is a list", leaf, { name: "x", resourceLimits: [] }, 400),
    post("a map of texts for numbers", leaf, { name: "x", resourceLimits: { clusters: "many" } }, 400),
    post("one name twice", leaf, '{"name":"x","name":"x"}', 400),
    post("one name twice, once escaped", leaf, '{"name":"x","n\\u0061me":"x"}', 400),
    post("both spellings", leaf, { name: "x", resourceLimits: {}, resource_limits: {} }, 400),
    post("bad JSON without a token: the body comes first", leaf, "{", 400, { as: "anonymous" }),
    get("none of them was made", at(`${GROUPS}?uidp.children_of=`, leafId), { items: 0 }),
    post("null members are left out", leaf, { name: "x", description: null, verified: null, resourceLimits: null }),
    post("unknown members do nothing", leaf, { name: "x", uid: "u", createTime: "t", colour: { of: ["any"] } }),
    post("unknown members twice do nothing", leaf, '{"name":"x","colour":1,"colour":[]}'),
    post("members of the server do nothing", leaf, { name: "x", id: "mine", status: "ORG_STATUS_SUSPENDED" }),
    post("limits do nothing", leaf, { name: "x", resourceLimits: { clusters: 7 } }, { shows: { resourceLimits: {} } }),
    post("the other spelling", leaf, { name: "x", resource_limits: { clusters: 7 } }, 200, {
      shows: { resourceLimits: {} },
    }),
    post("spaces around it", leaf, ' \r\n\t{ "name" : "x" } \n'),
    post("escaped names", leaf, '{"n\\u0061me":"\\u0078"}', { shows: { name: "x" } }),
    post("declared as text", leaf, { name: "x" }, { headers: { "content-type": "text/plain" } }),
    post("declared as a form", leaf, { name: "x" }, 200, {
      headers: { "content-type": "application/x-www-form-urlencoded" },
    }),
    post("declared as a form, and one", leaf, "name=x", 400, {
      headers: { "content-type": "application/x-www-form-urlencoded" },
    }),
    get("those were", at(`${GROUPS}?uidp.children_of=`, leafId), { items: 10 }),
  ]),
];

const updatingGroups: readonly Scenario[] = [
  scenario("replacing groups", [
    post("one", leaf, { name: "one", description: "the first" }),
    put("name and description", one, { name: "uno", description: "el primero" }, 200, {
      shows: { name: "uno", description: "el primero" },
    }),
    put("the same again", one, { name: "uno", description: "el primero" }),
    put("left out, the description is cleared", one, { name: "uno" }, { shows: { name: "uno", description: "" } }),
    put("a description again", one, { name: "uno", description: "back" }),
    put("null clears it", one, { name: "uno", description: null }, { shows: { description: "" } }),
    put("a description once more", one, { name: "uno", description: "again" }),
    put("an empty text clears it", one, { name: "uno", description: "" }, { shows: { description: "" } }),
    put("explicit zeros", one, { name: "uno", description: "", verified: false, resourceLimits: {}, kind: 0 }),
    put("zeros by their names", one, { name: "uno", kind: "ORG_KIND_UNSPECIFIED", status: "ORG_STATUS_UNSPECIFIED" }),
    put(
      "unknown members do nothing",
      one,
      { name: "uno", description: "d", uid: "u", colour: [1], updateTime: "t" },
      { shows: { description: "d" } },
    ),
    put(
      "limits and status do nothing",
      one,
      { name: "uno", resourceLimits: { clusters: 9 }, status: "ORG_STATUS_SUSPENDED" },
      { shows: { resourceLimits: {} } },
    ),
    put("an id of its own does nothing", one, { name: "uno", id: "another" }),
    put("with a uid written with %2F", at(`${GROUPS}/`, escapedId("one")), { name: "dos" }),
    get("it is there", at(`${GROUPS}?id=`, idOf("one")), { items: 1, every: { name: "dos", description: "" } }),
    put("what a read gave", one, (seen) => seen.item("it is there", "name", "dos")),
    put("what a read gave, with a description", one, (seen) => ({
      ...seen.item("it is there", "name", "dos"),
      description: "d",
    })),
  ]),
  scenario("replacing a verified root group with limits", [
    get("it", at(`${GROUPS}?id=`, rootId), { items: 1, every: { verified: true } }),
    put("by what a read gave", root, (seen) => seen.item("it", "verified", true)),
    put("another description", root, (seen) => ({ ...seen.item("it", "verified", true), description: "new" }), {
      shows: { description: "new", verified: true },
    }),
    put("its kind by number", root, (seen) => ({ ...seen.item("it", "verified", true), kind: 2 })),
    put("other limits do nothing", root, (seen) => ({
      ...seen.item("it", "verified", true),
      resourceLimits: { idps: 99 },
    })),
    put("no limits do nothing", root, (seen) => ({ ...seen.item("it", "verified", true), resourceLimits: {} })),
    put("another kind, by staff", root, (seen) => ({ ...seen.item("it", "verified", true), kind: "ORG_KIND_DEV" }), {
      as: "staff",
      shows: { kind: "ORG_KIND_DEV" },
    }),
    put("not verified, by staff", root, (seen) => ({ ...seen.item("it", "verified", true), verified: false }), {
      as: "staff",
      shows: { verified: false },
    }),
    put("verified again, by staff", root, (seen) => seen.item("it", "verified", true), {
      as: "staff",
      shows: { verified: true },
    }),
    put("by a viewer", root, (seen) => seen.item("it", "verified", true), 403, { as: "viewer" }),
  ]),
  scenario("groups that cannot be replaced", [
    post("one", leaf, { name: "one", description: "the first" }),
    put("without a name", one, { description: "d" }, 400, { field: "name" }),
    put("by an empty message", one, {}, 400, { field: "name" }),
    put("without a body", one, undefined, 400, { field: "name" }),
    put("with a bad name", one, { name: "NO" }, 400, { field: "name" }),
    put("with a name of null", one, { name: null }, 400, { field: "name" }),
    put("by null", one, null, 400),
    put("by an array", one, [], 400),
    put("by bad JSON", one, '{"name":"x"', 400),
    put("with a number for a name", one, { name: 1 }, 400),
    put("one name twice", one, '{"name":"x","name":"y"}', 400),
    put("one that is not there", MISSING, { name: "ghost" }, 404),
    put("verified, by somebody who may not", one, { name: "one", verified: true }, 403),
    put("by a viewer", one, { name: "mine" }, 403, { as: "viewer" }),
    put("by somebody of another organisation", one, { name: "mine" }, 403, { as: "outsider" }),
    put("without a token", one, { name: "mine" }, 401, { as: "anonymous" }),
    get("it is as it was", at(`${GROUPS}?id=`, idOf("one")), {
      items: 1,
      every: { name: "one", description: "the first" },
    }),
  ]),
];

const removingGroups: readonly Scenario[] = [
  scenario("removing groups", [
    post("one", leaf, { name: "one" }),
    post("its child", one, { name: "child" }),
    del("one that is not empty", one, 400, { code: 9 }),
    del("a root that is not empty", root, 400, { code: 9 }),
    del("the child, by a viewer", at(`${GROUPS}/`, idOf("its child")), 403, { as: "viewer" }),
    del("the child, by somebody of another organisation", at(`${GROUPS}/`, idOf("its child")), 403, { as: "outsider" }),
    del("the child, without a token", at(`${GROUPS}/`, idOf("its child")), 401, { as: "anonymous" }),
    del("the child", at(`${GROUPS}/`, idOf("its child")), { shows: {} }),
    del("the child once more", at(`${GROUPS}/`, idOf("its child")), 404),
    del("one, with a uid written with %2F", at(`${GROUPS}/`, escapedId("one")), { shows: {} }),
    get("it is gone", at(`${GROUPS}?id=`, idOf("one")), { items: 0 }),
    put("what is gone", one, { name: "back" }, 404),
    del("one that was never there", MISSING, 404),
    post("another", leaf, { name: "another" }),
    del("with a body that is none", at(`${GROUPS}/`, idOf("another")), { body: "{" }),
  ]),
  scenario("methods that groups do not have", [
    { name: "of a list", method: "PATCH", path: leaf, body: { name: "x" }, status: 501, code: 12 },
    { name: "of a list, head only", method: "HEAD", path: GROUPS, status: 501 },
    { name: "of a list, options", method: "OPTIONS", path: GROUPS, status: 501, code: 12 },
    { name: "of a record, head only", method: "HEAD", path: leaf, status: 501 },
    { name: "of a record, options", method: "OPTIONS", path: leaf, status: 501, code: 12 },
    {
      name: "of a record, without a token",
      method: "PATCH",
      path: leaf,
      as: "anonymous",
      body: {},
      status: 501,
      code: 12,
    },
  ]),
];

export const writingGroups: readonly Scenario[] = [...creatingGroups, ...updatingGroups, ...removingGroups];
