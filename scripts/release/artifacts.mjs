/** The files of a release, made from a clean clone so that nothing else gets in. */
import { createHash } from "node:crypto";
import { copyFileSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chartReadme, pagesOf } from "./chart-readme.mjs";
import { makeImage } from "./image.mjs";

/** Makes everything in the folder `out` from the clone `tree` of the repository at the address `origin`; gives the files' names. */
export function makeArtifacts({ tree, out, version, section, origin, helm, bases, run }) {
  run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], tree);
  run("npm", ["pack", "--silent", "--pack-destination", out], tree);
  const said = run(process.execPath, ["dist/main.js", "--version"], tree).trim();
  if (said !== version) throw new Error(`the package calls itself ${said}, and is to be ${version}`);
  // Renamed, since helm and npm would give their files the same name.
  const chart = `carryover-chart-${version}.tgz`;
  run(helm, ["lint", "--strict", "helm"], tree);
  const readme = join(tree, "helm/README.md");
  const text = readFileSync(readme, "utf8");
  writeFileSync(readme, chartReadme(text, pagesOf(origin, version)));
  run(helm, ["package", "helm", "--destination", tree], tree);
  writeFileSync(readme, text);
  renameSync(join(tree, `carryover-${version}.tgz`), join(out, chart));
  const sbom = `carryover-${version}.cdx.json`;
  copyFileSync(join(tree, "dist/carryover.cdx.json"), join(out, sbom));
  const made = [`carryover-${version}.tgz`, chart, sbom];
  if (bases !== undefined) {
    const image = `carryover-${version}.oci.tar`;
    makeImage({ tree, file: join(out, image), version, bases, run });
    made.push(image);
  }
  const sums = made.map((name) => `${sha256(join(out, name))}  ${name}\n`).join("");
  writeFileSync(join(out, "SHA256SUMS"), sums);
  writeFileSync(join(out, "release-notes.md"), notes(version, section, sums, bases));
  return [...made, "SHA256SUMS", "release-notes.md"];
}

function sha256(file) {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}

function notes(version, section, sums, bases) {
  const image =
    bases === undefined
      ? ""
      : `- \`carryover-${version}.oci.tar\`: the image for amd64 and arm64, from ${bases.BASE_IMAGE}@${bases.BASE_DIGEST}. \`skopeo copy --all oci-archive:carryover-${version}.oci.tar docker://registry.example.com/carryover:${version}\`.\n`;
  return `# carryover ${version}

${section}

## Files

- \`carryover-${version}.tgz\`: the npm package. \`npm install ./carryover-${version}.tgz\`, then \`npx carryover demo\`.
- \`carryover-chart-${version}.tgz\`: the Helm chart. \`helm install carryover ./carryover-chart-${version}.tgz --values values.yaml\`.
- \`carryover-${version}.cdx.json\`: what is in the package, as a CycloneDX bill of materials.
${image}
\`sha256sum --check SHA256SUMS\`:

\`\`\`
${sums}\`\`\`
`;
}
