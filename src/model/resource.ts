/** The vocabulary of the catalogue: resources, operations and rows, v1 beside v2. */
import type { Json, JsonObject } from "./json.ts";
import type { Hierarchy } from "./uid.ts";

/**
 * One enum, v1 beside v2. `null`: that version has no such name. Numbers are those of the wire format; -1: that version has
 * none. The zero value is the one whose number is 0.
 */
export interface EnumTable {
  readonly name: string;
  /**
   * An unknown name in a v1 request body: dropped as v1's decoder did, or refused with 400. Capabilities were plain strings in
   * v1, so a number is refused as well.
   */
  readonly unknown: "drop" | "refuse";
  readonly values: readonly EnumValue[];
}
export type EnumValue = readonly [v1: string | null, v1Number: number, v2: string | null, v2Number: number];

export type ScalarKind = "string" | "bool" | "int32" | "uint32" | "int64" | "timestamp" | "duration" | "bytes";

/** The value of a member. `list`: a JSON array of it. */
export type Value =
  | { readonly kind: ScalarKind; readonly list?: true }
  | { readonly kind: "enum"; readonly values: EnumTable; readonly list?: true }
  | {
      readonly kind: "message";
      readonly rows: readonly Row[];
      readonly v2Only?: readonly string[];
      readonly list?: true;
    }
  /** Keys are user data and never renamed; `of`: the values, whose bytes are copied unless they are messages with renames. */
  | {
      readonly kind: "map";
      readonly of: "string" | "int32" | { readonly rows: readonly Row[] };
      /** Keys are decimal whole numbers; without it any text. */
      readonly keys?: "int64";
    };

/**
 * When the v2 mask of a v1 full replace names the member:
 * - `always`;
 * - `when-present`: the client sent it, and, unless the row has explicit presence, not its zero (oneof members; secrets, which
 *   an empty text would wipe);
 * - `when-changed`: the client sent it, and it differs from the stored record, which costs a read;
 * - `unless-synced`: the requested value, zero if left out, differs from the stored record; a synced record keeps a member that
 *   was left out;
 * - `never`: v1 clients may send it, but v2 sets it itself;
 * - `members`: a message whose rows are named one by one.
 */
export type MaskClass = "always" | "when-present" | "when-changed" | "unless-synced" | "never" | "members";

interface RowNames {
  /** JSON name in v1. */
  readonly v1: string;
  /** JSON name in v2; null if v2 has none: responses take it from `from`, a join or the zero, and requests drop it. */
  readonly v2: string | null;
  /** Second accepted spelling in v1 requests and in v2 masks, if it is not the snake_case form of the name. */
  readonly v1Proto?: string;
  readonly v2Proto?: string;
  /**
   * Where responses read the value, if not from `v2`: dotted v2 paths from the top of the record, of which the first that is
   * present and not empty counts. In the rows of a nested message they create the message if v2 left it out. A path that ends
   * in `/..` is the parent of the uid there.
   */
  readonly from?: readonly string[];
  /** Absent if unset: a oneof member or an optional field. Without it an unset member shows its zero. */
  readonly presence?: "explicit";
  /** v2 does not distinguish unset from zero, but v1 did: the zero is shown as unset. Only with explicit presence. */
  readonly absentZero?: true;
  /** At most one member of the same name is set. */
  readonly oneof?: string;
}

/** Set by the server in both versions. Its zero follows from its kind. */
export interface OutputRow extends RowNames {
  readonly access: "output";
  /**
   * A time that every record of the platform has, but not the published v1 message: `v1.recordTimes: published` leaves it out of
   * responses.
   */
  readonly unpublished?: true;
}

/** Set by clients. `zero`: its value after a full replace that left it out; null: unset. */
export interface WritableRow extends RowNames {
  readonly access?: "input";
  readonly zero: Json;
  readonly mask?: MaskClass;
  /** A message (`members`) that only synced records have. A full replace that leaves it out removes it as a whole. */
  readonly syncs?: true;
  /** Its zero counts as left out: an enum's "unspecified" that v2 would not store. */
  readonly zeroUnsaid?: true;
  /** v2 requires it on a create, v1 did not. For the documentation only. */
  readonly required?: true;
  /**
   * How the response of v2 to an update is compared with the request. Default `exact`; `normalised`: lists as sets, times as
   * instants.
   */
  readonly echo?: "exact" | "normalised" | "none";
}

