import { describe, expect, it } from "vitest";
import { endToEnd, hideOrigin } from "../../src/upstream/headers.ts";

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
    expect(hideOrigin(["Location", given, "X", given], "http://up:1", "/base")).toEqual([
      "Location",
      shown,
      "X",
      given,
    ]);
  });
});
