/** Regenerates pages and schemas: `npm run docs`, or `npm run docs -- docs/metrics.md` for some of them. */
import { readFileSync, writeFileSync } from "node:fs";
import { USAGE } from "../options.mjs";
import { withTypeScript } from "../typescript.mjs";

const ROOT = new URL("../../", import.meta.url);
const asked = process.argv.slice(2);

await withTypeScript(async (load) => {
  const { GENERATED } = await load("/scripts/docs/files.ts");
  const unknown = asked.filter((path) => !GENERATED.has(path));
  if (unknown.length > 0) {
    console.error(
      `not generated: ${unknown.join(", ")}\nusage: npm run docs -- [${[...GENERATED.keys()].join(" | ")}]`,
    );
    process.exitCode = USAGE;
    return;
  }
  for (const path of asked.length > 0 ? asked : GENERATED.keys()) {
    const file = new URL(path, ROOT);
    const text = await GENERATED.get(path)();
    if (text === readFileSync(file, "utf8")) continue;
    writeFileSync(file, text);
    console.log(`${path} written`);
  }
});
