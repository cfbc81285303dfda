/** A checkout to try a page in, with a platform and a carryover behind the addresses that pages name. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { createSandbox } from "../../sandbox/src/sandbox.ts";
import { type Addresses, createAddresses, curlConfig } from "./addresses.ts";
import { projectFiles, ROOT } from "./pages.ts";
import { createShell, type Shell } from "./shell.ts";
import { startCarryover } from "./standing.ts";
import type { Program } from "./tools.ts";

/** Files beside the checkout. */
const FILES: ReadonlyMap<string, string> = new Map([
  [
    "rules.yaml",
    "version: carryover/v1\nforce: none\nrules:\n  - name: everything\n    match: {}\n    mode: translate\n",
  ],
  [
    "carryover.yaml",
    "upstream:\n  v2: { url: https://api.example.com }\n  v1: { url: https://api.example.com }\ncutover: { mode: native }\n",
  ],
  ["admin-token", "the-token-of-the-admin-port"],
]);

export interface Stage {
  readonly folder: string;
  readonly shell: Shell;
  /** What stands in capitals on a page, and what a reader would put there. */
  readonly placeholders: ReadonlyMap<string, string>;
  /** For curl: with `strict`, an answer of 400 and above is a failure, as a reader sees it. */
  curl(strict: boolean): Readonly<Record<string, string>>;
  /** The free port that stands for one of this machine. */
  port(named: number): number;
  /** Ends the carryover that stands there from the beginning: the page starts its own. */
  makeRoom(): Promise<void>;
  close(): Promise<void>;
}

export interface StageOptions {
  /** Whether the page is to install the packages itself. */
  readonly install: boolean;
  /** Further ones than the machine's own. */
  readonly programs: readonly Program[];
  /** Whether the page speaks to replicas on other machines. */
  readonly replicas: boolean;
  /** Whether all replicas but the first begin with a saved state that cannot be read. */
  readonly unknownRules: boolean;
}

/** Removes `folder`. A compiler that is stopping may still write its last files: then it tries again. */
async function removed(folder: string, tries = 20): Promise<void> {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    if (tries === 0) throw error;
    await new Promise((done) => setTimeout(done, 250));
    await removed(folder, tries - 1);
  }
}

