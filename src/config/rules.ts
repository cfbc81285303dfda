/** Reads a rules file: its rules, or every fault with its line. */

import { isJsonObject, member } from "../model/json.ts";
import { didYouMean, nearest } from "../model/text.ts";
import type { RequestedOperation } from "../rules/match.ts";
import type { Rule, Rules } from "../rules/rule.ts";
import { findUnreachable } from "../rules/unreachable.ts";
import { ConfigError, type ConfigFault, faultText, faultWords, valueAt } from "./faults.ts";
import {
  buildRule,
  contradictionsOf,
  digestOf,
  type LazyFaultWords,
  operationFaults,
  type ResourceNames,
  type RuleRemark,
  resourceNamed,
} from "./rule.ts";
import {
  MAX_BYTES,
  MAX_RULES,
  OutlineSchema,
  RuleSchema,
  type RulesSchema,
  type RuleText,
  rulesJsonSchema,
} from "./rules-schema.ts";
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
    operations.map(({ name: operation, write, guessed }) => ({
      resource,
      operation,
      write,
      guessed: native && guessed === true,
    })),
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
  const names = namesOf(ruleNames(given), context.resources);
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
  const { native, now } = context;
  const saysSample = valueAt(given, ["shadow", "sample"]) !== undefined;
  const remarks = [
    ...withoutPrototypes(given),
    ...contradictionsOf(text, { native, now, reads: names.reads, saysSample }),
  ];
  const [aged, wrong] = [remarks.filter(isAged), remarks.filter((remark) => !isAged(remark))];
  const line = file.locationOf(base)?.line ?? 1;
  const right = misnamed.length + wrong.length === 0;
  const rule = right ? buildRule(text, { line, resources: names.resources, native, saysSample }) : undefined;
  const mayBeOver = context.expired === "warn" || (rule !== undefined && context.inForce?.has(rule.identity) === true);
  const faults = [...misnamed, ...(mayBeOver ? wrong : [...wrong, ...aged]).map((remark) => () => tell(remark))];
  const doubtful = [
    ...withoutEffect(text, given),
    ...tinyPercentages(text),
    ...nearMisses(text, context.clients ?? NO_NAMES),
  ];
  const warnings = [...(mayBeOver ? aged : []), ...doubtful].map(tell);
  return { rule: faults.length > 0 ? undefined : rule, at, faults, warnings };
}

function isAged({ aged }: RuleRemark): boolean {
  return aged === true;
}

interface RuleNames {
  readonly resource: readonly string[] | undefined;
  readonly operation: readonly string[] | undefined;
}

/** Whom a rule names, however wrong the rest of it is; undefined when even these names cannot be read. */
function ruleNames(given: unknown): RuleNames | undefined {
  const { resource, operation } = RuleSchema.shape.match.shape;
  const parsed = [resource, operation].map((schema, at) =>
    schema.safeParse(valueAt(given, ["match", at === 0 ? "resource" : "operation"])),
  );
  const [resources, operations] = parsed;
  if (resources?.success !== true || operations?.success !== true) return undefined;
  return { resource: resources.data, operation: operations.data };
}

interface NameFault {
  readonly key: "resource" | "operation";
  readonly words: LazyFaultWords;
}

/** Catalogue names of the rule's resources, and whether it is about reads; what is wrong with its names. */
function namesOf(named: RuleNames | undefined, all: readonly ResourceNames[]) {
  const unknown = (faults: readonly NameFault[]) => ({ faults, resources: undefined, reads: undefined });
  if (named === undefined) return unknown([]);
  const faults: NameFault[] = [];
  const known =
    named.resource &&
    [...new Set(named.resource)].flatMap((name) => {
      const found = resourceNamed(name, all);
      if (typeof found !== "function") return [found];
      faults.push({ key: "resource", words: found });
      return [];
    });
  if (faults.length > 0) return unknown(faults);
  const resources = known && [...new Set(known)];
  const among = resources ?? all;
  const operations = named.operation && new Set(named.operation);
  faults.push(...operationFaults(operations ?? [], among).map((words) => ({ key: "operation", words }) as const));
  const reads = among
    .flatMap((resource) => resource.operations)
    .some(({ name, write }) => !write && (operations === undefined || operations.has(name) || operations.has("reads")));
  return { faults, resources: resources && new Set(resources.map(({ name }) => name)), reads };
}

/** The schema passes over a key of this name in maps of free keys. */
function withoutPrototypes(given: unknown): readonly RuleRemark[] {
  return ["header", "cookie"]
    .map((key) => ["match", key])
    .filter((path) => valueAt(given, [...path, "__proto__"]) !== undefined)
    .map((path) => ({ path, what: "__proto__ is no name", remedy: "remove it" }));
}

function withoutEffect({ mode }: RuleText, given: unknown): readonly RuleRemark[] {
  if (mode !== "native" || valueAt(given, ["shadow"]) === undefined) return [];
  return [{ path: ["shadow"], what: "has no effect: a native rule compares nothing", remedy: "remove it" }];
}

/** `shadow.sample` and the thresholds are shares, of which 0.1 is a tenth. */
function tinyPercentages({ match }: RuleText): readonly RuleRemark[] {
  const { percent = 0 } = match;
  if (percent <= 0 || percent >= 1) return [];
  const clients = Math.round(100 / percent).toLocaleString("en-US");
  const what = `${percent} percent is one client in ${clients}: percent goes from 0 to 100, and shadow.sample from 0 to 1`;
  return [
    {
      path: ["match", "percent"],
      what,
      remedy: `write ${Number((percent * 100).toPrecision(6))} if you mean a share of ${percent}`,
    },
  ];
}

const NO_NAMES: ReadonlySet<string> = new Set();

/** Rules name clients exactly, so that a name with one letter wrong takes nobody. */
function nearMisses({ match }: RuleText, names: ReadonlySet<string>): readonly RuleRemark[] {
  return (match.client ?? []).flatMap((client) => {
    if (names.has(client)) return [];
    // One of a series is another client, not a mistake: `worker-1` and `worker-2`, `team-a` and `team-b`.
    const others = [...names].filter((name) => seriesOf(name) !== seriesOf(client));
    const near = nearest(client, names, 0) ?? nearest(client, others, Math.floor(client.length / 4));
    if (near === undefined) return [];
    const what = `clients.names has no ${JSON.stringify(client)}: rules name clients exactly`;
    return [{ path: ["match", "client"], what, remedy: didYouMean(near) }];
  });
}

function seriesOf(name: string): string {
  return name.replace(/[-_.]?((?<!\d)\d+|(?<=[-_.])[a-z])$/, "");
}

type RulesIssue = NonNullable<ReturnType<typeof RulesSchema.safeParse>["error"]>["issues"][number];

/** `name:line:column path`; for a missing key the line of its map. Paths count from 1: `rules.1` is the first rule. */
export function locate(file: ConfigFile, name: string, path: readonly PropertyKey[], key?: string): string {
  const whole = key === undefined ? path : [...path, key];
  const exact = file.locationOf(path, key);
  let place = exact;
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
    return [() => explainValue(issue, { where: locate(file, name, path), value: valueAt(file.tree, path) })];
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
