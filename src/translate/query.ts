/** What does the query of a v1 list ask for, in v2's words? (Design: lists; specification section 4.) */

import { camelCase } from "../model/field-names.ts";
import { type Json, member } from "../model/json.ts";
import { Problem } from "../model/problem.ts";
import type { EnumTable, Filter } from "../model/resource.ts";
import { type Hierarchy, isInHierarchy, isUid } from "../model/uid.ts";
import { isTimestamp } from "./scalars.ts";

/** v2's list parameter for the order of records (specification section 4). */
const ORDER = "order_by";

/** A v1 list request understood. Everything the client asked for is in exactly one of these. */
export interface ListQuery {
  /** Encoded `name=value` pairs for v2, without paging. */
  readonly params: readonly string[];
  /** The uid of the one record that was asked for: a Get instead of a list. */
  readonly get: string | undefined;
  /** Tests on a record's uid that v2's list does not make. */
  readonly keyTests: readonly ((uid: string) => boolean)[];
  /** The same for what v2's list does test, when the record comes from a Get, which tests nothing. */
  readonly getTests: readonly ((uid: string) => boolean)[];
  /** What members of the v2 record must say, when the record comes from a Get. */
  readonly memberTests: readonly MemberTest[];
  /** Nothing can match: the answer is an empty list. */
  readonly empty: boolean;
  /** Paging of a list that v1 itself paged. */
  readonly pageParams: readonly string[];
  /** Parameters in no filter: ignored, as v1 ignored them. */
  readonly unknown: readonly string[];
}

/** `member` is one of `values`; one that is absent says `zero`. */
export interface MemberTest {
  readonly member: string;
  readonly values: ReadonlySet<string>;
  readonly zero: string;
}

/**
 * Reads `query` (raw, without `?`) by the filters of a list.
 * Throws `Problem` INVALID_FILTER when a value cannot be read or cannot be applied: an unfiltered list is never the answer to a filtered request.
 */
export function readListQuery(query: string, filters: readonly Filter[]): ListQuery {
  const state = new QueryState();
  const parameters = parseQuery(query);
  const byName = new Map<string, Filter>();
  for (const filter of filters) {
    byName.set(filter.v1, filter);
    byName.set(camelCase(filter.v1), filter);
  }
  const given = new Map<Filter, string[]>();
  for (const parameter of parameters) {
    const { name, values } = parameterValues(parameter);
    const filter = byName.get(name);
    if (filter === undefined) {
      refuseMessage(name, filters);
      refuseMember(name, byName);
      state.unknown.push(name);
    } else {
      const before = given.get(filter);
      if (before === undefined) given.set(filter, [...values]);
      else before.push(...values);
    }
  }
  // Parents behind all others: what was sent already must not be sent twice.
  const inOrder = [...filters].sort((a, b) => Number(a.use === "parent") - Number(b.use === "parent"));
  for (const filter of inOrder) applyFilter(filter, given.get(filter) ?? [], state);
  const [listOnly] = state.listOnly;
  if (state.get !== undefined && listOnly !== undefined) askByList(state.get, listOnly, state, filters);
  return state;
}

/** The one record by v2's list, because a Get cannot apply `listOnly`; only where that list takes uids. */
function askByList(uid: string, listOnly: string, state: QueryState, filters: readonly Filter[]): void {
  if (!filters.some((filter) => filter.use === "send" && filter.v2 === UIDS)) {
    throw invalidFilter(listOnly, "cannot be combined with a filter for one record");
  }
  // Places and other uids say of one uid at once whether it is meant.
  state.empty = ![...state.keyTests, ...state.getTests].every((test) => test(uid));
  const others = state.params.filter((param) => !param.startsWith(`${UIDS}=`));
  state.params.splice(0, state.params.length, ...others, `${UIDS}=${encodeURIComponent(uid)}`);
  state.keyTests.push((key) => key === uid);
  state.get = undefined;
}

/** v2's list parameter for records of given uids. */
const UIDS = "uidp.ids";

class QueryState implements ListQuery {
  readonly params: string[] = [];
  readonly keyTests: ((uid: string) => boolean)[] = [];
  readonly getTests: ((uid: string) => boolean)[] = [];
  readonly memberTests: MemberTest[] = [];
  readonly pageParams: string[] = [];
  readonly unknown: string[] = [];
  /** v1 names of given filters that only v2's list can apply: a Get carries none of them. */
  readonly listOnly: string[] = [];
  get: string | undefined;
  empty = false;
}

/** `uidp=1` names a whole message: the platform refuses it (400), so it must not count as unknown. */
function refuseMessage(name: string, filters: readonly Filter[]): void {
  if (filters.some((filter) => filter.v1.startsWith(`${name}.`))) {
    throw invalidFilter(name, "is a group of parameters; name one of its members");
  }
}

