/** Real servers for tests: Redis 7.0, Valkey 8.1 and 9.1. (`scripts/install-state-tools.sh` installs them.) */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createConnection } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { freePorts } from "../../../scripts/free-ports.mjs";

const TOOLS = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "carryover-ci/state");
export const SERVERS = ["redis-server", "valkey-8.1", "valkey-9.1"] as const;
export type ServerName = (typeof SERVERS)[number];

export interface Server {
  readonly port: number;
  readonly url: string;
  /** Sends one command, and resolves to the first reply as text. */
  run(...words: readonly string[]): Promise<string>;
  signal(name: NodeJS.Signals): void;
  /** Kills it without saving, and starts it again on the same port, with what it saved. */
  restart(): Promise<void>;
  kill(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a server without files unless `words` say otherwise. */
export async function startServer(name: ServerName, ...words: readonly string[]): Promise<Server> {
  const program = join(TOOLS, "bin", name);
  if (!existsSync(program)) throw new Error(`${program} is not there: run scripts/install-state-tools.sh`);
  const [port = 0] = await freePorts(1);
  const folder = mkdtempSync(join(tmpdir(), "carryover-store-"));
  const base = ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, "--save", ""];
  let child: ChildProcess | undefined;
  const run = (...command: readonly string[]) => commandOf(port, command);
  const start = async (): Promise<void> => {
    child = spawn(program, [...base, ...words], {
      stdio: "ignore",
      env: { ...process.env, LD_LIBRARY_PATH: join(TOOLS, "lib") },
    });
    for (let tries = 0; ; tries++) {
      const reply = await run("PING").catch(() => "");
      if (/PONG|NOAUTH|WRONGPASS|NOPERM/.test(reply)) return;
      if (tries > 1_000) throw new Error(`${name} does not start: ${reply}`);
      await setTimeout(20);
    }
  };
  const kill = async (): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  await start();
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    run,
    signal: (signal) => void child?.kill(signal),
    restart: async () => {
      await kill();
      await start();
    },
    kill,
    start,
    close: async () => {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** By a connection of its own, so that tests do not depend on the client that they test. */
async function commandOf(port: number, words: readonly string[]): Promise<string> {
  const socket = createConnection({ port, host: "127.0.0.1" });
  try {
    await once(socket, "connect");
    socket.write(`*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join("")}`);
    const [bytes] = await once(socket, "data", { signal: AbortSignal.timeout(2_000) });
    return String(bytes);
  } finally {
    socket.destroy();
  }
}
