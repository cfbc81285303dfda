/** What is one rule of a file, and what is wrong with it by itself? */
import type { Rule } from "../../model/rules.ts";
import type { Fault } from "../fault.ts";
import type { ConfigFile } from "../file.ts";
import { valueAt } from "../issue.ts";
import { buildRule } from "./build.ts";
import { contradictionsOf, type RuleRemark } from "./checks.ts";
import { locate } from "./faults.ts";
import { operationFault, type ResourceNames, resourceNamed } from "./names.ts";
import { RuleSchema, type RuleText } from "./schema.ts";

/** What a rules file is judged by. */
export interface RulesContext {
  /** Of the file, for messages. */
  readonly name: string;
  /** Every resource that a request may be about, with every operation that it has. */
  readonly resources: readonly ResourceNames[];
  /** Whether `upstream.v1.url` is set. */
  readonly native: boolean;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** A rule that is over is a fault in a new file, and a warning when a process starts with one that has grown old. */
  readonly expired: "refuse" | "warn";
}

export interface ReadRule {
  /** Undefined when something is wrong with it. */
  readonly rule: Rule | undefined;
  /** Its place in the list. */
  readonly at: number;
  readonly faults: readonly Fault[];
  readonly warnings: readonly Fault[];
}

/** The rule at place `at`. What the schema finds wrong is told by whoever judges the whole file, and not again here. */
export function readRule(given: unknown, at: number, file: ConfigFile, context: RulesContext): ReadRule {
  const parsed = RuleSchema.safeParse(given);
  if (!parsed.success) return { rule: undefined, at, faults: [], warnings: [] };
  const text = parsed.data;
  const names = namesOf(text, context.resources);
  const { native, now } = context;
  const saysSample = valueAt(given, ["shadow", "sample"]) !== undefined;
  const remarks = [
    ...names.remarks,
    ...withoutPrototypes(given),
    ...contradictionsOf(text, { native, now, reads: names.reads, saysSample }),
  ];
  const tell = ({ path, what, remedy }: RuleRemark): Fault => ({
    where: locate(file, context.name, ["rules", at, ...path]),
    what,
    remedy,
  });
  const isWarning = ({ aged }: RuleRemark) => aged === true && context.expired === "warn";
  const faults = remarks.filter((remark) => !isWarning(remark)).map(tell);
  const warnings = [...remarks.filter(isWarning), ...withoutEffect(text, given)].map(tell);
  if (faults.length > 0) return { rule: undefined, at, faults, warnings };
  const line = file.placeOf(["rules", at])?.line ?? 1;
  return { rule: buildRule(text, { line, resources: names.resources, native, saysSample }), at, faults, warnings };
}

/** Catalogue names of the rule's resources, and whether it is about reads; what is wrong with its names. */
function namesOf({ match }: RuleText, all: readonly ResourceNames[]) {
  const remarks: RuleRemark[] = [];
  const known = match.resource?.flatMap((name) => {
    const found = resourceNamed(name, all);
    if ("operations" in found) return [found];
    remarks.push({ path: ["match", "resource"], ...found });
    return [];
  });
  if (remarks.length > 0) return { remarks, resources: undefined, reads: undefined };
  const resources = known ?? all;
  for (const name of match.operation ?? []) {
    const fault = operationFault(name, resources);
    if (fault !== undefined) remarks.push({ path: ["match", "operation"], ...fault });
  }
  const reads = resources
    .flatMap(({ operations }) => operations)
    .some(({ name, write }) => !write && (match.operation?.some((text) => text === name || text === "reads") ?? true));
  return { remarks, resources: known && new Set(known.map(({ name }) => name)), reads };
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
