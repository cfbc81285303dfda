/** Is what docs/updates.md says of masks what the catalogue says? */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { loadCatalogue } from "../../src/catalogue.ts";
import { configOptions } from "../../src/config.ts";
import type { Row } from "../../src/model/resource.ts";

const page = readFileSync(new URL("../../docs/updates.md", import.meta.url), "utf8");
const { resources } = await loadCatalogue("v2beta1");

/** Rows that not every mask names, as the page says it; dotted v1 names. */
function special(resource: string, rows: readonly Row[], before = ""): readonly string[] {
  return rows.flatMap((row) => {
    if (row.access === "output" || row.v2 === null || (row.mask ?? "always") === "always") return [];
    const inner = row.kind === "message" && row.mask === "members" ? special(resource, row.rows, `${row.v1}.`) : [];
    return [`${resource} ${before}${row.v1}: ${words(row)}`, ...inner];
  });
}

function words(row: Extract<Row, { zero: unknown }>): string {
  switch (row.mask) {
    case "when-present":
      return row.presence === "explicit" ? "when it is sent" : "when it is sent, and not empty";
    case "when-changed":
      return "when it is sent, and differs from what is stored";
    case "members":
      return "member by member, when it is sent";
    default:
      return "never";
  }
}

test("the table of fields that are not simply replaced is the catalogue's", () => {
  const there = resources.flatMap(({ name, operations }) =>
    operations.flatMap((each) => (each.kind === "update" ? special(name, each.body.rows) : [])),
  );
  const table = /<!-- masks -->([\s\S]*?)<!-- end -->/.exec(page)?.[1] ?? "";
  const said = [...table.matchAll(/^\| ([a-z-]+) \| (`[^|]*) \| ([^|]*) \|/gm)].flatMap(
    ([, resource, fields = "", how]) =>
      [...fields.matchAll(/`([^`]+)`/g)].map(([, field]) => `${resource} ${field}: ${how}`),
  );
  expect(there.length).toBeGreaterThan(20);
  expect(said.toSorted()).toEqual(there.toSorted());
});

test("the page has every value of updates.mismatch and unknownFields.request", () => {
  for (const path of ["updates.mismatch", "unknownFields.request"]) {
    const values =
      configOptions()
        .find((option) => option.path === path)
        ?.form.split("|") ?? [];
    expect(values).toHaveLength(3);
    for (const word of [path, ...values]) expect(page).toContain(`\`${word}\``);
  }
});