/** `name.first=1` asks for a member of what has none: v1's gateway refused it, so it must not count as unknown. */
function refuseMember(name: string, byName: ReadonlyMap<string, Filter>): void {
  for (let dot = name.lastIndexOf("."); dot > 0; dot = name.lastIndexOf(".", dot - 1)) {
    const filter = byName.get(name.slice(0, dot));
    if (filter !== undefined) throw invalidFilter(filter.v1, "has no members");
  }
}

function applyFilter(filter: Filter, values: readonly string[], state: QueryState): void {
  if (values.length > 1 && !("repeated" in filter && filter.repeated)) {
    throw invalidFilter(filter.v1, "is given more than once");
  }
  const [value] = values;
  switch (filter.use) {
    case "send":
      applySend(filter, values, state);
      return;
    case "enum":
      applyEnum(filter, values, state);
      return;
    case "inverted": {
      const excluded = value !== undefined && readBool(filter.v1, value);
      state.params.push(`${filter.v2}=${!excluded}`);
      if (excluded) state.listOnly.push(filter.v1);
      return;
    }
    case "get":
      if (value === undefined || value === "") return;
      if (isUid(value)) state.get = value;
      else state.empty = true; // no record can have it
      return;
    case "parent":
      if (value !== undefined && value !== "") applyParent(value, state);
      return;
    case "page-size": {
      if (value === undefined) return;
      const size = readPageSize(filter.v1, value);
      state.pageParams.push(`${filter.v2}=${size}`);
      // One record is one page: a Get needs no size. But only a list judges a negative one.
      if (size.startsWith("-")) state.listOnly.push(filter.v1);
      return;
    }
    case "page-token":
      if (value === undefined || value === "") return;
      state.pageParams.push(`${filter.v2}=${encodeURIComponent(value)}`);
      state.listOnly.push(filter.v1);
      return;
    default:
      filter satisfies never;
  }
}

/** What an absent member says, by the kind of its filter. */
const ABSENT_VALUES = { string: "", timestamp: "", bool: "false", int32: "0" } as const;

function applySend(filter: Filter & { use: "send" }, raw: readonly string[], state: QueryState): void {
  // An empty text is no filter. An empty boolean, number or time is none that can be read, and v1 said so.
  const texts = filter.kind === "string" ? raw.filter((text) => text !== "") : raw;
  if (texts.length === 0) return;
  const values = texts.map((text) => readScalar(filter, text));
  for (const value of values) state.params.push(`${filter.v2}=${encodeURIComponent(value)}`);
  const { local } = filter;
  if (local === undefined) state.listOnly.push(filter.v1);
  else if ("hierarchy" in local) addHierarchy(local.hierarchy, values, state);
  else state.memberTests.push({ member: local.member, values: new Set(values), zero: ABSENT_VALUES[filter.kind] });
}

/** Values of one filter are alternatives; filters narrow. */
function addHierarchy(hierarchy: Hierarchy, values: readonly string[], state: QueryState): void {
  if (hierarchy === "root" && values.every((value) => value === "false")) return; // the zero value: no filter
  state.getTests.push((uid) => values.some((value) => isInHierarchy(uid, hierarchy, value)));
}

function applyEnum(filter: Filter & { use: "enum" }, values: readonly string[], state: QueryState): void {
  for (const value of values) {
    const v2 = readEnum(filter.v1, filter.values, value);
    if (v2 === undefined) continue;
    state.params.push(`${filter.v2}=${encodeURIComponent(v2)}`);
    // One record has no order.
    if (filter.v2 !== ORDER) state.listOnly.push(filter.v1);
  }
}

/** `/` means records at the root (trap: v2 would give their descendants too, so their uids are checked). */
function applyParent(value: string, state: QueryState): void {
  const root = value === "/";
  const name = root ? "uidp.in_root" : "uidp.children_of";
  // The platform refuses a repeated parameter. A place that was sent already stays: the uid test alone narrows then.
  const before = state.params.findIndex((param) => param.startsWith(`${name}=`));
  if (before < 0) state.params.push(`${name}=${root ? "true" : encodeURIComponent(value)}`);
  else if (root) state.params[before] = `${name}=true`;
  state.keyTests.push((uid) => isInHierarchy(uid, root ? "root" : "children", root ? "true" : value));
}

/** What does one parameter of a v1 list say? (Specification section 4; the types of the gateway.) */

export interface QueryParameter {
  readonly name: string;
  readonly value: string;
}

const TRUE = new Set(["1", "t", "T", "true", "TRUE", "True"]);
const FALSE = new Set(["0", "f", "F", "false", "FALSE", "False"]);
const INT32 = /^[+-]?\d{1,10}$/;
const INTEGER = /^[+-]?\d{1,40}$/;
const INT64_END = 2n ** 63n;
const INT32_MIN = -(2n ** 31n);
const LONGEST_NAME = 100;
const MAX_PAGE = 200n;

/**
 * Splits and decodes a query as form encoding says (`+` is a space). Throws `Problem` INVALID_FILTER.
 * A value is taken whole: the stock gateway of both versions makes one element of each repeat of a repeated parameter and
 * splits nothing at commas (masks alone excepted), so `ids=a,b` asks for the one uid `a,b`, in v1 as here.
 */
