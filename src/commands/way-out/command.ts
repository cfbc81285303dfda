/** The command `carryover way-out`: what a client must change, or all of them, over all instances. */
import type { Command } from "commander";
import { catalogueVersions, loadCatalogue } from "../../catalogue/catalogue.ts";
import { ConfigError } from "../../config/faults.ts";
import type { Fleet } from "../../fleet/fleet.ts";
import type { LedgerSnapshot } from "../../ledger/entry.ts";
import type { WayOutOptions } from "../../ledger/way-out.ts";
import { counted } from "../../rules/words.ts";
import type { CommandIo, Outcome } from "../command.ts";
import { ADDRESSES_HELP, readAddresses, readAdminToken, readTimeout, TOKEN_HELP } from "../report/arguments.ts";
import { oneLine, printable } from "../terminal.ts";

interface WayOutFlags {
  readonly all?: string;
  readonly tokenFile?: string;
  readonly timeout: string;
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
  const asked = await askAll(args, flags, io);
  const entry = asked?.ledger.clients.find(({ name }) => name === client);
  if (asked === undefined) return 2;
  if (entry === undefined) {
    const { unknownClient } = await import("../report/names.ts");
    io.warn(asked.clean(unknownClient(client, asked.fleet.results) ?? `no instance knows a client ${oneLine(client)}`));
    return 2;
  }
  const { wayOut } = await import("../../ledger/way-out.ts");
  io.print(printable(asked.clean(wayOut(entry, asked.options))).trimEnd());
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
  const pages = wayOutPages(asked.ledger, asked.options).map(({ file, text }) => {
    return { file, text: printable(asked.clean(text)) };
  });
  const { removed } = await writePages(dir, pages);
  const gone = removed.length === 0 ? "" : `; ${counted(removed.length, "page")} of earlier runs removed`;
  io.print(`${dir}: ${counted(pages.length - 1, "client")}, and index.md${gone}`);
  return 0;
}

interface Asked {
  readonly fleet: Fleet;
  /** Of all instances. */
  readonly ledger: LedgerSnapshot;
  readonly options: WayOutOptions;
  /** An instance could return any text, even the token. */
  readonly clean: (text: string) => string;
}

/** Undefined if no instance responded. */
async function askAll(args: readonly string[], flags: WayOutFlags, io: CommandIo): Promise<Asked | undefined> {
  const addresses = readAddresses(args, io.env);
  const token = readAdminToken(flags.tokenFile, io.env, io);
  const [{ askFleet }, { fleetOf }, { merge }] = await Promise.all([
    import("../report/ask.ts"),
    import("../../fleet/fleet.ts"),
    import("../../fleet/merge.ts"),
  ]);
  const timeoutMs = readTimeout(flags.timeout);
  const results = await askFleet(addresses, { token, timeoutMs, fetch: io.fetch });
  const fleet = fleetOf(results);
  const clean = (text: string): string => (token === undefined ? text : text.replaceAll(token, "[token]"));
  for (const { address, fault } of fleet.silent) io.warn(clean(oneLine(`${address} ${fault}`)));
  const merged = merge([...fleet.instances, ...fleet.gone]);
  if (merged === undefined) return undefined;
  return { fleet, ledger: merged.ledger, options: await optionsOf(fleet), clean };
}

/** As the instances are configured; instances of older versions say nothing, and have the defaults. */
async function optionsOf({ instances }: Fleet): Promise<WayOutOptions> {
  const known = await catalogueVersions();
  const said = instances.flatMap(({ progress: { catalogue } }) => catalogue ?? []);
  const version = said.map((one) => one.version).find((one) => known.includes(one)) ?? known.at(-1) ?? "";
  const isPublished = said.length > 0 && said.every(({ recordTimes }) => recordTimes === "published");
  const { wayOutOptions } = await import("../../ledger/way-out.ts");
  return wayOutOptions(await loadCatalogue(version), isPublished ? "published" : "all");
}