export type Row = Value & (OutputRow | WritableRow);

/** One message: its rows, and the v2 members that v1 never showed. */
export interface Shape {
  readonly rows: readonly Row[];
  readonly v2Only: readonly string[];
}

/** A query parameter of a v1 list. Names are snake_case; the camelCase form is accepted as well. */
export type Filter = { readonly v1: string } & (
  | {
      readonly use: "send";
      /** snake_case name in v2. */
      readonly v2: string;
      readonly kind: "string" | "bool" | "int32" | "timestamp";
      readonly repeated?: true;
      /** How it is applied to one record if a Get serves the request: compare this v2 member, or the place in the hierarchy. */
      readonly local?: LocalTest;
    }
  /** Enum by v1 name or number, sent as v2 name. The zero value means no filter, except as an element of a list. */
  | { readonly use: "enum"; readonly v2: string; readonly values: EnumTable; readonly repeated?: true }
  /** The opposite boolean is always sent under `v2`, also if the client left it out (false in v1). */
  | { readonly use: "inverted"; readonly v2: string }
  /** The record with this uid: a Get instead of a list. */
  | { readonly use: "get" }
  /** `/` means records at the root; any other value their direct parent. */
  | { readonly use: "parent" }
  /** Paging parameters of a list that v1 paged. */
  | { readonly use: "page-size" | "page-token"; readonly v2: string }
);
/** `member`: the member has one of the values in the query. */
export type LocalTest = { readonly member: string } | { readonly hierarchy: Hierarchy };

/** A part of a v1 record that v2 keeps in another record. */
export interface Join {
  /** v1 member of the record that is filled. */
  readonly v1: string;
  /** Catalogue name of the other resource. */
  readonly resource: string;
  /** Dotted v2 path of the other record's uid in this record. */
  readonly by: string;
  /** The whole other record in its v1 shape, or one v2 member of it. */
  readonly take: "record" | { readonly member: string };
  /**
   * If the other record cannot be read: `error` fails the request; `reduced` shows this v2 member of the record, a reduced form
   * of the other one; `zero` shows the zero; `own` shows the member of the same name. Counted.
   */
  readonly missing: "error" | "zero" | "own" | { readonly reduced: string };
  /** `list` (default): batches of uids by the other resource's list; `get`: one Get each, because its list leaves the member out. */
  readonly read?: "list" | "get";
  /** Get this sub-resource of the other record instead: the segment after its uid (`readme`). */
  readonly sub?: string;
  /** v2 member of this record without which there is nothing to read. */
  readonly when?: string;
}

/**
 * A member of a v1 list envelope. `fromQuery`: v2 lacks it; it repeats the first of these request parameters (snake_case) that
 * the client sent, else the parent of the first record.
 */
export type EnvelopeRow = Row & { readonly fromQuery?: readonly string[] };

/**
 * A function of `translate/composites.ts`, for operations with several v2 calls or a body that rows cannot express. On a create
 * or an update it replaces the one POST or PATCH.
 */
export type CompositeName =
  | "create-batch"
  | "create-or-replace"
  | "list-member"
  | "look-up"
  | "replace-by-create"
  | "replace-with-sub"
  | "summarise"
  | "update-wrapped";

/** Markdown for the documentation, without effect on requests. */
interface Documented {
  readonly docs?: {
    /** The v2 calls, if they do not follow from the kind of operation. */
    readonly calls?: string;
    /** How responses differ from those of native v1. */
    readonly differs?: readonly string[];
  };
}

/** How sure the catalogue is of an operation. */
interface Certain {
  /**
   * The meaning of some v1 members is not documented, so carryover guesses. Native v1 serves it if configured, unless a rule
   * names the operation.
   */
  readonly guessed?: true;
}

/** A v1 path that does not follow from the resource's collection. */
interface OwnPath {
  readonly name: string;
  readonly method: string;
  /** Template below `/{domain}/v1/`, e.g. `repos/{id=**}:syncstatus`; `=**` spans segments, `=*` is one. */
  readonly path: string;
}

