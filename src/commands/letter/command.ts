/** The command `carryover letter`: what to write to the teams of clients that still call v1. */
import type { Command } from "commander";
import { nearest } from "../../model/text.ts";
import type { CommandIo, Outcome } from "../command.ts";
import { ADDRESSES_HELP, readAddresses, readAdminToken, readTimeout, TOKEN_HELP } from "../report/arguments.ts";
import { oneLine, printable } from "../terminal.ts";

interface LetterFlags {
  readonly owner?: string;
  readonly tokenFile?: string;
  readonly timeout: string;
}

/** Exit code: 0; 2 if an instance did not respond, or none knows the owner. */
export function addLetter(program: Command, io: CommandIo, outcome: Outcome): void {
  program
    .command("letter")
    .description("print a letter to the teams of clients that still call v1, as Markdown, a part for each owner")
    .argument("[addresses...]", ADDRESSES_HELP)
    .option("--owner <name>", "only to this owner, as clients.names has it")
    .option("--token-file <file>", TOKEN_HELP)
    .option("--timeout <seconds>", "longest wait for an instance", "10")
    .action(async (addresses: readonly string[], flags: LetterFlags) => {
      outcome.code = await printLetter(addresses, flags, io);
    });
}

async function printLetter(args: readonly string[], { owner, ...flags }: LetterFlags, io: CommandIo): Promise<number> {
  const addresses = readAddresses(args, io.env);
  const token = readAdminToken(flags.tokenFile, io.env, io);
  const timeoutMs = readTimeout(flags.timeout);
  const [{ askFleet }, { fleetOf }, { merge }, { letter, letterOwners }] = await Promise.all([
    import("../report/ask.ts"),
    import("../../fleet/fleet.ts"),
    import("../../fleet/merge.ts"),
    import("../../fleet/letter.ts"),
  ]);
  const fleet = fleetOf(await askFleet(addresses, { token, timeoutMs, fetch: io.fetch }));
  // An instance could return any text, even the token.
  const clean = (text: string): string => (token === undefined ? text : text.replaceAll(token, "[token]"));
  for (const { address, fault } of fleet.silent) io.warn(clean(oneLine(`${address} ${fault}`)));
  const merged = merge([...fleet.instances, ...fleet.gone]);
  if (merged === undefined) return 2;
  const { clients, at } = merged.ledger;
  const owners = letterOwners({ clients });
  if (owner !== undefined && !owners.includes(owner)) {
    const near = nearest(owner, owners);
    const hint = near === undefined ? "no client with that owner called v1" : `did you mean ${near}?`;
    io.warn(clean(oneLine(`--owner: there is nothing to write to ${JSON.stringify(owner)}: ${hint}`)));
    return 2;
  }
  const text = letter({ clients, rules: fleet.rules, at, owner });
  io.print(
    printable(clean(text === "" ? "No client that is known called v1: there is nothing to write." : text)).trimEnd(),
  );
  return fleet.silent.length === 0 ? 0 : 2;
}
