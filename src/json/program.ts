/** Plans in the kernel's memory, and the names that texts have taught. `layout.ts` says where everything lies. */
import { type CompiledEnum, type CompiledObject, type CompiledPlan, type MemberRule, ruleFor } from "./compile.ts";
import {
  ARENA,
  ENTRY_BYTES,
  ENTRY_LENGTH,
  ENTRY_NEW_BYTES,
  ENTRY_NEW_LENGTH,
  ENTRY_SIZE,
  ENUM_COUNT,
  ENUM_ENTRIES,
  ENUM_SIZE,
  FLAG_CAPTURE,
  FLAG_EDIT,
  FLAG_KEY,
  FLAG_LEAVE_OUT,
  FLAG_REPORT,
  INSERT_BYTES,
  INSERT_LENGTH,
  INSERT_SIZE,
  INSERT_SLOT,
  KIND_ARRAY,
  KIND_CONVERT,
  KIND_ENUM,
  KIND_MAP,
  KIND_OBJECT,
  NAME_BYTES,
  NAME_END,
  NAME_FIRST,
  NAME_LENGTH,
  NAME_LINK,
  NAME_NEXT,
  NAME_QUOTE,
  NAME_RULE,
  NAME_SIZE,
  OBJECT_FINISH,
  OBJECT_HEAD,
  OBJECT_INSERT_COUNT,
  OBJECT_INSERTS,
  OBJECT_SIZE,
  PADDING,
  PLAN_ID,
  PLAN_ITEMS,
  PLAN_KIND,
  RULE_CALL,
  RULE_FLAGS,
  RULE_ID,
  RULE_KEY_BYTES,
  RULE_KEY_LENGTH,
  RULE_SIZE,
  RULE_SLOT,
  RULE_VALUE,
  SCRATCH_NAME,
  SCRATCH_RULE,
  TEXT,
} from "./layout.ts";
import type { KernelMemory } from "./memory.ts";
import { decodeString, encodeString, findKey } from "./text.ts";

/** What lies in the arena, and what its numbers stand for. */
export interface Arena {
  end: number;
  readonly pointers: Map<CompiledPlan | MemberRule, number>;
  readonly plans: CompiledPlan[];
  /** The first one is the rule that is not remembered. */
  readonly rules: MemberRule[];
  /** By the number of an object plan: its last name, and how many there are. */
  readonly names: Map<number, { last: number; count: number }>;
}

/** Addresses of a member's name: the end of the member before it, its quotes, and what comes after its colon. */
export interface NamePlace {
  /** True right after the brace. */
  readonly first: boolean;
  readonly gap: number;
  readonly start: number;
  readonly end: number;
  readonly next: number;
}

/** Names of one plan that are remembered: more than honest platforms use. */
const MOST_NAMES = 128;
/** Longer names are read again each time. */
const MOST_NAME_BYTES = 256;
/** Room that is kept free for the names of one text. */
const RESERVED = 64 * 1024;

const NO_RULE = ruleFor("", "", {});

export function createArena(): Arena {
  return { end: ARENA, pointers: new Map(), plans: [], rules: [NO_RULE], names: new Map() };
}

/** True when starting over is better. */
export function isNearlyFull({ end }: Arena): boolean {
  return end > TEXT - RESERVED;
}

/** Forgets all plans and names. */
export function clearArena(arena: Arena): void {
  arena.end = ARENA;
  arena.pointers.clear();
  arena.plans.length = 0;
  arena.rules.length = 1;
  arena.names.clear();
}

/** Where `plan` is in `memory`; puts it there first. Throws Error for one that is larger than the memory for all. */
export function pointerOf(arena: Arena, memory: KernelMemory, plan: CompiledPlan): number {
  const known = arena.pointers.get(plan);
  if (known !== undefined) return known;
  // There may be room for it without all others.
  const alone = arena.pointers.size === 0;
  try {
    return install(arena, memory, plan);
  } catch (error) {
    // Half a plan is none.
    clearArena(arena);
    if (alone) throw error;
    return pointerOf(arena, memory, plan);
  }
}

