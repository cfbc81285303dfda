/** JSON texts and plans for property tests, and a naive reference that works on parsed objects. */
import fc from "fast-check";
import type { EnumPlan, Insert, MemberPlan, ObjectPlan, RewriteReport, ValuePlan } from "../../src/json/plan.ts";
import { isJsonObject, type Json, type JsonObject } from "../../src/model/json.ts";

export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
export const text = (bytes: Uint8Array): string => new TextDecoder("utf-8", { fatal: true }).decode(bytes);

const NAMES = ["uid", "id", "a", "b", "kind", "é", "", "__proto__", "constructor", "7", 'q"\\'];
const WORDS = ["ON", "OFF", "on", "", "é", "\u0001", "\ud83d\ude00"];
const name = fc.constantFrom(...NAMES);

/** Any value, with names and words that plans are likely to speak of. */
export const documents: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthSize: "small" },
    fc.oneof(
      fc.constantFrom<Json>(null, true, false, 0, 1, 2, -1.5, 1e21, 1e-7),
      fc.constantFrom(...WORDS),
      fc.string({ unit: "grapheme", maxLength: 12 }),
    ),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.array(fc.tuple(name, tie("value")), { maxLength: 7 }).map((members) => Object.fromEntries(members)),
  ),
})).value;

/** Writes `value` with white space, and escapes that JSON.stringify would not use, taken from `noise` in turn. */
export function write(value: Json, noise: readonly number[]): string {
  let turn = 0;
  const draw = (): number => noise[turn++ % noise.length] ?? 0;
  const space = (): string => ["", "", "", " ", "\n", "\t\r "][draw() % 6] ?? "";
  const string = (of: string): string => {
    if (draw() % 4 !== 0) return JSON.stringify(of);
    const units = Array.from({ length: of.length }, (_, i) => of.charCodeAt(i).toString(16).padStart(4, "0"));
    return `"${units.map((unit) => `\\u${unit}`).join("")}"`;
  };
  const any = (of: Json): string => {
    if (typeof of === "string") return string(of);
    if (Array.isArray(of)) return `[${space()}${of.map((item) => any(item) + space()).join(`,${space()}`)}]`;
    if (!isJsonObject(of)) return JSON.stringify(of);
    const members = Object.entries(of).map(
      ([key, item]) => `${string(key)}${space()}:${space()}${any(item)}${space()}`,
    );
    return `{${space()}${members.join(`,${space()}`)}}`;
  };
  return space() + any(value) + space();
}

const inserts: fc.Arbitrary<Insert> = fc.record({
  key: name,
  value: fc.constantFrom('""', "[]", "0"),
});

const wrap = (raw: Uint8Array): string => `{"w":${text(raw)}}`;

/** Any plan. Its objects are labelled by number so that reports can be told apart. */
export const plans: fc.Arbitrary<ValuePlan> = fc.letrec<{ plan: ValuePlan; object: ValuePlan }>((tie) => ({
  plan: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    fc.constant<ValuePlan>("copy"),
    fc.constant<ValuePlan>({ kind: "convert", convert: wrap }),
    fc.constant<ValuePlan>({
      kind: "enum",
      names: new Map([
        ["ON", "on"],
        ["é", 'q"'],
      ]),
      numbers: new Map([[1, "one"]]),
    }),
    tie("plan").map((items): ValuePlan => ({ kind: "array", items })),
    tie("plan").map((values): ValuePlan => ({ kind: "map", values })),
    tie("object"),
    tie("object"),
  ),
  object: fc
    .record({
      members: fc.array(fc.tuple(name, member(tie("plan"))), { maxLength: 6 }),
      unknown: fc.constantFrom("pass" as const, "drop" as const),
      reportUnknown: fc.boolean(),
      inserts: fc.uniqueArray(inserts, { maxLength: 2, selector: (insert) => insert.key }),
      emits: fc.constantFrom<readonly string[]>(["made"], ["made", "a"]),
      finish: fc.boolean(),
      label: fc.integer({ min: 0, max: 99 }).map(String),
    })
    .map(({ members, inserts, finish, emits, ...rest }): ObjectPlan => {
      const plan = { kind: "object" as const, ...rest, members: new Map(members), insert: inserts };
      if (!finish) return plan;
      const made: ObjectPlan["finish"] = (captured, emit) => {
        for (const key of emits) {
          if (captured.size > 0)
            emit(key, `[${[...captured].map(([k, raw]) => `${JSON.stringify(k)},${text(raw)}`).join(",")}]`);
        }
      };
      return { ...plan, emits, finish: made };
    }),
})).plan;