export function parseQuery(query: string): QueryParameter[] {
  if (query === "") return [];
  if (query.includes(";")) throw new Problem("INVALID_FILTER", "invalid query: a semicolon must be sent as %3B");
  return query
    .split("&")
    .filter((part) => part !== "")
    .map((part) => {
      const equals = part.indexOf("=");
      const name = equals < 0 ? part : part.slice(0, equals);
      return { name: decode(name, name), value: equals < 0 ? "" : decode(part.slice(equals + 1), name) };
    });
}

function decode(text: string, name: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw new Problem(
      "INVALID_FILTER",
      `invalid query: parameter ${shortened(name)} is not valid percent-encoded UTF-8`,
    );
  }
}

/** Names in no filter are as long as clients make them. */
function shortened(name: string): string {
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name;
}

/**
 * The name that a parameter means, and its values: of `name[key]=value` the stock gateway makes two values of `name`. (Its
 * pattern, `^(.*)\[(.*)\]$`, would be quadratic here: a query of nothing but brackets would hold up everybody.)
 */
export function parameterValues({ name, value }: QueryParameter): {
  readonly name: string;
  readonly values: readonly string[];
} {
  const open = name.endsWith("]") && !name.includes("\n") ? name.lastIndexOf("[") : -1;
  return open < 0
    ? { name, values: [value] }
    : { name: name.slice(0, open), values: [name.slice(open + 1, -1), value] };
}

/** A 400 that names the parameter; never its value, which may be a secret sent to the wrong place. */
export function invalidFilter(name: string, what: string): Problem {
  return new Problem("INVALID_FILTER", `invalid filter: ${name} ${what}`, {
    fieldViolations: [{ field: name, description: what }],
  });
}

/** `raw` as v2 wants it. Throws `Problem` INVALID_FILTER. */
export function readScalar(filter: Filter & { use: "send" }, raw: string): string {
  switch (filter.kind) {
    case "string":
      return raw;
    case "bool":
      return readBool(filter.v1, raw) ? "true" : "false";
    case "int32":
      if (!INT32.test(raw) || Number(raw) < -2147483648 || Number(raw) > 2147483647)
        throw invalidFilter(filter.v1, "is not a 32-bit whole number");
      return String(Number(raw));
    case "timestamp":
      if (!isTimestamp(raw)) throw invalidFilter(filter.v1, "is not an RFC 3339 time");
      return raw;
    default:
      return filter.kind satisfies never;
  }
}

/** Booleans as the gateway reads them. Throws `Problem` INVALID_FILTER. */
export function readBool(name: string, raw: string): boolean {
  if (TRUE.has(raw)) return true;
  if (FALSE.has(raw)) return false;
  throw invalidFilter(name, "is not a boolean (true or false)");
}

/** v2's name for a v1 enum name, or for a v1 number in decimal; undefined for the zero value, which is no filter. Throws `Problem` INVALID_FILTER. */
export function readEnum(name: string, table: EnumTable, raw: string): string | undefined {
  const number = INT32.test(raw) ? Number(raw) : undefined;
  // Below zero: v1 has no number for it.
  const entry = table.values.find(
    ([v1, v1Number]) => v1 !== null && (v1 === raw || (v1Number >= 0 && v1Number === number)),
  );
  if (entry === undefined) throw invalidFilter(name, `has no such value; expected a name of ${table.name}`);
  const [v1, v1Number, v2] = entry;
  if (v1Number === 0) return undefined;
  if (v2 === null) throw invalidFilter(name, `value ${v1} cannot be asked of v2`);
  return v2;
}

/**
 * v2 serves at most 200 a page (specification section 8) and 0 means its default, as in v1, which took any 64-bit number.
 * A negative one is the platform's to judge, as far as its 32 bits hold it. Throws `Problem` INVALID_FILTER.
 */
export function readPageSize(name: string, raw: string): string {
  const size = INTEGER.test(raw) ? BigInt(raw.replace("+", "")) : INT64_END;
  if (size < -INT64_END || size >= INT64_END) throw invalidFilter(name, "is not a whole number of records");
  return String(size > MAX_PAGE ? MAX_PAGE : size < INT32_MIN ? INT32_MIN : size);
}

/** Does one record, read by its uid, match the other filters of the request? (Design: lists, the id filter.) */

/** `record`: the v2 record as it came, valid JSON; `uid`: its own. All filters narrow, as v1's did. */
export function matchesQuery(record: Uint8Array, uid: string, query: ListQuery): boolean {
  if (![...query.keyTests, ...query.getTests].every((test) => test(uid))) return false;
  if (query.memberTests.length === 0) return true;
  const value = JSON.parse(Buffer.from(record).toString("utf8")) as Json;
  return query.memberTests.every(({ member: name, values, zero }) => values.has(String(member(value, name) ?? zero)));
}
