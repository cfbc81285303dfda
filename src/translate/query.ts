/** The query of a v1 list in v2's parameters, and tests for what v2 does not filter. */

import { type Json, member } from "../model/json.ts";
import { Problem } from "../model/problem.ts";
import type { Filter } from "../model/resource.ts";
import { camelCase } from "../model/text.ts";
import { type Hierarchy, isInHierarchy, isUid } from "../model/uid.ts";
import { isTimestamp } from "./scalars.ts";

/** v2's parameter for the order of records. */
const ORDER = "order_by";

/** A v1 list request understood. Everything the client asked for is in exactly one member. */
export interface ListQuery {
  /** Encoded `name=value` pairs for v2, without paging. */
  readonly params: readonly string[];
  /** Set when the client asked for one record by its uid: a Get instead of a list. */
  readonly get: string | undefined;
  /** Tests of uids that v2's list does not make. */
  readonly keyTests: readonly ((uid: string) => boolean)[];
  /** Tests of uids that v2's list makes itself; for a record from a Get, which filters nothing. */
  readonly getTests: readonly ((uid: string) => boolean)[];
  /** Tests of members, for a record from a Get. */
  readonly memberTests: readonly MemberTest[];
  /** No record can match. */
  readonly empty: boolean;
  /** Paging of a list that v1 itself paged. */
  readonly pageParams: readonly string[];
  /** Parameters in no filter, which v1 ignored. */
  readonly unknown: readonly string[];
}

/** `member` is one of `values`; an absent one counts as `zero`. */
export interface MemberTest {
  readonly member: string;
  readonly values: ReadonlySet<string>;
  readonly zero: string;
}

/**
 * Reads `query` (raw, without `?`). Throws `Problem` INVALID_FILTER when a value cannot be read or applied: a filtered
 * request never gets an unfiltered list.
 */
export function readListQuery(query: string, filters: readonly Filter[]): ListQuery {
  const state = new QueryState();
  const given = new Map<Filter, string[]>();
  const parameters = parseQuery(query);
  const byName = new Map<string, Filter>();
  // Most lists are asked for without any filter.
  if (parameters.length > 0) {
    for (const filter of filters) byName.set(filter.v1, filter).set(camelCase(filter.v1), filter);
  }
  for (const parameter of parameters) {
    const { name, values } = parameterValues(parameter);
    const filter = byName.get(name);
    if (filter === undefined) {
      refuseMessage(name, filters);
      refuseMember(name, byName);
      state.unknown.push(name);
    } else {
      const earlier = given.get(filter);
      if (earlier === undefined) given.set(filter, [...values]);
      else earlier.push(...values);
    }
  }
  // Parents come last, so that no parameter is sent twice.
  for (const filter of filters) if (filter.use !== "parent") applyFilter(filter, given.get(filter) ?? [], state);
  for (const filter of filters) if (filter.use === "parent") applyFilter(filter, given.get(filter) ?? [], state);
  const [listOnly] = state.listOnly;
  if (state.get !== undefined && listOnly !== undefined) askByList(state.get, listOnly, state, filters);
  return state;
}

/** Reads the one record by v2's list, because a Get cannot apply `listOnly`. */
function askByList(uid: string, listOnly: string, state: QueryState, filters: readonly Filter[]): void {
  if (!filters.some((filter) => filter.use === "send" && filter.v2 === UIDS)) {
    throw invalidFilter(listOnly, "cannot be combined with a filter for one record");
  }
  // Tests of uids can be made right away.
  state.empty = ![...state.keyTests, ...state.getTests].every((test) => test(uid));
  const others = state.params.filter((param) => !param.startsWith(`${UIDS}=`));
  state.params.splice(0, state.params.length, ...others, `${UIDS}=${encodeURIComponent(uid)}`);
  state.keyTests.push((key) => key === uid);
  state.get = undefined;
}

/** v2's parameter for records of given uids. */
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

/** `uidp=1` names a whole message. The platform refuses that (400), so it does not count as unknown. */
function refuseMessage(name: string, filters: readonly Filter[]): void {
  if (filters.some((filter) => filter.v1.startsWith(`${name}.`))) {
    throw invalidFilter(name, "is a group of parameters; name one of its members");
  }
}

/** `name.first=1` names a member of a scalar. v1's gateway refused that, so it does not count as unknown. */
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

/** What an absent member means, by the kind of its filter. */
const ABSENT_VALUES = { string: "", timestamp: "", bool: "false", int32: "0" } as const;

function applySend(filter: Filter & { use: "send" }, raw: readonly string[], state: QueryState): void {
  // An empty text is no filter, but an empty element of a list is an element: it matches hardly any record, or none. An
  // empty boolean, number or time is refused, as in v1.
  const texts = filter.kind === "string" && filter.repeated !== true ? raw.filter((text) => text !== "") : raw;
  if (texts.length === 0) return;
  const values = texts.map((text) => readScalar(filter, text));
  for (const value of values) state.params.push(`${filter.v2}=${encodeURIComponent(value)}`);
  const { local } = filter;
  if (local === undefined) state.listOnly.push(filter.v1);
  else if ("hierarchy" in local) addHierarchy(local.hierarchy, values, state);
  else state.memberTests.push({ member: local.member, values: new Set(values), zero: ABSENT_VALUES[filter.kind] });
}

