/** With which credential does a check ask? */
import { type TokenSources, tokenGiven } from "../token-given.ts";

/** The variable that may hold the token. It belongs to this command: no option has it. */
export const TOKEN_VARIABLE = "CARRYOVER_CHECK_TOKEN";
/** For a person who gave none. */
export const HOW_TO_GIVE = `with --token-file FILE (- is standard input) or in ${TOKEN_VARIABLE}`;

/** `file`: of `--token-file`, `-` for standard input; wins over `variable`. Undefined when there is none. Throws ConfigError. */
export function readToken(
  file: string | undefined,
  variable: string | undefined,
  sources: TokenSources,
): string | undefined {
  return tokenGiven({ file, variable: { name: TOKEN_VARIABLE, value: variable }, sources, clean: withoutScheme });
}

/** As it is pasted from a header. */
function withoutScheme(text: string): string {
  return text.replace(/^bearer +/i, "");
}
