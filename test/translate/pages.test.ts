import { describe, expect, test } from "vitest";
import { createPageRewriter } from "../../src/json/rewrite.ts";
import { Problem } from "../../src/model/problem.ts";
import { pagePlan, pageTarget, readPage } from "../../src/translate/pages.ts";
import { ID, json, thing } from "./support.ts";

const rewrite = createPageRewriter(pagePlan(thing({ rows: [ID] }), "copy"));
const read = (body: unknown, keep: ((uid: string) => boolean)[] = []) =>
  readPage(json(200, body), rewrite, keep, () => {});

test.each([
  [{ size: 200 }, "/p?a=1&page_size=200"],
  [{ size: 50, token: "a+/=" }, "/p?a=1&page_size=50&page_token=a%2B%2F%3D"],
  [{ size: 200, skip: 400 }, "/p?a=1&page_size=200&skip=400"],
  [{ size: 200, skip: 0 }, "/p?a=1&page_size=200"],
])("a page is asked for: %j", (page, target) => {
  expect(pageTarget("/p", ["a=1"], page)).toBe(target);
});

test("a token that no query can hold is an answer that is none", () => {
  expect(() => read({ things: [], nextPageToken: "a\ud800" })).toThrow("nextPageToken is no Unicode");
  expect(read({ things: [], nextPageToken: "\u{1f600}" }).nextPageToken).toBe("\u{1f600}");
});

describe("a count is a hint", () => {
  test.each<readonly [unknown, number | undefined]>([
    ...([
      ["12", 12],
      [12, 12],
      ["0", 0],
      [0, 0],
      ["999999999999999", 999_999_999_999_999],
    ] as const),
    ...["9999999999999999", "-1", -1, 1.5, "1e3", "", "many", null, true, {}].map(
      (value) => [value, undefined] as const,
    ),
  ])("%j counts as %s", (value, count) => {
    const page = read({ things: [], totalCount: value, skipped: value });
    expect([page.totalCount, page.skipped]).toEqual([count, count]);
  });

  test("that is not there is none", () => {
    expect(read({ things: [] })).toMatchObject({ totalCount: undefined, skipped: undefined, nextPageToken: "" });
  });
});

test("records are ranges of one text, with their uids; those that do not pass are hidden, not lost", () => {
  const page = read({ things: [{ uid: "a" }, { uid: "b/c", n: 1 }], nextPageToken: "t" }, [(uid) => uid !== "a"]);
  expect(page.keys).toEqual(["a", "b/c"]);
  expect([...(page.hidden ?? [])]).toEqual([1, 0]);
  expect(page.nextPageToken).toBe("t");
  expect(Buffer.from(page.bytes.subarray(page.starts[0], page.ends[1])).toString()).toBe(
    '{"uid":"a"},{"uid":"b/c","n":1}',
  );
  expect(read({ things: [{ uid: "a" }] }).hidden).toBeUndefined();
});

test("a token that is no text is no page, or, neither text nor number, is reported as odd and ends the list", () => {
  expect(() => read({ things: [], nextPageToken: 7 })).toThrow(Problem);
  for (const token of [true, {}]) expect(read({ things: [], nextPageToken: token }).nextPageToken).toBe("");
});
