/** Writes the runs of docs/status.md. */
import { runCommand } from "../command.ts";
import { upToNumbers, withBlock } from "./blocks.ts";
import { onInstances } from "./report.ts";

/** What each command prints, by the name of its block. The second address does not respond. */
const RUNS: readonly (readonly [
  block: string,
  argv: (one: string, silent: string) => readonly string[],
  code: number,
])[] = [
  ["status", (one, silent) => ["status", one, silent], 2],
  ["gate", (one) => ["gate", "everything-else", one], 1],
  ["events", (one, silent) => ["events", one, silent], 2],
];

/** A longer number may move the break of a line. */
function upToNumbersAndBreaks(text: string): string {
  return upToNumbers(text).replaceAll(/\s+/g, " ");
}

/** `docs/status.md`, from the page as it is. */
export async function statusPage(page: string): Promise<string> {
  return onInstances(async ([one = "", silent = ""], real) => {
    let now = page;
    for (const [block, argv, expected] of RUNS) {
      const { code, out, err } = await runCommand(argv(one, silent), { fetch: real });
      if (code !== expected) throw new Error(`docs/status.md: ${block} ended with ${code}: ${err}`);
      now = withBlock(now, `run: ${block}`, `\`\`\`\n${out.trimEnd()}\n\`\`\``, upToNumbersAndBreaks);
    }
    return now;
  });
}
