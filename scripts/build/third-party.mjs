/** The packages in the bundle and their licences, from esbuild's list of inputs, since scanners find no `node_modules` in it. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const LICENCE = /^(?:licen[cs]e|notice|copying)/i;

/** The folders of the packages of which something is in the bundle, `node_modules/undici`, in order. */
function packagesOf({ outputs }) {
  const inputs = Object.values(outputs).flatMap(({ inputs }) => Object.entries(inputs));
  const folders = inputs.flatMap(([path, { bytesInOutput }]) => {
    const [folder] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [];
    return folder === undefined || bytesInOutput === 0 ? [] : [folder];
  });
  return [...new Set(folders)].sort();
}

/** What is in the bundle that `metafile` describes: name, version, licence, its text, the archive's digest. */
export function thirdParties(metafile, root) {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  return packagesOf(metafile).map((path) => {
    const folder = join(root, path);
    const { name, version, license, author } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    if (typeof license !== "string") throw new Error(`${path}: its package.json names no licence`);
    const texts = readdirSync(folder)
      .filter((file) => LICENCE.test(file))
      .sort()
      .map((file) => readFileSync(join(folder, file), "utf8").trim());
    const holder = typeof author === "object" ? author.name : author;
    return { name, version, license, holder, texts, integrity: packages[path]?.integrity };
  });
}

/** All licences as one text. */
export function licencesOf(parties) {
  const head = `carryover contains the following packages. Each is used under its own licence.`;
  const sections = parties.map(({ name, version, license, holder, texts }) => {
    const none = `The package brings no text of its licence${holder === undefined ? "" : `; its author is ${holder}`}.`;
    return [`${name} ${version} (${license})`, "", ...(texts.length === 0 ? [none] : [texts.join("\n\n")])].join("\n");
  });
  return `${[head, ...sections].join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
}

/** The same as a CycloneDX bill of materials, for those that look for known holes. */
export function billOf(parties, { name, version, license, description }) {
  const bill = {
    $schema: "http://cyclonedx.org/schema/bom-1.5.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    metadata: {
      component: {
        "bom-ref": `${name}@${version}`,
        type: "application",
        name,
        version,
        description,
        purl: `pkg:npm/${name}@${version}`,
        licenses: [{ license: { id: license } }],
      },
    },
    components: parties.map(componentOf),
  };
  return `${JSON.stringify(bill, null, 2)}\n`;
}

function componentOf({ name, version, license, integrity }) {
  const [, group, bare] = /^(?:(@[^/]+)\/)?(.+)$/.exec(name);
  const [, digest] = /^sha512-(.+)$/.exec(integrity ?? "") ?? [];
  return {
    "bom-ref": `${name}@${version}`,
    type: "library",
    ...(group === undefined ? {} : { group }),
    name: bare,
    version,
    scope: "required",
    purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
    licenses: [/[ (]/.test(license) ? { expression: license } : { license: { id: license } }],
    ...(digest === undefined
      ? {}
      : { hashes: [{ alg: "SHA-512", content: Buffer.from(digest, "base64").toString("hex") }] }),
  };
}
