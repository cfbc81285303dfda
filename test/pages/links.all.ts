import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";
import { anchorsOf, type Page, readPage } from "./page.ts";
import { allPages, pagesToFollow, ROOT } from "./pages.ts";

const pages = new Map(allPages().map((page) => [page.name, page]));
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

interface Link {
  readonly at: string;
  readonly to: string;
}

const links = (page: Page): readonly Link[] =>
  page.links.map(({ text, line }) => ({ at: `${page.name}:${line}`, to: text }));

/** What is wrong with a link of `from`; undefined when nothing is. */
function fault(from: string, to: string, known: ReadonlyMap<string, Page>): string | undefined {
  if (to === "") return "leads nowhere";
  if (SCHEME.test(to)) {
    if (!URL.canParse(to)) return "is no address";
    return to.startsWith("https:") || to.startsWith("mailto:") ? undefined : "is not https";
  }
  const [path = "", anchor] = to.split("#");
  const name = path === "" ? from : normalize(join(dirname(from), decodeURIComponent(path)));
  if (name.startsWith("..") || path.startsWith("/")) return "leads out of the project";
  const page = known.get(name);
  if (page === undefined && !existsSync(join(ROOT, name))) return `there is no ${name}`;
  if (anchor === undefined) return undefined;
  if (page === undefined) return `${name} has no headings`;
  return anchorsOf(page).has(anchor) ? undefined : `${name} has no heading #${anchor}`;
}

/** Pages that are reached from one by following links. */
function reached(from: string, seen = new Set<string>()): ReadonlySet<string> {
  const page = pages.get(from);
  if (page === undefined || seen.has(from)) return seen;
  seen.add(from);
  for (const { to } of links(page)) {
    if (!SCHEME.test(to)) reached(normalize(join(dirname(from), to.split("#")[0] ?? "")), seen);
  }
  return seen;
}

describe("links", () => {
  it("lead to files and headings that are there; those to elsewhere are https", () => {
    const faults = [...pages.values()].flatMap((page) =>
      links(page).flatMap(({ at, to }) => {
        const wrong = fault(page.name, to, pages);
        return wrong === undefined ? [] : [`${at}: ${to} ${wrong}`];
      }),
    );
    expect(faults).toEqual([]);
  });

  it("lead from the README to every page", () => {
    const there = reached("README.md");
    const dead = pagesToFollow().filter(
      ({ name }) => name.startsWith("docs/") || name.startsWith("helm/") || name.startsWith("deploy/"),
    );
    expect(dead.filter(({ name }) => !there.has(name)).map(({ name }) => `${name}: no link leads here`)).toEqual([]);
  });

  it("to pictures lead to pictures that are not empty", () => {
    const pictures = [...pages.values()].flatMap((page) =>
      links(page)
        .filter(({ to }) => /\.(?:svg|png|jpe?g|gif)$/.test(to) && !SCHEME.test(to))
        .map(({ to }) => join(ROOT, dirname(page.name), to)),
    );
    expect(pictures.filter((file) => !existsSync(file) || statSync(file).size < 200)).toEqual([]);
    for (const file of pictures.filter((name) => name.endsWith(".svg"))) {
      expect(readFileSync(file, "utf8"), file).toMatch(/^<svg [\s\S]*<\/svg>\s*$/);
    }
  });

  it("are found wherever Markdown has them, and not in code", () => {
    const page = readPage(
      "a.md",
      '# A `b` c!\n[x](b.md#c) ![p](p.svg "t") `[n](o.md)`\n[r]: <d.md>\n```\n[n](o.md)\n```\n<img src="i.png">\n# A b c\n',
    );
    expect(page.links.map(({ text, line }) => `${line} ${text}`)).toEqual(["2 b.md#c", "2 p.svg", "3 d.md", "7 i.png"]);
    expect([...anchorsOf(page)]).toEqual(["a-b-c", "a-b-c-1"]);
    const known = new Map([["docs/a.md", page]]);
    expect(fault("docs/a.md", "#a-b-c-1", known)).toBeUndefined();
    expect(fault("docs/b.md", "a.md#a-b", known)).toContain("no heading #a-b");
    expect(fault("docs/b.md", "c.md", known)).toContain("there is no docs/c.md");
    expect(fault("README.md", "../x.md", known)).toContain("out of the project");
    expect(fault("README.md", "http://example.com", known)).toContain("https");
  });
});
