/** A slow reference comparison of two records or lists on JSON.parse's values, written only from the specification. */
import type { ComparedField } from "../../src/shadow/shape.ts";
import { RECORD } from "./compared.ts";

export type Rec = { [name: string]: unknown };

interface Found {
  readonly counts: Map<string, number>;
  noise: number;
}

const WORST = ["status", "error", "missing", "extra", "value", "presence", "order"];

function note(found: Found, of: string, path: string): void {
  const place = `${of} ${path}`;
  found.counts.set(place, (found.counts.get(place) ?? 0) + 1);
}

function summary({ counts, noise }: Found): unknown {
  const classes = [...counts.keys()].map((place) => place.split(" ")[0] ?? "");
  const worst = WORST.find((each) => classes.includes(each)) ?? (noise > 0 ? "noise" : "equal");
  return { counts: [...counts].sort(([a], [b]) => (a < b ? -1 : 1)), noise, result: worst };
}

export function expectedCounts(native: Rec, translated: Rec): unknown {
  const found: Found = { counts: new Map(), noise: 0 };
  members(found, native, translated, "", (name) => RECORD.get(name));
  return summary(found);
}

/** Ids must be unique in each list. */
export function expectedOfLists(native: readonly Rec[], translated: readonly Rec[]): unknown {
  const found: Found = { counts: new Map(), noise: 0 };
  const places: number[] = [];
  for (const one of native) {
    const at = translated.findIndex((each) => each["id"] === one["id"]);
    const other = translated[at];
    if (other === undefined) note(found, "missing", "items[]");
    else {
      places.push(at);
      members(found, one, other, "items[]", (name) => RECORD.get(name));
    }
  }
  for (const other of translated) {
    if (!native.some((each) => each["id"] === other["id"])) note(found, "extra", "items[]");
  }
  if (places.some((place, i) => place < (places[i - 1] ?? -1))) note(found, "order", "items[]");
  return summary(found);
}

type FieldAt = (name: string) => ComparedField | undefined;

function members(found: Found, a: Rec, b: Rec, path: string, fieldAt: FieldAt, keyed = false): void {
  for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const shown = keyed ? "*" : name;
    const place = path === "" ? shown : `${path}.${shown}`;
    member(found, [Object.hasOwn(a, name), a[name]], [Object.hasOwn(b, name), b[name]], place, fieldAt(name));
  }
}

type Slot = readonly [there: boolean, value: unknown];

function member(found: Found, [hasA, a]: Slot, [hasB, b]: Slot, path: string, field: ComparedField | undefined): void {
  const volatile = path === "seen" || path === "items[].seen";
  const [noA, noB] = [!hasA || a === null, !hasB || b === null];
  if (noA && noB) {
    if (hasA !== hasB) note(found, "presence", path);
  } else if (noA || noB) {
    const there = noA ? b : a;
    if (volatile || unset(there, field)) note(found, "presence", path);
    else note(found, noA ? "extra" : "missing", path);
  } else if (volatile) changing(found, a, b, path);
  else values(found, a, b, path, field);
}

function changing(found: Found, a: unknown, b: unknown, path: string): void {
  if (JSON.stringify(a) === JSON.stringify(b)) return;
  const [one, other] = [instant(a), instant(b)];
  if (one !== undefined && one === other) return;
  const zeros = [unset(a, undefined), unset(b, undefined)];
  if (zeros[0] !== zeros[1]) note(found, "presence", path);
  else if (one === undefined || other === undefined) note(found, "value", path);
  else found.noise++;
}

function instant(value: unknown): number | undefined {
  if (typeof value !== "string" || !/^\d{4}-\d\d-\d\dT/.test(value)) return undefined;
  return Date.parse(value);
}

function values(found: Found, a: unknown, b: unknown, path: string, field: ComparedField | undefined): void {
  if (Array.isArray(a) && Array.isArray(b)) {
    arrays(found, a, b, `${path}[]`, field);
    return;
  }
  if (isRec(a) && isRec(b)) {
    const keyed = field?.keyed === true;
    const inner: FieldAt = (name) => (keyed ? field.members && { ...field, keyed: false } : field?.members?.get(name));
    members(found, a, b, path, inner, keyed);
    return;
  }
  if (a === b) return;
  if (field?.time === true && instant(a) !== undefined && instant(a) === instant(b)) return;
  const bothUnset = typeof a === "string" && typeof b === "string" && unset(a, field) && unset(b, field);
  note(found, bothUnset ? "presence" : "value", path);
}

function isRec(value: unknown): value is Rec {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function unset(value: unknown, field: ComparedField | undefined): boolean {
  if (value === null || value === "" || value === 0 || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  if (isRec(value)) {
    if (field?.keyed === true) return Object.keys(value).length === 0;
    return Object.entries(value).every(([name, each]) => unset(each, field?.members?.get(name)));
  }
  return typeof value === "string" && field?.zero === value;
}

function arrays(found: Found, a: unknown[], b: unknown[], path: string, field: ComparedField | undefined): void {
  const ids = [a, b].map((list) => list.map(idOf));
  const named = ids.every((list) => !list.includes(undefined) && new Set(list).size === list.length);
  if (field?.set === true) sets(found, a as string[], b as string[], path);
  else if (named) parts(found, a as Rec[], b as Rec[], path, field);
  else byPosition(found, a, b, path, field);
}

/** `undefined`: none. Numbers and texts are different ids. */
function idOf(value: unknown): string | undefined {
  const id = isRec(value) ? value["id"] : undefined;
  return (typeof id === "string" && id !== "") || typeof id === "number" ? JSON.stringify(id) : undefined;
}

function byPosition(found: Found, a: unknown[], b: unknown[], path: string, field: ComparedField | undefined): void {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    if (i >= a.length) note(found, "extra", path);
    else if (i >= b.length) note(found, "missing", path);
    else values(found, a[i], b[i], path, field);
  }
}

function parts(found: Found, a: Rec[], b: Rec[], path: string, field: ComparedField | undefined): void {
  const common = (list: Rec[], others: Rec[]) =>
    list.map(idOf).filter((id) => others.some((each) => idOf(each) === id));
  for (const part of a) {
    const other = b.find((each) => idOf(each) === idOf(part));
    if (other === undefined) note(found, "missing", path);
    else values(found, part, other, path, field);
  }
  for (const part of b) if (!a.some((each) => idOf(each) === idOf(part))) note(found, "extra", path);
  if (common(a, b).join() !== common(b, a).join()) note(found, "value", path);
}

/** Texts: each is taken out of the other side once. */
function sets(found: Found, a: string[], b: string[], path: string): void {
  const left = [...b];
  const alone = a.filter((text) => {
    const at = left.indexOf(text);
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
  const pairs = Math.min(alone.length, left.length);
  for (let i = 0; i < pairs; i++) note(found, "value", path);
  for (let i = pairs; i < alone.length; i++) note(found, "missing", path);
  for (let i = pairs; i < left.length; i++) note(found, "extra", path);
  if (moved(a, b)) note(found, "order", path);
}

/** True when the n-th of a text stands elsewhere among what both have. */
function moved(a: string[], b: string[]): boolean {
  const numbered = (list: string[]) =>
    list.map((text, i) => `${text} ${list.slice(0, i).filter((each) => each === text).length}`);
  const [one, other] = [numbered(a), numbered(b)];
  return one.filter((each) => other.includes(each)).join() !== other.filter((each) => one.includes(each)).join();
}