function allocate(arena: Arena, memory: KernelMemory, size: number): number {
  const at = arena.end;
  const end = at + ((size + 15) & ~15);
  if (end > TEXT) throw new Error("a plan of rewriting takes more than the memory for all plans");
  memory.clear(at, end);
  arena.end = end;
  return at;
}

function install(arena: Arena, memory: KernelMemory, plan: CompiledPlan | undefined): number {
  if (plan === undefined) return 0;
  const known = arena.pointers.get(plan);
  if (known !== undefined) return known;
  switch (plan.kind) {
    case "object":
      return installObject(arena, memory, plan);
    case "array":
    case "map": {
      const at = addPlan(arena, memory, plan, plan.kind === "array" ? KIND_ARRAY : KIND_MAP, PLAN_ITEMS + 4);
      memory.setWord(at + PLAN_ITEMS, install(arena, memory, plan.kind === "array" ? plan.items : plan.values));
      return at;
    }
    case "enum":
      return installEnum(arena, memory, plan);
    case "convert":
      return addPlan(arena, memory, plan, KIND_CONVERT, PLAN_ITEMS);
  }
}

/** Plans may contain themselves: each is known before what is inside of it. */
function addPlan(arena: Arena, memory: KernelMemory, plan: CompiledPlan, kind: number, size: number): number {
  const at = allocate(arena, memory, size);
  arena.pointers.set(plan, at);
  memory.setWord(at + PLAN_KIND, kind);
  memory.setWord(at + PLAN_ID, arena.plans.length);
  arena.plans.push(plan);
  return at;
}

function installObject(arena: Arena, memory: KernelMemory, plan: CompiledObject): number {
  const at = addPlan(arena, memory, plan, KIND_OBJECT, OBJECT_SIZE);
  const inserts = allocate(arena, memory, plan.inserts.length * INSERT_SIZE);
  memory.setWord(at + OBJECT_INSERTS, inserts);
  memory.setWord(at + OBJECT_INSERT_COUNT, plan.inserts.length);
  memory.setWord(at + OBJECT_FINISH, plan.finish === undefined ? 0 : 1);
  for (const [i, { slot, member }] of plan.inserts.entries()) {
    const insert = inserts + i * INSERT_SIZE;
    setSlot(memory, insert + INSERT_SLOT, slot);
    setBytes(arena, memory, insert + INSERT_BYTES, insert + INSERT_LENGTH, member);
  }
  for (const rule of plan.rules.byName.values()) addRule(arena, memory, rule);
  return at;
}

function installEnum(arena: Arena, memory: KernelMemory, plan: CompiledEnum): number {
  const at = addPlan(arena, memory, plan, KIND_ENUM, ENUM_SIZE);
  const { byName } = plan.names;
  const entries = allocate(arena, memory, byName.size * ENTRY_SIZE);
  memory.setWord(at + ENUM_ENTRIES, entries);
  memory.setWord(at + ENUM_COUNT, byName.size);
  let entry = entries;
  for (const [name, token] of byName) {
    const from = Buffer.from(encodeString(name));
    setBytes(arena, memory, entry + ENTRY_BYTES, entry + ENTRY_LENGTH, from);
    if (!from.equals(token)) setBytes(arena, memory, entry + ENTRY_NEW_BYTES, entry + ENTRY_NEW_LENGTH, token);
    entry += ENTRY_SIZE;
  }
  return at;
}

function addRule(arena: Arena, memory: KernelMemory, rule: MemberRule): number {
  const at = allocate(arena, memory, RULE_SIZE);
  arena.pointers.set(rule, at);
  writeRule(memory, at, rule, arena.rules.length);
  arena.rules.push(rule);
  if (rule.newKey !== undefined) setBytes(arena, memory, at + RULE_KEY_BYTES, at + RULE_KEY_LENGTH, rule.newKey);
  memory.setWord(at + RULE_VALUE, install(arena, memory, rule.value));
  return at;
}

