/** Makes explanations as the command does. */
import { type CommandOptions, type CommandResult, runCommand } from "../../../scripts/command.ts";
import { loadCatalogue } from "../../../src/catalogue/catalogue.ts";
import { assumedConfig } from "../../../src/config/config.ts";
import { createExplain, type Explain } from "../../../src/runtime/explain/explain.ts";
import type { Explanation } from "../../../src/runtime/explain/explanation.ts";
import { readRequest } from "../../../src/runtime/explain/request.ts";
import { EXAMPLES } from "../../support/examples.ts";

/** `carryover explain` with these words, in this process. */
export const explainWith = (words: readonly string[], options?: CommandOptions): Promise<CommandResult> =>
  runCommand(["explain", ...words], options);

const catalogue = loadCatalogue("v2beta1");
/** By flags: what an explanation is made with takes longer to build than the explanation. */
const explains = new Map<string, Promise<Explain>>();

/**
 * The explanation of a request as JSON has it, without the command around it. `flags` are options as on the command line
 * (`--fallback`, `refuse`), and `-H` with a header field.
 */
export async function explained(request: string, body?: unknown, ...flags: readonly string[]): Promise<Explanation> {
  const options: Record<string, string> = {};
  const headers: string[] = [];
  for (let at = 0; at < flags.length; at += 2) {
    const [name = "", value = ""] = flags.slice(at, at + 2);
    if (name === "-H") headers.push(value);
    else options[name.slice(2).replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())] = value;
  }
  const data = typeof body === "string" ? body : JSON.stringify(body);
  const asked = readRequest(
    { text: request, headers, ...(body === undefined ? {} : { data }) },
    () => new Uint8Array(),
  );
  return JSON.parse(JSON.stringify(await (await explainWithOptions(options))(asked))) as Explanation;
}

function explainWithOptions(flags: Readonly<Record<string, string>>): Promise<Explain> {
  const key = JSON.stringify(flags);
  const { config } = assumedConfig({ flags, env: {}, readFile: () => new Uint8Array() });
  const made = explains.get(key) ?? catalogue.then((known) => createExplain(config, known, EXAMPLES));
  explains.set(key, made);
  return made;
}
