/** v1 calls that list groups. */
import { at, get, idOf, leafId, parentId, post, roleId, rootId, type Scenario, scenario } from "./call.ts";
import { MISSING } from "./words.ts";

const GROUPS = "/iam/v1/groups";

export const readingGroups: readonly Scenario[] = [
  scenario("who may list groups", [
    get("everything the admin may see", GROUPS, { items: "some" }),
    get("a viewer sees the same", GROUPS, { as: "viewer", items: "some" }),
    get("somebody of another organisation sees that one", GROUPS, { as: "outsider", items: "some" }),
    get("without a token", GROUPS, 401, { as: "anonymous" }),
    get("with a token that nobody issued", GROUPS, 401, { as: "forged" }),
    get("with a token that allows nothing", GROUPS, { as: "powerless", items: 0 }),
    get("a filter without a token", `${GROUPS}?name=x`, 401, { as: "anonymous" }),
    get("an id without a token", at(`${GROUPS}?id=`, rootId), 401, { as: "anonymous" }),
  ]),
  scenario("groups by id", [
    get("the root", at(`${GROUPS}?id=`, rootId), { items: 1, every: (seen) => ({ id: seen.known.root }) }),
    get("a raw slash in the query", at(`${GROUPS}?id=`, leafId), { items: 1 }),
    get(
      "an encoded slash",
      at(`${GROUPS}?id=`, (seen) => encodeURIComponent(seen.known.leaf)),
      { items: 1 },
    ),
    get("as a viewer", at(`${GROUPS}?id=`, leafId), { as: "viewer", items: 1 }),
    get("not there", `${GROUPS}?id=${MISSING}`, { items: 0 }),
    get("of no uid's shape", `${GROUPS}?id=nobody`, { items: 0 }),
    get("not for this caller", at(`${GROUPS}?id=`, leafId), { as: "outsider", items: 0 }),
    get("an id of another kind of record", at(`${GROUPS}?id=`, roleId("viewer")), { items: 0 }),
    get("empty: no filter", `${GROUPS}?id=`, { items: "some" }),
    get("twice", at(`${GROUPS}?id=a&id=`, rootId), 400),
    get("and its name", at(`${GROUPS}?name=findable&id=`, rootId), { items: 0 }),
  ]),
  scenario("groups by name", [
    post("one", at(`${GROUPS}/`, leafId), { name: "findable" }),
    post("another of the same name", at(`${GROUPS}/`, rootId), { name: "findable" }),
    post("of two words", at(`${GROUPS}/`, rootId), { name: "two words" }),
    get("both", `${GROUPS}?name=findable`, { items: 2, every: { name: "findable" } }),
    get("a part of a name is no match", `${GROUPS}?name=findabl`, { items: 0 }),
    get("in capitals is no match", `${GROUPS}?name=FINDABLE`, { items: 0 }),
    get("a space as a plus", `${GROUPS}?name=two+words`, { items: 1 }),
    get("a space as %20", `${GROUPS}?name=two%20words`, { items: 1 }),
    get("an escaped letter", `${GROUPS}?n%61me=f%69ndable`, { items: 2 }),
    get("nobody's name", `${GROUPS}?name=no-such-group`, { items: 0 }),
    get("empty: no filter", `${GROUPS}?name=`, { items: "some" }),
    get("without a value: no filter", `${GROUPS}?name`, { items: "some" }),
    get("twice", `${GROUPS}?name=findable&name=findable`, 400),
    get("and the id of one", at(`${GROUPS}?name=findable&id=`, idOf("one")), { items: 1 }),
    get("another name and the id of one", at(`${GROUPS}?name=other&id=`, idOf("one")), { items: 0 }),
    get("and the parent", at(`${GROUPS}?name=findable&uidp.children_of=`, leafId), { items: 1 }),
    get("and an ancestor", at(`${GROUPS}?name=findable&uidp.descendantsOf=`, rootId), { items: 2 }),
    get("and a place without it", at(`${GROUPS}?name=two+words&uidp.descendants_of=`, leafId), { items: 0 }),
    get("as an outsider", `${GROUPS}?name=findable`, { as: "outsider", items: 0 }),
  ]),
  scenario("groups by place", [
    post("a child", at(`${GROUPS}/`, leafId), { name: "a child" }),
    post("a grandchild", at(`${GROUPS}/`, idOf("a child")), { name: "a grandchild" }),
    get("all below the root", at(`${GROUPS}?uidp.descendants_of=`, rootId), { items: "some" }),
    get("the same in camel case", at(`${GROUPS}?uidp.descendantsOf=`, rootId), { items: "some" }),
    get("all below one", at(`${GROUPS}?uidp.descendants_of=`, leafId), { items: "some" }),
    get("children", at(`${GROUPS}?uidp.children_of=`, leafId), { items: 1, every: { name: "a child" } }),
    get("children in camel case", at(`${GROUPS}?uidp.childrenOf=`, parentId), { items: "some" }),
    get("children of one without", at(`${GROUPS}?uidp.children_of=`, idOf("a grandchild")), { items: 0 }),
    get("children of one that is not there", `${GROUPS}?uidp.children_of=${MISSING}`, { items: 0 }),
    get("children of none: no filter", `${GROUPS}?uidp.children_of=`, { items: "some" }),
    get("ancestors", at(`${GROUPS}?uidp.ancestors_of=`, idOf("a grandchild")), { items: "some" }),
    get("ancestors in camel case", at(`${GROUPS}?uidp.ancestorsOf=`, idOf("a child")), { items: "some" }),
    get("an empty uid in a list of them", `${GROUPS}?uidp.ids=`, { items: 0 }),
    get("an empty uid beside another", at(`${GROUPS}?uidp.ids=&uidp.ids=`, leafId), { items: 1 }),
    get("an empty uid beside the id of one", at(`${GROUPS}?uidp.ids=&id=`, leafId), { items: 0 }),
    get("roots", `${GROUPS}?uidp.in_root=true`, { items: "some" }),
    get("roots in camel case", `${GROUPS}?uidp.inRoot=true`, { items: "some" }),
    get("not only roots", `${GROUPS}?uidp.in_root=false`, { items: "some" }),
    get("an empty boolean", `${GROUPS}?uidp.in_root=`, 400),
    get("no boolean", `${GROUPS}?uidp.in_root=maybe`, 400),
    get("no boolean in camel case", `${GROUPS}?uidp.inRoot=2`, 400),
    get("a boolean twice", `${GROUPS}?uidp.in_root=true&uidp.in_root=true`, 400),
    get("a place twice", at(`${GROUPS}?uidp.children_of=a&uidp.children_of=`, rootId), 400),
    get("a message", `${GROUPS}?uidp=1`, 400),
  ]),
  scenario("groups by several uids, and places together", [
    get("one uid", at(`${GROUPS}?uidp.ids=`, rootId), { items: 1 }),
    get("two uids", ({ known }) => `${GROUPS}?uidp.ids=${known.root}&uidp.ids=${known.leaf}`, { items: 2 }),
    get("one of them unknown", ({ known }) => `${GROUPS}?uidp.ids=${MISSING}&uidp.ids=${known.leaf}`, { items: 1 }),
    get("one of them twice", ({ known }) => `${GROUPS}?uidp.ids=${known.leaf}&uidp.ids=${known.leaf}`, { items: 1 }),
    get("only an unknown one", `${GROUPS}?uidp.ids=${MISSING}`, { items: 0 }),
    get(
      "uids and a place",
      ({ known }) => `${GROUPS}?uidp.ids=${known.root}&uidp.ids=${known.leaf}&uidp.in_root=true`,
      { items: 1 },
    ),
    get("uids as an outsider", ({ known }) => `${GROUPS}?uidp.ids=${known.root}&uidp.ids=${known.elsewhere}`, {
      as: "outsider",
      items: 1,
    }),
    get(
      "children and descendants",
      ({ known }) => {
        return `${GROUPS}?uidp.children_of=${known.parent}&uidp.descendants_of=${known.root}`;
      },
      { items: "some" },
    ),
    get(
      "children there, descendants elsewhere",
      ({ known }) => {
        return `${GROUPS}?uidp.children_of=${known.parent}&uidp.descendants_of=${known.elsewhere}`;
      },
      { items: 0 },
    ),
    get("an id and its place", ({ known }) => `${GROUPS}?id=${known.leaf}&uidp.descendants_of=${known.root}`, {
      items: 1,
    }),
    get("an id and another place", ({ known }) => `${GROUPS}?id=${known.root}&uidp.children_of=${known.root}`, {
      items: 0,
    }),
    get("an id and the roots", ({ known }) => `${GROUPS}?id=${known.root}&uidp.in_root=true`, { items: 1 }),
    get("an id below and the roots", ({ known }) => `${GROUPS}?id=${known.leaf}&uidp.in_root=true`, { items: 0 }),
    get("an id and an ancestor of", ({ known }) => `${GROUPS}?id=${known.root}&uidp.ancestors_of=${known.leaf}`, {
      items: 1,
    }),
    get("an id among uids", ({ known }) => `${GROUPS}?id=${known.root}&uidp.ids=${known.root}`, { items: 1 }),
    get("an id not among uids", ({ known }) => `${GROUPS}?id=${known.root}&uidp.ids=${known.leaf}`, { items: 0 }),
    get("a place of another organisation", ({ known }) => `${GROUPS}?uidp.descendants_of=${known.root}`, {
      as: "outsider",
      items: 0,
    }),
  ]),
  {
    name: "what v1 does not know of lists of groups",
    size: 230,
    calls: [
      get("more than 200", GROUPS, { items: "over 200" }),
      get("more than 200 below the root", at(`${GROUPS}?uidp.descendants_of=`, rootId), { items: "over 200" }),
      get("paging parameters do nothing", `${GROUPS}?page_size=1&skip=3&order_by=name%20desc&page_token=x`, {
        items: "over 200",
      }),
      get("nor in camel case", `${GROUPS}?pageSize=5&pageToken=x&orderBy=uid`, { items: "over 200" }),
      get("nor when they are no numbers", `${GROUPS}?page_size=many&skip=`, { items: "over 200" }),
      get("unknown parameters do nothing", `${GROUPS}?verbose=1&verbose=2&description=x&uid=abc`, {
        items: "over 200",
      }),
      get("names are case sensitive", `${GROUPS}?NAME=x&Id=y`, { items: "over 200" }),
    ],
  },
];
