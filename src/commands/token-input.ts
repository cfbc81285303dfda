/** Which token was given to a command? (Never on the command line itself: others on the machine can read that.) */
import { readSync } from "node:fs";
import type { ConfigInput } from "../config/config.ts";
import { ConfigError } from "../config/faults.ts";
import { isTokenText } from "../config/values.ts";

const STDIN: ReadonlySet<string> = new Set(["-", "/dev/stdin"]);
const PAUSE_MS = 20;
/** No token is longer. */
const MOST_BYTES = 1024 * 1024;

/** Where a token may be read. Both throw when it cannot. */
export interface TokenSources {
  readonly readFile: ConfigInput["readFile"];
  readonly readStdin: () => Uint8Array;
}

export interface TokenInput {
  /** Of `--token-file`, `-` for standard input; wins over the variable. */
  readonly file: string | undefined;
  readonly variable: { readonly name: string; readonly value: string | undefined };
  readonly sources: TokenSources;
  /** Takes away what is no part of the token, behind the white space around it. */
  readonly clean?: (text: string) => string;
}

/** Undefined when there is none. Throws ConfigError. */
export function tokenFrom({ file, variable, sources, clean }: TokenInput): string | undefined {
  if (file === undefined && (variable.value ?? "") === "") return undefined;
  const where = file === undefined ? variable.name : "--token-file";
  const text = (file === undefined ? (variable.value ?? "") : readText(file, where, sources)).trim();
  const token = clean === undefined ? text : clean(text);
  if (isTokenText(token)) return token;
  throw new ConfigError([
    { where, what: "this holds no token", remedy: "put one word of visible ASCII characters into it" },
  ]);
}

function readText(file: string, where: string, { readFile, readStdin }: TokenSources): string {
  try {
    return new TextDecoder().decode(STDIN.has(file) ? readStdin() : readFile(file));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigError([{ where, what: `${file} cannot be read (${why})`, remedy: "name a file that is there" }]);
  }
}

/** All of standard input, by its descriptor: a socket cannot be opened as `/dev/stdin`. Throws as `node:fs` does. */
export function readStdin(): Uint8Array {
  const all = new Uint8Array(MOST_BYTES);
  for (let length = 0; ; ) {
    const read = readSome(all.subarray(length));
    length += read ?? 0;
    if (read === 0) return all.subarray(0, length);
  }
}

/** Bytes read; 0 at the end. Undefined when nothing is there yet: a descriptor that others share may refuse to wait. */
function readSome(into: Uint8Array): number | undefined {
  try {
    return readSync(0, into);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EOF") return 0;
    if (code !== "EAGAIN") throw error;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    return undefined;
  }
}
