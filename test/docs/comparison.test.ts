/** Does docs/comparison.md say of others only what it names a source for, and of us what was measured? */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const ROOT = new URL("../../", import.meta.url);
const page = readFileSync(new URL("docs/comparison.md", ROOT), "utf8");
const OURS = ["nginx + Lua", "a shim of your own"];

test("each program has a source beside what it lacks, but for what we measured and for nobody's program", () => {
  const table = page.split("## Side by side")[1]?.split("\n## ")[0] ?? "";
  const rows = [...table.matchAll(/^\| \*\*([^*]+)\*\* \| ([^|]*) \| ([^|]*) \|$/gm)];
  expect(rows.map(([, name]) => name)).toEqual(
    expect.arrayContaining(["Kong", "KrakenD", "Apache APISIX", "Envoy", "grpc-gateway", "Tyk", "Zuplo", "Cadwyn"]),
  );
  const without = rows.filter(([, , better = "", lacks = ""]) => !/\]\(https:\/\//.test(`${better}${lacks}`));
  expect(without.map(([, name]) => name)).toEqual(OURS);
  expect(rows.every(([, , better = ""]) => better.length > 20)).toBe(true);
});

test("it is dated", () => {
  expect(page).toMatch(/^As of \*\*\d{4}-\d\d-\d\d\*\*/m);
});
