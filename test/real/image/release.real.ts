/** The image of a release, built by buildx and BuildKit from bases in a registry of this machine, where it is copied to as well. */
import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../../../scripts/free-ports.mjs";
import { copyOfTree } from "../package/packed.ts";
import { eventually, must, ROOT, RUN, TOOLS, tool } from "./podman.ts";

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly platform?: { readonly architecture: string };
  readonly annotations?: Readonly<Record<string, string>>;
}
interface Manifest {
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
  readonly manifests: readonly Descriptor[];
}

const NODE = /^ARG NODE_VERSION=(.+)$/m.exec(readFileSync(join(ROOT, "Dockerfile"), "utf8"))?.[1] ?? "";
const BOTH = ["amd64", "arm64"] as const;
const VERSION: string = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).version;
const SPDX = "https://spdx.dev/Document";
/** Of the processor that this machine has not. */
const OTHER = process.arch === "x64" ? "arm64" : "amd64";
const QEMU = { arm64: "qemu-aarch64-static", amd64: "qemu-x86_64-static" }[OTHER];

let folder = "";
let registry = "";
let env: readonly string[] = [];
const running: ChildProcess[] = [];

const serve = (...argv: readonly string[]) =>
  running.push(spawn(RUN, [...argv], { stdio: ["ignore", "ignore", "ignore"] }));

/** Puts an image of either architecture into the registry under one name; gives the digest of both together. */
async function push(name: string, ...images: readonly string[]): Promise<string> {
  const list = `localhost/list-${process.pid}`;
  await must(["buildah", "manifest", "create", list]);
  for (const image of images) await must(["buildah", "manifest", "add", list, image]);
  await must(["buildah", "manifest", "push", "--all", "--tls-verify=false", list, `docker://${registry}/${name}`]);
  await must(["buildah", "manifest", "rm", list]);
  const pushed = await fetch(`http://${registry}/v2/${name.replace(":", "/manifests/")}`, {
    headers: { accept: "application/vnd.oci.image.index.v1+json" },
  });
  return pushed.headers.get("docker-content-digest") ?? "";
}

const buildArchive = (file: string, ...more: readonly string[]) =>
  tool(["env", ...env, ...more, process.execPath, "scripts/release/image.mjs", join(folder, file)]);

/** The archive as a folder: `blob` reads one of its files, `index` is what it holds. */
async function unpacked(file: string) {
  const into = join(folder, `${file}.d`);
  mkdirSync(into);
  await must(["tar", "-xf", join(folder, file), "-C", into]);
  const blob = (digest: string) => JSON.parse(readFileSync(join(into, "blobs", digest.replace(":", "/")), "utf8"));
  const outer = JSON.parse(readFileSync(join(into, "index.json"), "utf8")) as Manifest;
  const index = blob(outer.manifests[0]?.digest ?? "") as Manifest;
  const of = (architecture: string): Descriptor => {
    const found = index.manifests.find(({ platform }) => platform?.architecture === architecture);
    if (found === undefined) throw new Error(`there is no image for ${architecture}`);
    return found;
  };
  /** What is attested of the image of an architecture, by its kind. */
  const attested = (architecture: string): Readonly<Record<string, unknown>> => {
    const about = index.manifests.find(
      ({ annotations }) => annotations?.["vnd.docker.reference.digest"] === of(architecture).digest,
    );
    const { layers } = blob(about?.digest ?? "") as Manifest;
    return Object.fromEntries(
      layers.map(({ digest, annotations }) => [annotations?.["in-toto.io/predicate-type"], blob(digest).predicate]),
    );
  };
  const labels = (architecture: string): Readonly<Record<string, string>> =>
    blob((blob(of(architecture).digest) as Manifest).config.digest).config.Labels;
  return { index, outer, of, attested, labels };
}