/** Values of one filter are alternatives; further filters narrow. */
function addHierarchy(hierarchy: Hierarchy, values: readonly string[], state: QueryState): void {
  if (hierarchy === "root" && values.every((value) => value === "false")) return; // the zero value: no filter
  state.getTests.push((uid) => values.some((value) => isInHierarchy(uid, hierarchy, value)));
}

function applyEnum(filter: Filter & { use: "enum" }, values: readonly string[], state: QueryState): void {
  for (const value of values) {
    const v2 = readEnum(filter, value);
    if (v2 === undefined) continue;
    state.params.push(`${filter.v2}=${encodeURIComponent(v2)}`);
    // One record has no order.
    if (filter.v2 !== ORDER) state.listOnly.push(filter.v1);
  }
}

/** `/` means records at the root; v2 would give their descendants too, so uids are tested. */
function applyParent(value: string, state: QueryState): void {
  const root = value === "/";
  const name = root ? "uidp.in_root" : "uidp.children_of";
  // The platform refuses a repeated parameter: the one that is there stays, and the uid test narrows.
  const before = state.params.findIndex((param) => param.startsWith(`${name}=`));
  if (before < 0) state.params.push(`${name}=${root ? "true" : encodeURIComponent(value)}`);
  else if (root) state.params[before] = `${name}=true`;
  state.keyTests.push((uid) => isInHierarchy(uid, root ? "root" : "children", root ? "true" : value));
}

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
 * Splits and decodes a query as form encoding (`+` is a space). Throws `Problem` INVALID_FILTER.
 * Values are not split at commas: the gateway of both versions makes one element of each repeat of a parameter, so
 * `ids=a,b` asks for the one uid `a,b`.
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

/** Names in no filter can have any length. */
function shortened(name: string): string {
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name;
}

/**
 * The name that a parameter means, and its values: of `name[key]=value` the gateway makes two values of `name`. (Its
 * pattern, `^(.*)\[(.*)\]$`, would take quadratic time on a query of brackets.)
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
function invalidFilter(name: string, what: string): Problem {
  return new Problem("INVALID_FILTER", `invalid filter: ${name} ${what}`, {
    fieldViolations: [{ field: name, description: what }],
  });
}

/** `raw` as v2 wants it. Throws `Problem` INVALID_FILTER. */
function readScalar(filter: Filter & { use: "send" }, raw: string): string {
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
function readBool(name: string, raw: string): boolean {
  if (TRUE.has(raw)) return true;
  if (FALSE.has(raw)) return false;
  throw invalidFilter(name, "is not a boolean (true or false)");
}

/**
 * v2's name for a v1 enum name or number; undefined for the zero value, which is no filter unless it is an element of a
 * list. Throws `Problem` INVALID_FILTER.
 */
function readEnum(filter: Filter & { use: "enum" }, raw: string): string | undefined {
  const { v1: name, values: table, repeated } = filter;
  const number = INT32.test(raw) ? Number(raw) : undefined;
  // Below zero: v1 has no number for it.
  const entry = table.values.find(
    ([v1, v1Number]) => v1 !== null && (v1 === raw || (v1Number >= 0 && v1Number === number)),
  );
  if (entry === undefined) throw invalidFilter(name, `has no such value; expected a name of ${table.name}`);
  const [v1, v1Number, v2] = entry;
  if (v1Number === 0 && repeated !== true) return undefined;
  if (v2 === null) throw invalidFilter(name, `value ${v1} cannot be asked of v2`);
  return v2;
}

/**
 * v2 serves at most 200 records a page, and 0 means its default. v1 took any 64-bit number, v2 takes 32 bits; the platform
 * judges negative ones. Throws `Problem` INVALID_FILTER.
 */
function readPageSize(name: string, raw: string): string {
  const size = INTEGER.test(raw) ? BigInt(raw.replace("+", "")) : INT64_END;
  if (size < -INT64_END || size >= INT64_END) throw invalidFilter(name, "is not a whole number of records");
  return String(size > MAX_PAGE ? MAX_PAGE : size < INT32_MIN ? INT32_MIN : size);
}

/** Whether one record, read by its uid, matches all filters. `record`: the v2 record, valid JSON. */
export function matchesQuery(record: Uint8Array, uid: string, query: ListQuery): boolean {
  if (![...query.keyTests, ...query.getTests].every((test) => test(uid))) return false;
  if (query.memberTests.length === 0) return true;
  const value = JSON.parse(Buffer.from(record).toString("utf8")) as Json;
  return query.memberTests.every(({ member: name, values, zero }) => values.has(String(member(value, name) ?? zero)));
}
