/** Starts a carryover before a page begins, and waits until it is ready. */
import { spawn } from "node:child_process";
import { connect } from "node:net";
import { join } from "node:path";
import { ROOT } from "./pages.ts";

/** `npm ci && npm start` installs and builds first. */
const START_MS = 400_000;
const LOOK_MS = 50;

/** Starts `carryover serve` in `folder`; gives what stops it. Rejects with what it said when it does not start. */
export async function startCarryover(
  words: readonly string[],
  where: { readonly folder: string; readonly env: Readonly<Record<string, string>>; readonly admin: number },
): Promise<() => Promise<void>> {
  const child = spawn(process.execPath, [join(ROOT, "dist/main.js"), "serve", "--log-level", "warn", ...words], {
    cwd: where.folder,
    env: where.env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const ended = new Promise<void>((done) => child.once("close", () => done()));
  const stop = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  if (await isReady(where.admin, () => child.exitCode !== null)) return stop;
  await stop();
  throw new Error(`carryover does not start on the stage:\n${said}`);
}

/** Waits for `/readyz` on the admin port; false when `over()` comes first, or it takes too long. */
export function isReady(admin: number, over: () => boolean): Promise<boolean> {
  return until(over, async () => {
    const answer = await fetch(`http://127.0.0.1:${admin}/readyz`).catch(() => undefined);
    await answer?.arrayBuffer();
    return answer?.status === 200;
  });
}

/** Waits until somebody listens; false as above. */
export function isListening(port: number, over: () => boolean): Promise<boolean> {
  const tried = () =>
    new Promise<boolean>((done) => {
      const socket = connect(port, "127.0.0.1");
      socket.once("error", () => done(false));
      socket.once("connect", () => {
        socket.destroy();
        done(true);
      });
    });
  return until(over, tried);
}

async function until(over: () => boolean, holds: () => Promise<boolean>): Promise<boolean> {
  const end = Date.now() + START_MS;
  while (Date.now() < end && !over()) {
    if (await holds()) return true;
    await new Promise((done) => setTimeout(done, LOOK_MS));
  }
  return false;
}
