/** The credentials of a replay: one for all clients, or one for each. */
import { CHECK_TOKEN_VARIABLE } from "../../config/command-variables.ts";
import { ArgumentError } from "../../config/faults.ts";
import type { ReplayTokens } from "../../replay/run.ts";
import type { CommandIo } from "../command.ts";
import { tokenFrom } from "../token-input.ts";

export interface GivenTokens extends ReplayTokens {
  /** Whether requests of this client can be replayed. */
  has(client: string): boolean;
  /** All of them, to be kept out of everything that is printed. */
  all(): readonly string[];
}

interface TokenSource {
  readonly name: string;
  token: string | undefined;
  read(): string | undefined;
}

/** `given`: values of `--token-file`, `FILE` or `CLIENT=FILE`. Without any and without the variable, requests have no credential. */
export function readTokens(
  given: readonly string[],
  io: Pick<CommandIo, "env" | "readFile" | "readStdin">,
): GivenTokens {
  const named = new Map<string, TokenSource>();
  let others: TokenSource | undefined;
  for (const text of given) {
    const sign = text.indexOf("=");
    const [client, file] = sign < 0 ? [undefined, text] : [text.slice(0, sign), text.slice(sign + 1)];
    const source = sourceOf(file, io);
    const isTwice = client === undefined ? others !== undefined : named.has(client);
    if (isTwice) {
      const what = `there are two tokens for ${client === undefined ? "all clients" : JSON.stringify(client)}`;
      throw new ArgumentError({ where: "--token-file", what, remedy: "give one; CLIENT=FILE is for one client" });
    }
    if (client === undefined) others = source;
    else named.set(client, source);
  }
  const value = io.env[CHECK_TOKEN_VARIABLE];
  if (others === undefined && value !== undefined && value !== "") {
    others = sourceFrom(CHECK_TOKEN_VARIABLE, () =>
      tokenFrom({ file: undefined, variable: { name: CHECK_TOKEN_VARIABLE, value } }, io),
    );
  }
  const of = (client: string): TokenSource | undefined => named.get(client) ?? others;
  return {
    has: (client) => of(client) !== undefined || named.size === 0,
    of: (client) => of(client)?.token,
    nameOf: (client) => of(client)?.name ?? "--token-file",
    renew(client) {
      const source = of(client);
      if (source === undefined) return false;
      const before = source.token;
      try {
        source.token = source.read();
      } catch {
        // It may be written at this moment; the old one is refused anyway.
        return false;
      }
      return source.token !== before;
    },
    all: () => [...named.values(), others].flatMap((source) => source?.token ?? []),
  };
}

function sourceOf(file: string, io: Pick<CommandIo, "readFile" | "readStdin">): TokenSource {
  const read = () => tokenFrom({ file, variable: { name: "", value: undefined } }, io);
  return file === "-" ? sourceOnce("standard input", read) : sourceFrom(file, read);
}

function sourceFrom(name: string, read: () => string | undefined): TokenSource {
  return { name, token: read(), read };
}

/** Standard input can be read once. */
function sourceOnce(name: string, read: () => string | undefined): TokenSource {
  const token = read();
  return { name, token, read: () => token };
}
