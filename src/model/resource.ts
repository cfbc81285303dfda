/** In which words does a catalogue file speak of a resource, v1 beside v2? */
import type { Json, JsonObject } from "./json.ts";

/**
 * One enum, v1 beside v2. `null`: that version has no such name. Numbers are those of the wire formats;
 * -1: that version has no number for it (never looked up). The zero value is the one whose own number is 0.
 */
export interface EnumTable {
  readonly name: string;
  /**
   * A v1 name that v1 does not know, in a request body: dropped as v1's decoder did, or refused with 400
   * (capabilities: v1 held plain strings, so a number is refused as well).
   */
  readonly unknown: "drop" | "refuse";
  readonly values: readonly EnumValue[];
}
export type EnumValue = readonly [v1: string | null, v1Number: number, v2: string | null, v2Number: number];

export type ScalarKind = "string" | "bool" | "int32" | "uint32" | "int64" | "timestamp" | "duration" | "bytes";

/** What a member holds. `list`: a JSON array of it. */
export type Value =
  | { readonly kind: ScalarKind; readonly list?: true }
  | { readonly kind: "enum"; readonly values: EnumTable; readonly list?: true }
  | {
      readonly kind: "message";
      readonly rows: readonly Row[];
      readonly v2Only?: readonly string[];
      readonly list?: true;
    }
  /** Keys are user data and never renamed; `of`: what the values are (bytes are copied unless they are messages with renames). */
  | {
      readonly kind: "map";
      readonly of: "string" | "int32" | { readonly rows: readonly Row[] };
      /** Keys are whole numbers in decimal; without it any text. */
      readonly keys?: "int64";
    };

/**
 * How a v1 full replace names the member in a v2 mask (design: updates).
 * `always`; `when-present`: only when the client sent it and, where the row has no presence of its own, not its zero
 * (oneof members; secrets, which an empty text would wipe); `when-changed`: only when the client sent it and it differs
 * from the stored record (costs one read); `unless-synced`: when what the client asks for, zero where it left it out, differs from
 * the stored record, but left out of a record that is synced it is left alone; `never`: v1 clients may send it, v2 treats
 * it as server-set; `members`: a message whose own rows are named one by one.
 */
export type MaskClass = "always" | "when-present" | "when-changed" | "unless-synced" | "never" | "members";

interface RowNames {
  /** JSON name in v1. */
  readonly v1: string;
  /** JSON name in v2; null when v2 has no such member (then `from`, a join or the zero fills it in answers, and requests drop it). */
  readonly v2: string | null;
  /** Second accepted spelling in v1 requests and in v2 masks when it is not the snake_case form of the name. */
  readonly v1Proto?: string;
  readonly v2Proto?: string;
  /**
   * Answers: where the value is read from, when not from `v2`: dotted v2 paths from the top of the record (also in the
   * rows of a nested message, which is then made when v2 left it out); the first that is there and not empty wins.
   * A path that ends in `/..` is the parent of the uid there.
   */
  readonly from?: readonly string[];
  /** Absent when unset: a oneof member or an optional field. Without it an unset member shows its zero. */
  readonly presence?: "explicit";
  /** v2 cannot tell unset from zero where v1 could: its zero is shown as unset. Only with explicit presence. */
  readonly absentZero?: true;
  /** At most one member of the same name is set. */
  readonly oneof?: string;
}

/** Set by the server in both versions: shown, never sent. Its zero follows from its kind. */
export interface OutputRow extends RowNames {
  readonly access: "output";
  /**
   * A time that the specification gives every record (its section 9), and the published v1 message does not have: left out of
   * answers with `v1.recordTimes: published`.
   */
  readonly unpublished?: true;
}

