/** Reads the file of `shadow.matchersFile`: how members are compared that may differ. */
import type { FieldMatcher } from "../model/matcher.ts";
import { didYouMean, nearest } from "../model/text.ts";
import { ConfigError, type ConfigFault, shownValue } from "./faults.ts";
import { seconds } from "./values.ts";
import { readConfigFile } from "./yaml-file.ts";

const WORDS = ["ignore", "set", "unordered"] as const;
const EXPECTED = `expected ${WORDS.join(", ")}, or within: and a duration such as 5s`;
const PATH = /^([a-z][a-z-]{0,63})\.([\x21-\x7e]{1,256}?)(?:\[\])?$/;
/** No clock is so wrong, and no platform so slow. */
const MAX_SECONDS = 86_400;
const Within = seconds(0.001, MAX_SECONDS);
const MAX_BYTES = 256 * 1024;

/** Throws ConfigError with every fault and its line. */
export function readMatchers(bytes: Uint8Array, name: string): readonly FieldMatcher[] {
  if (bytes.length > MAX_BYTES) {
    const what = `${bytes.length} bytes are more than ${MAX_BYTES / 1024} KiB`;
    throw new ConfigError([{ where: `${name}:1:1`, what, remedy: "ignore whole members rather than their parts" }]);
  }
  const text = new TextDecoder().decode(bytes);
  const habits = { nulls: "keep", of: "matchers", begin: "group.description: ignore" } as const;
  const file = readConfigFile({ name, text }, habits);
  const faults: ConfigFault[] = [...file.faults];
  const matchers = Object.entries(file.tree).flatMap(([key, value]) => {
    const matcher = matcherOf(key, value);
    if (!("what" in matcher)) return [matcher];
    faults.push({ where: file.at([], key) ?? name, ...matcher });
    return [];
  });
  if (faults.length > 0) throw new ConfigError(faults);
  return matchers;
}

function matcherOf(key: string, value: unknown): FieldMatcher | Pick<ConfigFault, "what" | "remedy"> {
  const [, resource, path] = PATH.exec(key) ?? [];
  if (resource === undefined || path === undefined) {
    return { what: "this names no member", remedy: "write RESOURCE.PATH, such as group.description" };
  }
  const word = WORDS.find((each) => each === value);
  if (word !== undefined) return { resource, path, match: word, withinMs: 0 };
  const within = withinOf(value);
  if (within !== undefined) return { resource, path, match: "time", withinMs: within * 1000 };
  return { what: `got ${shownValue(value)}`, remedy: EXPECTED };
}

function withinOf(value: unknown): number | undefined {
  if (typeof value !== "object" || value === null || Object.keys(value).join() !== "within") return undefined;
  const read = Within.safeParse((value as { readonly within: unknown }).within);
  return read.success ? read.data : undefined;
}

/** Matchers of resources that there are not. */
export function unknownMatchers(
  matchers: readonly FieldMatcher[],
  known: readonly string[],
  file: string,
): readonly ConfigFault[] {
  return matchers
    .filter(({ resource }) => !known.includes(resource))
    .map(({ resource, path }) => ({
      where: `${file} ${resource}.${path}`,
      what: `there is no resource ${JSON.stringify(resource)}`,
      remedy: didYouMean(nearest(resource, known)),
    }));
}
