/** How does a test get an explanation, as the command makes it? */
import { run } from "../../src/cli.ts";
import type { Explanation } from "../../src/explain/explanation.ts";

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

/** The explanation of a request as JSON has it; fails when it cannot be explained. */
export async function explained(request: string, body?: unknown, ...flags: readonly string[]): Promise<Explanation> {
  const data = body === undefined ? [] : ["-d", typeof body === "string" ? body : JSON.stringify(body)];
  const { out, err } = await explainWith([request, ...data, "--json", ...flags]);
  if (out === "") throw new Error(err);
  return JSON.parse(out) as Explanation;
}
