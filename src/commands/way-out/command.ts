/** The command `carryover way-out`: what a client must change, or all of them, over all instances. */
import type { Command } from "commander";
import { ConfigError } from "../../config/faults.ts";
import { counted } from "../../rules/words.ts";
import type { CommandIo, Outcome } from "../command.ts";
import { ADDRESSES_HELP, TOKEN_HELP } from "../report/arguments.ts";
import { printable } from "../terminal.ts";
import { type AskFlags, askAbout, askAll } from "./ask.ts";

interface WayOutFlags extends AskFlags {
  readonly all?: string;
}

/** Exit code: 0; 2 if an instance did not respond, or none knows the client. */
export function addWayOut(program: Command, io: CommandIo, outcome: Outcome): void {
  program
    .command("way-out")
    .description("print what a client must change to leave v1, as Markdown, or write a page for each client")
    .argument("[client]", "name of a client, as /clients shows it; with --all it is an address")
    .argument("[addresses...]", ADDRESSES_HELP)
    .option("--all <dir>", "write a page for each client, and index.md by owner, into this directory")
    .option("--token-file <file>", TOKEN_HELP)
    .option("--timeout <seconds>", "longest wait for an instance", "10")
    .action(async (client: string | undefined, addresses: readonly string[], flags: WayOutFlags) => {
      const { all } = flags;
      if (all !== undefined) {
        outcome.code = await writeAll(all, client === undefined ? [] : [client, ...addresses], flags, io);
        return;
      }
      if (client === undefined) {
        const remedy = "give the name of one, or --all DIR for a page each";
        throw new ConfigError([{ where: "carryover way-out", what: "it names no client", remedy }]);
      }
      outcome.code = await printOne(client, addresses, flags, io);
    });
}

async function printOne(client: string, args: readonly string[], flags: WayOutFlags, io: CommandIo): Promise<number> {
  const asked = await askAbout(client, args, flags, io);
  if (asked === undefined) return 2;
  const { wayOut } = await import("../../ledger/way-out.ts");
  io.print(printable(asked.clean(wayOut(asked.entry, asked.options))).trimEnd());
  return asked.fleet.silent.length === 0 ? 0 : 2;
}

/** Nothing is written while an instance is silent: the pages of clients that it alone knows would be removed. */
async function writeAll(dir: string, args: readonly string[], flags: WayOutFlags, io: CommandIo): Promise<number> {
  const asked = await askAll(args, flags, io);
  if (asked === undefined || asked.fleet.silent.length > 0) {
    io.warn(`nothing was written to ${dir}: not every instance responded`);
    return 2;
  }
  const [{ wayOutPages }, { writePages }] = await Promise.all([
    import("../../ledger/way-out-pages.ts"),
    import("./folder.ts"),
  ]);
  const pages = wayOutPages(asked.merged.ledger, asked.options).map(({ file, text }) => {
    return { file, text: printable(asked.clean(text)) };
  });
  const { removed } = await writePages(dir, pages);
  const gone = removed.length === 0 ? "" : `; ${counted(removed.length, "page")} of earlier runs removed`;
  io.print(`${dir}: ${counted(pages.length - 1, "client")}, and index.md${gone}`);
  return 0;
}
