/** Runs carryover's command line in this process, as a person would type it. */
import { readFileSync, writeFileSync } from "node:fs";
import { run } from "../src/cli.ts";
import type { CommandIo } from "../src/commands/command.ts";

export interface CommandOptions extends Partial<Pick<CommandIo, "env" | "isTerminal" | "fetch" | "onReload">> {
  /** The only files that there are, or those of the real disk. */
  readonly files?: Readonly<Record<string, string>> | "disk";
  readonly stdin?: string;
  /** Receives the way to stop the command. */
  readonly onStop?: (stop: () => Promise<void>) => void;
}

export interface CommandResult {
  /** Undefined while what the command started goes on. */
  readonly code: number | undefined;
  readonly out: string;
  readonly err: string;
  /** Files that it wrote, unless to the real disk. */
  readonly written: ReadonlyMap<string, string>;
}

export async function runCommand(
  words: readonly string[],
  { files = {}, stdin = "", onStop, ...options }: CommandOptions = {},
): Promise<CommandResult> {
  const written = new Map<string, string>();
  let out = "";
  let err = "";
  const io: CommandIo = {
    env: {},
    isTerminal: false,
    fetch,
    onReload: () => {},
    ...options,
    readFile: (path) => {
      if (files === "disk") return readFileSync(path);
      const text = files[path];
      if (text === undefined) throw Object.assign(new Error(`ENOENT: no such file '${path}'`), { code: "ENOENT" });
      return Buffer.from(text);
    },
    writeFile: (path, contents, replace) => {
      if (files === "disk") writeFileSync(path, contents, { flag: replace ? "w" : "wx" });
      else written.set(path, Buffer.from(contents as string).toString());
    },
    readStdin: () => Buffer.from(stdin),
    print: (text) => {
      out += `${text}\n`;
    },
    warn: (text) => {
      err += `${text}\n`;
    },
    onExit: () => {},
    onStop: (stop) => onStop?.(() => stop(0)),
  };
  const code = await run(words, io);
  return { code, out, err, written };
}