/** A client may set it. `zero` is what a full replace makes of it when it is left out; null: unset. */
export interface WritableRow extends RowNames {
  readonly access?: "input";
  readonly zero: Json;
  readonly mask?: MaskClass;
  /** A message (`members`) that only synced records have. A full replace that leaves it out removes it as a whole. */
  readonly syncs?: true;
  /** Its zero leaves the choice open, so that it counts as left out (an enum's "unspecified" that v2 would not store). */
  readonly zeroUnsaid?: true;
  /** v2 wants it on a create where v1 did not: the platform refuses one without it. Only documentation speaks of it. */
  readonly required?: true;
  /**
   * How v2's answer to an update is compared with what was asked. Default `exact`; `normalised`: lists as sets, times as
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
      /** How it is applied to one record when the request is served by a Get: compare this v2 member, or a place in the hierarchy. */
      readonly local?: LocalTest;
    }
  /** Enum by v1 name or number, sent as v2 name. `absent` is what v1's zero value means: no filter. */
  | { readonly use: "enum"; readonly v2: string; readonly values: EnumTable; readonly repeated?: true }
  /** The boolean's opposite is sent under `v2`, always, also when the client left it out (v1 default false). */
  | { readonly use: "inverted"; readonly v2: string }
  /** The record with this uid: a Get instead of a list. */
  | { readonly use: "get" }
  /** `/` means records at the root; any other value their direct parent. */
  | { readonly use: "parent" }
  /** Paging parameters of a list that v1 itself paged. */
  | { readonly use: "page-size" | "page-token"; readonly v2: string }
);
/** `member`: the member is one of the values that the client gave. */
export type LocalTest =
  | { readonly member: string }
  | { readonly hierarchy: "ancestors" | "descendants" | "children" | "root" | "ids" };

/** A part of a record that lies in another record of v2. */
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
   * When the other record cannot be read: `error` fails the request; `reduced` shows what this record holds of it at
   * `reduced` (a v2 member in the other resource's reduced form); `zero` shows the zero; `own` shows what this record
   * itself holds under the same name. Counted.
   */
  readonly missing: "error" | "zero" | "own" | { readonly reduced: string };
  /** `list` (default): batches of uids by the other resource's list; `get`: one Get each, for what its list leaves out. */
  readonly read?: "list" | "get";
  /** Read by Get not the other record itself but this sub-resource of it: the segment behind its uid (`readme`). */
  readonly sub?: string;
  /** v2 member of this record without which there is nothing to be read. */
  readonly when?: string;
}

/**
 * A member of a v1 list envelope. `fromQuery`: v2 has nothing like it; it repeats the first of these request parameters
 * (snake_case) that the client sent, else the parent of the first record.
 */
export type EnvelopeRow = Row & { readonly fromQuery?: readonly string[] };

/**
 * A function of `translate/composites.ts`: for what takes several calls to v2, or a body that rows alone cannot say.
 * On a create or an update it takes the place of the one POST or PATCH.
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

/** What the documentation says of an operation beyond its rows; markdown, no effect on any request. */
interface Documented {
  readonly docs?: {
    /** The v2 calls, where the kind of operation does not say them. */
    readonly calls?: string;
    /** What a v1 client gets otherwise than from native v1. */
    readonly differs?: readonly string[];
  };
}

/** How sure the catalogue is of an operation. */
interface Certain {
  /**
   * Nobody says what some of v1's members mean, so carryover guesses. Native v1 serves it where there is one, unless a rule
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

/** One thing a v1 client can ask. Paths follow from the resource's collections unless it has one of its own. */
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
    /** `extension`: v1 itself had no Get here; in native and shadow mode such a request goes to native. */
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
        /** v1 served it without a parent too (groups: a root group). */
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
     * A custom verb or special path: one v2 call. `v2.path`: template below `/{domain}/{version}/`; `{uid}` stands for what
     * `=**` spans in `path`, `{segment}` for what `=*` does. Without `body` the request's is not read; v2 gets none on a GET.
     */
    | (OwnPath & {
        readonly kind: "call";
        readonly v2: { readonly method: "GET" | "POST" | "PATCH"; readonly path: string };
        readonly filters?: readonly Filter[];
        readonly body?: Shape;
        readonly answer: Shape;
      })
    /** Several calls, or a body that rows cannot say. `body`: one v1 message of it (of a batch: one element). */
    | (OwnPath & {
        readonly kind: "composite";
        readonly by: CompositeName;
        /** Path of the verb below `/{domain}/{version}/`, where v2 has one. */
        readonly v2?: string;
        /** Member of v2's body that holds the message. */
        readonly wrap?: string;
        readonly filters?: readonly Filter[];
        readonly body?: Shape;
        readonly answer: Shape;
        readonly joins?: readonly Join[];
      })
    /** Not translated: native v1, or 501 with this name. `extension`: a path that v1 itself does not have. */
    | (OwnPath & { readonly kind: "native"; readonly extension?: true })
  );

