/** What is handed out with a release, and how is each of it made? (From a clean clone, so nothing that lies about gets in.) */
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Makes everything in the folder `out` from the clone `tree`; gives the files' names. */
export function makeArtifacts({ tree, out, version, section, helm, run }) {
  run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], tree);
  run("npm", ["pack", "--silent", "--pack-destination", out], tree);
  const said = run(process.execPath, ["dist/main.js", "--version"], tree).trim();
  if (said !== version) throw new Error(`the package calls itself ${said}, and is to be ${version}`);
  // Renamed, since helm and npm would give their files the same name.
  const chart = `carryover-chart-${version}.tgz`;
  run(helm, ["lint", "--strict", "helm"], tree);
  run(helm, ["package", "helm", "--destination", tree], tree);
  renameSync(join(tree, `carryover-${version}.tgz`), join(out, chart));
  const sbom = `carryover-${version}.cdx.json`;
  writeFileSync(join(out, sbom), billOfMaterials(tree, run));
  const made = [`carryover-${version}.tgz`, chart, sbom];
  const sums = made.map((name) => `${sha256(join(out, name))}  ${name}\n`).join("");
  writeFileSync(join(out, "SHA256SUMS"), sums);
  writeFileSync(join(out, "release-notes.md"), notes(version, section, sums));
  return [...made, "SHA256SUMS", "release-notes.md"];
}

/**
 * Of what the package needs, in the versions of the lock file. From a package.json without devDependencies: told to omit those, npm
 * would also leave out what is needed here and by them. The sandbox, a workspace, has no dependencies.
 */
function billOfMaterials(tree, run) {
  // Called as the package is: npm takes the folder's name for it.
  const folder = join(tree, "node_modules/.bill/carryover");
  mkdirSync(folder, { recursive: true });
  const {
    devDependencies: _,
    workspaces: __,
    ...needed
  } = JSON.parse(readFileSync(join(tree, "package.json"), "utf8"));
  writeFileSync(join(folder, "package.json"), JSON.stringify(needed));
  copyFileSync(join(tree, "package-lock.json"), join(folder, "package-lock.json"));
  run("npm", ["install", "--package-lock-only", "--ignore-scripts", "--offline"], folder);
  const words = ["--package-lock-only", "--sbom-format", "cyclonedx", "--sbom-type", "application"];
  return run("npm", ["sbom", ...words], folder);
}

function sha256(file) {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}

function notes(version, section, sums) {
  return `# carryover ${version}

${section}

## Files

- \`carryover-${version}.tgz\`: the npm package. \`npm install ./carryover-${version}.tgz\`, then \`npx carryover demo\`.
- \`carryover-chart-${version}.tgz\`: the Helm chart. \`helm install carryover ./carryover-chart-${version}.tgz --values values.yaml\`.
- \`carryover-${version}.cdx.json\`: what is in the package, as a CycloneDX bill of materials.

\`sha256sum --check SHA256SUMS\`:

\`\`\`
${sums}\`\`\`
`;
}
