/** Which rules does a file hold, and what is wrong with it? (Design section 7.) */
import { findUnreachable } from "../cutover/unreachable.ts";
import { member } from "../model/json.ts";
import type { Rules } from "../model/rules.ts";
import { ConfigError, type Fault, textOf } from "./fault.ts";
import { type ConfigFile, readConfigFile } from "./file.ts";
import { digestOf } from "./rules/build.ts";
import { createExplainer, locate, tell, type Untold } from "./rules/faults.ts";
import { type ReadRule, type RulesContext, readRule } from "./rules/one.ts";
import { MAX_BYTES, MAX_RULES, OutlineSchema } from "./rules/schema.ts";

export type { RulesContext } from "./rules/one.ts";

/**
 * The rules of a file, or a `ConfigError` with everything that is wrong with it: it is taken as a whole or not at all. What
 * `context.now` says changes only what is said of rules that are over.
 */
export function readRules(
  bytes: Uint8Array,
  context: RulesContext,
): { readonly rules: Rules; readonly warnings: readonly string[] } {
  const text = textFrom(bytes, context.name);
  const habits = { nulls: "keep", of: "rules", begin: "version: carryover/v1" } as const;
  const file = readConfigFile({ name: context.name, text }, habits);
  const refuse = (untold: readonly Untold[]) => new ConfigError(tell(untold, context.name));
  if (file.faults.length > 0) throw refuse(file.faults.map((fault) => () => fault));
  const explain = createExplainer(file, context.name);
  const whole = OutlineSchema.safeParse(file.tree);
  const found = whole.success ? [] : whole.error.issues.flatMap((issue) => explain(issue, []));
  const listed: unknown = file.tree["rules"];
  const all: readonly unknown[] = Array.isArray(listed) ? listed.slice(0, MAX_RULES) : [];
  const read = all.map((given, at) => readRule(given, at, { file, context, explain }));
  const faults = [
    ...found,
    ...ofTheWhole(file, text, context),
    ...read.flatMap((rule) => rule.faults),
    ...namedTwice(all, file, context.name),
    ...hidden(read, file, context),
  ];
  if (faults.length > 0 || !whole.success) throw refuse(faults);
  const { force, fallback } = whole.data;
  const rules = Object.freeze(read.flatMap(({ rule }) => rule ?? []));
  return {
    rules: Object.freeze({ force, fallback, rules, digest: digestOf(bytes).slice(0, 12) }),
    warnings: [...halfForced(whole.data, file, context), ...read.flatMap(({ warnings }) => warnings)].map(textOf),
  };
}

/** The file as text, without a byte order mark. */
function textFrom(bytes: Uint8Array, name: string): string {
  const refuse = (what: string, remedy: string) => new ConfigError([{ where: `${name}:1:1`, what, remedy }]);
  if (bytes.length > MAX_BYTES)
    throw refuse(`${bytes.length} bytes are more than ${MAX_BYTES / 1024} KiB`, "split clients into fewer rules");
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (text.trim() !== "") return text;
  } catch {
    throw refuse("this is not UTF-8", "save it as UTF-8");
  }
  throw refuse("the file is empty", "write at least version: carryover/v1 and rules: []");
}

/** What does not concern one rule. */
function ofTheWhole(file: ConfigFile, text: string, { name, native }: RulesContext): readonly Untold[] {
  const faults: Untold[] = [];
  for (const key of ["force", "fallback"]) {
    if (native || member(file.tree, key) !== "native") continue;
    faults.push(() => ({
      where: locate(file, name, [key]),
      what: "native needs the platform's own v1, and upstream.v1.url is not set",
      remedy: `set upstream.v1.url, or ${key === "force" ? "force none or translate" : "refuse"}`,
    }));
  }
  if (member(file.tree, "endMark") === true && !/\n\.\.\.[ \t]*(\r?\n)?$/.test(text)) {
    faults.push(() => ({
      where: locate(file, name, ["endMark"]),
      what: "the last line of the file is not ...: it may have been cut off",
      remedy: "write the file to its end, with ... as its last line",
    }));
  }
  return faults;
}

/** `force: native` decides on what both versions have. Whoever takes everything back in a hurry must hear what stays refused. */
function halfForced(
  { force, fallback }: Partial<Pick<Rules, "force" | "fallback">>,
  file: ConfigFile,
  context: RulesContext,
): readonly Fault[] {
  if (force !== "native" || (fallback ?? context.fallback) !== "refuse") return [];
  return [
    {
      where: locate(file, context.name, ["force"]),
      what: "native leaves what v2 lacks refused with 501, for fallback is refuse",
      remedy: "write fallback: native to have native v1 serve that too",
    },
  ];
}

function namedTwice(all: readonly unknown[], file: ConfigFile, name: string): readonly Untold[] {
  const firsts = new Map<unknown, number>();
  return all.flatMap((given, at) => {
    const called = member(given, "name");
    const first = firsts.get(called);
    if (first === undefined) firsts.set(called, at);
    if (typeof called !== "string" || first === undefined) return [];
    return [
      () => {
        const line = file.placeOf(["rules", first])?.line;
        const what = `${JSON.stringify(called.slice(0, 64))} is the name of the rule in line ${line} too`;
        return { where: locate(file, name, ["rules", at, "name"]), what, remedy: "give each rule a name of its own" };
      },
    ];
  });
}

/** Rules that leave nothing to later ones, among those that are right by themselves. */
function hidden(
  read: readonly ReadRule[],
  file: ConfigFile,
  { name, resources, native }: RulesContext,
): readonly Untold[] {
  const places = new Map(read.flatMap(({ rule, at }) => (rule === undefined ? [] : [[rule, at] as const])));
  const subjects = resources.flatMap(({ name: resource, operations }) =>
    operations.map(({ name: operation, write, guessed }) => ({
      resource,
      operation,
      write,
      guessed: native && guessed === true,
    })),
  );
  return findUnreachable([...places.keys()], subjects).map(({ rule, by }) => () => ({
    where: locate(file, name, ["rules", places.get(rule) ?? 0]),
    what: `${rule.name} can never match: ${by.map((other) => `${other.name} (line ${other.line})`).join(" and ")} always ${by.length === 1 ? "matches" : "match"} first`,
    remedy: "move it up, make the earlier rule narrower, or remove it",
  }));
}
