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
  RULE_NULL_BYTES,
  RULE_NULL_LENGTH,
  RULE_SIZE,
  RULE_SLOT,
  RULE_VALUE,
  SCRATCH_NAME,
  SCRATCH_RULE,
  TEXT,
} from "./layout.ts";
import { skipColon, skipKey } from "./scan.ts";
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

/** A text in the kernel's memory. */
interface LoadedText {
  readonly arena: Arena;
  readonly bytes: Buffer;
  readonly source: Buffer;
  readonly text: DataView;
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
export function pointerOf(arena: Arena, memory: Buffer, plan: CompiledPlan): number {
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

function allocate(arena: Arena, memory: Buffer, size: number): number {
  const at = arena.end;
  const end = at + ((size + 15) & ~15);
  if (end > TEXT) throw new Error("a plan of rewriting takes more than the memory for all plans");
  memory.fill(0, at, end);
  arena.end = end;
  return at;
}

function install(arena: Arena, memory: Buffer, plan: CompiledPlan | undefined): number {
  if (plan === undefined) return 0;
  const known = arena.pointers.get(plan);
  if (known !== undefined) return known;
  switch (plan.kind) {
    case "object":
      return installObject(arena, memory, plan);
    case "array":
    case "map": {
      const at = addPlan(arena, memory, plan, plan.kind === "array" ? KIND_ARRAY : KIND_MAP, PLAN_ITEMS + 4);
      word(memory, at + PLAN_ITEMS, install(arena, memory, plan.kind === "array" ? plan.items : plan.values));
      return at;
    }
    case "enum":
      return installEnum(arena, memory, plan);
    case "convert":
      return addPlan(arena, memory, plan, KIND_CONVERT, PLAN_ITEMS);
  }
}

/** Plans may contain themselves: each is known before what is inside of it. */
function addPlan(arena: Arena, memory: Buffer, plan: CompiledPlan, kind: number, size: number): number {
  const at = allocate(arena, memory, size);
  arena.pointers.set(plan, at);
  word(memory, at + PLAN_KIND, kind);
  word(memory, at + PLAN_ID, arena.plans.length);
  arena.plans.push(plan);
  return at;
}

function installObject(arena: Arena, memory: Buffer, plan: CompiledObject): number {
  const at = addPlan(arena, memory, plan, KIND_OBJECT, OBJECT_SIZE);
  const inserts = allocate(arena, memory, plan.inserts.length * INSERT_SIZE);
  word(memory, at + OBJECT_INSERTS, inserts);
  word(memory, at + OBJECT_INSERT_COUNT, plan.inserts.length);
  word(memory, at + OBJECT_FINISH, plan.finish === undefined ? 0 : 1);
  for (const [i, { slot, member }] of plan.inserts.entries()) {
    const insert = inserts + i * INSERT_SIZE;
    setSlot(memory, insert + INSERT_SLOT, slot);
    setBytes(arena, memory, insert + INSERT_BYTES, insert + INSERT_LENGTH, member);
  }
  for (const rule of plan.rules.byName.values()) addRule(arena, memory, rule);
  return at;
}

function installEnum(arena: Arena, memory: Buffer, plan: CompiledEnum): number {
  const at = addPlan(arena, memory, plan, KIND_ENUM, ENUM_SIZE);
  const { byName } = plan.names;
  const entries = allocate(arena, memory, byName.size * ENTRY_SIZE);
  word(memory, at + ENUM_ENTRIES, entries);
  word(memory, at + ENUM_COUNT, byName.size);
  let entry = entries;
  for (const [name, token] of byName) {
    const from = Buffer.from(encodeString(name));
    setBytes(arena, memory, entry + ENTRY_BYTES, entry + ENTRY_LENGTH, from);
    if (!from.equals(token)) setBytes(arena, memory, entry + ENTRY_NEW_BYTES, entry + ENTRY_NEW_LENGTH, token);
    entry += ENTRY_SIZE;
  }
  return at;
}

function addRule(arena: Arena, memory: Buffer, rule: MemberRule): number {
  const at = allocate(arena, memory, RULE_SIZE);
  arena.pointers.set(rule, at);
  writeRule(memory, at, rule, arena.rules.length);
  arena.rules.push(rule);
  if (rule.newKey !== undefined) setBytes(arena, memory, at + RULE_KEY_BYTES, at + RULE_KEY_LENGTH, rule.newKey);
  if (rule.overNull !== undefined) setBytes(arena, memory, at + RULE_NULL_BYTES, at + RULE_NULL_LENGTH, rule.overNull);
  word(memory, at + RULE_VALUE, install(arena, memory, rule.value));
  return at;
}

function writeRule(memory: Buffer, at: number, rule: MemberRule, id: number): void {
  const { action, key, report, newKey, value, overNull, slot } = rule;
  const flags =
    (action === "keep" ? 0 : FLAG_LEAVE_OUT) |
    (action === "capture" ? FLAG_CAPTURE : 0) |
    (key ? FLAG_KEY : 0) |
    (report === undefined ? 0 : FLAG_REPORT) |
    (newKey === undefined && value === undefined && overNull === undefined ? 0 : FLAG_EDIT);
  word(memory, at + RULE_FLAGS, flags);
  word(memory, at + RULE_ID, id);
  word(memory, at + RULE_CALL, 0);
  setSlot(memory, at + RULE_SLOT, slot);
}

function word(memory: Buffer, at: number, value: number): void {
  memory.writeInt32LE(value, at);
}

function setSlot(memory: Buffer, at: number, slot: number): void {
  if (slot >= 0) memory[at + (slot >> 3)] = 1 << (slot & 7);
}

function setBytes(arena: Arena, memory: Buffer, at: number, lengthAt: number, bytes: Uint8Array): void {
  const place = allocate(arena, memory, bytes.length);
  memory.set(bytes, place);
  word(memory, at, place);
  word(memory, lengthAt, bytes.length);
}

/**
 * Reads the name at `at`, after `gap`, of an object of plan number `id`, and gives the address of what it means. Throws `JsonError` when it is no
 * name with a colon.
 */
export function learnName(loaded: LoadedText, id: number, first: boolean, gap: number, at: number): number {
  const { arena, bytes, source, text } = loaded;
  const plan = arena.plans[id] as CompiledObject;
  const end = skipKey(text, at - TEXT);
  const colon = skipColon(text, end);
  const rule = findKey(plan.rules, source, at - TEXT, end) ?? unlistedRule(plan, source, at - TEXT, end);
  const length = colon - (gap - TEXT);
  const needed = NAME_SIZE + RULE_SIZE + length + PADDING;
  const kept = length <= MOST_NAME_BYTES && arena.end + needed <= TEXT;
  const name = kept ? allocate(arena, bytes, NAME_SIZE) : SCRATCH_NAME;
  word(bytes, name + NAME_RULE, kept ? ruleAddress(arena, bytes, rule) : scratchRule(arena, bytes, rule));
  word(bytes, name + NAME_LENGTH, length);
  word(bytes, name + NAME_QUOTE, at - gap);
  word(bytes, name + NAME_END, end + TEXT - gap);
  word(bytes, name + NAME_FIRST, first ? 1 : 0);
  if (!kept) return name;
  const token = allocate(arena, bytes, length);
  bytes.copy(bytes, token, gap, gap + length);
  word(bytes, name + NAME_BYTES, token);
  link(arena, bytes, id, name);
  return name;
}

/** Adds a name to those of its plan; forgets the others when they are too many to be looked through. */
function link(arena: Arena, memory: Buffer, id: number, name: number): void {
  const head = (arena.pointers.get(arena.plans[id] as CompiledObject) as number) + OBJECT_HEAD;
  const names = arena.names.get(id);
  const known = names !== undefined && names.count < MOST_NAMES ? names : { last: head, count: 0 };
  if (known.count === 0) word(memory, head + NAME_NEXT, 0);
  word(memory, known.last + NAME_LINK, name);
  arena.names.set(id, { last: name, count: known.count + 1 });
}

function ruleAddress(arena: Arena, memory: Buffer, rule: MemberRule): number {
  return arena.pointers.get(rule) ?? addRule(arena, memory, rule);
}

/** The rule of a name that is not remembered: a listed one stands in the arena. */
function scratchRule(arena: Arena, memory: Buffer, rule: MemberRule): number {
  const known = arena.pointers.get(rule);
  if (known !== undefined) return known;
  writeRule(memory, SCRATCH_RULE, rule, 0);
  arena.rules[0] = rule;
  return SCRATCH_RULE;
}

function unlistedRule(plan: CompiledObject, source: Buffer, start: number, end: number): MemberRule {
  const { drop, report } = plan.unknown;
  return ruleFor(plan.label, decodeString(source, start, end), {
    action: drop ? "drop" : "keep",
    report: report ? "unknown" : undefined,
  });
}