/** One operation of v1. Its path follows from the resource's collections unless it has one of its own. */
export type Operation = Documented &
  Certain &
  (
    | {
        readonly kind: "list";
        readonly name: "list";
        readonly answer: Shape;
        readonly filters: readonly Filter[];
        readonly joins?: readonly Join[];
        /** Members of the v1 envelope beside `items` (advisories). */
        readonly envelope?: readonly EnvelopeRow[];
      }
    /** `extension`: v1 had no Get here; in native and shadow mode the request goes to native. */
    | {
        readonly kind: "get";
        readonly name: "get";
        readonly answer: Shape;
        readonly joins?: readonly Join[];
        readonly extension: boolean;
      }
    | {
        readonly kind: "create";
        readonly name: "create";
        readonly body: Shape;
        readonly answer: Shape;
        readonly joins?: readonly Join[];
        /** v1 also accepted no parent (groups: a root group). */
        readonly emptyParent?: true;
        /** Query parameters that only `by` understands. */
        readonly filters?: readonly Filter[];
        readonly by?: CompositeName;
      }
    | {
        readonly kind: "update";
        readonly name: "update";
        readonly body: Shape;
        readonly answer: Shape;
        readonly joins?: readonly Join[];
        readonly by?: CompositeName;
      }
    | { readonly kind: "delete"; readonly name: "delete" }
    /**
     * A custom verb or special path: one v2 call. `v2.path`: template below `/{domain}/{version}/`; `{uid}` is what `=**` spans in
     * `path`, `{segment}` what `=*` does. Without `body` the request's body is not read; v2 gets none on a GET.
     */
    | (OwnPath & {
        readonly kind: "call";
        readonly v2: { readonly method: "GET" | "POST" | "PATCH"; readonly path: string };
        readonly filters?: readonly Filter[];
        readonly body?: Shape;
        readonly answer: Shape;
      })
    /** Several calls, or a body that rows cannot express. `body`: one v1 message of it (of a batch: one element). */
    | (OwnPath & {
        readonly kind: "composite";
        readonly by: CompositeName;
        /** Path of the v2 verb below `/{domain}/{version}/`, if there is one. */
        readonly v2?: string;
        /** Member of v2's body that holds the message. */
        readonly wrap?: string;
        readonly filters?: readonly Filter[];
        readonly body?: Shape;
        readonly answer: Shape;
        readonly joins?: readonly Join[];
      })
    /** Not translated: native v1, or 501. `extension`: a path that v1 does not have. */
    | (OwnPath & { readonly kind: "native"; readonly extension?: true })
  );

export interface Resource {
  /** Singular kebab-case name, as of the file: `group`, `role-binding`. */
  readonly name: string;
  readonly domain: "iam" | "registry" | "vulnerabilities";
  /** Collection segment in v1 paths; v2's is accepted there as well. */
  readonly v1: string;
  /** Collection segment in v2 paths. */
  readonly v2: string;
  /** Member of the v2 list envelope that holds the records. */
  readonly items: string;
  /** v1's name of the record's own uid (`id`, or `group` for account associations). */
  readonly key: string;
  readonly list: "drain" | "paged";
  /** True if v2's default order is ascending by uid. */
  readonly orderedByUid: boolean;
  /**
   * Dotted v1 paths of scalars, in the record or the list's envelope, that change between two reads without a write, or that
   * each version generates. Comparisons ignore other values there, so a wrong row goes unnoticed: not for values that seldom
   * change, for which native is asked twice.
   */
  readonly volatile?: readonly string[];
  readonly operations: readonly Operation[];
}

/** Examples of what v1 and v2 send, by the name of their resource. */
export type Examples = ReadonlyMap<string, readonly Example[]>;

/** A pair of versions derived from another one: `like` names its folder, `less` the resources that it lacks. */
export interface DerivedPair {
  readonly like: string;
  readonly less: readonly string[];
}

/** Operations of no resource, which the router names in metrics and refusals. */
export interface NativeDomain {
  readonly domain: string;
  readonly operations: readonly {
    readonly resource: string;
    readonly name: string;
    readonly method: string;
    readonly path: string;
    /** v2 has such an operation too, which is not translated. */
    readonly inV2?: boolean | undefined;
  }[];
}

