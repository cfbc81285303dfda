/** Runs `hostile.mjs` while a test runs. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { VENDOR_TYPES } from "../../../sandbox/src/data/vendor.ts";
import { later } from "../../support/take-down.ts";

export interface HostileReport {
  readonly seconds: number;
  /** How many calls of each attack ended how, in the client's eyes. */
  readonly outcomes: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

export interface Hostile {
  /** Ends it. */
  stop(): Promise<HostileReport>;
}

/** `ca`: the certificate of the authority at `url`. `tokens`: two credentials that the platform accepts. */
export function startHostile(target: {
  readonly url: string;
  readonly ca: string;
  readonly tokens: readonly [string, string];
}): Hostile {
  const words = [join(import.meta.dirname, "hostile.mjs"), JSON.stringify({ ...target, package: VENDOR_TYPES })];
  const child = spawn(process.execPath, words, { stdio: ["pipe", "pipe", "inherit"] });
  const gone = once(child, "exit");
  const said = text(child.stdout);
  later(async () => {
    child.kill("SIGKILL");
    await gone;
  });
  return {
    async stop() {
      child.stdin.end();
      return JSON.parse(await said);
    },
  };
}