function writeRule(memory: KernelMemory, at: number, rule: MemberRule, id: number): void {
  const { action, key, report, newKey, value, slot } = rule;
  const flags =
    (action === "keep" ? 0 : FLAG_LEAVE_OUT) |
    (action === "capture" ? FLAG_CAPTURE : 0) |
    (key ? FLAG_KEY : 0) |
    (report === undefined ? 0 : FLAG_REPORT) |
    (newKey === undefined && value === undefined ? 0 : FLAG_EDIT);
  memory.setWord(at + RULE_FLAGS, flags);
  memory.setWord(at + RULE_ID, id);
  memory.setWord(at + RULE_CALL, 0);
  setSlot(memory, at + RULE_SLOT, slot);
}

function setSlot(memory: KernelMemory, at: number, slot: number): void {
  if (slot >= 0) memory.setByte(at + (slot >> 3), 1 << (slot & 7));
}

function setBytes(arena: Arena, memory: KernelMemory, at: number, lengthAt: number, bytes: Uint8Array): void {
  const place = allocate(arena, memory, bytes.length);
  memory.set(place, bytes);
  memory.setWord(at, place);
  memory.setWord(lengthAt, bytes.length);
}

/** Reads the name at `place` in an object of plan number `id`. Returns the address of its description. */
export function learnName(arena: Arena, memory: KernelMemory, id: number, place: NamePlace): number {
  const { first, gap, start, end, next } = place;
  const plan = arena.plans[id] as CompiledObject;
  const token = memory.copy(start, end);
  const rule = findKey(plan.rules, token, 0, token.length) ?? unlistedRule(plan, token);
  const length = next - gap;
  const needed = NAME_SIZE + RULE_SIZE + length + PADDING;
  const kept = length <= MOST_NAME_BYTES && arena.end + needed <= TEXT;
  const name = kept ? allocate(arena, memory, NAME_SIZE) : SCRATCH_NAME;
  memory.setWord(name + NAME_RULE, kept ? ruleAddress(arena, memory, rule) : scratchRule(arena, memory, rule));
  memory.setWord(name + NAME_LENGTH, length);
  memory.setWord(name + NAME_QUOTE, start - gap);
  memory.setWord(name + NAME_END, end - gap);
  memory.setWord(name + NAME_FIRST, first ? 1 : 0);
  if (!kept) return name;
  const bytes = allocate(arena, memory, length);
  memory.move(bytes, gap, next);
  memory.setWord(name + NAME_BYTES, bytes);
  link(arena, memory, id, name);
  return name;
}

/** Adds a name to those of its plan; forgets the others when they are too many to be looked through. */
function link(arena: Arena, memory: KernelMemory, id: number, name: number): void {
  const head = (arena.pointers.get(arena.plans[id] as CompiledObject) as number) + OBJECT_HEAD;
  const names = arena.names.get(id);
  const known = names !== undefined && names.count < MOST_NAMES ? names : { last: head, count: 0 };
  if (known.count === 0) memory.setWord(head + NAME_NEXT, 0);
  memory.setWord(known.last + NAME_LINK, name);
  arena.names.set(id, { last: name, count: known.count + 1 });
}

function ruleAddress(arena: Arena, memory: KernelMemory, rule: MemberRule): number {
  return arena.pointers.get(rule) ?? addRule(arena, memory, rule);
}

/** The rule of a name that is not remembered: a listed one stands in the arena. */
function scratchRule(arena: Arena, memory: KernelMemory, rule: MemberRule): number {
  const known = arena.pointers.get(rule);
  if (known !== undefined) return known;
  writeRule(memory, SCRATCH_RULE, rule, 0);
  arena.rules[0] = rule;
  return SCRATCH_RULE;
}

function unlistedRule(plan: CompiledObject, token: Buffer): MemberRule {
  const { drop, report } = plan.unknown;
  return ruleFor(plan.label, decodeString(token, 0, token.length), {
    action: drop ? "drop" : "keep",
    report: report ? "unknown" : undefined,
  });
}
