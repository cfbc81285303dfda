/** What do v1 clients ask of lists of groups? */
import { at, get, idOf, leafId, parentId, post, roleId, rootId, type Scenario, scenario } from "./call.ts";

const GROUPS = "/iam/v1/groups";
const MISSING = `${"0".repeat(40)}/${"0".repeat(16)}`;

export const readingGroups: readonly Scenario[] = [
  scenario("who may list groups", [
    get("everything the admin may see", GROUPS, 200, { items: "some" }),
    get("a viewer sees the same", GROUPS, 200, { as: "viewer", items: "some" }),
    get("somebody of another organisation sees that one", GROUPS, 200, { as: "outsider", items: "some" }),
    get("without a token", GROUPS, 401, { as: "anonymous" }),
    get("with a token that nobody issued", GROUPS, 401, { as: "forged" }),
    get("with a token that allows nothing", GROUPS, 200, { as: "powerless", items: 0 }),
    get("a filter without a token", `${GROUPS}?name=x`, 401, { as: "anonymous" }),
    get("an id without a token", at(`${GROUPS}?id=`, rootId), 401, { as: "anonymous" }),
  ]),
  scenario("groups by id", [
    get("the root", at(`${GROUPS}?id=`, rootId), 200, { items: 1, every: (seen) => ({ id: seen.known.root }) }),
    get("a raw slash in the query", at(`${GROUPS}?id=`, leafId), 200, { items: 1 }),
    get(
      "an encoded slash",
      at(`${GROUPS}?id=`, (seen) => encodeURIComponent(seen.known.leaf)),
      200,
      { items: 1 },
    ),
    get("as a viewer", at(`${GROUPS}?id=`, leafId), 200, { as: "viewer", items: 1 }),
    get("not there", `${GROUPS}?id=${MISSING}`, 200, { items: 0 }),
    get("of no uid's shape", `${GROUPS}?id=nobody`, 200, { items: 0 }),
    get("not for this caller", at(`${GROUPS}?id=`, leafId), 200, { as: "outsider", items: 0 }),
    get("an id of another kind of record", at(`${GROUPS}?id=`, roleId("viewer")), 200, { items: 0 }),
    get("empty: no filter", `${GROUPS}?id=`, 200, { items: "some" }),
    get("twice", at(`${GROUPS}?id=a&id=`, rootId), 400),
    get("and its name", at(`${GROUPS}?name=findable&id=`, rootId), 200, { items: 0 }),
  ]),
  scenario("groups by name", [
    post("one", at(`${GROUPS}/`, leafId), { name: "findable" }, 200),
    post("another of the same name", at(`${GROUPS}/`, rootId), { name: "findable" }, 200),
    post("of two words", at(`${GROUPS}/`, rootId), { name: "two words" }, 200),
    get("both", `${GROUPS}?name=findable`, 200, { items: 2, every: { name: "findable" } }),
    get("a part of a name is no match", `${GROUPS}?name=findabl`, 200, { items: 0 }),
    get("in capitals is no match", `${GROUPS}?name=FINDABLE`, 200, { items: 0 }),
    get("a space as a plus", `${GROUPS}?name=two+words`, 200, { items: 1 }),
    get("a space as %20", `${GROUPS}?name=two%20words`, 200, { items: 1 }),
    get("an escaped letter", `${GROUPS}?n%61me=f%69ndable`, 200, { items: 2 }),
    get("nobody's name", `${GROUPS}?name=no-such-group`, 200, { items: 0 }),
    get("empty: no filter", `${GROUPS}?name=`, 200, { items: "some" }),
    get("without a value: no filter", `${GROUPS}?name`, 200, { items: "some" }),
    get("twice", `${GROUPS}?name=findable&name=findable`, 400),
    get("and the id of one", at(`${GROUPS}?name=findable&id=`, idOf("one")), 200, { items: 1 }),
    get("another name and the id of one", at(`${GROUPS}?name=other&id=`, idOf("one")), 200, { items: 0 }),
    get("and the parent", at(`${GROUPS}?name=findable&uidp.children_of=`, leafId), 200, { items: 1 }),
    get("and an ancestor", at(`${GROUPS}?name=findable&uidp.descendantsOf=`, rootId), 200, { items: 2 }),
    get("and a place without it", at(`${GROUPS}?name=two+words&uidp.descendants_of=`, leafId), 200, { items: 0 }),
    get("as an outsider", `${GROUPS}?name=findable`, 200, { as: "outsider", items: 0 }),
  ]),
  scenario("groups by place", [
    post("a child", at(`${GROUPS}/`, leafId), { name: "a child" }, 200),
    post("a grandchild", at(`${GROUPS}/`, idOf("a child")), { name: "a grandchild" }, 200),
    get("all below the root", at(`${GROUPS}?uidp.descendants_of=`, rootId), 200, { items: "some" }),
    get("the same in camel case", at(`${GROUPS}?uidp.descendantsOf=`, rootId), 200, { items: "some" }),
    get("all below one", at(`${GROUPS}?uidp.descendants_of=`, leafId), 200, { items: "some" }),
    get("children", at(`${GROUPS}?uidp.children_of=`, leafId), 200, { items: 1, every: { name: "a child" } }),
    get("children in camel case", at(`${GROUPS}?uidp.childrenOf=`, parentId), 200, { items: "some" }),
    get("children of one without", at(`${GROUPS}?uidp.children_of=`, idOf("a grandchild")), 200, { items: 0 }),
    get("children of one that is not there", `${GROUPS}?uidp.children_of=${MISSING}`, 200, { items: 0 }),
    get("children of none: no filter", `${GROUPS}?uidp.children_of=`, 200, { items: "some" }),
    get("ancestors", at(`${GROUPS}?uidp.ancestors_of=`, idOf("a grandchild")), 200, { items: "some" }),
    get("ancestors in camel case", at(`${GROUPS}?uidp.ancestorsOf=`, idOf("a child")), 200, { items: "some" }),
    get("roots", `${GROUPS}?uidp.in_root=true`, 200, { items: "some" }),
    get("roots in camel case", `${GROUPS}?uidp.inRoot=true`, 200, { items: "some" }),
    get("not only roots", `${GROUPS}?uidp.in_root=false`, 200, { items: "some" }),
    get("an empty boolean", `${GROUPS}?uidp.in_root=`, 400),
    get("no boolean", `${GROUPS}?uidp.in_root=maybe`, 400),
    get("no boolean in camel case", `${GROUPS}?uidp.inRoot=2`, 400),
    get("a boolean twice", `${GROUPS}?uidp.in_root=true&uidp.in_root=true`, 400),
    get("a place twice", at(`${GROUPS}?uidp.children_of=a&uidp.children_of=`, rootId), 400),
    get("a message", `${GROUPS}?uidp=1`, 400),
  ]),
  scenario("groups by several uids, and places together", [
    get("one uid", at(`${GROUPS}?uidp.ids=`, rootId), 200, { items: 1 }),
    get("two uids", ({ known }) => `${GROUPS}?uidp.ids=${known.root}&uidp.ids=${known.leaf}`, 200, { items: 2 }),
    get("one of them unknown", ({ known }) => `${GROUPS}?uidp.ids=${MISSING}&uidp.ids=${known.leaf}`, 200, {
      items: 1,
    }),
    get("one of them twice", ({ known }) => `${GROUPS}?uidp.ids=${known.leaf}&uidp.ids=${known.leaf}`, 200, {
      items: 1,
    }),
    get("only an unknown one", `${GROUPS}?uidp.ids=${MISSING}`, 200, { items: 0 }),
    get(
      "uids and a place",
      ({ known }) => `${GROUPS}?uidp.ids=${known.root}&uidp.ids=${known.leaf}&uidp.in_root=true`,
      200,
      { items: 1 },
    ),
    get("uids as an outsider", ({ known }) => `${GROUPS}?uidp.ids=${known.root}&uidp.ids=${known.elsewhere}`, 200, {
      as: "outsider",
      items: 1,
    }),
    get(
      "children and descendants",
      ({ known }) => {
        return `${GROUPS}?uidp.children_of=${known.parent}&uidp.descendants_of=${known.root}`;
      },
      200,
      { items: "some" },
    ),
    get(
      "children there, descendants elsewhere",
      ({ known }) => {
        return `${GROUPS}?uidp.children_of=${known.parent}&uidp.descendants_of=${known.elsewhere}`;
      },
      200,
      { items: 0 },
    ),
    get("an id and its place", ({ known }) => `${GROUPS}?id=${known.leaf}&uidp.descendants_of=${known.root}`, 200, {
      items: 1,
    }),
    get("an id and another place", ({ known }) => `${GROUPS}?id=${known.root}&uidp.children_of=${known.root}`, 200, {
      items: 0,
    }),
    get("an id and the roots", ({ known }) => `${GROUPS}?id=${known.root}&uidp.in_root=true`, 200, { items: 1 }),
    get("an id below and the roots", ({ known }) => `${GROUPS}?id=${known.leaf}&uidp.in_root=true`, 200, { items: 0 }),
    get("an id and an ancestor of", ({ known }) => `${GROUPS}?id=${known.root}&uidp.ancestors_of=${known.leaf}`, 200, {
      items: 1,
    }),
    get("an id among uids", ({ known }) => `${GROUPS}?id=${known.root}&uidp.ids=${known.root}`, 200, { items: 1 }),
    get("an id not among uids", ({ known }) => `${GROUPS}?id=${known.root}&uidp.ids=${known.leaf}`, 200, { items: 0 }),
    get("a place of another organisation", ({ known }) => `${GROUPS}?uidp.descendants_of=${known.root}`, 200, {
      as: "outsider",
      items: 0,
    }),
  ]),
  {
    name: "what v1 does not know of lists of groups",
    size: 230,
    calls: [
      get("more than 200", GROUPS, 200, { items: "over 200" }),
      get("more than 200 below the root", at(`${GROUPS}?uidp.descendants_of=`, rootId), 200, { items: "over 200" }),
      get("paging parameters do nothing", `${GROUPS}?page_size=1&skip=3&order_by=name%20desc&page_token=x`, 200, {
        items: "over 200",
      }),
      get("nor in camel case", `${GROUPS}?pageSize=5&pageToken=x&orderBy=uid`, 200, { items: "over 200" }),
      get("nor when they are no numbers", `${GROUPS}?page_size=many&skip=`, 200, { items: "over 200" }),
      get("unknown parameters do nothing", `${GROUPS}?verbose=1&verbose=2&description=x&uid=abc`, 200, {
        items: "over 200",
      }),
      get("names are case sensitive", `${GROUPS}?NAME=x&Id=y`, 200, { items: "over 200" }),
    ],
  },
];
