/** Reads a rules file: its rules, or every fault with its line. */

import { isJsonObject, member } from "../model/json.ts";
import { didYouMean, nearest } from "../model/text.ts";
import type { RequestedOperation, RuleRemark } from "../rules/conditions/condition.ts";
import { type ResourceNames, readNames } from "../rules/conditions/subject.ts";
import type { Rule, Rules } from "../rules/rule.ts";
import { windowWords } from "../rules/schedule.ts";
import { findUnreachable } from "../rules/unreachable.ts";
import { MAX_BROWNOUTS, overlappingBrownouts, TOO_MANY } from "./brownout-rule.ts";
import { ConfigError, type ConfigFault, faultText, faultWords, valueAt } from "./faults.ts";
import { buildRule, digestOf, remarksOn } from "./rule.ts";
import { MAX_BYTES, MAX_RULES, OutlineSchema, RuleSchema, type RulesSchema, rulesJsonSchema } from "./rules-schema.ts";
import { type ConfigFile, readConfigFile } from "./yaml-file.ts";

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
  const refuse = (faults: readonly LazyFault[]) => new ConfigError(firstFaults(faults, context.name));
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
    ...brownoutsTogether(read, file, context),
  ];
  if (faults.length > 0 || !whole.success) throw refuse(faults);
  const { force, fallback } = whole.data;
  const rules = Object.freeze(read.flatMap(({ rule }) => rule ?? []));
  return {
    rules: Object.freeze({ force, fallback, rules, digest: digestOf(bytes).slice(0, 12) }),
    warnings: [...halfForced(whole.data, file, context), ...read.flatMap(({ warnings }) => warnings)].map(faultText),
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
function ofTheWhole(file: ConfigFile, text: string, { name, native }: RulesContext): readonly LazyFault[] {
  const faults: LazyFault[] = [];
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

/** `force: native` decides on what both versions have. In an emergency the operator must see what stays refused. */
function halfForced(
  { force, fallback }: Partial<Pick<Rules, "force" | "fallback">>,
  file: ConfigFile,
  context: RulesContext,
): readonly ConfigFault[] {
  if (force !== "native" || (fallback ?? context.fallback) !== "refuse") return [];
  return [
    {
      where: locate(file, context.name, ["force"]),
      what: "native leaves what v2 lacks refused with 501, for fallback is refuse",
      remedy: "write fallback: native to have native v1 serve that too",
    },
  ];
}

function namedTwice(all: readonly unknown[], file: ConfigFile, name: string): readonly LazyFault[] {
  const firsts = new Map<unknown, number>();
  return all.flatMap((given, at) => {
    const called = member(given, "name");
    const first = firsts.get(called);
    if (first === undefined) firsts.set(called, at);
    if (typeof called !== "string" || first === undefined) return [];
    return [
      () => {
        const line = file.locationOf(["rules", first])?.line;
        const what = `${JSON.stringify(called.slice(0, 64))} is the name of the rule in line ${line} too`;
        return { where: locate(file, name, ["rules", at, "name"]), what, remedy: "give each rule a name of its own" };
      },
    ];
  });
}

/** Every operation that a rule may be about. `native`: whether there is a native v1, which keeps guessed ones. */
export function requestedOperations(
  resources: RulesContext["resources"],
  native: boolean,
): readonly RequestedOperation[] {
  return resources.flatMap(({ name: resource, operations }) =>
    operations.map(({ name, write, guessed }) => ({ resource, operation: name, write, guessed: native && guessed })),
  );
}

/** Rules that leave nothing to later ones, among those that are right by themselves. */
function hidden(
  read: readonly ReadRule[],
  file: ConfigFile,
  { name, resources, native }: RulesContext,
): readonly LazyFault[] {
  const places = new Map(read.flatMap(({ rule, at }) => (rule === undefined ? [] : [[rule, at] as const])));
  return findUnreachable([...places.keys()], requestedOperations(resources, native)).map(({ rule, by }) => () => ({
    where: locate(file, name, ["rules", places.get(rule) ?? 0]),
    what: `${rule.name} can never match: ${by.map((other) => `${other.name} (line ${other.line})`).join(" and ")} always ${by.length === 1 ? "matches" : "match"} first`,
    remedy: "move it up, make the earlier rule narrower, or remove it",
  }));
}

/** Brownout rules that refuse the same clients at the same time, and too many of them. */
function brownoutsTogether(
  read: readonly ReadRule[],
  file: ConfigFile,
  { name, now }: RulesContext,
): readonly LazyFault[] {
  const all = read.flatMap(({ rule, at }) => (rule?.brownout === undefined ? [] : [{ rule, at }]));
  const placeOf = (rule: Rule | undefined) =>
    locate(file, name, ["rules", all.find((one) => one.rule === rule)?.at ?? 0]);
  if (all.length > MAX_BROWNOUTS) {
    const where = placeOf(all[MAX_BROWNOUTS]?.rule);
    return [() => ({ where, what: TOO_MANY, remedy: "remove those whose windows are over" })];
  }
  const rules = all.map(({ rule }) => rule);
  return overlappingBrownouts(rules, now).map(({ rule, other, window }) => () => ({
    where: placeOf(rule),
    what: `${rule.name} and ${other.name} (line ${other.line}) refuse the same clients in overlapping windows: ${windowWords(window, rule.brownout?.schedule.zone ?? "UTC")}`,
    remedy: "move one of them, name other clients, or set brownout.allowLong: true in both",
  }));
}

/** What a rules file is judged by. */
export interface RulesContext {
  /** Of the file, for messages. */
  readonly name: string;
  /** Every resource that a request may be about, with every operation that it has. */
  readonly resources: readonly ResourceNames[];
  /** Whether `upstream.v1.url` is set. */
  readonly native: boolean;
  /** The option of that name; undefined where it is not known. */
  readonly fallback?: "native" | "refuse" | undefined;
  /** Whether `state.url` is set; undefined where it is not known. */
  readonly shared?: boolean | undefined;
  /** The names of `clients.names`; undefined where they are not known. */
  readonly clients?: ReadonlySet<string> | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** A rule that is over is a fault in a new file, and a warning when a process starts with one that has grown old. */
  readonly expired: "refuse" | "warn";
  /** Identities of the rules in force: one of those that is over by now is a warning too, lest it keep out what else is new. */
  readonly inForce?: ReadonlySet<string> | undefined;
}

export interface ReadRule {
  /** Undefined when something is wrong with it. */
  readonly rule: Rule | undefined;
  /** Its place in the list. */
  readonly at: number;
  readonly faults: readonly LazyFault[];
  readonly warnings: readonly ConfigFault[];
}

/** What the rules of one file share while they are read. */
export interface RuleReadingContext {
  readonly file: ConfigFile;
  readonly context: RulesContext;
  readonly explain: IssueExplainer;
}

/** The rule at place `at`. */
export function readRule(given: unknown, at: number, { file, context, explain }: RuleReadingContext): ReadRule {
  const base = ["rules", at];
  const tell = ({ path, what, remedy }: RuleRemark): ConfigFault => ({
    where: locate(file, context.name, [...base, ...path]),
    what,
    remedy,
  });
  const names = readNames(valueAt(given, ["match"]), context.resources);
  const misnamed = names.faults.map(
    ({ key, words }) =>
      () =>
        tell({ path: ["match", key], ...words() }),
  );
  const parsed = RuleSchema.safeParse(given);
  if (!parsed.success) {
    const found = parsed.error.issues.flatMap((issue) => explain(issue, base));
    return { rule: undefined, at, faults: [...found, ...misnamed], warnings: [] };
  }
  const text = parsed.data;
  const { native, now, shared, clients = new Set() } = context;
  const saysSample = valueAt(given, ["shadow", "sample"]) !== undefined;
  const circumstances = { ...names, given, native, now, saysSample, clients, shared };
  const remarks = remarksOn(text, circumstances);
  const [wrong = [], aged = [], doubtful = []] = [undefined, "aged", "doubtful"].map((kind) =>
    remarks.filter((remark) => remark.kind === kind),
  );
  const line = file.locationOf(base)?.line ?? 1;
  const right = misnamed.length + wrong.length === 0;
  const rule = right ? buildRule(text, line, circumstances) : undefined;
  const mayBeOver = context.expired === "warn" || (rule !== undefined && context.inForce?.has(rule.identity) === true);
  const faults = [...misnamed, ...(mayBeOver ? wrong : [...wrong, ...aged]).map((remark) => () => tell(remark))];
  const warnings = [...(mayBeOver ? aged : []), ...doubtful].map(tell);
  return { rule: faults.length > 0 ? undefined : rule, at, faults, warnings };
}

type RulesIssue = NonNullable<ReturnType<typeof RulesSchema.safeParse>["error"]>["issues"][number];

/** `name:line:column path`; for a missing key the line of its map. Paths count from 1: `rules.1` is the first rule. */
export function locate(file: ConfigFile, name: string, path: readonly PropertyKey[], key?: string): string {
  const whole = key === undefined ? path : [...path, key];
  let place = file.locationOf(path, key);
  for (let length = path.length; place === undefined && length >= 0; length--)
    place = file.locationOf(path.slice(0, length));
  const shown = whole.map((step) => (typeof step === "number" ? step + 1 : String(step))).join(".");
  return `${name}:${place?.line ?? 1}:${place?.column ?? 1} ${shown}`.trimEnd();
}

/** A fault that is put into words only when it is shown. */
export type LazyFault = () => ConfigFault;

/** Explaining thousands of faults would block the thread that reads the file. */
export const MAX_FAULTS = 20;

/** The first `MAX_FAULTS` in full, and one more fault with the number of the rest. */
export function firstFaults(faults: readonly LazyFault[], name: string): readonly ConfigFault[] {
  const shown = faults.slice(0, MAX_FAULTS).map((fault) => fault());
  const more = faults.length - shown.length;
  if (more === 0) return shown;
  const what = `and ${more.toLocaleString("en-US")} more`;
  return [...shown, { where: `${name}:1:1`, what, remedy: "correct these first" }];
}

/** Turns an issue of the schema about the value at `base` into faults with line and remedy. */
export type IssueExplainer = (issue: RulesIssue, base: readonly PropertyKey[]) => readonly LazyFault[];

export function createExplainer(file: ConfigFile, name: string): IssueExplainer {
  let schema: unknown;
  return (issue, base) => {
    const path = [...base, ...issue.path];
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => () => {
        schema ??= rulesJsonSchema();
        const remedy = didYouMean(nearest(key, keysAt(schema, path)));
        return { where: locate(file, name, path, key), what: "there is no such key", remedy };
      });
    }
    const parent = path.slice(0, -1);
    // A word in place of a map stands for one of its keys.
    const written = typeof valueAt(file.tree, parent) === "string" ? parent : path;
    return [() => explainValue(issue, { where: locate(file, name, written), value: valueAt(file.tree, written) })];
  };
}

function explainValue(
  issue: RulesIssue,
  { where, value }: { readonly where: string; readonly value: unknown },
): ConfigFault {
  const isMap = issue.code === "invalid_type" && issue.expected === "object";
  const remedy = isMap ? "expected a map of keys" : issue.message;
  if (value === undefined) return { where, what: "required, and not given", remedy };
  if (value === null) return { where, what: "it has no value", remedy };
  return { where, ...faultWords(remedy, value) };
}

/** The keys of the map at `path`, by the JSON Schema. */
function keysAt(schema: unknown, path: readonly PropertyKey[]): readonly string[] {
  let node = schema;
  for (const key of path) {
    node = typeof key === "number" ? member(node, "items") : member(member(node, "properties"), String(key));
  }
  const properties = member(node, "properties");
  return isJsonObject(properties) ? Object.keys(properties) : [];
}