/** Examples of the meaning of rows. They come from the API's documentation, never from running this code. */
export type Example =
  /** One record (of a list: one of its items). `joined`: the other v2 records that joins can read; any other is missing. */
  | {
      readonly of: "answer";
      readonly operation: string;
      readonly v2: JsonObject;
      readonly v1: JsonObject;
      readonly joined?: readonly { readonly resource: string; readonly v2: JsonObject }[];
    }
  | { readonly of: "body"; readonly operation: string; readonly v1: JsonObject; readonly v2: JsonObject }
  | {
      readonly of: "update";
      readonly v1: JsonObject;
      /** The stored v2 record, for masks that depend on it. */
      readonly stored?: JsonObject;
      /** camelCase, in the order of the rows. */
      readonly mask: readonly string[];
      readonly v2: JsonObject;
    }
  /** Queries without `?`, in any order; `v2` without the paging that a drain adds. */
  | { readonly of: "filters"; readonly v1: string; readonly v2: string }
  /**
   * A whole exchange of a verb, or of several calls. `path` below `/{domain}/v1/`, with the query; `calls`: the v2 calls in
   * their order, `METHOD path` below `/{domain}/{version}/`, with the responses of v2.
   */
  | {
      readonly of: "exchange";
      readonly operation: string;
      readonly path: string;
      readonly body?: Json;
      readonly calls: readonly {
        readonly call: string;
        readonly body?: Json;
        /** Default 200. */
        readonly status?: number;
        readonly answer: Json;
      }[];
      /** Default 200. */
      readonly status?: number;
      readonly answer: Json;
    };

/** Option `v1.recordTimes`: which times records show, all or only those of the published v1 messages. */
export type RecordTimes = "all" | "published";

/** `shape` without its unpublished rows, at every depth. Their v2 members are cut like all that v1 never showed. */
export function publishedShape({ rows, v2Only }: Shape): Shape {
  const cut = rows.flatMap((row) => (isUnpublished(row) && row.v2 !== null ? [row.v2] : []));
  return { rows: rows.filter((row) => !isUnpublished(row)).map(publishedRow), v2Only: [...v2Only, ...cut] };
}

/** `resource` with such responses. */
export function publishedResource(resource: Resource): Resource {
  const operations = resource.operations.map((operation) =>
    "answer" in operation ? { ...operation, answer: publishedShape(operation.answer) } : operation,
  );
  return { ...resource, operations };
}

function publishedRow(row: Row): Row {
  return row.kind === "message" ? { ...row, ...publishedShape({ rows: row.rows, v2Only: row.v2Only ?? [] }) } : row;
}

/** Paths of such rows in the responses of `operation`, written as in `Difference.path`. */
export function unpublishedPaths(operation: Operation): readonly string[] {
  if (!("answer" in operation)) return [];
  return unpublishedPathsIn(operation.answer.rows, operation.kind === "list" ? "items[]." : "");
}

function unpublishedPathsIn(rows: readonly Row[], prefix: string): readonly string[] {
  return rows.flatMap((row) => {
    if (isUnpublished(row)) return [prefix + row.v1];
    if (row.kind !== "message") return [];
    return unpublishedPathsIn(row.rows, `${prefix}${row.v1}${row.list === true ? "[]" : ""}.`);
  });
}

/** False for the path of a member that no row of the response has, written as in `Difference.path`. */
export function isKnownPath(operation: Operation, path: string): boolean {
  if (!("answer" in operation)) return true;
  const isList = operation.kind === "list";
  if (isList && !path.startsWith("items[].")) return true;
  let rows: readonly Row[] = operation.answer.rows;
  for (const name of path.slice(isList ? "items[].".length : 0).split(".")) {
    const row = rows.find(({ v1 }) => v1 === name.replace("[]", ""));
    if (row === undefined) return false;
    if (row.kind !== "message") return true;
    rows = row.rows;
  }
  return true;
}

export function isUnpublished(row: Row): boolean {
  return row.access === "output" && row.unpublished === true;
}

/** True for a row that a client can set. */
export function isWritable(row: Row): row is Row & WritableRow {
  return row.access !== "output";
}

/** What v1 shows for an unset member: null for messages and times, undefined for an enum without a zero. */
export function v1Zero(row: Row): Json | undefined {
  if (row.kind === "map") return {};
  if (row.list === true) return [];
  switch (row.kind) {
    case "string":
    case "bytes":
      return "";
    case "bool":
      return false;
    case "int32":
    case "uint32":
      return 0;
    case "int64":
      return "0";
    case "enum":
      return row.values.values.find(([v1, number]) => v1 !== null && number === 0)?.[0] ?? undefined;
    case "timestamp":
    case "duration":
    case "message":
      return null;
    default:
      return row satisfies never;
  }
}
