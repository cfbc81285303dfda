/** What is known of an operation's responses, for comparing two of them. */
import type { FieldMatcher } from "../model/matcher.ts";
import type { OperationMatch } from "../model/request.ts";
import type { Operation, Resource, Row } from "../model/resource.ts";

/** What a member contains, as far as a comparison needs it. */
export interface ComparedField {
  /** A timestamp: compared by instant. */
  readonly time: boolean;
  /** A list whose order has no meaning. */
  readonly set: boolean;
  /** Of such a list: repeats count once. */
  readonly distinct?: boolean;
  /** Times this many milliseconds apart, or less, are equal. */
  readonly withinMs?: number;
  /** Keys of the object are user data: shown as `*`. */
  readonly keyed: boolean;
  /** A string that means unset, in addition to the empty one: an enum's zero, `0` of a 64-bit number. */
  readonly zero: string | undefined;
  /** Members of the object, or of the objects in the list; of a keyed object those of each value. */
  readonly members: ComparedFields | undefined;
}
export type ComparedFields = ReadonlyMap<string, ComparedField>;

export interface CompareShape {
  /** The body is `{"items":[…], …}` of records. */
  readonly list: boolean;
  /** v1 name of a record's own id: `id`, or `group`. */
  readonly key: string;
  /** Paths, as in `Difference.path`, of members that change by themselves. */
  readonly volatile: readonly string[];
  /** Paths of members that are not compared, nor is anything in them. */
  readonly ignored?: ReadonlySet<string>;
  /** Members of the body by their v1 names. Without them nothing is a time, a set or a map. */
  readonly fields?: ComparedFields;
}

const ITEMS = "items";

/**
 * Takes time for each row of the operation, so it is called once for each comparison. `ignore`: paths in records by resource
 * (`shadow.ignore`). `matchers`: `shadow.matchersFile`.
 */
export function shapeOf(
  { resource, operation }: Pick<OperationMatch, "resource" | "operation">,
  ignore: readonly string[] = [],
  matchers: readonly FieldMatcher[] = [],
): CompareShape {
  const own = matchers.filter((matcher) => matcher.resource === resource.name);
  const unseen = own.flatMap(({ path, match }) => (match === "ignore" ? [`${resource.name}.${path}`] : []));
  const ignored = ignoredOf(resource, operation, [...ignore, ...unseen]);
  const rows = "answer" in operation ? operation.answer.rows : [];
  const fields = own.reduce(withMatcher, fieldsOf(rows));
  if (operation.kind === "list") {
    const envelope = fieldsOf(operation.envelope ?? []);
    const all = new Map(envelope).set(ITEMS, { ...PLAIN, members: fields });
    return { list: true, key: resource.key, volatile: volatileOf(resource, operation), ignored, fields: all };
  }
  // A list of parts of one record (events), which have ids of their own.
  const list = fields.get(ITEMS)?.members?.has("id") === true;
  return { list, key: list ? "id" : resource.key, volatile: volatileOf(resource, operation), ignored, fields };
}

/** The paths of `shadow.ignore` that are about this resource, as paths of differences. */
function ignoredOf({ name }: Resource, { kind }: Operation, ignore: readonly string[]): ReadonlySet<string> {
  const own = ignore.filter((entry) => entry.startsWith(`${name}.`)).map((entry) => entry.slice(name.length + 1));
  return new Set(kind === "list" ? own.map((path) => `${ITEMS}[].${path}`) : own);
}

/** The volatile members that this operation shows, as paths of differences. */
function volatileOf(resource: Resource, operation: Operation): readonly string[] {
  const declared = resource.volatile ?? [];
  if (!("answer" in operation)) return [];
  const shown = declared.filter((path) => rowAt(operation.answer.rows, path) !== undefined);
  if (operation.kind !== "list") return shown;
  const envelope = declared.filter((path) => rowAt(operation.envelope ?? [], path) !== undefined);
  return [...shown.map((path) => `${ITEMS}[].${path}`), ...envelope];
}

/** The row of the dotted v1 path `path`; `[]` after the name of a list. */
function rowAt(rows: readonly Row[], path: string): Row | undefined {
  const [head = "", ...rest] = path.split(".");
  const row = rows.find((each) => head === ("list" in each && each.list === true ? `${each.v1}[]` : each.v1));
  if (rest.length === 0 || row === undefined) return row;
  return row.kind === "message" ? rowAt(row.rows, rest.join(".")) : undefined;
}

/** `fields` with `matcher` applied to one of them. */
function withMatcher(fields: ComparedFields, { path, match, withinMs }: FieldMatcher): ComparedFields {
  if (match === "ignore") return fields;
  const change = match === "time" ? { time: true, withinMs } : { set: true, distinct: match === "set" };
  return withChange(fields, path.split("."), change);
}

function withChange(
  fields: ComparedFields,
  [head = "", ...rest]: string[],
  change: Partial<ComparedField>,
): ComparedFields {
  const name = head.replace("[]", "");
  const field = fields.get(name) ?? PLAIN;
  // The values of a map have the members that its field names.
  const [next, ...after] = rest;
  const inner = field.keyed && next === "*" ? after : rest;
  const changed =
    inner.length === 0
      ? { ...field, ...change }
      : { ...field, members: withChange(field.members ?? new Map(), inner, change) };
  return new Map(fields).set(name, changed);
}

const PLAIN: ComparedField = { time: false, set: false, keyed: false, zero: undefined, members: undefined };

function fieldsOf(rows: readonly Row[]): ComparedFields {
  return new Map(rows.map((row) => [row.v1, fieldOf(row)]));
}

function fieldOf(row: Row): ComparedField {
  switch (row.kind) {
    case "timestamp":
      return { ...PLAIN, time: true };
    case "message":
      return { ...PLAIN, members: fieldsOf(row.rows) };
    case "map":
      return { ...PLAIN, keyed: true, members: typeof row.of === "object" ? fieldsOf(row.of.rows) : undefined };
    case "enum":
      // Repeated enums are sets of rights; their order is the server's own.
      return {
        ...PLAIN,
        set: row.list === true,
        zero: row.values.values.find(([, number]) => number === 0)?.[0] ?? "",
      };
    case "int64":
      return { ...PLAIN, zero: "0" };
    default:
      return { ...PLAIN, set: row.list === true && row.access !== "output" && row.echo === "normalised" };
  }
}