/** Everything that stands there before the first command. */
export async function createStage(options: StageOptions): Promise<Stage> {
  const base = mkdtempSync(join(tmpdir(), "carryover-pages-"));
  const undo: (() => unknown)[] = [() => removed(base)];
  const close = async () => {
    for (const step of undo.splice(0).toReversed()) await step();
  };
  try {
    return { ...(await furnish(base, options, undo)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function furnish(base: string, options: StageOptions, undo: (() => unknown)[]): Promise<Omit<Stage, "close">> {
  const folder = join(base, "carryover");
  checkout(folder, options.install);
  const sandbox = createSandbox();
  undo.push(() => sandbox.close());
  const addresses = await createAddresses(base, (await sandbox.listen()).url, undo);
  const token = sandbox.token("admin");
  for (const [name, text] of [...FILES, ["token", token] as const]) writeFileSync(join(folder, name), text);
  const env = environment(base, { addresses, token, programs: options.programs });
  const start = async (admin: number, words: readonly string[]) => {
    const stop = await startCarryover(["--config", "carryover.yaml", ...words], { folder, env, admin });
    undo.push(stop);
    return stop;
  };
  const rules = ["--cutover-rules-file", "rules.yaml"];
  const makeRoom = await start(addresses.port(8081), rules);
  const behind = [...rules, "--listen-port", "0", "--admin-token-file", "admin-token", "--admin-port"];
  for (const [index, admin] of (options.replicas ? addresses.replicas : []).entries()) {
    if (options.unknownRules && index > 0) breakState(join(folder, `state-${admin}`));
    await start(admin, [...behind, String(admin), "--state-dir", `state-${admin}`]);
  }
  const notes = join(base, "notes");
  mkdirSync(notes);
  const shell = createShell(folder, notes, env);
  undo.push(() => shell.close());
  return {
    folder,
    shell,
    placeholders: new Map([["GROUP_UID", sandbox.wellKnown.someGroup]]),
    curl: (strict) => ({ CURL_HOME: join(base, strict ? "strict" : "lenient") }),
    port: addresses.port,
    makeRoom,
  };
}

function breakState(folder: string): void {
  mkdirSync(folder);
  writeFileSync(join(folder, "rollout.json"), "{");
}

/** The project's files as they are now, and what is not kept in git beside them. */
function checkout(folder: string, install: boolean): void {
  for (const name of projectFiles()) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    cpSync(join(ROOT, name), join(folder, name));
  }
  if (install) return;
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  // Not a link: a page that builds would empty the checkout's own.
  cpSync(join(ROOT, "dist"), join(folder, "dist"), { recursive: true });
}

interface Surroundings {
  readonly addresses: Addresses;
  readonly token: string;
  readonly programs: readonly Program[];
}

/** There is no cluster here: values are judged and templates made, as before an installation. `npm run real -- cluster` installs. */
const WITHOUT_CLUSTER = ' $(case "$1" in install | upgrade) echo --dry-run=client ;; esac)';

/** What a machine needs to reach a registry, and to find its own files. */
const KEPT = /^(?:HOME|LANG|TMPDIR|XDG_\w+|https?_proxy|no_proxy|npm_config_(?:registry|cache|cafile)|\w*_CA_BUNDLE)$/i;

/** The stage's certificate beside those that this machine believes already. */
function believed(base: string): string {
  const file = join(base, "all.pem");
  const [own, before] = [join(base, "ca.pem"), process.env["NODE_EXTRA_CA_CERTS"]];
  const texts = [own, ...(before !== undefined && existsSync(before) ? [before] : [])].map((name) =>
    readFileSync(name, "utf8"),
  );
  writeFileSync(file, texts.join("\n"));
  return file;
}

/** Variables of the shell; writes the programs and settings that they name. */
function environment(base: string, { addresses, token, programs }: Surroundings): Readonly<Record<string, string>> {
  const bin = join(base, "bin");
  mkdirSync(bin);
  const program = (name: string, text: string) => writeFileSync(join(bin, name), text, { mode: 0o755 });
  program("carryover", `#!/bin/sh\nexec node '${join(base, "carryover", "dist", "main.js")}' "$@"\n`);
  const curl = execFileSync("bash", ["-c", "command -v curl"], { encoding: "utf8" }).trim();
  // 23: what reads the output has had enough (head).
  program("curl", `#!/bin/sh\n'${curl}' "$@"\ncode=$?\n[ $code -ne 23 ] || code=0\nexit $code\n`);
  for (const { name, path, libraries } of programs) {
    const set = libraries.length === 0 ? "" : `LD_LIBRARY_PATH='${libraries.join(":")}' `;
    program(name, `#!/bin/sh\n${set}exec '${path}' "$@"${name === "helm" ? WITHOUT_CLUSTER : ""}\n`);
  }
  for (const [home, more] of [
    ["strict", "fail\n"],
    ["lenient", ""],
  ] as const) {
    mkdirSync(join(base, home));
    writeFileSync(join(base, home, ".curlrc"), curlConfig(addresses, base) + more);
  }
  const kept = Object.entries(process.env).filter(([name]) => KEPT.test(name));
  return {
    ...Object.fromEntries(kept),
    PATH: [bin, dirname(process.execPath), process.env["PATH"] ?? ""].join(delimiter),
    TOKEN: token,
    NO_COLOR: "1",
    // What npm says of a machine's own settings is no output of a page.
    NPM_CONFIG_LOGLEVEL: "error",
    NPM_CONFIG_UPDATE_NOTIFIER: "false",
    NODE_OPTIONS: `--import=${join(import.meta.dirname, "network.mjs")}`,
    NODE_EXTRA_CA_CERTS: believed(base),
    PAGES_NETWORK: JSON.stringify([...addresses.network]),
    CURL_HOME: join(base, "lenient"),
  };
}
