/** Runs a command of carryover in this process, as a person would type it. */
import type { CheckIo } from "../../src/check/command.ts";
import { type Io, run } from "../../src/cli.ts";
import type { ReportIo } from "../../src/report/command.ts";

export interface Ran {
  readonly code: number | undefined;
  readonly out: string;
  readonly err: string;
  /** Files that it wrote. */
  readonly written: ReadonlyMap<string, string>;
}

interface Around {
  readonly env?: Readonly<Record<string, string>>;
  /** The only files that there are. */
  readonly files?: Readonly<Record<string, string>>;
  readonly fetch?: typeof fetch;
}

export async function command(words: readonly string[], around: Around = {}): Promise<Ran> {
  const { env = {}, files = {}, fetch } = around;
  const written = new Map<string, string>();
  let out = "";
  let err = "";
  const io: Io & CheckIo & ReportIo = {
    env,
    terminal: false,
    readFile: (path) => {
      const text = files[path];
      if (text === undefined) throw Object.assign(new Error(`ENOENT: no such file '${path}'`), { code: "ENOENT" });
      return new TextEncoder().encode(text);
    },
    readStdin: () => new Uint8Array(),
    writeFile: (path, text) => void written.set(path, text),
    print: (text) => {
      out += `${text}\n`;
    },
    warn: (text) => {
      err += `${text}\n`;
    },
    onReload: () => {},
    onExit: () => {},
    onStop: () => {},
    ...(fetch === undefined ? {} : { fetch }),
  };
  const code = await run(words, io);
  return { code, out, err, written };
}
