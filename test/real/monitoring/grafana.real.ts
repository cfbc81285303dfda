import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Dashboard, panelsOf } from "./dashboard.ts";
import { DASHBOARDS, run, tool } from "./programs.ts";

const place = { folder: "", text: "" };
beforeAll(async () => {
  place.folder = await mkdtemp(join(tmpdir(), "grafana-"));
  place.text = await readFile(DASHBOARDS[0] ?? "", "utf8");
  await symlink(tool("node_modules"), join(place.folder, "node_modules"));
});
afterAll(() => rm(place.folder, { recursive: true, force: true }));

describe("Grafana's types", () => {
  test.each(DASHBOARDS)("take %s, and the options of each of its panels", async (file) => {
    expect(await complaints(await readFile(file, "utf8"))).toBe("");
  });

  test.each([
    ["a field that there is not", '"gridPos"', '"gridPosition"'],
    ["a number where a word belongs", '"title": "carryover"', '"title": 1'],
    ["a word that is none of those there are", '"mode": "absolute"', '"mode": "relative"'],
    ["an option of a panel that there is not", '"showPercentChange"', '"showPercent"'],
    ["a field of a line that there is not", '"fillOpacity"', '"fillOpaque"'],
  ])("do not take %s", async (_what, right, wrong) => {
    expect(place.text).toContain(right);
    expect(await complaints(place.text.replace(right, wrong))).toMatch(/error TS2(?:322|353|561|820)/);
  });

  test("know the version of the schema that the file says it has", async () => {
    const types = await readFile(
      join(tool("node_modules"), "@grafana/schema/dist/esm/raw/dashboard/x/types.gen.mjs"),
      "utf8",
    );
    const current = Number(/schemaVersion: (\d+)/.exec(types)?.[1]);
    expect(JSON.parse(place.text)).toMatchObject({ schemaVersion: current });
  });
});

/** What a compiler says of the file as a constant of Grafana's types. */
async function complaints(text: string): Promise<string> {
  const dashboard = JSON.parse(text) as Dashboard;
  const panels = panelsOf(dashboard).map((panel) => {
    const kind = KINDS.get(panel.type) ?? "never";
    const { options, fieldConfig } = panel as unknown as {
      options: unknown;
      fieldConfig: { defaults: { custom?: unknown } };
    };
    const custom = fieldConfig.defaults.custom ?? {};
    return `export const options${panel.id}: Plain<${kind}.Options> = ${JSON.stringify(options, null, 1)};
export const custom${panel.id}: Plain<${kind === "stat" ? "Nothing" : `${kind}.FieldConfig`}> = ${JSON.stringify(custom, null, 1)};`;
  });
  const source = `${HEAD}export const dashboard: Plain<Dashboard & Annotations> = ${text};\n${panels.join("\n")}\n`;
  await writeFile(join(place.folder, "dashboard.ts"), source);
  await writeFile(join(place.folder, "tsconfig.json"), JSON.stringify(TSCONFIG));
  const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
  const { code, text: said } = await run(process.execPath, [tsc, "-p", place.folder, "--pretty", "false"]);
  return code === 0 ? "" : said.slice(0, 4000);
}

const KINDS: ReadonlyMap<string, string> = new Map([
  ["timeseries", "timeseries"],
  ["stat", "stat"],
  ["table", "table"],
]);

const AT = "./node_modules/@grafana/schema/dist/types/raw";
/** A file of JSON has the values of enumerations, never their names. */
const HEAD = `import type { Dashboard } from "${AT}/dashboard/x/types.gen";
import type * as timeseries from "${AT}/composable/timeseries/panelcfg/x/types.gen";
import type * as stat from "${AT}/composable/stat/panelcfg/x/types.gen";
import type * as table from "${AT}/composable/table/panelcfg/x/types.gen";
/** What a data source asks for an annotation: its own, and in none of Grafana's types. */
type Annotations = { annotations: { list: { expr: string; step: string; titleFormat: string; textFormat: string }[] } };
type Nothing = Record<string, never>;
type Plain<T> = T extends string ? \`\${T}\`
  : T extends number ? (\`\${T}\` extends \`\${infer N extends number}\` ? N : never)
  : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;
`;

const TSCONFIG = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: "ES2023",
    lib: ["ES2023", "DOM"],
    types: [],
    module: "ESNext",
    moduleResolution: "bundler",
  },
  files: ["dashboard.ts"],
};
