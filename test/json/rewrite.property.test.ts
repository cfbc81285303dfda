/** The rewriter does what parse, edit and stringify would do, for any document and any plan. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JsonError } from "../../src/json/error.ts";
import { createPageRewriter, rewriteValue } from "../../src/json/rewrite.ts";
import type { Json } from "../../src/model/json.ts";
import { scale } from "../support/scale.ts";
import { variants } from "../support/tier.ts";
import { documents, expected, plans, Repeated, text, utf8, write } from "./documents.ts";

const noise = fc.array(fc.nat(1000), { minLength: 1, maxLength: 40 });
const byId = (reports: readonly object[]): string[] => reports.map((report) => JSON.stringify(report)).sort();

/** What `run` gives, or the error it ends with. */
function outcome<T>(run: () => T): T | Error {
  try {
    return run();
  } catch (error) {
    return error as Error;
  }
}

describe("rewriteValue", () => {
  it("does to any document what editing the parsed document by the same plan does", () => {
    fc.assert(
      fc.property(documents, plans, noise, (document, plan, spacing) => {
        const source = write(document, spacing);
        const wrongKind = typeof plan === "object" && plan.kind === "object" && !/^\s*\{/.test(source);
        const want = outcome(() => expected(document, plan));
        const got = outcome(() => rewriteValue(utf8(source), plan));
        if (want instanceof Error || wrongKind) {
          if (!wrongKind) expect(want).toBeInstanceOf(Repeated);
          expect(got).toBeInstanceOf(JsonError);
        } else {
          if (got instanceof Error) throw got;
          expect(JSON.stringify(JSON.parse(text(got.bytes)))).toBe(JSON.stringify(want.value));
          expect(byId(got.reports)).toEqual(byId(want.reports));
        }
      }),
      { numRuns: variants(800, scale(1_600, 4_000)) },
    );
  });
});

describe("createPageRewriter", () => {
  it("hands out every record as the same plan rewrites it by itself, with its key as it was", () => {
    const records = fc.array(fc.tuple(documents, fc.string({ unit: "grapheme", maxLength: 20 })), { maxLength: 6 });
    fc.assert(
      fc.property(records, plans, noise, (made, plan, spacing) => {
        fc.pre(typeof plan === "object" && plan.kind === "object");
        const items = made.map(([document, uid]) => {
          const members = typeof document === "object" && document !== null ? Object.entries(document) : [];
          return Object.fromEntries([...members, ["uid", uid]]) as Json;
        });
        const page = utf8(write({ next: "t", groups: items, total: 3 }, spacing));
        const record = { ...plan, members: new Map([...plan.members, ["uid", { rename: "id" }]]) } as typeof plan;
        const alone = items.map((item) => outcome(() => rewriteValue(utf8(JSON.stringify(item)), record)));
        const got = outcome(() =>
          createPageRewriter({ items: "groups", key: "uid", record, scalars: ["next", "total"] })(page),
        );
        if (got instanceof Error) {
          expect(got).toBeInstanceOf(JsonError);
          expect(alone.some((one) => one instanceof JsonError)).toBe(true);
          return;
        }
        expect(got.keys).toEqual(made.map(([, uid]) => uid));
        const slices = [...got.starts].map((start, i) => text(got.bytes.subarray(start, got.ends[i])));
        expect(slices.join(",")).toBe(text(got.bytes));
        const parsed = slices.map((slice) => JSON.stringify(JSON.parse(slice)));
        expect(parsed).toEqual(
          alone.map((one) => (one instanceof Error ? one : JSON.stringify(JSON.parse(text(one.bytes))))),
        );
        expect([...got.scalars]).toEqual([
          ["next", "t"],
          ["total", { number: "3" }],
        ]);
      }),
      { numRuns: variants(300, 1_500) },
    );
  });
});
