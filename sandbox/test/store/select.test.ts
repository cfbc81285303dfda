import { expect, test } from "vitest";
import {
  createCollection,
  isWithin,
  lineage,
  makeRecord,
  parentOf,
  parseOrder,
  rootOf,
} from "../../src/store/collection.ts";
import { placeFilter, type Selection, select } from "../../src/store/select.ts";

const UIDS = ["a", "a-b", "a-b/c", "a.b", "a/1", "a/1/x", "a/2", "a0", "b", "b/1"];
const collection = createCollection();
collection.load(UIDS.map((uid) => makeRecord({ uid, name: uid.at(-1) ?? "" })));

function uidsOf({ uids, from, to, test: passes }: Selection): string[] {
  return uids.slice(from, to).filter((uid) => {
    const record = collection.get(uid);
    return record !== undefined && (passes === undefined || passes(record));
  });
}

test.each([
  [{}, UIDS],
  [{ descendantsOf: "a" }, ["a", "a/1", "a/1/x", "a/2"]],
  [{ descendantsOf: "a/1" }, ["a/1", "a/1/x"]],
  [{ descendantsOf: "nothing" }, []],
  [{ childrenOf: "a" }, ["a/1", "a/2"]],
  [{ inRoot: true }, ["a", "a-b", "a.b", "a0", "b"]],
  [{ ancestorsOf: "a/1/x" }, ["a", "a/1", "a/1/x"]],
  [{ ids: ["b", "", "b", "zzz", "a"] }, ["a", "b"]],
  [{ ids: ["a/1", "b"], descendantsOf: "a" }, ["a/1"]],
  [{ childrenOf: "a", descendantsOf: "a/2" }, ["a/2"]],
  [{ childrenOf: "a", inRoot: true }, []],
  [{ inRoot: true, ancestorsOf: "b/1" }, ["b"]],
])("the place %j selects %j", (uidp, wanted) => {
  expect(uidsOf(select(collection, placeFilter({ uidp }), []))).toEqual(wanted);
});

test("further tests narrow a selection", () => {
  const named = select(collection, placeFilter({ uidp: { descendantsOf: "a" } }), [
    (record) => record.value["name"] === "1",
  ]);
  expect(uidsOf(named)).toEqual(["a/1"]);
});

test("indexes follow inserts, replacements and removals", () => {
  const own = createCollection();
  for (const uid of ["c", "a", "b", "a/2", "a/1"]) own.put(makeRecord({ uid, name: "old" }));
  own.put(makeRecord({ uid: "a", name: "new" }));
  expect([own.uids(), own.children("a"), own.children("")]).toEqual([
    ["a", "a/1", "a/2", "b", "c"],
    ["a/1", "a/2"],
    ["a", "b", "c"],
  ]);
  const before = own.ordered(parseOrder("uid desc"));
  expect(own.remove("a/1")).toBe(true);
  expect(own.remove("a/1")).toBe(false);
  expect([own.uids(), own.children("a")]).toEqual([["a", "a/2", "b", "c"], ["a/2"]]);
  expect(before).toContain("a/1");
  expect(own.ordered(parseOrder("uid desc"))).toEqual(["c", "b", "a/2", "a"]);
  expect(own.get("a")?.value["name"]).toBe("new");
});

test("uids tell their place", () => {
  expect([parentOf("a/b/c"), parentOf("a"), rootOf("a/b/c"), rootOf("a")]).toEqual(["a/b", "", "a", "a"]);
  expect(lineage("a/b/c")).toEqual(["a", "a/b", "a/b/c"]);
  expect([isWithin("a/b", "a"), isWithin("ab", "a"), isWithin("a", "a"), isWithin("a", "")]).toEqual([
    true,
    false,
    true,
    true,
  ]);
});
