import { describe, expect, it } from "vitest";
import { createPageRewriter } from "../../src/json/rewrite.ts";

const PLAN = {
  items: "groups",
  key: "uid",
  record: { kind: "object", members: new Map([["name", { rename: "title" }]]) },
  scalars: ["totalCount"],
} as const;

const page = (records: number, bytes: number, last = "") => {
  const items = Array.from({ length: records }, (_, i) => {
    return `{"uid":"u${i}","name":"${"x".repeat(bytes)}","more":[1,2]}`;
  });
  return Buffer.from(`{"groups":[${items.join(", ")}${last}],"totalCount":"${records}"}`);
};

describe("a long page that is rewritten in slices", () => {
  it("comes out as at once, with a turn for others after each 128 KiB", async () => {
    const rewrite = createPageRewriter(PLAN);
    const text = page(200, 10_000);
    let turns = 0;
    const sliced = await rewrite.inSlices(text, async () => {
      turns++;
      // Another page is rewritten meanwhile.
      expect(rewrite(page(3, 10)).keys).toEqual(["u0", "u1", "u2"]);
    });
    const { bytes, ...atOnce } = rewrite(text);
    expect(sliced).toMatchObject(atOnce);
    expect(Buffer.compare(sliced.bytes, bytes)).toBe(0);
    expect(turns).toBe(Math.floor(text.length / (128 * 1024 + 10_000)));
  });

  it("is refused as at once", async () => {
    const rewrite = createPageRewriter(PLAN);
    const text = page(100, 10_000, ",");
    const sliced = await rewrite.inSlices(text, async () => {}).catch((error: unknown) => error);
    expect(sliced).toBeInstanceOf(Error);
    expect(() => rewrite(text)).toThrow((sliced as Error).message);
  });
});
