/**
 * Looks for known vulnerabilities in the packages of carryover: asks npm's registry about each package in the bill of materials of `dist`.
 * Exits with 0 if there is none, with 1 if there is one, and with 2 if the registry did not answer, which is no all-clear.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const NOTHING_KNOWN =
  "this is no all-clear: ask where advisories are served (`npm config get registry` says where npm asks), or compare the bill of materials with a database of them";

/** What `npm audit --json` said of the packages `bundled`, in lines for people, and how the script ends. What only builds or tests is not told. */
export function reportOf(said, bundled) {
  let read;
  try {
    read = JSON.parse(said);
  } catch {
    return { code: 2, lines: ["npm gave no answer that can be read;", NOTHING_KNOWN] };
  }
  const packages = Object.values(read.vulnerabilities ?? {}).filter(({ name }) => bundled.has(name));
  if (read.metadata?.vulnerabilities === undefined) {
    const why = read.message ?? read.error?.summary ?? read.error?.code ?? "it does not say why";
    return { code: 2, lines: [`the registry refused (${why});`, NOTHING_KNOWN] };
  }
  const total = bundled.size;
  if (packages.length === 0) return { code: 0, lines: [`no hole is known in ${total} packages`] };
  const lines = packages.map(({ name, severity, range, via, fixAvailable }) => {
    const titles = via.filter((one) => typeof one === "object").map(({ title, url }) => `${title} (${url})`);
    const fix = fixAvailable === false ? "no fix yet" : "fixed by a newer version";
    return `${severity}: ${name} ${range}: ${titles.join("; ") || `by ${via.join(", ")}`}: ${fix}`;
  });
  return { code: 1, lines: [`holes are known in ${packages.length} of ${total} packages:`, ...lines] };
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { components } = JSON.parse(readFileSync(join(ROOT, "dist/carryover.cdx.json"), "utf8"));
  const bundled = new Set(components.map(({ group, name }) => (group === undefined ? name : `${group}/${name}`)));
  const { stdout } = spawnSync("npm", ["audit", "--json"], { cwd: ROOT, encoding: "utf8" });
  const { code, lines } = reportOf(stdout ?? "", bundled);
  console.log(lines.join("\n"));
  process.exitCode = code;
}
