/**
 * What `dist` has in place of modules that work something out at each start from the sources: an esbuild plugin for each, and the checks that make
 * it safe. Tests and tools run the modules themselves.
 */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

const REGISTRY = /[\\/]catalogue[\\/]registry\.ts$/;
const OPTIONS = /[\\/]config[\\/]all-options\.ts$/;

/**
 * The catalogue's files as a list, in place of `catalogue/registry.ts`, which reads its folder: a new file needs nothing but the next build. `checked`:
 * they are known to be sound, and the program need not check them when it starts.
 */
export function catalogueRegistry({ checked }) {
  return {
    name: "catalogue-registry",
    setup: (build) =>
      build.onLoad({ filter: REGISTRY }, ({ path }) => {
        const folder = dirname(path);
        const all = readdirSync(folder, { recursive: true }).map((name) => name.replaceAll("\\", "/"));
        const files = all.filter((name) => /^v1-.*\.ts$/.test(name)).sort();
        const folders = all.filter((name) => /^v1-[^.]*$/.test(name)).map((name) => join(folder, name));
        return {
          contents: registryOf(files, checked),
          loader: "ts",
          resolveDir: folder,
          watchDirs: [folder, ...folders],
        };
      }),
  };
}

/** Examples are loaded when they are asked for, as in the sources. */
function registryOf(all, checked) {
  const isExample = (file) => file.includes("/examples/");
  const files = all.filter((file) => !isExample(file));
  return [
    ...files.map((file, i) => `import * as file${i} from "./${file}";`),
    `export const CHECKED: boolean = ${checked};`,
    "type Files = ReadonlyMap<string, () => Promise<unknown>>;",
    "const FILES: Files = new Map<string, () => Promise<unknown>>([",
    ...files.map((file, i) => `  [${JSON.stringify(file)}, async () => file${i}.default],`),
    "]);",
    "const EXAMPLES: Files = new Map<string, () => Promise<unknown>>([",
    ...all
      .filter(isExample)
      .map((file) => `  [${JSON.stringify(file)}, async () => (await import("./${file}")).default],`),
    "]);",
    "export const catalogueFiles = async (_home?: URL): Promise<Files> => FILES;",
    "export const exampleFiles = async (_home?: URL): Promise<Files> => EXAMPLES;",
  ].join("\n");
}

/** The list of options, in place of `config/all-options.ts`, which derives it from the schema. */
export function listOfOptions(common) {
  return {
    name: "list-of-options",
    setup: (build) =>
      build.onLoad({ filter: OPTIONS }, async ({ path }) => {
        const options = await evaluated(path, common, [], ({ ALL_OPTIONS }) => ALL_OPTIONS);
        return { contents: `export const ALL_OPTIONS = ${JSON.stringify(options)};`, loader: "ts" };
      }),
  };
}

/** Throws for a catalogue that is not sound. */
export async function checkCatalogue(common) {
  await evaluated("src/catalogue/catalogue.ts", common, [catalogueRegistry({ checked: false })], async (module) => {
    for (const version of await module.catalogueVersions()) await module.loadCatalogue(version);
  });
}

/** What `use` makes of the module `entry`, which is run here. */
async function evaluated(entry, common, plugins, use) {
  const folder = mkdtempSync(join(tmpdir(), "carryover-build-"));
  try {
    const outfile = join(folder, "module.mjs");
    await build({ ...common, entryPoints: [entry], outfile, bundle: true, plugins });
    return await use(await import(pathToFileURL(outfile).href));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
