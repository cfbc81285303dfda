/** Whether values mean the same, by the JSON mapping of Protocol Buffers: any spelling of a number, a time, a name. */

import { readInteger } from "../json/exact.ts";
import { instantOf, isRounded } from "../model/instant.ts";
import { isJsonObject, type Json, type JsonObject, member } from "../model/json.ts";
import type { EnumTable, Row, Value } from "../model/resource.ts";
import { snakeCase } from "../model/text.ts";
import { durationOf, readInt64 } from "./scalars.ts";

/** Whose names members and enum values have. */
export type Side = "v1" | "v2";

/**
 * True for an unset member: absent, null, the zero of its kind, or a message that holds only zeros. A map with any key is not zero.
 * `as`: its type, where it is known.
 */
export function isZero(value: Json | undefined, as?: Value, side: Side = "v2"): boolean {
  if (value === undefined || value === null || value === "" || value === 0 || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  if (isJsonObject(value)) {
    // `every` on names: a map may have a hundred thousand, and the first one mostly decides.
    const names = Object.keys(value);
    if (as?.kind === "map") return names.length === 0;
    return names.every((name) => isZero(value[name], typeOfMember(as, name, side), side));
  }
  if (isInteger(as)) return Number(value) === 0;
  return (
    as?.kind === "enum" && as.values.values.some(([v1, number, v2]) => number === 0 && namedIn(side, v1, v2) === value)
  );
}

/**
 * Whether two values are equal, although one may leave zeros out. Parse them with `parseExact`: `JSON.parse` loses digits.
 * `as`: their type, where it is known. `asSets`: the order and repeats of list elements do not matter.
 */
export function isSame(
  a: Json | undefined,
  b: Json | undefined,
  as: Value | undefined,
  asSets: boolean,
  side: Side = "v2",
): boolean {
  return new Comparison(asSets, side).same(a, b, as);
}

/**
 * True when `sent` is the `stored` value of a member that only the platform sets, as a client sends back what it has read. Clients may
 * hold times with fewer decimals.
 */
export function isSentBack(sent: Json, stored: Json | undefined, as: Value): boolean {
  const isTime = as.kind === "timestamp" && typeof sent === "string" && typeof stored === "string";
  const [rounded, exact] = isTime ? [instantOf(sent), instantOf(stored)] : [];
  if (rounded !== undefined && exact !== undefined) return isRounded(rounded, exact);
  return isSame(sent, stored, as, false);
}

/** A platform may keep fewer decimals of a time than it was sent, but at least these. */
const KEPT_DECIMALS = 3;

/** True when the time `shown` is the time `wanted` as a platform keeps it. Other texts equal only themselves. */
function isSameTime(wanted: string, shown: string): boolean {
  const [one, other] = [instantOf(wanted), instantOf(shown)];
  if (one === undefined || other === undefined) return wanted === shown;
  const [short, long] = one.fraction.length < other.fraction.length ? [one, other] : [other, one];
  return isRounded(short, long, KEPT_DECIMALS);
}

class Comparison {
  readonly #asSets: boolean;
  readonly #side: Side;

  constructor(asSets: boolean, side: Side) {
    this.#asSets = asSets;
    this.#side = side;
  }

  same(a: Json | undefined, b: Json | undefined, as: Value | undefined): boolean {
    const zero = isZero(a, as, this.#side);
    if (zero || isZero(b, as, this.#side)) return zero === isZero(b, as, this.#side);
    if (Array.isArray(a) && Array.isArray(b)) return this.#sameLists(a, b, as);
    if (isJsonObject(a) && isJsonObject(b)) return this.#sameMembers(a, b, as);
    return isScalar(a) && isScalar(b) && this.#sameScalars(a, b, as);
  }

  #sameScalars(a: Scalar, b: Scalar, as: Value | undefined): boolean {
    if (a === b) return true;
    if (typeof a === "boolean" || typeof b === "boolean") return false;
    if (as?.kind === "timestamp") return isSameTime(String(a), String(b));
    const spelling = this.#spellingOf(as);
    return spelling(a) === spelling(b);
  }

  /** One text for all spellings of a value of this type. */
  #spellingOf(as: Value | undefined): (value: Json) => string {
    if (as?.kind === "enum") return enumSpelling(as.values, this.#side);
    if (isInteger(as)) return (value) => String(readInteger(String(value)) ?? value);
    if (as?.kind === "bytes") return (value) => Buffer.from(String(value), "base64").toString("base64");
    if (as?.kind === "duration") return (value) => String(durationOf(String(value)) ?? value);
    return String;
  }

  #sameLists(a: Json[], b: Json[], as: Value | undefined): boolean {
    if (!this.#asSets) return a.length === b.length && a.every((item, index) => this.same(item, b[index], as));
    // Long lists hold names, which need not be compared each with each.
    if (as?.kind === "string" || as?.kind === "enum") {
      const spelling = this.#spellingOf(as);
      return sameNames(new Set(a.map(spelling)), new Set(b.map(spelling)));
    }
    const within = (items: Json[], others: Json[]) =>
      items.every((item) => others.some((other) => this.same(item, other, as)));
    return within(a, b) && within(b, a);
  }

  /** A message may leave zeros out; the keys of a map are data and must all match. */
  #sameMembers(a: JsonObject, b: JsonObject, as: Value | undefined): boolean {
    if (as?.kind === "map") return this.#sameMaps(entriesOf(a, as), entriesOf(b, as), valuesOf(as));
    const names = new Set([...Object.keys(a), ...Object.keys(b)]);
    return [...names].every((name) => this.same(member(a, name), member(b, name), typeOfMember(as, name, this.#side)));
  }

  #sameMaps(a: ReadonlyMap<string, Json>, b: ReadonlyMap<string, Json>, as: Value | undefined): boolean {
    return a.size === b.size && [...a].every(([key, value]) => b.has(key) && this.same(value, b.get(key), as));
  }
}

type Scalar = string | number | boolean;

function isScalar(value: Json | undefined): value is Scalar {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

/** One spelling of the keys of a map: whole numbers may have zeros before them. */
export function mapKey(key: string, { keys }: Value & { kind: "map" }): string {
  return keys === "int64" ? String(readInt64(key) ?? key) : key;
}

function entriesOf(map: JsonObject, as: Value & { kind: "map" }): ReadonlyMap<string, Json> {
  return new Map(Object.entries(map).map(([key, value]) => [mapKey(key, as), value]));
}

function valuesOf({ of }: Value & { kind: "map" }): Value {
  return typeof of === "object" ? { kind: "message", rows: of.rows } : { kind: of };
}

function namedIn(side: Side, v1: string | null, v2: string | null): string | null {
  return side === "v1" ? v1 : v2;
}

/** A value may come by its name or by its number. */
function enumSpelling({ values }: EnumTable, side: Side): (value: Json) => string {
  const names = new Map<string, string>();
  for (const [v1, v1Number, v2, v2Number] of values) {
    const number = side === "v1" ? v1Number : v2Number;
    const name = namedIn(side, v1, v2);
    // Below zero: this version has no number.
    if (name !== null && number >= 0 && !names.has(String(number))) names.set(String(number), name);
  }
  return (value) => (typeof value === "number" ? names.get(String(value)) : undefined) ?? String(value);
}

/** The type of member `name` of a message of type `as`, where it is known. */
export function typeOfMember(as: Value | undefined, name: string, side: Side): Value | undefined {
  if (as?.kind === "map") return valuesOf(as);
  if (as?.kind !== "message") return undefined;
  return as.rows.find((row) => (side === "v2" ? row.v2 === name : isNamed(row, name)));
}

function isNamed({ v1, v1Proto }: Row, name: string): boolean {
  return v1 === name || (v1Proto ?? snakeCase(v1)) === name;
}

function sameNames(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((name) => b.has(name));
}

function isInteger(as: Value | undefined): boolean {
  return as?.kind === "int32" || as?.kind === "uint32" || as?.kind === "int64";
}
