/** Which configuration does a command mean that asks no platform anything? */
import { ConfigError } from "./config/fault.ts";
import { FILE_VARIABLE } from "./config/sources.ts";
import { type Config, type ConfigInput, loadConfig } from "./config.ts";

/** Where no address of v2 is needed. */
const NOWHERE = "http://v2.invalid";

/**
 * The configuration that `serve` would run with. An address of v2 may be missing (then `known` is false), and files that only
 * a running carryover needs (certificates, tokens) are not looked at. Throws ConfigError.
 */
export function assumedConfig({ flags, env, readFile }: ConfigInput): {
  readonly config: Config;
  readonly known: boolean;
} {
  const named = flags["config"] ?? env[FILE_VARIABLE];
  const input: ConfigInput = {
    flags,
    env,
    readFile: (path) => (path === named ? readFile(path) : Buffer.from("unread")),
    unread: true,
  };
  try {
    return { config: loadConfig(input).config, known: true };
  } catch (error) {
    const isMissing = error instanceof ConfigError && error.faults.every(({ where }) => where === "upstream.v2.url");
    if (!isMissing) throw error;
    return { config: loadConfig({ ...input, flags: { ...flags, upstreamV2Url: NOWHERE } }).config, known: false };
  }
}