let archive: Awaited<ReturnType<typeof unpacked>>;
let node = "";
let base = "";

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "carryover-release-image-"));
  registry = `127.0.0.1:${await freePort()}`;
  const settings = { version: 0.1, storage: { filesystem: { rootdirectory: join(folder, "registry") } } };
  writeFileSync(join(folder, "registry.yml"), JSON.stringify({ ...settings, http: { addr: registry } }));
  serve("docker-registry", "serve", join(folder, "registry.yml"));
  const socket = `unix://${join(folder, "buildkit.sock")}`;
  // Builds have the machine's network, as with buildah here.
  serve(
    ...["buildkitd", "--root", join(folder, "buildkit"), "--addr", socket, "--containerd-worker=false"],
    ...["--oci-worker-net", "host", "--oci-worker-binary", join(TOOLS, "root/usr/sbin/runc")],
  );
  const up = () =>
    fetch(`http://${registry}/v2/`).then(
      ({ ok }) => ok,
      () => false,
    );
  await eventually(up, (is) => is);
  const native = [`docker.io/library/node:${NODE}-bookworm-slim`, "gcr.io/distroless/cc-debian12:nonroot"] as const;
  node = await push("node:test", native[0], "localhost/other/node");
  base = await push("base:test", native[1], "localhost/other/base");
  // Stands in for BuildKit's scanner: tells what the bill of materials in the image tells.
  const scan = `const fs = require("node:fs"), { BUILDKIT_SCAN_SOURCE: from, BUILDKIT_SCAN_DESTINATION: to } = process.env;
const { components = [] } = JSON.parse(fs.readFileSync(from + "/app/dist/carryover.cdx.json", "utf8"));
const packages = components.map(({ name, version }) => ({ SPDXID: "SPDXRef-" + name, name, versionInfo: version }));
const predicate = { spdxVersion: "SPDX-2.3", SPDXID: "SPDXRef-DOCUMENT", name: "scan", packages };
const statement = { _type: "https://in-toto.io/Statement/v0.1", predicateType: "${SPDX}", predicate };
fs.writeFileSync(to + "/scan.spdx.json", JSON.stringify(statement));`;
  writeFileSync(join(folder, "scan.cjs"), scan);
  writeFileSync(join(folder, "Scanner"), `FROM ${native[0]}\nCOPY scan.cjs /\nENTRYPOINT ["node", "/scan.cjs"]\n`);
  const scanner = `localhost/scanner-${process.pid}`;
  await must(["buildah", "bud", "--quiet", "--pull-never", "-f", join(folder, "Scanner"), "-t", scanner, folder]);
  await push("scanner:test", scanner);
  await must(["podman", "rmi", scanner]);
  env = [
    ...[
      `XDG_CACHE_HOME=${join(TOOLS, "../..")}`,
      `BUILDX_CONFIG=${join(folder, "buildx")}`,
      "BUILDX_BUILDER=test",
      `SOURCE=https://git.example.com/carryover`,
    ],
    ...[`NODE_IMAGE=${registry}/node:test`, `BASE_IMAGE=${registry}/base:test`, `SBOM_IMAGE=${registry}/scanner:test`],
  ];
  const create = ["buildx", "create", "--name", "test", "--driver", "remote", socket];
  await eventually(
    () => tool(["env", ...env, ...create]),
    ({ code }) => code === 0,
  );
  const { code, err } = await buildArchive("carryover.oci.tar");
  if (code !== 0) throw new Error(err);
  archive = await unpacked("carryover.oci.tar");
}, 580_000);

afterAll(async () => {
  for (const child of running) {
    const ended = new Promise((done) => child.once("close", done));
    child.kill("SIGTERM");
    await ended;
  }
  rmSync(folder, { recursive: true, force: true });
});

