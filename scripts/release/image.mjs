/**
 * `node scripts/release/image.mjs FILE` builds the image with buildx: both architectures in one OCI archive, each with its bill of
 * materials and its provenance. A release does the same. The bases are looked up first and built from by digest, since a tag moves.
 * In the environment, NODE_IMAGE and BASE_IMAGE name copies of them, NODE_DIGEST and BASE_DIGEST those of an earlier build, SBOM_IMAGE
 * another scanner, SOURCE where the sources are.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { USAGE } from "../options.mjs";

const PLATFORMS = "linux/amd64,linux/arm64";

/** Where scripts/install-image-tools.sh put it, or docker's own. */
function buildx() {
  const cached = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "carryover-ci/image/bin/buildx");
  if (existsSync(cached)) return [cached];
  if (spawnSync("docker", ["buildx", "version"]).status === 0) return ["docker", "buildx"];
  throw new Error(
    "there is no buildx, which builds the image: install docker's, or run scripts/install-image-tools.sh",
  );
}

/** The bases that the Dockerfile of `tree` names, with the digests that their tags have now, as build arguments. Throws where a registry does not answer. */
export function lookUpBases(tree, run) {
  const text = readFileSync(join(tree, "Dockerfile"), "utf8");
  const defaults = Object.fromEntries(
    [...text.matchAll(/^ARG (\w+)=(\S+)$/gm)].map(([, name, value]) => [name, value]),
  );
  const args = {};
  for (const base of ["NODE", "BASE"]) {
    const name = process.env[`${base}_IMAGE`] ?? defaults[`${base}_IMAGE`];
    const image = name.replace(/\$\{NODE_VERSION\}/, defaults.NODE_VERSION);
    const [program, ...words] = [...buildx(), "imagetools", "inspect", image, "--format", "{{.Manifest.Digest}}"];
    args[`${base}_IMAGE`] = image;
    args[`${base}_DIGEST`] = process.env[`${base}_DIGEST`] ?? run(program, words).trim();
  }
  return args;
}

/** Builds what is in `tree` from these bases into the archive `file`. */
export function makeImage({ tree, file, version, bases, run }) {
  const revision = run("git", ["describe", "--always", "--abbrev=40", "--dirty", "--exclude=*"], tree).trim();
  const seconds = run("git", ["log", "-1", "--format=%ct"], tree).trim();
  const args = {
    ...bases,
    VERSION: version,
    REVISION: revision,
    CREATED: new Date(Number(seconds) * 1_000).toISOString(),
    SOURCE: process.env["SOURCE"] ?? "unknown",
    SOURCE_DATE_EPOCH: seconds,
  };
  const scanner = process.env["SBOM_IMAGE"];
  const [program, ...words] = [
    ...buildx(),
    ...["build", "--platform", PLATFORMS, "--provenance", "mode=max"],
    ...["--sbom", scanner === undefined ? "true" : `generator=${scanner}`],
    ...Object.entries(args).flatMap(([name, value]) => ["--build-arg", `${name}=${value}`]),
    ...["--output", `type=oci,dest=${file},rewrite-timestamp=true`, "."],
  ];
  run(program, words, tree);
}

/** Shows what buildx says meanwhile. */
function shown(program, words, cwd) {
  const { status, stdout, error } = spawnSync(program, words, {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (status !== 0)
    throw new Error(`${program} ${words.join(" ")} failed${error === undefined ? "" : `: ${error.message}`}`);
  return stdout;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [file, ...more] = process.argv.slice(2);
  if (file === undefined || more.length > 0) {
    console.error("usage: node scripts/release/image.mjs FILE");
    process.exit(USAGE);
  }
  const tree = fileURLToPath(new URL("../../", import.meta.url));
  const { version } = JSON.parse(readFileSync(join(tree, "package.json"), "utf8"));
  try {
    const bases = lookUpBases(tree, shown);
    makeImage({ tree, file: resolve(file), version, bases, run: shown });
    console.log(`${file}: built on ${bases.BASE_IMAGE}@${bases.BASE_DIGEST}`);
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
