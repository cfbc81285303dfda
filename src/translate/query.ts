/** What does the query of a v1 list ask for, in v2's words? (Design: lists; specification section 4.) */
import { Problem } from "../model/problem.ts";
import type { EnumTable, Filter } from "../model/resource.ts";
import { type Hierarchy, isInHierarchy, isUid } from "../model/uid.ts";
import { camelCase } from "./names.ts";

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
  /** Members of the v2 record that must equal a value, when the record comes from a Get. */
  readonly memberTests: readonly { readonly member: string; readonly value: string }[];
  /** Nothing can match: the answer is an empty list without asking. */
  readonly empty: boolean;
  /** Paging of a list that v1 itself paged. */
  readonly pageParams: readonly string[];
  /** Parameters in no filter: ignored, as v1 ignored them. */
  readonly unknown: readonly string[];
}

interface Parameter {
  readonly name: string;
  readonly value: string;
}

const TRUE = new Set(["1", "t", "T", "true", "TRUE", "True"]);
const FALSE = new Set(["0", "f", "F", "false", "FALSE", "False"]);
const INT32 = /^[+-]?\d{1,10}$/;
const TIMESTAMP = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/;

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
  for (const { name, value } of parameters) {
    const filter = byName.get(name);
    if (filter === undefined) {
      refuseMessage(name, filters);
      state.unknown.push(name);
    } else {
      const values = given.get(filter);
      if (values === undefined) given.set(filter, [value]);
      else values.push(value);
    }
  }
  for (const filter of filters) applyFilter(filter, given.get(filter) ?? [], state);
  if (state.get !== undefined) requireLocal(given, state.get);
  return state;
}

class QueryState implements ListQuery {
  readonly params: string[] = [];
  readonly keyTests: ((uid: string) => boolean)[] = [];
  readonly getTests: ((uid: string) => boolean)[] = [];
  readonly memberTests: { member: string; value: string }[] = [];
  readonly pageParams: string[] = [];
  readonly unknown: string[] = [];
  get: string | undefined;
  empty = false;
}

/** Splits and decodes a query as form encoding says (`+` is a space). */
export function parseQuery(query: string): Parameter[] {
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
    throw new Problem("INVALID_FILTER", `invalid query: parameter ${name} is not valid percent-encoded UTF-8`);
  }
}

/** `uidp=1` names a whole message: the platform refuses it (400), so it must not count as unknown. */
function refuseMessage(name: string, filters: readonly Filter[]): void {
  if (filters.some((filter) => filter.v1.startsWith(`${name}.`))) {
    throw invalid(name, "is a group of parameters; name one of its members");
  }
}

function applyFilter(filter: Filter, values: readonly string[], state: QueryState): void {
  const single = (): string => {
    if (values.length > 1) throw invalid(filter.v1, "is given more than once");
    return values[0] ?? "";
  };
  switch (filter.use) {
    case "send":
      for (const value of filter.repeated === true ? values : values.length === 0 ? [] : [single()]) {
        applySend(filter, value, state);
      }
      return;
    case "enum":
      applyEnum(filter, filter.repeated === true ? values : values.length === 0 ? [] : [single()], state);
      return;
    case "inverted":
      state.params.push(`${filter.v2}=${values.length > 0 && readBool(filter.v1, single()) ? "false" : "true"}`);
      return;
    case "get": {
      const uid = single();
      if (uid === "") return;
      if (isUid(uid)) state.get = uid;
      else state.empty = true; // no record can have it
      return;
    }
    case "parent":
      applyParent(single(), state);
      return;
    case "page-size":
    case "page-token": {
      const value = single();
      if (values.length === 0 || (value === "" && filter.use === "page-token")) return;
      if (filter.use === "page-size" && !/^\d{1,18}$/.test(value)) throw invalid(filter.v1, "is not a whole number");
      state.pageParams.push(
        `${filter.v2}=${encodeURIComponent(filter.use === "page-size" ? clampPageSize(value) : value)}`,
      );
      return;
    }
    default:
      filter satisfies never;
  }
}

/** v2 serves at most 200 a page (specification section 8) and 0 means its default, as in v1. */
function clampPageSize(value: string): string {
  return value.length > 3 || Number(value) > 200 ? "200" : String(Number(value));
}

