/** Which configuration does a command mean that asks no platform anything? */
import { ConfigError } from "./config/fault.ts";
import { type Config, type ConfigInput, loadConfig } from "./config.ts";

/** Where no address of v2 is needed. */
const NOWHERE = "http://v2.invalid";

/**
 * The configuration that `serve` would run with. An address of v2 may be missing (then `known` is false), and files that only
 * a running carryover needs (certificates, tokens) are not looked at, but for those of the options in `reads`. Throws ConfigError.
 */
export function assumedConfig(
  given: ConfigInput,
  reads: readonly string[] = [],
): {
  readonly config: Config;
  readonly known: boolean;
} {
  const input: ConfigInput = { ...given, reads };
  try {
    return { config: loadConfig(input).config, known: true };
  } catch (error) {
    const isMissing = error instanceof ConfigError && error.faults.every(({ where }) => where === "upstream.v2.url");
    if (!isMissing) throw error;
    return { config: loadConfig({ ...input, flags: { ...given.flags, upstreamV2Url: NOWHERE } }).config, known: false };
  }
}
