/** The token that a command is given. It is never on the command line itself: other users of the machine can read that. */
import { ConfigError } from "../config/faults.ts";
import { isTokenText } from "../config/values.ts";
import type { CommandIo } from "./command.ts";

export interface TokenInput {
  /** Of `--token-file`; `-` is standard input. Wins over the variable. */
  readonly file: string | undefined;
  readonly variable: { readonly name: string; readonly value: string | undefined };
  /** Removes what is not part of the token. */
  readonly clean?: (text: string) => string;
}

/** Undefined when there is none. Throws ConfigError. */
export function tokenFrom(
  { file, variable, clean = (text) => text }: TokenInput,
  io: Pick<CommandIo, "readFile" | "readStdin">,
): string | undefined {
  const { name, value = "" } = variable;
  if (file === undefined && value === "") return undefined;
  const token = clean((file === undefined ? value : readText(file, io)).trim());
  if (isTokenText(token)) return token;
  const where = file === undefined ? name : "--token-file";
  throw new ConfigError([
    { where, what: "this holds no token", remedy: "put one word of visible ASCII characters into it" },
  ]);
}

function readText(file: string, { readFile, readStdin }: Pick<CommandIo, "readFile" | "readStdin">): string {
  try {
    return new TextDecoder().decode(file === "-" || file === "/dev/stdin" ? readStdin() : readFile(file));
  } catch (error) {
    const what = `${file} cannot be read (${error instanceof Error ? error.message : String(error)})`;
    throw new ConfigError([{ where: "--token-file", what, remedy: "name a file that is there" }]);
  }
}
