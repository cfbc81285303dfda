/** With which credential does a check ask? (Never from the command line itself: others on the machine can read that.) */

import { ConfigError } from "../config/fault.ts";
import type { ConfigInput } from "../config.ts";

/** The variable that may hold the token. It belongs to this command: no option has it. */
export const TOKEN_VARIABLE = "CARRYOVER_CHECK_TOKEN";
const STDIN = "/dev/stdin";

/** `file`: of `--token-file`, `-` for standard input; wins over `variable`. Undefined when there is none. Throws ConfigError. */
export function readToken(
  file: string | undefined,
  variable: string | undefined,
  readFile: ConfigInput["readFile"],
): string | undefined {
  const where = file === undefined ? TOKEN_VARIABLE : "--token-file";
  const text = file === undefined ? variable : readText(file === "-" ? STDIN : file, where, readFile);
  if (text === undefined || (file === undefined && text === "")) return undefined;
  const token = text.trim().replace(/^bearer +/i, "");
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new ConfigError([
    { where, what: "this holds no token", remedy: "put one word of visible ASCII characters into it" },
  ]);
}

function readText(file: string, where: string, readFile: ConfigInput["readFile"]): string {
  try {
    return new TextDecoder().decode(readFile(file));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigError([{ where, what: `${file} cannot be read (${why})`, remedy: "name a file that is there" }]);
  }
}
