/** With which configuration and which catalogue does a carryover begin? */
import { type Catalogue, catalogueVersions, loadCatalogue } from "./catalogue.ts";
import { ConfigError } from "./config/fault.ts";
import { type Config, type ConfigInput, loadConfig } from "./config.ts";

export interface Prepared {
  readonly config: Config;
  readonly catalogue: Catalogue;
  /** What works and is probably not meant. */
  readonly warnings: readonly string[];
}

/** Throws ConfigError with all that is wrong. */
export async function prepare(input: ConfigInput): Promise<Prepared> {
  const { config, warnings, requireKnown } = loadConfig(input);
  const catalogue = await catalogueFor(config.upstream.v2.version);
  requireKnown(catalogue.resources.map(({ name }) => name));
  return { config, catalogue, warnings };
}

/** A version that nobody wrote a catalogue for is a fault of the configuration, not of the program. */
async function catalogueFor(version: string): Promise<Catalogue> {
  const known = await catalogueVersions();
  if (known.includes(version)) return loadCatalogue(version);
  const what = `there is no catalogue for ${JSON.stringify(version)}`;
  throw new ConfigError([{ where: "upstream.v2.version", what, remedy: `known versions: ${known.join(", ")}` }]);
}
