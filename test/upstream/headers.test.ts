import { describe, expect, it } from "vitest";
import { writeHeaders } from "../../src/model/http.ts";
import { responseFields, withoutOrigin } from "../../src/upstream/headers.ts";

const UPSTREAM = { origin: "http://up:1", basePath: "/base" };
const endToEnd = (raw: readonly (Buffer | string)[]): string[] => writeHeaders(responseFields(raw, UPSTREAM, true));

describe("the fields of an answer", () => {
  it("lose what its Connection names, wherever it stands", () => {
    expect(endToEnd(["X-Hop", "1", "Connection", "close, x-hop ,X-Other", "x-other", "2", "A", "3"])).toEqual([
      "A",
      "3",
    ]);
  });
});

describe("a Location", () => {
  it.each([
    ["http://up:1/base/x?y", "/x?y"],
    ["http://up:1/base", "/"],
    ["http://up:1/base?y", "/?y"],
    ["http://up:1/other", "/other"],
    ["http://up:1", "/"],
    ["http://up:1?y", "/?y"],
    ["/base/x", "/x"],
    ["/based/x", "/based/x"],
    ["relative", "relative"],
    ["", ""],
    ["http://up:10/base/x", "http://up:10/base/x"],
    ["http://up:1.evil.example/", "http://up:1.evil.example/"],
    ["//up:1/base", "//up:1/base"],
    ["https://elsewhere.example/base/x", "https://elsewhere.example/base/x"],
  ])("%s becomes %s", (given, shown) => {
    expect(withoutOrigin(given, UPSTREAM)).toBe(shown);
    expect(endToEnd(["Location", given, "X", given])).toEqual(["Location", shown, "X", given]);
  });
});

describe("fields as a parser hands them over", () => {
  const cut = (memory: Buffer, ...spans: [number, number][]) =>
    spans.map(([start, end]) => memory.subarray(start, end));
  const head = Buffer.from("A: one\r\nB: tw\xf6\r\n", "latin1");

  it("parts of one piece of memory say what each says by itself", () => {
    expect(endToEnd(cut(head, [0, 1], [3, 6], [8, 9], [11, 14]))).toEqual(["A", "one", "B", "tw\xf6"]);
  });

  it("so do parts that lie elsewhere, in another order, or far apart", () => {
    const other = Buffer.from("zwei");
    expect(endToEnd([...cut(head, [0, 1], [3, 6], [8, 9]), other])).toEqual(["A", "one", "B", "zwei"]);
    expect(endToEnd([...cut(head, [0, 1]), other, ...cut(head, [8, 9], [11, 14])])).toEqual([
      "A",
      "zwei",
      "B",
      "tw\xf6",
    ]);
    expect(endToEnd(cut(head, [8, 9], [11, 14], [0, 1], [3, 6]))).toEqual(["B", "tw\xf6", "A", "one"]);
    expect(endToEnd(cut(head, [0, 1], [11, 14], [3, 4], [3, 6]))).toEqual(["A", "tw\xf6", "o", "one"]);
    expect(endToEnd(cut(head, [8, 9], [3, 6], [0, 1], [11, 14]))).toEqual(["B", "one", "A", "tw\xf6"]);
    // Not from the pool that `Buffer.from` shares: these begin at the same place of memories of their own.
    const [one, two] = [Buffer.alloc(20, "1"), Buffer.alloc(20, "2")];
    expect(endToEnd([...cut(one, [0, 1]), ...cut(two, [2, 4]), ...cut(one, [5, 6], [8, 9])])).toEqual([
      "1",
      "22",
      "1",
      "1",
    ]);
    const wide = Buffer.alloc(100_000, "x");
    expect(endToEnd(cut(wide, [0, 1], [1, 2], [50_000, 50_002], [99_998, 99_999]))).toEqual(["x", "x", "xx", "x"]);
    expect(endToEnd([])).toEqual([]);
  });
});
