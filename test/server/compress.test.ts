import { expect, it } from "vitest";
import { chooseEncoding, isCompressible } from "../../src/server/respond.ts";

it.each([
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["br", "br"],
  ["gzip, deflate, br", "br"],
  ["br, gzip", "br"],
  ["GZIP;q=0.8, br;q=0.1", "gzip"],
  ["*", "br"],
  ["br;q=0, *", "gzip"],
  ["br;q=0, *;q=0.1", "gzip"],
  ["gzip, identity;q=0", "gzip"],
  ["gzip;q=0.5, identity", undefined],
  ["deflate, zstd, lzma", undefined],
  ["gzip;q=0, br;q=0", undefined],
  ["identity", undefined],
  ["identity;q=0", undefined],
  ["", undefined],
  ["gzip;q=nonsense", undefined],
])("a client that accepts %j gets %s", (accepted, encoding) => {
  expect(chooseEncoding([accepted])).toBe(encoding);
});

it("fields of one name count together, and none accepts nothing", () => {
  expect(chooseEncoding(["deflate", "gzip"])).toBe("gzip");
  expect(chooseEncoding([])).toBeUndefined();
});

it.each([
  ["application/json", 1024, true],
  ["application/problem+json; charset=utf-8", 5_000, true],
  ["application/json", 1023, false],
  ["text/json", 5_000, false],
  [undefined, 5_000, false],
])("%s of %i bytes may be compressed: %s", (type, bytes, expected) => {
  expect(isCompressible(type, bytes)).toBe(expected);
});
