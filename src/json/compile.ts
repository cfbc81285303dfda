/** Compiles a plan: names become bytes. */

import type { EnumPlan, FinishObject, MemberPlan, ObjectPlan, ValuePlan } from "./plan.ts";
import { encodeString, type KeyTable, keyTable } from "./text.ts";

/** A compiled plan; undefined stands for `copy`. Only read while rewriting. */
export type CompiledPlan = CompiledObject | CompiledArray | CompiledMap | CompiledEnum | CompiledConvert;

export interface CompiledObject {
  readonly kind: "object";
  readonly label: string;
  rules: KeyTable<MemberRule>;
  /** What becomes of members in no rule. */
  readonly unknown: { readonly drop: boolean; readonly report: boolean };
  slotOf: ReadonlyMap<string, number>;
  inserts: readonly CompiledInsert[];
  readonly finish: FinishObject | undefined;
}

interface CompiledArray {
  readonly kind: "array";
  items: CompiledPlan | undefined;
}

interface CompiledMap {
  readonly kind: "map";
  values: CompiledPlan | undefined;
}

export interface CompiledEnum {
  readonly kind: "enum";
  /** By string; what is found is the JSON token to write. */
  readonly names: KeyTable<Uint8Array>;
  readonly numbers: ReadonlyMap<number, Uint8Array>;
}

interface CompiledConvert {
  readonly kind: "convert";
  readonly convert: (raw: Uint8Array) => Uint8Array | string;
}

export interface CompiledInsert {
  readonly slot: number;
  /** `,"name":value`. */
  readonly member: Uint8Array;
}

/** What becomes of one member. */
export interface MemberRule {
  readonly label: string;
  readonly name: string;
  readonly action: "keep" | "drop" | "capture";
  /** Number of the name that must be there only once, or -1. */
  readonly slot: number;
  /** JSON token of the new name. */
  readonly newKey: Uint8Array | undefined;
  /** Name under which `finish` finds it. */
  readonly capture: string;
  readonly value: CompiledPlan | undefined;
  /** True for the member that identifies a record. */
  readonly key: boolean;
  /** Whether meeting it is reported, and as what. */
  readonly report: "unknown" | "shadowed" | undefined;
}

/** What was compiled so far, for one rewriter. */
export type CompiledPlans = Map<ValuePlan, CompiledPlan>;

/** An object has a bit for each name that must come out at most once. */
const MOST_SLOTS = 64;

/** Compiles `plan`, each plan once, so that plans may contain themselves. */
export function compileValue(compiled: CompiledPlans, plan: ValuePlan | undefined): CompiledPlan | undefined {
  if (plan === undefined || plan === "copy") return undefined;
  const known = compiled.get(plan);
  if (known !== undefined) return known;
  switch (plan.kind) {
    case "object":
      return compileObject(compiled, plan, undefined);
    case "array": {
      const made: CompiledArray = { kind: "array", items: undefined };
      compiled.set(plan, made);
      made.items = compileValue(compiled, plan.items);
      return made;
    }
    case "map": {
      const made: CompiledMap = { kind: "map", values: undefined };
      compiled.set(plan, made);
      made.values = compileValue(compiled, plan.values);
      return made;
    }
    case "enum":
      return compileEnum(compiled, plan);
    case "convert":
      return { kind: "convert", convert: plan.convert };
  }
}

function compileEnum(compiled: CompiledPlans, plan: EnumPlan): CompiledEnum {
  const token = (name: string): Uint8Array => Buffer.from(encodeString(name));
  const names = new Map([...plan.names].map(([from, to]) => [from, token(to)]));
  const numbers = new Map([...(plan.numbers ?? [])].map(([from, to]) => [from, token(to)]));
  const made: CompiledEnum = { kind: "enum", names: keyTable(names), numbers };
  compiled.set(plan, made);
  return made;
}

