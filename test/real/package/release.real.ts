import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { CACHE, copyOfTree, freshFolder, type Ran, ROOT, ran, run, TOOLS, tool } from "./packed.ts";

const VERSION = "987.6.5";
const { version: CURRENT } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
/** As it is in what a program prints. */
const CURRENTLY = CURRENT.replaceAll(".", "\\.");
const DAY = "2026-12-24";

let folder: string;
let repository: string;
let first: string;

const git = async (...words: string[]): Promise<string> => (await run("git", words, { cwd: repository })).stdout.trim();
/** Without the image: test/real/image makes releases with it. */
const released = (...words: string[]): Promise<Ran> =>
  ran(process.execPath, ["scripts/release/run.mjs", ...words, "--without-image"], repository);
const text = (file: string): string => readFileSync(join(repository, file), "utf8");

/** What a release leaves in the repository. */
const traces = async () => ({
  head: await git("rev-parse", "main"),
  tag: await git("tag", "--list", `v${VERSION}`),
  status: await git("status", "--porcelain"),
  files: existsSync(join(repository, "release")),
});

beforeAll(async () => {
  tool(join(CACHE, "chart/bin/helm"));
  folder = freshFolder();
  repository = join(folder, "repository");
  copyOfTree(repository);
  const changelog = text("CHANGELOG.md").replace(
    /^# Changelog\n+(?:## Next\n)?/,
    "# Changelog\n\n## Next\n\n- A thing was *mended* ([docs/rules.md](docs/rules.md)),\n  and it took two lines.\n- Another: `x: y`.\n\n",
  );
  writeFileSync(join(repository, "CHANGELOG.md"), changelog);
  await git("init", "--quiet", "--initial-branch", "main");
  // The others' node_modules, borrowed by a link.
  appendFileSync(join(repository, ".git/info/exclude"), "node_modules\n");
  await git("config", "user.name", "Some One");
  await git("config", "user.email", "someone@example.com");
  await git("add", "--all");
  await git("commit", "--quiet", "--message", "Everything");
  first = await git("rev-parse", "HEAD");
  await git("remote", "add", "origin", "git@git.example.com:platform/carryover.git");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("refuses", () => {
  beforeEach(async () => {
    await git("checkout", "--quiet", "--force", first);
    await git("clean", "--quiet", "-d", "--force");
  });

  it.each([
    ["a version that is none", ["1.2"], /1\.2 is no version; write it as 1\.2\.3/],
    ["a version with a letter before it", ["v987.6.5"], /v987\.6\.5 is no version/],
    ["the version there is", [CURRENT], new RegExp(`${CURRENTLY} is not newer than ${CURRENTLY}`)],
    ["an older version", ["0.0.9"], new RegExp(`0\\.0\\.9 is not newer than ${CURRENTLY}`)],
    ["no version where nobody can be asked", [], new RegExp(`which version\\? The last one is ${CURRENTLY}`)],
    ["two versions", [VERSION, "988.0.0"], /one version to release, and not 2/],
    ["an option that does not exist", [VERSION, "--push"], /--push/],
    ["a day that there is not", [VERSION, "--date", "2026-02-30"], /2026-02-30 is no day/],
    [
      "a commit that was not tested",
      [VERSION, "--tested", "abc123"],
      /--tested abc123 is not the last commit, [0-9a-f]{40}/,
    ],
  ])("%s", async (_what, words, said) => {
    expect(await released(...words)).toMatchObject({ code: 1, err: expect.stringMatching(said) });
    expect(await git("status", "--porcelain")).toBe("");
  });

  it("to leave the image out where its bases cannot be looked up, unless asked to", async () => {
    const env = { ...process.env, NODE_IMAGE: "127.0.0.1:1/node" };
    const { code, err } = await ran(
      process.execPath,
      ["scripts/release/run.mjs", VERSION, "--dry-run"],
      repository,
      env,
    );
    expect([code, err]).toEqual([
      1,
      expect.stringContaining("the image's bases cannot be looked up; --without-image leaves the image out"),
    ]);
  });

  it("a tree with changes that are in no commit, naming them", async () => {
    writeFileSync(join(repository, "left-over.txt"), "x");
    const { code, err } = await released(VERSION, "--tested", first);
    expect([code, err]).toEqual([1, expect.stringMatching(/changes that are in no commit.*\n.*left-over\.txt/)]);
  });

  it.each([
    ["without a section for it", (all: string) => all.replace("## Next\n", ""), /there is no section "## Next"/],
    [
      "without an entry for it",
      (all: string) => all.replace(/## Next\n[\s\S]*?(?=\n## )/, "## Next\n"),
      /"## Next" has no entry/,
    ],
  ])("a changelog %s", async (_what, edit, said) => {
    writeFileSync(join(repository, "CHANGELOG.md"), edit(text("CHANGELOG.md")));
    await git("commit", "--quiet", "--all", "--message", "No changes told");
    expect(await released(VERSION, "--tested", await git("rev-parse", "HEAD"))).toMatchObject({
      code: 1,
      err: expect.stringMatching(said),
    });
  });

  it("to release half of it: where the tag cannot be signed, there is neither tag nor commit nor file", async () => {
    await git("checkout", "--quiet", "--force", "main");
    await git("config", "tag.gpgSign", "true");
    await git("config", "gpg.program", "/bin/false");
    try {
      const { code, err } = await released(VERSION, "--tested", first);
      expect([code, err]).toEqual([1, expect.stringMatching(/git .*tag .*failed:\n.*gpg failed to sign/s)]);
      expect(await traces()).toEqual({ head: first, tag: "", status: "", files: false });
    } finally {
      await git("config", "--unset", "tag.gpgSign");
      await git("config", "--unset", "gpg.program");
    }
  });

  it("a version that has a tag", async () => {
    await git("tag", "v988.0.0");
    const { code, err } = await released("988.0.0", "--tested", first);
    expect([code, err]).toEqual([1, expect.stringContaining("there is a tag v988.0.0 already")]);
  });
});

describe("a release", () => {
  let failed: Ran;
  let dry: Ran;
  let real: Ran;
  let seenAfterFailed: unknown;
  let seenAfterDry: readonly string[];
  /** The commit that the first two release: of a package without dependencies, which is built at once. */
  let small: string;

  beforeAll(async () => {
    await git("checkout", "--quiet", "--force", "main");
    const { devDependencies: _, scripts: __, ...rest } = JSON.parse(text("package.json"));
    const prepare =
      "mkdir -p dist && sed 's/^export //; $aconsole.log(VERSION)' src/version.ts >dist/main.js && echo {} >dist/carryover.cdx.json";
    writeFileSync(join(repository, "package.json"), `${JSON.stringify({ ...rest, scripts: { prepare } }, null, 2)}\n`);
    await run("npm", ["install", "--package-lock-only", "--ignore-scripts", "--offline"], { cwd: repository });
    await git("commit", "--quiet", "--all", "--message", "A small package");
    small = await git("rev-parse", "HEAD");
    // At the very end, when all else is done: the branch may not move.
    const hook = join(repository, ".git/hooks/reference-transaction");
    const refuses = `#!/bin/sh\n[ "$1" != prepared ] || ! grep -q refs/heads/main\n`;
    writeFileSync(hook, refuses, { mode: 0o755 });
    failed = await released(VERSION, "--tested", small, "--date", DAY);
    rmSync(hook);
    seenAfterFailed = await traces();
    dry = await released(VERSION, "--dry-run", "--date", DAY);
    seenAfterDry = [await git("rev-parse", "HEAD"), await git("tag"), await git("status", "--porcelain")];
    await git("reset", "--quiet", "--hard", first);
    real = await released(VERSION, "--tested", first, "--date", DAY);
  }, 580_000);

  it("that fails at its last step leaves no tag, commit or file, and can be made again", () => {
    expect([failed.code, failed.err]).toEqual([1, expect.stringMatching(/^Not released: git merge .* failed:/)]);
    expect(seenAfterFailed).toEqual({ head: small, tag: "", status: "", files: false });
    expect(real.code).toBe(0);
  });

  it("made dry changes nothing but release/, and says that no test ran", () => {
    expect(dry).toMatchObject({ code: 0, err: "" });
    expect(dry.out).toMatch(/Tests: not run, since this is a dry run\.[\s\S]*A dry run: no commit, no tag\./);
    expect(seenAfterDry).toEqual([small, expect.not.stringContaining(VERSION), ""]);
  });

  it("is one commit with a tag, on the branch, in a clean tree, and is pushed nowhere", async () => {
    expect(real).toMatchObject({ code: 0, err: "" });
    expect(real.out).toContain(`Committed and tagged as v${VERSION}; nothing was pushed.`);
    expect(await git("log", "--format=%s|%an|%P", "-1", `v${VERSION}^{commit}`)).toBe(
      `Release ${VERSION}|Some One|${first}`,
    );
    expect(await git("rev-parse", "main")).toBe(await git("rev-parse", `v${VERSION}^{commit}`));
    expect(await git("cat-file", "-t", `v${VERSION}`)).toBe("tag");
    expect([await git("status", "--porcelain"), await git("symbolic-ref", "--short", "HEAD")]).toEqual(["", "main"]);
  });

  it("names its version everywhere, and tells of it what the changelog told of the next", async () => {
    const lock = JSON.parse(text("package-lock.json")) as {
      version: string;
      packages: Record<string, { version: string }>;
    };
    expect([JSON.parse(text("package.json")).version, lock.version, lock.packages[""]?.version]).toEqual(
      Array(3).fill(VERSION),
    );
    expect(text("src/version.ts")).toContain(`export const VERSION = "${VERSION}";`);
    expect(text("CHANGELOG.md")).toContain(`# Changelog\n\n## ${VERSION} - ${DAY}\n\n- A thing was *mended*`);
    expect(text("CHANGELOG.md")).not.toContain("## Next");
    const changed = (await git("diff", "--name-only", first, "HEAD")).split("\n");
    expect(changed).toEqual([
      ".github/ISSUE_TEMPLATE/bug.yml",
      ".github/ISSUE_TEMPLATE/difference.yml",
      ".github/ISSUE_TEMPLATE/wish.yml",
      "CHANGELOG.md",
      "Dockerfile",
      "deploy/compose/compose.yaml",
      "deploy/compose/replicas.yaml",
      "deploy/compose/shared-port.yaml",
      "deploy/compose/trial.yaml",
      "docs/deploy.md",
      "docs/status.md",
      "helm/Chart.yaml",
      "helm/README.md",
      "helm/ci/existing-values.yaml",
      "package-lock.json",
      "package.json",
      "src/version.ts",
    ]);
  });

  it("leaves no file that names the version before, but for the past and an example", async () => {
    const others = ["CHANGELOG.md", "package-lock.json", "docs/release.md", "scripts/install-state-tools.sh"].map(
      (path) => `:!${path}`,
    );
    const alone = `(?<![\\d.])${CURRENTLY}(?!\\d|\\.\\d)`;
    const { out } = await ran("git", ["grep", "-nP", alone, `v${VERSION}`, "--", ...others], repository);
    expect(out).toBe("");
    expect(real.out).not.toContain("still name");
    expect(text("docs/deploy.md")).toContain(`./carryover-${VERSION}.tgz`);
  });

  it("holds the package, the chart with its changes, and checksums that are right", async () => {
    const helm = join(CACHE, "chart/bin/helm");
    const chart = parse((await ran(helm, ["show", "chart", `release/carryover-chart-${VERSION}.tgz`], repository)).out);
    expect(chart).toMatchObject({ name: "carryover", version: VERSION, appVersion: VERSION });
    const annotations = chart.annotations as Record<string, string>;
    expect(parse(annotations["artifacthub.io/changes"] ?? "").slice(0, 2)).toEqual([
      { kind: "changed", description: "A thing was *mended* (docs/rules.md), and it took two lines." },
      { kind: "changed", description: "Another: `x: y`." },
    ]);
    const inChart = (file: string) =>
      ran("tar", ["-xOf", `release/carryover-chart-${VERSION}.tgz`, `carryover/${file}`], repository);
    expect((await inChart("ci/minimal-values.yaml")).out).toBe(text("helm/ci/minimal-values.yaml"));
    const readme = (await inChart("README.md")).out;
    expect(readme).toContain(`](https://git.example.com/platform/carryover/blob/v${VERSION}/docs/runbook.md)`);
    expect(readme).not.toContain("](../");
    const inside = await ran("tar", ["-xOf", `release/carryover-${VERSION}.tgz`, "package/package.json"], repository);
    expect(JSON.parse(inside.out).version).toBe(VERSION);
    const sums = await ran("sha256sum", ["--check", "SHA256SUMS"], join(repository, "release"));
    expect([sums.code, sums.out.match(/: OK$/gm)?.length]).toEqual([0, 3]);
    expect(text("release/release-notes.md")).toMatch(new RegExp(`^# carryover ${VERSION}\n\n- A thing was`));
  });

  it("has a valid bill of materials, with what is in the bundle and nothing that only builds or tests it", async () => {
    const file = join(repository, `release/carryover-${VERSION}.cdx.json`);
    const library = tool(join(TOOLS, "node_modules/@cyclonedx/cyclonedx-library/package.json"));
    const judge = `const { createRequire } = require("node:module");
const { Spec, Validation } = createRequire(${JSON.stringify(library)})("@cyclonedx/cyclonedx-library");
const text = require("node:fs").readFileSync(${JSON.stringify(file)}, "utf8");
const { specVersion } = JSON.parse(text);
new Validation.JsonStrictValidator(specVersion).validate(text).then((wrong) => console.log(specVersion, JSON.stringify(wrong)));`;
    expect(await ran(process.execPath, ["-e", judge], TOOLS)).toMatchObject({
      out: expect.stringMatching(/^1\.\d null\n$/),
    });
    const bill = JSON.parse(readFileSync(file, "utf8")) as {
      metadata: { component: { name: string; version: string } };
      components: readonly { name: string; group?: string; version: string }[];
    };
    expect(bill.metadata.component).toMatchObject({ name: "carryover", version: VERSION });
    const billed = bill.components.map(
      ({ group, name, version }) => `${group === undefined ? name : `${group}/${name}`} ${version}`,
    );
    const { packages } = JSON.parse(text("package-lock.json")) as { packages: Record<string, { version: string }> };
    const unlocked = billed.filter((one) => {
      const [name, version] = one.split(" ");
      return packages[`node_modules/${name}`]?.version !== version;
    });
    expect(unlocked).toEqual([]);
    const names = billed.map((one) => one.replace(/ .*/, ""));
    for (const name of ["fastify", "undici", "pino", "zod"]) expect(names).toContain(name);
    for (const name of ["@fastify/http-proxy", "vitest", "typescript", "esbuild"]) expect(names).not.toContain(name);
  });
});
