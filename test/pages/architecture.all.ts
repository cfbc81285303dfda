import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readPage } from "./page.ts";
import { ROOT } from "./pages.ts";

const SRC = join(ROOT, "src");

const page = readPage("docs/architecture.md", readFileSync(join(ROOT, "docs/architecture.md"), "utf8"));
/** Folders and files of the top. */
const rooms = readdirSync(SRC);

/** What the table of folders names in its second column. */
const named = page.prose
  .filter((line) => /^\| \d+ \| `/.test(line))
  .flatMap((line) => [...(line.split("|")[2] ?? "").matchAll(/`([^`]+)`/g)].map(([, name]) => name));

describe("the page", () => {
  it("has a row for each folder and each file of the top, and for no other", () => {
    expect(named.toSorted()).toEqual(rooms.toSorted());
  });

  it("says the sentence as src/runtime/proxy.ts does", () => {
    const words = /server → (.*) → respond/.exec(page.prose.join("\n"))?.[1]?.split(" → ") ?? [];
    expect(words.length).toBe(5);
    const first = readFileSync(join(SRC, "runtime/proxy.ts"), "utf8").split("\n")[0]?.toLowerCase() ?? "";
    const places = words.map((word) => first.indexOf(word));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places).not.toContain(-1);
  });
});
