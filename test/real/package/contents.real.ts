import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Packed, packed, ROOT, ran, TOOLS, tool } from "./packed.ts";

/** So that a fixture or a second copy that slips in is noticed. The pictures of docs/page.md have 430 KiB of it, the client of the shared store 64. */
const MOST_BYTES = 2304 * 1024;

let shipped: Packed;

beforeAll(async () => {
  shipped = await packed();
  console.log(`tarball ${shipped.size} bytes, ${shipped.unpackedSize} unpacked, ${shipped.files.length} files`);
});
afterAll(() => shipped.remove());

const sources = (folder: string): readonly string[] =>
  readdirSync(join(shipped.tree, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(join(shipped.tree, folder), join(entry.parentPath, entry.name)));

describe("the tarball", () => {
  it("holds the code, the entry's declarations, the pages, what the pages link, and the texts of a package, all of them and no more", () => {
    const code = sources("dist/chunks").map((name) => `dist/chunks/${name}`);
    const program = [
      "dist/main.js",
      "dist/index.js",
      "dist/fastify/plugin.js",
      "dist/THIRD-PARTY-LICENSES.txt",
      "dist/carryover.cdx.json",
    ];
    const types = ["config/embedded-config", "config/faults", "fastify/plugin", "index", "telemetry/foreign-registry"];
    const declarations = types.map((name) => `dist/${name}.d.ts`);
    // With what the pages link.
    const folders = ["docs", "deploy", "examples/fastify", "helm/ci", "helm/files"];
    const pages = folders.flatMap((folder) => sources(folder).map((name) => `${folder}/${name}`));
    const linked = pages.filter((name) => !name.startsWith("deploy/compose/secrets/"));
    const texts = ["CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md", "SECURITY.md", "package.json"];
    const more = ["bench/RESULTS.md", "helm/README.md"];
    expect([...shipped.files].sort()).toEqual(
      [...code, ...program, ...declarations, ...linked, ...texts, ...more].sort(),
    );
    expect(shipped.size).toBeLessThan(MOST_BYTES);
  });

  it("brings no other package with it, and the licence of each that is inside", async () => {
    const { dependencies } = JSON.parse(readFileSync(join(shipped.tree, "package.json"), "utf8"));
    expect(dependencies).toBeUndefined();
    const { components } = JSON.parse(readFileSync(join(shipped.tree, "dist/carryover.cdx.json"), "utf8")) as {
      components: readonly { group?: string; name: string; version: string; licenses: readonly unknown[] }[];
    };
    const licences = readFileSync(join(shipped.tree, "dist/THIRD-PARTY-LICENSES.txt"), "utf8");
    expect(components.length).toBeGreaterThan(10);
    for (const { group, name, version, licenses } of components) {
      expect(licences).toContain(`\n${group === undefined ? name : `${group}/${name}`} ${version} (`);
      expect(licenses).toHaveLength(1);
    }
  });

  it("starts each command without the code of the others", () => {
    const text = (file: string) => readFileSync(join(shipped.tree, "dist", file), "utf8");
    /** All that is loaded with a chunk: what it imports, and so on. */
    const loaded = (file: string, seen = new Set<string>()): ReadonlySet<string> => {
      if (seen.has(file)) return seen;
      seen.add(file);
      for (const [, path = ""] of text(file).matchAll(/^(?:import|export|\}) ?(?:[^;]*? from )?"(\.[^"]+)";$/gm))
        loaded(normalize(join(dirname(file), path)), seen);
      return seen;
    };
    const holds = (chunk: string, mark: string) => [...loaded(chunk)].some((file) => text(file).includes(mark));
    const chunk = (name: string) => `chunks/${sources("dist/chunks").find((file) => file.startsWith(`${name}-`))}`;
    // A word of fastify, and one of zod.
    const marks = ["FST_ERR_", "invalid_union"];
    const held = ["serve", "explain", "report", "cli"].map((name) => [
      name,
      ...marks.map((mark) => holds(chunk(name), mark)),
    ]);
    expect(held).toEqual([
      ["serve", true, true],
      ["explain", false, true],
      // It reads what instances say by the schema of a record.
      ["report", false, true],
      ["cli", false, false],
    ]);
  });

  it.each([
    ["index", "api.txt", "Reports unready and keeps serving for"],
    ["fastify/plugin", "api-fastify.txt", "Everything below it goes to carryover"],
  ])("declares in %s the interface of %s, which changes on purpose only", async (name, file, comment) => {
    const declared = await ran("tar", ["-xOf", shipped.tarball, `package/dist/${name}.d.ts`], ROOT);
    const bare = declared.out.replaceAll(/^ *\/\*\*[\s\S]*?\*\/\n/gm, "");
    await expect(bare).toMatchFileSnapshot(file);
    // Editors show what the members are for.
    expect(declared.out).toContain(comment);
  });

  it("has no page with a link that leads nowhere", () => {
    const files = new Set(shipped.files);
    const folders = new Set(shipped.files.map(dirname));
    const dead = shipped.files
      .filter((file) => file.endsWith(".md"))
      .flatMap((file) =>
        [...readFileSync(join(shipped.tree, file), "utf8").matchAll(/\]\((?!https?:|#)([^)#\s]+)[^)]*\)/g)].map(
          ([, link]) => ({
            file,
            to: normalize(join(dirname(file), link ?? "")).replace(/\/$/, ""),
          }),
        ),
      )
      .filter(({ to }) => !files.has(to) && !folders.has(to));
    expect(dead).toEqual([]);
  });

  it("is put together as npm and bundlers expect", async () => {
    const words = [tool(join(TOOLS, "node_modules/.bin/publint")), shipped.tarball, "--strict"];
    const { code, out, err } = await ran(process.execPath, words, ROOT);
    expect(`${code} ${out}${err}`).toMatch(/^0 .*All good!/s);
  });

  it("has types that resolve as its code does, for every kind of ES module consumer", async () => {
    const words = [
      tool(join(TOOLS, "node_modules/.bin/attw")),
      shipped.tarball,
      "--profile",
      "esm-only",
      "--format",
      "json",
    ];
    const { code, out, err } = await ran(process.execPath, words, ROOT);
    const { analysis, problems } = JSON.parse(out) as { analysis: { types: unknown }; problems: unknown };
    expect({ code, err, types: analysis.types, problems }).toMatchObject({ code: 0, types: { kind: "included" } });
  });
});