function applySend(filter: Filter & { use: "send" }, raw: string, state: QueryState): void {
  if (raw === "" && (filter.kind === "string" || filter.kind === "timestamp")) return;
  const value = readScalar(filter, raw);
  if (filter.local !== undefined) {
    if ("member" in filter.local) state.memberTests.push({ member: filter.local.member, value });
    else addHierarchy(filter.local.hierarchy, value, state);
  }
  state.params.push(`${filter.v2}=${encodeURIComponent(value)}`);
}

/** Uids of one `ids` filter are alternatives; everything else narrows. */
function addHierarchy(hierarchy: Hierarchy, value: string, state: QueryState): void {
  if (hierarchy === "root" && value === "false") return; // false is the zero value: no filter
  if (hierarchy !== "ids") {
    state.getTests.push((uid) => isInHierarchy(uid, hierarchy, value));
    return;
  }
  const ids = state.getTests.find((test): test is IdsTest => "ids" in test);
  if (ids !== undefined) ids.ids.add(value);
  else state.getTests.push(idsTest(value));
}

type IdsTest = ((uid: string) => boolean) & { readonly ids: Set<string> };
function idsTest(first: string): IdsTest {
  const ids = new Set([first]);
  return Object.assign((uid: string) => ids.has(uid), { ids });
}

function applyEnum(filter: Filter & { use: "enum" }, values: readonly string[], state: QueryState): void {
  for (const value of values) {
    const entry = findEnum(filter.values, value);
    if (entry === undefined) throw invalid(filter.v1, `has no value ${JSON.stringify(value)}`);
    const [v1, v1Number, v2] = entry;
    if (v1Number === 0) continue; // the zero value means no filter
    if (v2 === null) throw invalid(filter.v1, `value ${v1} cannot be asked of v2`);
    state.params.push(`${filter.v2}=${encodeURIComponent(v2)}`);
  }
}

/** The entry of a v1 enum name, or of a v1 number written in decimal. */
function findEnum(table: EnumTable, value: string): EnumTable["values"][number] | undefined {
  const number = INT32.test(value) ? Number(value) : undefined;
  return table.values.find(([v1, v1Number]) => v1 !== null && (v1 === value || v1Number === number));
}

/** `/` means records at the root (trap: v2 would give their descendants too, so their uids are checked). */
function applyParent(value: string, state: QueryState): void {
  if (value === "") return;
  if (value === "/") {
    state.params.push("uidp.in_root=true");
    state.keyTests.push((uid) => isInHierarchy(uid, "root", "true"));
    return;
  }
  // A second children_of would be a repeated parameter: then the uid test alone narrows.
  if (!state.params.some((param) => param.startsWith("uidp.children_of="))) {
    state.params.push(`uidp.children_of=${encodeURIComponent(value)}`);
  }
  state.keyTests.push((uid) => isInHierarchy(uid, "children", value));
}

function readScalar(filter: Filter & { use: "send" }, raw: string): string {
  switch (filter.kind) {
    case "string":
      return raw;
    case "bool":
      return readBool(filter.v1, raw) ? "true" : "false";
    case "int32":
      if (!INT32.test(raw) || Math.abs(Number(raw)) > 2147483647)
        throw invalid(filter.v1, "is not a 32-bit whole number");
      return String(Number(raw));
    case "timestamp":
      if (!TIMESTAMP.test(raw)) throw invalid(filter.v1, "is not an RFC 3339 time");
      return raw;
    default:
      return filter.kind satisfies never;
  }
}

function readBool(name: string, raw: string): boolean {
  if (TRUE.has(raw)) return true;
  if (FALSE.has(raw)) return false;
  throw invalid(name, "is not a boolean (true or false)");
}

/** A Get carries no other filter, so each must be one that carryover can apply to the record itself. */
function requireLocal(given: ReadonlyMap<Filter, readonly string[]>, uid: string): void {
  for (const [filter, values] of given) {
    if (values.every((value) => value === "")) continue;
    const local =
      filter.use === "get" || filter.use === "parent" || (filter.use === "send" && filter.local !== undefined);
    if (!local && filter.use !== "page-size") {
      throw invalid(filter.v1, `cannot be combined with the one record ${uid}`);
    }
  }
}

function invalid(name: string, what: string): Problem {
  return new Problem("INVALID_FILTER", `invalid filter: ${name} ${what}`, {
    fieldViolations: [{ field: name, description: what }],
  });
}
