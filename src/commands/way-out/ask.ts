/** Asks instances for what commands about single clients need: the progress of all of them, and their catalogue. */
import { catalogueVersions, loadCatalogue } from "../../catalogue/catalogue.ts";
import type { Fleet } from "../../fleet/fleet.ts";
import type { MergedProgress } from "../../fleet/merge.ts";
import type { ClientEntry } from "../../ledger/entry.ts";
import type { WayOutOptions } from "../../ledger/way-out.ts";
import type { CommandIo } from "../command.ts";
import { readAddresses, readAdminToken, readTimeout } from "../report/arguments.ts";
import { oneLine } from "../terminal.ts";

export interface AskFlags {
  readonly tokenFile?: string;
  readonly timeout: string;
}

export interface Asked {
  readonly fleet: Fleet;
  /** All instances as one. */
  readonly merged: MergedProgress;
  readonly options: WayOutOptions;
  /** An instance could return any text, even the token. */
  readonly clean: (text: string) => string;
}

/** Undefined if no instance responded. Warns of those that did not. */
export async function askAll(args: readonly string[], flags: AskFlags, io: CommandIo): Promise<Asked | undefined> {
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
  return { fleet, merged, options: await optionsOf(fleet), clean };
}

/** Asks as `askAll` does, and finds one client. Undefined, after a warning, if no instance knows it. */
export async function askAbout(
  client: string,
  args: readonly string[],
  flags: AskFlags,
  io: CommandIo,
): Promise<(Asked & { readonly entry: ClientEntry }) | undefined> {
  const asked = await askAll(args, flags, io);
  if (asked === undefined) return undefined;
  const entry = asked.merged.ledger.clients.find(({ name }) => name === client);
  if (entry !== undefined) return { ...asked, entry };
  const { unknownClient } = await import("../report/names.ts");
  io.warn(asked.clean(unknownClient(client, asked.fleet.results) ?? `no instance knows a client ${oneLine(client)}`));
  return undefined;
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