export interface Resource {
  /** Singular kebab-case name: `group`, `role-binding`. Also the file's name. */
  readonly name: string;
  readonly domain: "iam" | "registry" | "vulnerabilities";
  /** Collection segment in v1 paths; v2's spelling is accepted there as well. */
  readonly v1: string;
  /** Collection segment in v2 paths. */
  readonly v2: string;
  /** Member of the v2 list envelope that holds the records. */
  readonly items: string;
  /** v1's name of the record's own uid (`id`, or `group` for account associations). */
  readonly key: string;
  readonly list: "drain" | "paged";
  /** True when v2's default order is ascending by uid. */
  readonly orderedByUid: boolean;
  /**
   * Dotted v1 paths of scalars, in the record or the list's envelope, that change between two reads although nobody writes the
   * record, or that each version makes up for itself. Comparisons take another value there for noise, so a wrong row of one
   * goes unnoticed: never for what only seldom changes (native is asked twice for that).
   */
  readonly volatile?: readonly string[];
  readonly operations: readonly Operation[];
  readonly examples: readonly Example[];
}

/** A pair of versions described by another one: `like` names its folder, `less` the resources that it lacks. */
export interface DerivedPair {
  readonly like: string;
  readonly less: readonly string[];
}

/** Operations outside the ten resources, known by name: the router names them in metrics and refusals. */
export interface NativeDomain {
  readonly domain: string;
  readonly operations: readonly {
    readonly resource: string;
    readonly name: string;
    readonly method: string;
    readonly path: string;
  }[];
}

/** Evidence from the specification and the field map, never from running this code. */
export type Example =
  /** One record (for a list: one of its items). `joined`: the other v2 records that joins can read; any other is missing. */
  | {
      readonly of: "answer";
      /** Its name. */
      readonly operation: string;
      readonly v2: JsonObject;
      readonly v1: JsonObject;
      readonly joined?: readonly { readonly resource: string; readonly v2: JsonObject }[];
    }
  | { readonly of: "body"; readonly operation: string; readonly v1: JsonObject; readonly v2: JsonObject }
  | {
      readonly of: "update";
      readonly v1: JsonObject;
      /** Stored v2 record, for rows that are named only when they differ from it. */
      readonly stored?: JsonObject;
      /** camelCase, in the order of the rows. */
      readonly mask: readonly string[];
      readonly v2: JsonObject;
    }
  /** Queries without `?`, in no order that matters; `v2` without the paging that a drain adds. */
  | { readonly of: "filters"; readonly v1: string; readonly v2: string }
  /**
   * A whole exchange: what several calls, or a verb, make of one request. `path` below `/{domain}/v1/`, query included;
   * `calls`: the v2 calls in their order, `METHOD path` below `/{domain}/{version}/`, with what v2 answers.
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

/** Which times records show: all that the specification speaks of, or those of the published v1 messages alone. */
export type RecordTimes = "all" | "published";

/** `shape` without its unpublished rows, at every depth: their v2 members are cut like any that v1 never showed. */
export function publishedShape({ rows, v2Only }: Shape): Shape {
  const cut = rows.flatMap((row) => (isUnpublished(row) && row.v2 !== null ? [row.v2] : []));
  return { rows: rows.filter((row) => !isUnpublished(row)).map(publishedRow), v2Only: [...v2Only, ...cut] };
}

/** `resource` with such answers. */
export function publishedResource(resource: Resource): Resource {
  const operations = resource.operations.map((operation) =>
    "answer" in operation ? { ...operation, answer: publishedShape(operation.answer) } : operation,
  );
  return { ...resource, operations };
}

function publishedRow(row: Row): Row {
  return row.kind === "message" ? { ...row, ...publishedShape({ rows: row.rows, v2Only: row.v2Only ?? [] }) } : row;
}

/** Paths of such rows in the answers of `operation`, as those of differences. */
export function unpublishedPaths(operation: Operation): readonly string[] {
  if (!("answer" in operation)) return [];
  return unpublishedPathsIn(operation.answer.rows, operation.kind === "list" ? "items[]." : "");
}

function unpublishedPathsIn(rows: readonly Row[], prefix: string): readonly string[] {
  return rows.flatMap((row) => {
    if (isUnpublished(row)) return [prefix + row.v1];
    return row.kind === "message"
      ? unpublishedPathsIn(row.rows, `${prefix}${row.v1}${row.list === true ? "[]" : ""}.`)
      : [];
  });
}

/** Whether only the specification speaks of it. */
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