/** Compiles an object plan; `key` names the member that identifies a record (such a plan is never shared with a nested one). */
export function compileObject(compiled: CompiledPlans, plan: ObjectPlan, key: string | undefined): CompiledObject {
  const made: CompiledObject = {
    kind: "object",
    label: plan.label ?? "",
    rules: keyTable(new Map()),
    unknown: { drop: plan.unknown === "drop", report: plan.reportUnknown ?? true },
    slotOf: new Map(),
    inserts: [],
    finish: plan.finish,
  };
  if (key === undefined) compiled.set(plan, made);
  const slots = new Map<string, number>();
  const slotFor = (name: string): number => {
    if (!slots.has(name)) slots.set(name, slots.size);
    return slots.get(name) ?? -1;
  };
  made.inserts = (plan.insert ?? []).map((insert) => ({
    slot: slotFor(`out ${insert.key}`),
    member: Buffer.from(`,${encodeString(insert.key)}:${insert.value}`),
  }));
  made.rules = keyTable(memberRules(compiled, plan, key, slotFor));
  if (slots.size > MOST_SLOTS) throw new Error(`more than ${MOST_SLOTS} members of an object are edited`);
  made.slotOf = new Map(
    [...slots].filter(([name]) => name.startsWith("out ")).map(([name, slot]) => [name.slice(4), slot]),
  );
  return made;
}

/** One rule for each name that means something to the plan. */
function memberRules(
  compiled: CompiledPlans,
  plan: ObjectPlan,
  key: string | undefined,
  slotFor: (name: string) => number,
): Map<string, MemberRule> {
  const rules = new Map<string, MemberRule>();
  const label = plan.label ?? "";
  for (const [name, member] of plan.members) rules.set(name, listed(compiled, plan, name, member, key, slotFor));
  const shadowing = [...plan.members.values()].flatMap(({ rename, drop, capture }) =>
    rename === undefined || drop === true || capture !== undefined ? [] : [rename],
  );
  for (const name of [...shadowing, ...(plan.emits ?? [])]) {
    slotFor(`out ${name}`);
    if (!rules.has(name)) rules.set(name, ruleFor(label, name, { action: "drop", report: "shadowed" }));
  }
  const inserted = (plan.insert ?? []).map((insert) => insert.key);
  for (const name of key === undefined ? inserted : [...inserted, key]) {
    if (!rules.has(name)) rules.set(name, listed(compiled, plan, name, {}, key, slotFor));
  }
  return rules;
}

function listed(
  compiled: CompiledPlans,
  plan: ObjectPlan,
  name: string,
  member: MemberPlan,
  key: string | undefined,
  slotFor: (name: string) => number,
): MemberRule {
  const label = plan.label ?? "";
  const isKey = name === key;
  if (member.drop === true) return ruleFor(label, name, { action: "drop", key: isKey, slot: slotFor(`drop ${name}`) });
  const { capture } = member;
  if (capture !== undefined) {
    return ruleFor(label, name, { action: "capture", key: isKey, capture, slot: slotFor(`capture ${capture}`) });
  }
  const out = member.rename ?? name;
  const value = compileValue(compiled, member.value);
  const inserted = plan.insert?.some(({ key }) => key === out) === true;
  const others = [...plan.members].some(([other, { rename }]) => other !== name && rename === out);
  const emitted = plan.emits?.includes(out) === true;
  const edited = isKey || out !== name || value !== undefined || inserted || others || emitted;
  return ruleFor(label, name, {
    slot: edited ? slotFor(`out ${out}`) : -1,
    newKey: out === name ? undefined : Buffer.from(encodeString(out)),
    value,
    key: isKey,
  });
}

/** A rule that keeps the member, but for what `given` says. One literal: rules have one shape inside the engine. */
export function ruleFor(label: string, name: string, given: Partial<MemberRule>): MemberRule {
  const { action = "keep", slot = -1, newKey, capture = "", value, key = false, report } = given;
  return { label, name, action, slot, newKey, capture, value, key, report };
}
