/** Does the newcomer's map show the code as it is? */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { draw, FLOORS, filesOf, importsOf, type Pair, reduced } from "../../scripts/docs/architecture.ts";
import { readPage } from "./page.ts";
import { ROOT } from "./pages.ts";

const SRC = join(ROOT, "src");
const PICTURE = join(ROOT, "docs/architecture.svg");

const boxes = FLOORS.flatMap(({ floor, rows }) => rows.flat().map((box) => ({ ...box, floor })));
const page = readPage("docs/architecture.md", readFileSync(join(ROOT, "docs/architecture.md"), "utf8"));
/** Folders and files of the top. */
const rooms = readdirSync(SRC);

/** The table of rooms: floor, and the names in the second cell. */
const rows = page.prose
  .filter((line) => /^\| [0-3] \|/.test(line))
  .map((line) => line.split("|").map((cell) => cell.trim()))
  .map(([, floor = "", names = ""]) => ({
    floor,
    names: [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? ""),
  }));

/** A tree of files in the place of `src`; its picture or what is wrong with it. */
function drawn(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "carryover-map-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  try {
    return draw(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("the picture", () => {
  it("has each import of one room by another, drawn or following from what is drawn", () => {
    const all = importsOf(SRC);
    const arrows = [...readFileSync(PICTURE, "utf8").matchAll(/<title>(\S+) imports (\S+)<\/title>/g)];
    const next = new Map<string, string[]>();
    for (const [, from = "", to = ""] of arrows) next.set(from, [...(next.get(from) ?? []), to]);
    const leads = (from: string, to: string): boolean =>
      (next.get(from) ?? []).some((one) => one === to || leads(one, to));
    expect(all.filter(([from, to]) => to !== "model" && !leads(from, to))).toEqual([]);
    expect(arrows.filter(([, from, to]) => !all.some(([a, b]) => a === from && b === to))).toEqual([]);
    expect(arrows.length).toBeGreaterThan(25);
  });

  it("changes with the code: a new import is an arrow, a new room or one that looks up is an error", () => {
    const before = { "json/a.ts": "", "model/a.ts": "", "route/a.ts": 'import "../model/a.ts";' };
    expect(drawn(before)).not.toContain("route imports json");
    expect(drawn({ ...before, "route/b.ts": 'import { a } from "../json/a.ts";' })).toContain("route imports json");
    expect(() => drawn({ ...before, "cellar/a.ts": "" })).toThrow("src/cellar/a.ts has no place");
    expect(() => drawn({ ...before, "json/b.ts": 'import { a } from "../route/a.ts";' })).toThrow("json imports route");
  });

  it("leaves out only what follows", () => {
    const pair = (text: string): Pair => [text[0] ?? "", text[1] ?? ""];
    expect(reduced(["ab", "bc", "ac", "ad", "cd"].map(pair)).map(([from, to]) => from + to)).toEqual([
      "ab",
      "bc",
      "cd",
    ]);
  });
});

describe("the page", () => {
  it("has a row for each room and each file of the top, on its floor, and for no other", () => {
    const named = rows.flatMap(({ names }) => names);
    expect(named.toSorted()).toEqual(rooms.toSorted());
    const floors = new Map(boxes.flatMap((box) => filesOf(box).map((file) => [file, box.floor] as const)));
    const folders = rows.flatMap(({ floor, names }) =>
      names.filter((name) => !name.endsWith(".ts")).map((name) => [name, floor] as const),
    );
    expect(folders.filter(([name, floor]) => floors.get(name) !== floor)).toEqual([]);
  });

  it("says the sentence as src/proxy.ts does", () => {
    const words = /listener → (.*) → reply/.exec(page.prose.join("\n"))?.[1]?.split(" → ") ?? [];
    expect(words.length).toBe(5);
    const first = readFileSync(join(SRC, "proxy.ts"), "utf8").split("\n")[0]?.toLowerCase() ?? "";
    const places = words.map((word) => first.indexOf(word));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places).not.toContain(-1);
  });
});
