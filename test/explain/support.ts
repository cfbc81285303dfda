/** How does a test get an explanation, as the command makes it? */
import { assumedConfig } from "../../src/assumed-config.ts";
import { loadCatalogue } from "../../src/catalogue.ts";
import { run } from "../../src/cli.ts";
import type { Explanation } from "../../src/explain/explanation.ts";
import { readRequest } from "../../src/explain/input.ts";
import { createExplain, type Explain } from "../../src/explain.ts";

export interface Printed {
  readonly code: number | undefined;
  readonly out: string;
  readonly err: string;
}

export interface Around {
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly terminal?: boolean;
}

/** `carryover explain` with these words, in this process. */
export async function explainWith(words: readonly string[], around: Around = {}): Promise<Printed> {
  let out = "";
  let err = "";
  const io = {
    env: around.env ?? {},
    readFile: (path: string) => {
      const text = around.files?.[path];
      if (text === undefined) throw new Error(`ENOENT: no such file, open '${path}'`);
      return new TextEncoder().encode(text);
    },
    print: (text: string) => {
      out += `${text}\n`;
    },
    warn: (text: string) => {
      err += `${text}\n`;
    },
    onReload: () => {},
    onExit: () => {},
    onStop: () => {},
    readStdin: () => new TextEncoder().encode(around.stdin ?? ""),
    terminal: around.terminal ?? false,
  };
  const code = await run(["explain", ...words], io);
  return { code, out, err };
}

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
  const made = explains.get(key) ?? catalogue.then((known) => createExplain(config, known));
  explains.set(key, made);
  return made;
}