function member(plan: fc.Arbitrary<ValuePlan>): fc.Arbitrary<MemberPlan> {
  return fc.oneof(
    fc.constant<MemberPlan>({}),
    fc.constant<MemberPlan>({ drop: true }),
    fc.constantFrom("c", "d").map((capture): MemberPlan => ({ capture })),
    name.map((rename): MemberPlan => ({ rename })),
    fc.tuple(name, plan).map(([rename, value]): MemberPlan => ({ rename, value })),
    plan.map((value): MemberPlan => ({ value })),
  );
}

/** Thrown by the reference where the rewriter must refuse a repeated member. */
export class Repeated extends Error {}

/** What `plan` makes of `value`, and how often what is met. */
export function expected(value: Json, plan: ValuePlan): { value: Json; reports: readonly RewriteReport[] } {
  const counts = new Map<string, RewriteReport>();
  const report = (kind: RewriteReport["kind"], object: string, of: string, met?: string): void => {
    const id = JSON.stringify([kind, object, of, met]);
    const count = (counts.get(id)?.count ?? 0) + 1;
    counts.set(id, { kind, object, member: of, ...(met === undefined ? {} : { value: met }), count });
  };
  return { value: rewrite(value, plan, "", "", report), reports: [...counts.values()] };
}

type Count = (kind: RewriteReport["kind"], object: string, member: string, met?: string) => void;

function rewrite(value: Json, plan: ValuePlan, object: string, of: string, report: Count): Json {
  if (plan === "copy") return value;
  if (plan.kind === "convert") return { w: value };
  if (plan.kind === "enum") return byTable(value, plan, object, of, report);
  if (plan.kind === "array" && Array.isArray(value))
    return value.map((item) => rewrite(item, plan.items, object, of, report));
  if (plan.kind === "map" && isJsonObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, rewrite(v, plan.values, object, of, report)]));
  }
  if (plan.kind === "object" && isJsonObject(value)) return rewriteObject(value, plan, report);
  if (value !== null) report("shape", object, of);
  return value;
}

function byTable(value: Json, plan: EnumPlan, object: string, of: string, report: Count): Json {
  if (Array.isArray(value)) return value.map((item) => byTable(item, plan, object, of, report));
  const found =
    typeof value === "string"
      ? plan.names.get(value)
      : typeof value === "number"
        ? plan.numbers?.get(value)
        : undefined;
  if (found !== undefined) return found;
  if (typeof value === "string" || typeof value === "number") report("enum", object, of, String(value));
  else if (value !== null) report("shape", object, of);
  return value;
}

function rewriteObject(source: JsonObject, plan: ObjectPlan, report: Count): JsonObject {
  const label = plan.label ?? "";
  const out: [string, Json][] = [];
  const captured = new Map<string, Json>();
  const insert = plan.insert ?? [];
  const taken = new Set(
    [...plan.members.values()].flatMap((m) => (m.drop || m.capture !== undefined ? [] : (m.rename ?? []))),
  );
  for (const emitted of plan.finish ? (plan.emits ?? []) : []) taken.add(emitted);
  const add = (key: string, value: Json): void => {
    if (out.some(([known]) => known === key)) throw new Repeated(key);
    out.push([key, value]);
  };
  for (const [key, value] of Object.entries(source)) {
    const rule = plan.members.get(key);
    if (rule === undefined) {
      if (taken.has(key)) report("shadowed", label, key);
      else if (insert.some((i) => i.key === key)) add(key, value);
      else {
        if (plan.reportUnknown !== false) report("unknown", label, key);
        if (plan.unknown !== "drop") add(key, value);
      }
    } else if (rule.capture !== undefined && !rule.drop) {
      if (captured.has(rule.capture)) throw new Repeated(key);
      captured.set(rule.capture, value);
    } else if (!rule.drop) {
      add(rule.rename ?? key, rewrite(value, rule.value ?? "copy", label, key, report));
    }
  }
  if (plan.finish && captured.size > 0) for (const key of plan.emits ?? []) add(key, [...captured].flat());
  for (const { key, value } of insert) if (!out.some(([known]) => known === key)) add(key, JSON.parse(value));
  return Object.fromEntries(out);
}
