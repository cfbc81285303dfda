/** Builds and runs the image. (With buildah and podman, as `scripts/install-image-tools.sh` unpacked them.) */
import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";

export const TOOLS = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "carryover-ci/image");
export const RUN = join(TOOLS, "run");
export const ROOT = resolve(import.meta.dirname, "../../..");
export const IMAGE = "localhost/carryover:test";
/** What the image is built with when a test asks for its labels. */
export const BUILT = {
  VERSION: "987.6.5",
  REVISION: "0123456789abcdef0123456789abcdef01234567",
  CREATED: "2026-11-22T05:00:00Z",
  SOURCE: "https://git.example.com/carryover",
} as const;

/** What a cautious operator takes from a container. */
export const LOCKED = ["--read-only", "--cap-drop=all", "--security-opt", "no-new-privileges"] as const;

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs one of the tools to its end. */
export function tool(argv: readonly string[], cwd = ROOT): Promise<Ended> {
  if (!existsSync(RUN)) throw new Error(`${RUN} is not there: run scripts/install-image-tools.sh`);
  return new Promise((done) => {
    execFile(RUN, [...argv], { cwd, maxBuffer: 256 * 1024 ** 2 }, (error, out, err) => {
      const code = typeof error?.code === "number" ? error.code : error === null ? 0 : 1;
      done({ code, out, err });
    });
  });
}

/** The same; rejects when it fails. Gives what it printed. */
export async function must(argv: readonly string[], cwd = ROOT): Promise<string> {
  const { code, out, err } = await tool(argv, cwd);
  if (code !== 0) throw new Error(`${argv.join(" ")} ended with ${code}:\n${out}\n${err}`);
  return out.trim();
}

/** The time of all that is in the image, seconds since 1970: with it the same sources make the same bytes. */
const SECONDS = String(Date.parse(BUILT.CREATED) / 1_000);

/** Builds the image, layers that are there already excepted, and gives its identity; one build at a time. */
export async function build(name: string = IMAGE, more: readonly string[] = []): Promise<string> {
  const args = Object.entries(BUILT).flatMap(([key, value]) => ["--build-arg", `${key}=${value}`]);
  // `--network host`: npm's registry is reached as from the machine itself.
  const options = ["--quiet", "--network", "host", "--pull-never", "--layers", "--timestamp", SECONDS, ...more];
  const bud = ["buildah", "bud", ...options, ...args, "-t", name, "."];
  return must(["flock", join(TOOLS, "build.lock"), ...bud]);
}

export interface Container {
  readonly name: string;
  out(): string;
  err(): string;
  /** Resolves with all that was printed once it matches; rejects when it ends before. */
  until(pattern: RegExp): Promise<string>;
  signal(name: string): Promise<string>;
  /** Where a published port is: `http://127.0.0.1:40123`. */
  at(port: number): Promise<string>;
  /** Peak of the memory of its first process, in MiB. */
  peak(): Promise<number>;
  /** Of the container, which is that of its first process. */
  readonly ended: Promise<number>;
}

const running: (() => Promise<unknown>)[] = [];

/** Ends every container that is still there; for `afterEach`. */
export async function takeDown(): Promise<void> {
  for (const end of running.splice(0).reverse()) await end();
}

/** Starts the image in a container that only this test uses. */
export function start(options: readonly string[], argv: readonly string[] = []): Container {
  const name = `carryover-${process.pid}-${Math.random().toString(36).slice(2)}`;
  const child = spawn(RUN, ["podman", "run", "--rm", "--name", name, ...options, IMAGE, ...argv], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const waiting = new Set<() => void>();
  const printed = { out: "", err: "", over: false };
  const changed = () => {
    for (const look of [...waiting]) look();
  };
  for (const kind of ["out", "err"] as const) {
    child[`std${kind}`].setEncoding("utf8").on("data", (text: string) => {
      printed[kind] += text;
      changed();
    });
  }
  const ended = new Promise<number>((done) => {
    child.once("close", (code) => {
      printed.over = true;
      changed();
      done(code ?? -1);
    });
  });
  running.push(async () => {
    if (!printed.over) await tool(["podman", "rm", "-f", "-t", "0", name]);
    await ended;
  });
  return {
    name,
    out: () => printed.out,
    err: () => printed.err,
    until: (pattern) =>
      new Promise((found, failed) => {
        const look = () => {
          const text = printed.out + printed.err;
          if (pattern.test(text)) found(text);
          else if (printed.over) failed(new Error(`it ended without ${pattern}:\n${text}`));
          else return;
          waiting.delete(look);
        };
        waiting.add(look);
        look();
      }),
    signal: (signal) => must(["podman", "kill", "--signal", signal, name]),
    at: async (port) => `http://${await must(["podman", "port", name, String(port)])}`,
    peak: async () => {
      const status = await must(["podman", "exec", name, "node", "-p", "fs.readFileSync('/proc/1/status','utf8')"]);
      return Math.ceil(Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024);
    },
    ended,
  };
}

/** Asks until `good` says yes; a test's time limit ends it otherwise. */
export async function eventually<T>(ask: () => Promise<T>, good: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (good(answer)) return answer;
    await new Promise((soon) => setTimeout(soon, 50));
  }
}
