/** The token that a command is given. It is never on the command line itself: other users of the machine can read that. */
import { ArgumentError } from "../config/faults.ts";
import { isTokenText } from "../config/values.ts";
import { bearerToken } from "../model/authorization.ts";
import type { CommandIo } from "./command.ts";

export interface TokenInput {
  /** Of `--token-file`; `-` is standard input. Wins over the variable. */
  readonly file: string | undefined;
  readonly variable: { readonly name: string; readonly value: string | undefined };
}

/** The token, without the scheme (`Bearer`) that may have been pasted with it. Undefined without a token. Throws ArgumentError. */
export function tokenFrom(
  { file, variable }: TokenInput,
  io: Pick<CommandIo, "readFile" | "readStdin">,
): string | undefined {
  const { name, value = "" } = variable;
  if (file === undefined && value === "") return undefined;
  const token = bearerToken(file === undefined ? value : readText(file, io));
  if (token !== undefined && isTokenText(token)) return token;
  const where = file === undefined ? name : "--token-file";
  throw new ArgumentError({
    where,
    what: "this holds no token",
    remedy: "put one word of visible ASCII characters into it",
  });
}

function readText(file: string, { readFile, readStdin }: Pick<CommandIo, "readFile" | "readStdin">): string {
  try {
    return new TextDecoder().decode(file === "-" || file === "/dev/stdin" ? readStdin() : readFile(file));
  } catch (error) {
    const what = `${file} cannot be read (${error instanceof Error ? error.message : String(error)})`;
    throw new ArgumentError({ where: "--token-file", what, remedy: "name a file that is there" });
  }
}
