import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { PROBLEMS } from "../../src/model/problem.ts";
import { errorsPage } from "../../src/model/problem-page.ts";

const SRC = new URL("../../src/", import.meta.url);

test("the page of errors is the one the table of errors gives", async () => {
  await expect(errorsPage()).toMatchFileSnapshot("../../docs/errors.md");
});

test("every reason has one row, with its status and its code", () => {
  const rows = [...errorsPage().matchAll(/^\| (\d{3}) \| (\d+) \| `([A-Z_]+)` \|/gm)];
  expect(rows.map(([, http, code, reason]) => [reason, Number(http), Number(code)])).toEqual(
    Object.entries(PROBLEMS).map(([reason, { http, code }]) => [reason, http, code]),
  );
});

test("the page names every key that errors have in their metadata, and no other", () => {
  const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((name) =>
    /^(?!sandbox).*\.ts$/.test(name),
  );
  const made = files.flatMap((name) => {
    const text = readFileSync(new URL(name, SRC), "utf8");
    if (!text.includes("Problem(") && !text.includes("STATE_UNKNOWN =")) return [];
    return [...text.matchAll(/(?:metadata(?: =[^{\n]*|: )|STATE_UNKNOWN = ){([^}]*)}/g)].flatMap(([, body = ""]) =>
      [...body.matchAll(/(?:^|,)\s*([a-z]\w*)(?=\s*(?::|,|$))/g)].map(([, key = ""]) => key),
    );
  });
  const table = errorsPage().split("| metadata | says |")[1]?.split("\n\n")[0] ?? "";
  const named = [...table.matchAll(/^\| (`[^|]*) \|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, key = ""]) => key),
  );
  expect(new Set(made).size).toBeGreaterThan(8);
  expect(named.toSorted()).toEqual([...new Set(made)].toSorted());
});
