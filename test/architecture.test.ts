/** Does the code keep to its floors, its fences and its purity? (docs/architecture.md.) */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, test } from "vitest";

const SRC = resolve(import.meta.dirname, "../src");
const FLOORS: ReadonlyMap<string, number> = new Map([
  ["model", 0],
  ["json", 0],
  ["catalogue", 1],
  ["route", 1],
  ["translate", 1],
  ["cutover", 1],
  ["upstream", 2],
  ["listener", 2],
  ["observe", 2],
  ["admin", 2],
  ["sandbox", 2],
  ["share", 2],
  ["control", 2],
  ["shadow", 2],
  ["ledger", 2],
  ["config", 2],
  ["demo", 3],
  ["check", 3],
  ["explain", 3],
  ["report", 3],
  ["migration", 3],
]);
const TOP = 3;
/** Package to the rooms that may import it. */
const FENCES: ReadonlyMap<string, readonly string[]> = new Map([
  ["fastify", ["listener", "admin", "app.ts"]],
  ["@fastify/http-proxy", ["listener", "admin", "app.ts"]],
  ["undici", ["upstream"]],
  ["lru-cache", ["upstream", "share"]],
  ["prom-client", ["observe"]],
  ["pino", ["observe"]],
  ["zod", ["config"]],
  ["commander", ["cli.ts"]],
  ["yaml", ["config"]],
]);

interface Import {
  readonly from: string;
  readonly to: string;
}

const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
const sources = new Map(files.map((name) => [name, readFileSync(join(SRC, name), "utf8")]));
const imports: Import[] = [...sources].flatMap(([from, text]) =>
  [...text.matchAll(/(?:from|import\()\s*"([^"]+)"/g)].map((match) => ({ from, to: match[1] ?? "" })),
);
const local = imports.flatMap(({ from, to }) =>
  to.startsWith(".") ? [{ from, to: relative(SRC, resolve(SRC, dirname(from), to)) }] : [],
);

function room(file: string): string {
  return file.includes("/") ? (file.split("/")[0] ?? "") : file;
}
function floor(file: string): number {
  return FLOORS.get(room(file)) ?? TOP;
}

describe("floors", () => {
  test("every room has a floor", () => {
    const rooms = new Set(files.filter((file) => file.includes("/")).map(room));
    expect([...rooms].filter((name) => !FLOORS.has(name))).toEqual([]);
  });

  test("imports go down, and siblings never meet", () => {
    const wrong = local.filter(
      ({ from, to }) => room(from) !== room(to) && floor(to) >= floor(from) && floor(from) !== TOP,
    );
    // json may use the nouns of model: both are floor 0.
    const allowed = wrong.filter(({ from, to }) => !(room(from) === "json" && room(to) === "model"));
    expect(allowed.map(({ from, to }) => `${from} -> ${to}`)).toEqual([]);
  });

  test("the sandbox knows nothing but the model", () => {
    const wrong = local.filter(({ from, to }) => room(from) === "sandbox" && !["sandbox", "model"].includes(room(to)));
    expect(wrong.map(({ from, to }) => `${from} -> ${to}`)).toEqual([]);
  });

  test("translate, route and cutover never import the catalogue", () => {
    const wrong = local.filter(
      ({ from, to }) => floor(from) === 1 && room(from) !== "catalogue" && room(to) === "catalogue",
    );
    expect(wrong).toEqual([]);
  });

  test("there is no import circle", () => {
    const graph = new Map<string, string[]>();
    for (const { from, to } of local) graph.set(from, [...(graph.get(from) ?? []), to]);
    const done = new Set<string>();
    const walk = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) throw new Error(`circle: ${[...path.slice(path.indexOf(file)), file].join(" -> ")}`);
      if (done.has(file)) return;
      for (const next of graph.get(file) ?? []) walk(next, [...path, file]);
      done.add(file);
    };
    for (const file of files) walk(file, []);
  });
});

describe("fences", () => {
  test("a package is imported only where it belongs", () => {
    const wrong = imports.filter(({ from, to }) => {
      for (const [name, rooms] of FENCES) {
        if (to === name || to.startsWith(`${name}/`)) {
          return !rooms.includes(room(from));
        }
      }
      return false;
    });
    expect(wrong.map(({ from, to }) => `${from} -> ${to}`)).toEqual([]);
  });

  test("packages are those that package.json declares", () => {
    const declared = JSON.parse(readFileSync(resolve(SRC, "../package.json"), "utf8")) as {
      dependencies: Record<string, string>;
    };
    const used = new Set(
      imports
        .filter(({ to }) => !to.startsWith(".") && !to.startsWith("node:"))
        .map(({ to }) => (to.startsWith("@") ? to.split("/").slice(0, 2).join("/") : (to.split("/")[0] ?? ""))),
    );
    expect([...used].sort()).toEqual(Object.keys(declared.dependencies).sort());
  });

  test("pure floors do no I/O and read no clock and no chance", () => {
    const pure = files.filter((file) => floor(file) <= 1 && room(file) !== "catalogue");
    const impure =
      /\b(?:Date\.now|new Date\(\)|Math\.random|performance\.now|setTimeout|setInterval|fetch)\b|from "node:(?:fs|net|http|https|crypto|timers)/;
    expect(pure.filter((file) => impure.test(sources.get(file) ?? ""))).toEqual([]);
  });

  test("process.env is read in main.ts only", () => {
    expect(files.filter((file) => file !== "main.ts" && /process\.env/.test(sources.get(file) ?? ""))).toEqual([]);
  });
});

describe("house", () => {
  test("no module keeps mutable state", () => {
    const stateful = files.filter((file) => /^(?:export )?let /m.test(sources.get(file) ?? ""));
    expect(stateful).toEqual([]);
  });

  test("headers are never read in the way that a hostile name can crash", () => {
    expect(files.filter((file) => /headersDistinct|insecureHTTPParser/.test(sources.get(file) ?? ""))).toEqual([]);
  });
});
