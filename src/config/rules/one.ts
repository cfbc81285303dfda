/** What is one rule of a file, and what is wrong with it by itself? */
import type { Rule } from "../../model/rules.ts";
import type { Fault } from "../fault.ts";
import type { ConfigFile } from "../file.ts";
import { valueAt } from "../issue.ts";
import { buildRule } from "./build.ts";
import { contradictionsOf, type RuleRemark } from "./checks.ts";
import { type Explain, locate, type Untold } from "./faults.ts";
import { operationFaults, type ResourceNames, resourceNamed, type UntoldWords } from "./names.ts";
import { RuleSchema, type RuleText } from "./schema.ts";

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
  readonly faults: readonly Untold[];
  readonly warnings: readonly Fault[];
}

/** What one file gives its rules to be read with. */
export interface RuleReading {
  readonly file: ConfigFile;
  readonly context: RulesContext;
  readonly explain: Explain;
}

/** The rule at place `at`. */
export function readRule(given: unknown, at: number, { file, context, explain }: RuleReading): ReadRule {
  const base = ["rules", at];
  const tell = ({ path, what, remedy }: RuleRemark): Fault => ({
    where: locate(file, context.name, [...base, ...path]),
    what,
    remedy,
  });
  const names = namesOf(named(given), context.resources);
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
  const line = file.placeOf(base)?.line ?? 1;
  const right = misnamed.length + wrong.length === 0;
  const rule = right ? buildRule(text, { line, resources: names.resources, native, saysSample }) : undefined;
  const mayBeOver = context.expired === "warn" || (rule !== undefined && context.inForce?.has(rule.identity) === true);
  const faults = [...misnamed, ...(mayBeOver ? wrong : [...wrong, ...aged]).map((remark) => () => tell(remark))];
  const warnings = [...(mayBeOver ? aged : []), ...withoutEffect(text, given)].map(tell);
  return { rule: faults.length > 0 ? undefined : rule, at, faults, warnings };
}

function isAged({ aged }: RuleRemark): boolean {
  return aged === true;
}

interface Named {
  readonly resource: readonly string[] | undefined;
  readonly operation: readonly string[] | undefined;
}

/** Whom a rule names, however wrong the rest of it is; undefined when even these names cannot be read. */
function named(given: unknown): Named | undefined {
  const { resource, operation } = RuleSchema.shape.match.shape;
  const parsed = [resource, operation].map((schema, at) =>
    schema.safeParse(valueAt(given, ["match", at === 0 ? "resource" : "operation"])),
  );
  const [resources, operations] = parsed;
  if (resources?.success !== true || operations?.success !== true) return undefined;
  return { resource: resources.data, operation: operations.data };
}

interface Misnamed {
  readonly key: "resource" | "operation";
  readonly words: UntoldWords;
}

/** Catalogue names of the rule's resources, and whether it is about reads; what is wrong with its names. */
function namesOf(named: Named | undefined, all: readonly ResourceNames[]) {
  const unknown = (faults: readonly Misnamed[]) => ({ faults, resources: undefined, reads: undefined });
  if (named === undefined) return unknown([]);
  const faults: Misnamed[] = [];
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
