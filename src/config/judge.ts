/** What does the schema say about what was gathered, in words that name the place? */
import { ConfigError, didYouMean, type Fault, nearest } from "./fault.ts";
import { show, valueAt, wordsFor } from "./issue.ts";
import type { Option } from "./options.ts";
import { type Settings, SettingsSchema } from "./schema.ts";
import type { Gathered } from "./sources.ts";

type Issue = NonNullable<ReturnType<typeof SettingsSchema.safeParse>["error"]>["issues"][number];

/** The settings of a gathered tree. Throws ConfigError with the faults of the sources and of the schema. */
export function judge(gathered: Gathered, options: readonly Option[]): Settings {
  const result = SettingsSchema.safeParse(withUpstream(gathered.tree));
  if (result.success && gathered.faults.length === 0) return result.data;
  // A file that is no YAML gave no values at all: what the schema misses then is no news.
  const issues = result.success || gathered.broken ? [] : result.error.issues;
  throw new ConfigError([...gathered.faults, ...issues.flatMap((issue) => faultsOf(issue, gathered, options))]);
}

/** So that a missing address is reported as `upstream.v2.url`, not as `upstream`. */
function withUpstream(tree: Record<string, unknown>): Record<string, unknown> {
  const upstream = tree["upstream"] ?? {};
  if (typeof upstream !== "object" || Array.isArray(upstream)) return tree;
  return { ...tree, upstream: { v2: {}, ...upstream } };
}

function faultsOf(issue: Issue, gathered: Gathered, options: readonly Option[]): readonly Fault[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      where: gathered.locateKey(issue.path, key),
      what: "there is no such option",
      remedy: didYouMean(nearestKey(issue.path, key, options)),
    }));
  }
  const path = issue.path.join(".");
  const where = gathered.locate(issue.path);
  const value = valueAt(gathered.tree, issue.path);
  const option = options.find((candidate) => candidate.path === path);
  if (value === undefined && option !== undefined) {
    return [{ where, what: "required, and not set", remedy: gathered.howToSet(option) }];
  }
  if (issue.code === "invalid_type" && issue.expected === "object") {
    return [{ where, what: `got ${show(value)}`, remedy: "expected a map of options" }];
  }
  return [{ where, ...wordsFor(issue.message, value) }];
}

/** A key of the same map that is spelt alike, else any option whose last part is just this key. */
function nearestKey(path: readonly PropertyKey[], key: string, options: readonly Option[]): string | undefined {
  const prefix = path.map((part) => `${String(part)}.`).join("");
  const siblings = options
    .filter((option) => option.path.startsWith(prefix))
    .map((option) => option.path.slice(prefix.length).split(".")[0] ?? "");
  const sibling = nearest(key, siblings);
  if (sibling !== undefined) return `${prefix}${sibling}`;
  return options.find((option) => option.path.endsWith(`.${key}`))?.path;
}
