/** Types a page into a shell: one bash for the whole page, so that exported variables stay set. */
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";

export interface Ran {
  /** As bash has it; a pipe is as good as its worst part. */
  readonly code: number;
  /** Both streams as they came. */
  readonly text: string;
}

export interface Server {
  text(): string;
  /** Undefined while it lives. */
  code(): number | undefined;
  /** Asks it to end and waits. */
  stop(): Promise<void>;
}

export interface Shell {
  /** Rejects when it does not end in `patienceMs`. `env`: for this command only. */
  run(command: string, env: Readonly<Record<string, string>>, patienceMs: number): Promise<Ran>;
  /** Starts what goes on. */
  serve(command: string): Promise<Server>;
  close(): Promise<void>;
}

/** Longest wait for what was asked to end, and how often it is looked for. */
const STOP_MS = 20_000;
const LOOK_MS = 50;

/** A shell in `folder`; `notes`: a folder for what it types and what is printed. */
export function createShell(folder: string, notes: string, env: Readonly<Record<string, string>>): Shell {
  const child = spawn("bash", ["--noprofile", "--norc"], {
    cwd: folder,
    env,
    detached: true,
    stdio: ["pipe", "ignore", "ignore", "pipe"],
  });
  const stdin = child.stdin;
  const heard = listenTo(child.stdio[3] as Readable);
  const ended = new Promise<void>((done) => child.once("close", () => done()));
  let count = 0;
  const file = (command: string) => {
    count += 1;
    const script = join(notes, `${count}.sh`);
    writeFileSync(script, `${command}\n`);
    // There before anybody looks.
    writeFileSync(join(notes, `${count}.out`), "");
    return { script: quoted(script), out: quoted(join(notes, `${count}.out`)), read: join(notes, `${count}.out`) };
  };
  stdin?.write("set -o pipefail\n");
  return {
    async run(command, more, patienceMs) {
      const { script, out, read } = file(command);
      const set = Object.entries(more).map(([name, value]) => `export ${name}=${quoted(value)}`);
      stdin?.write(`${set.join("; ") || ":"}; . ${script} >${out} 2>&1 </dev/null; echo "ran $?" >&3\n`);
      const word = await Promise.race([heard(), ended.then(() => "gone"), after(patienceMs)]);
      const text = readFileSync(read, "utf8");
      if (word === undefined) throw new Error(`does not end within ${patienceMs / 1000} s; so far it said:\n${text}`);
      if (word === "gone") throw new Error(`ends the shell, and with it the reader's terminal:\n${text}`);
      return { code: Number(word.slice("ran ".length)), text };
    },
    async serve(command) {
      const { script, out, read } = file(command);
      // A group of its own, as for every job of an interactive shell: npx and what it starts are stopped together.
      stdin?.write(
        `set -m; { . ${script}; echo "over $?" >>${out}; } >${out} 2>&1 </dev/null & set +m; echo "is $!" >&3\n`,
      );
      const pid = Number((await heard()).slice("is ".length));
      const text = () => readFileSync(read, "utf8");
      const code = () => {
        const [, over] = /^over (\d+)$/m.exec(text()) ?? [];
        return over === undefined ? undefined : Number(over);
      };
      return {
        text,
        code,
        stop: async () => {
          signal(pid, "SIGTERM");
          stdin?.write(`wait ${pid}; echo "waited" >&3\n`);
          const end = Date.now() + STOP_MS;
          await Promise.race([heard(), ended, after(STOP_MS)]);
          // The shell of the group ends at once. What it started may serve for seconds more, and keeps its ports until then.
          while (signal(pid, 0)) {
            if (Date.now() > end) signal(pid, "SIGKILL");
            await after(LOOK_MS);
          }
        },
      };
    },
    async close() {
      if (child.pid !== undefined) signal(child.pid, "SIGKILL");
      await ended;
    },
  };
}

/** To a whole group; false when it is gone. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, name);
  } catch {
    return false;
  }
}

function after(ms: number): Promise<undefined> {
  return new Promise((done) => setTimeout(() => done(undefined), ms).unref());
}

/** Gives each line in turn. */
function listenTo(stream: Readable): () => Promise<string> {
  const lines: string[] = [];
  const waiting: ((line: string) => void)[] = [];
  let rest = "";
  stream.setEncoding("utf8").on("data", (piece: string) => {
    const parts = (rest + piece).split("\n");
    rest = parts.pop() ?? "";
    for (const line of parts) {
      const next = waiting.shift();
      if (next === undefined) lines.push(line);
      else next(line);
    }
  });
  return () => {
    const line = lines.shift();
    return line === undefined ? new Promise((done) => waiting.push(done)) : Promise.resolve(line);
  };
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
