/** The configuration of a process, with the catalogue of its version of v2. */
import { type Catalogue, catalogueVersions, loadCatalogue } from "../catalogue/catalogue.ts";
import { type Config, type ConfigInput, loadConfig } from "../config/config.ts";
import { ConfigError } from "../config/faults.ts";

export interface ConfigWithCatalogue {
  readonly config: Config;
  readonly catalogue: Catalogue;
  /** Settings that work but are probably not intended. */
  readonly warnings: readonly string[];
}

/** Throws ConfigError with every fault. */
export async function loadConfigWithCatalogue(input: ConfigInput): Promise<ConfigWithCatalogue> {
  const { config, warnings, requireKnown } = loadConfig(input);
  const catalogue = await catalogueFor(config.upstream.v2.version);
  requireKnown(catalogue);
  return { config, catalogue, warnings };
}

/** Throws ConfigError for a version without a catalogue. */
async function catalogueFor(version: string): Promise<Catalogue> {
  const known = await catalogueVersions();
  if (known.includes(version)) return loadCatalogue(version);
  const what = `there is no catalogue for ${JSON.stringify(version)}`;
  throw new ConfigError([{ where: "upstream.v2.version", what, remedy: `known versions: ${known.join(", ")}` }]);
}