describe("the image of a release", () => {
  it.each(BOTH)("for %s says on which base it stands, by name and digest", (architecture) => {
    const label = "org.opencontainers.image";
    expect(archive.labels(architecture)).toMatchObject({
      [`${label}.base.name`]: `${registry}/base:test`,
      [`${label}.base.digest`]: base,
      [`${label}.version`]: VERSION,
      [`${label}.revision`]: expect.stringMatching(/^[0-9a-f]{40}(?:-dirty)?$/),
      [`${label}.source`]: "https://git.example.com/carryover",
    });
  });

  it.each(BOTH)("for %s comes with its bill of materials, and with what it was built from", (architecture) => {
    const { [SPDX]: bill, ...others } = archive.attested(architecture);
    expect(bill).toMatchObject({ packages: expect.arrayContaining([expect.objectContaining({ name: "undici" })]) });
    expect(Object.keys(others)).toEqual([expect.stringMatching(/^https:\/\/slsa\.dev\/provenance\//)]);
    expect(JSON.stringify(others)).toContain(base.replace("sha256:", ""));
  });

  it("is copied whole to a registry, and both of its images run, each with its own node", async () => {
    const to = `${registry}/carryover:test`;
    const archived = `oci-archive:${join(folder, "carryover.oci.tar")}`;
    await must(["skopeo", "copy", "--quiet", "--all", "--dest-tls-verify=false", archived, `docker://${to}`]);
    const pushed = await must(["skopeo", "inspect", "--raw", "--tls-verify=false", `docker://${to}`]);
    expect(JSON.parse(pushed)).toEqual(archive.index);
    for (const architecture of BOTH) {
      const id = await must(["podman", "pull", "--quiet", "--tls-verify=false", "--arch", architecture, to]);
      const root = await must(["podman", "image", "mount", id]);
      // Either looks up its libraries in the image.
      const emulated = architecture === OTHER;
      const run = emulated ? [QEMU, "-L", root, join(root, "usr/local/bin/node")] : ["chroot", root, "node"];
      expect(await must([...run, "-p", "process.arch"])).toBe(architecture.replace("amd", "x"));
      expect(await must([...run, join(emulated ? root : "/", "app/dist/main.js"), "--version"])).toBe(VERSION);
      await must(["podman", "image", "unmount", "-f", id]);
      await must(["podman", "rmi", "-f", id]);
    }
  });

  it("is one of the release's files, with its checksum and how to copy it", async () => {
    const tree = join(folder, "tree");
    copyOfTree(tree);
    const edit = (file: string, to: (text: string) => string) =>
      writeFileSync(join(tree, file), to(readFileSync(join(tree, file), "utf8")));
    // A package and an image that are made at once.
    const prepare = `mkdir -p dist && sed 's/^export //; $aconsole.log(VERSION)' src/version.ts >dist/main.js && echo {} >dist/carryover.cdx.json`;
    edit("package.json", (text) =>
      JSON.stringify({ ...JSON.parse(text), devDependencies: {}, workspaces: [], scripts: { prepare } }),
    );
    edit("Dockerfile", (text) => {
      const bases = text.match(/^ARG (?:NODE|BASE)_.*=.*$/gm)?.join("\n");
      const copied = `FROM \${BASE_IMAGE}@\${BASE_DIGEST}\nCOPY package.json /app/dist/carryover.cdx.json`;
      return `${bases}\n${copied}\nARG VERSION=${VERSION}\nLABEL org.opencontainers.image.version=\${VERSION}\n`;
    });
    const git = (...words: readonly string[]) => must(["git", "-C", tree, ...words]);
    await must(["npm", "install", "--package-lock-only", "--ignore-scripts", "--offline"], tree);
    await git("init", "--quiet");
    writeFileSync(join(tree, ".git/info/exclude"), "node_modules\n");
    for (const [key, value] of Object.entries({ name: "Some One", email: "someone@example.com" }))
      await git("config", `user.${key}`, value);
    await git("add", "--all");
    await git("commit", "--quiet", "--message", "Everything");
    const release = ["scripts/release/run.mjs", "987.6.5", "--dry-run"];
    const { code, err } = await tool(["env", ...env, process.execPath, ...release], tree);
    expect(code, err).toBe(0);
    const file = "carryover-987.6.5.oci.tar";
    const sums = await must(["sha256sum", "--check", "SHA256SUMS"], join(tree, "release"));
    expect(sums.split("\n")).toContain(`${file}: OK`);
    const notes = readFileSync(join(tree, "release/release-notes.md"), "utf8");
    expect(notes).toContain(`- \`${file}\`: the image for amd64 and arm64, from ${registry}/base:test@${base}.`);
    cpSync(join(tree, "release", file), join(folder, file));
    const released = await unpacked(file);
    for (const architecture of BOTH)
      expect(released.labels(architecture)["org.opencontainers.image.version"]).toBe("987.6.5");
  });

  it("is not built where its base cannot be looked up", async () => {
    const { code, err } = await buildArchive("none.oci.tar", `BASE_IMAGE=${registry}/base:none`);
    expect([code, err]).toEqual([1, expect.stringContaining(`${registry}/base:none: not found`)]);
  });

  it("is the same, byte for byte, when it is built again from the same sources and bases, whatever their tags name by then", async () => {
    await must(["env", ...env, "buildx", "prune", "--all", "--force"]);
    await push("base:test", "localhost/other/base");
    const { code, err } = await buildArchive("again.oci.tar", `NODE_DIGEST=${node}`, `BASE_DIGEST=${base}`);
    expect(code, err).toBe(0);
    const again = await unpacked("again.oci.tar");
    expect(BOTH.map((architecture) => again.of(architecture).digest)).toEqual(
      BOTH.map((architecture) => archive.of(architecture).digest),
    );
  }, 580_000);
});
