/** Plans: what to change in a JSON document. */

/**
 * What becomes of one value. `copy` leaves its bytes alone. Plans are told apart by identity and may contain themselves
 * (fill `members` after the plan was made). A value of another kind than its plan speaks of is copied untouched; it is
 * reported as `shape` unless it is `null`.
 */
export type ValuePlan = "copy" | ObjectPlan | ArrayPlan | MapPlan | EnumPlan | ConvertPlan;

/** An object with members of known names. */
export interface ObjectPlan {
  readonly kind: "object";
  /** Stands in reports; say it the same way for the same object. Default: empty. */
  readonly label?: string;
  /** By name in the source. A name listed with `{}` is known and left alone. */
  readonly members: ReadonlyMap<string, MemberPlan>;
  /** Members whose name is not listed; both ways reported as `unknown`. Default: `pass`. */
  readonly unknown?: "pass" | "drop";
  /** Whether unlisted members are reported. Default: true. */
  readonly reportUnknown?: boolean;
  /** Members added at the end, in this order, where no member came out under that name. */
  readonly insert?: readonly Insert[];
  /** Called at the end of every such object, before `insert`; see there. */
  readonly finish?: FinishObject;
  /** Names that `finish` may emit: a source member that would come out under one of them is dropped and reported as `shadowed`. */
  readonly emits?: readonly string[];
}

/**
 * One listed member; the first of `drop`, `capture` that is given decides, else it is kept. When the member is edited in
 * any way, two members of its (new) name in one object are an error.
 */
export interface MemberPlan {
  /** The name that it comes out with. A source member of that name that is not listed is dropped and reported as `shadowed`. */
  readonly rename?: string;
  readonly drop?: boolean;
  /** Cut out; `finish` finds its bytes under this name. */
  readonly capture?: string;
  /** Default: `copy`. Has no effect with `drop` or `capture`. */
  readonly value?: ValuePlan;
}

/** An array; its elements all have one plan. */
export interface ArrayPlan {
  readonly kind: "array";
  readonly items: ValuePlan;
}

/** An object whose names are data: they are never touched, and may repeat. */
export interface MapPlan {
  readonly kind: "map";
  readonly values: ValuePlan;
}

/** A string (or number), or an array of them, exchanged by table; what is in no table is copied and reported as `enum`. */
export interface EnumPlan {
  readonly kind: "enum";
  /** From string to string, both decoded. */
  readonly names: ReadonlyMap<string, string>;
  /** From number to string; equal numbers are equal however they are written. Default: none. */
  readonly numbers?: ReadonlyMap<number, string>;
}

/** A value, whatever its kind (`null` too), exchanged by code. */
export interface ConvertPlan {
  readonly kind: "convert";
  /**
   * Takes a copy of the value's bytes, valid by themselves but for bytes after them that are not read yet; returns one valid
   * JSON value, which is not checked. What it throws is thrown.
   */
  readonly convert: (raw: Uint8Array) => Uint8Array | string;
}

/** A member to be added. */
export interface Insert {
  /** Its name, decoded. */
  readonly key: string;
  /** Its value as JSON text; not checked. A member that is `null` counts as present. */
  readonly value: string;
}

/**
 * Makes members out of captured ones. `captured` has copies of the raw values by capture name, present ones only. `emit` adds a
 * member: decoded name, valid JSON value (not checked); a name that already came out of a listed member is an error.
 */
export type FinishObject = (
  captured: ReadonlyMap<string, Uint8Array>,
  emit: (key: string, value: Uint8Array | string) => void,
) => void;

/** A list page: an object with an array of records in it. */
export interface PagePlan {
  /** Name of the member with the records. */
  readonly items: string;
  /** Whether a page without that member, or with `null`, is an empty list. Default: `error`. */
  readonly missingItems?: "empty" | "error";
  /** Name, in the source, of the member of each record that identifies it. Must be a string. */
  readonly key: string;
  readonly record: "copy" | ObjectPlan;
  /** Names of the other members to be handed out. Members in neither are reported as `unknown`. */
  readonly scalars?: readonly string[];
  /** Stands in reports about the page itself. Default: empty. */
  readonly label?: string;
  /** ASCII text put around the records in `bytes`, so that a page can be sent as it stands. Default: none. */
  readonly around?: { readonly open: string; readonly close: string };
}

/** Something met on the way, with how often. */
export interface RewriteReport {
  /**
   * `unknown`: member that no plan lists. `shadowed`: member dropped because its name is given to another one.
   * `enum`: value in no table. `shape`: value of another kind than planned.
   */
  readonly kind: "unknown" | "shadowed" | "enum" | "shape";
  /** Label of the object plan. */
  readonly object: string;
  /** Name of the member in the source; empty when the value is no member's, `…` for all that came after a thousand others. */
  readonly member: string;
  /** The value, for `enum` only: decoded string, or digits as they came. */
  readonly value?: string;
  readonly count: number;
}

/** Stands for the members of all reports that were too many. */
const OTHERS = "…";

type CountedReport = { -readonly [Name in keyof RewriteReport]: RewriteReport[Name] };

/** Reports by what they say, in the order of their first appearance. */
export type ReportsById = Map<string, CountedReport>;

/** Different reports kept; what comes later is counted together, as names come from outside. */
const MOST_REPORTS = 1000;

/** The one report that says this, made with count 0 when it is new. */
export function reportOf(
  reports: ReportsById,
  kind: RewriteReport["kind"],
  object: string,
  member: string,
  value?: string,
): CountedReport {
  // Looking each of them up would take longer than all else that is done for it.
  if (reports.size > MOST_REPORTS && member !== OTHERS) return reportOf(reports, kind, object, OTHERS);
  // Called for each unknown member of a body, perhaps hundreds of thousands of times. Quoting would take most of that time.
  const id = `${kind} ${object.length} ${member.length} ${object}${member}${value === undefined ? "" : `=${value}`}`;
  const known = reports.get(id);
  if (known !== undefined) return known;
  if (reports.size >= MOST_REPORTS && member !== OTHERS) return reportOf(reports, kind, object, OTHERS);
  const report: CountedReport = { kind, object, member, ...(value === undefined ? {} : { value }), count: 0 };
  reports.set(id, report);
  return report;
}

const NONE: readonly RewriteReport[] = [];

/** The finished list; those never counted are left out. */
export function listReports(reports: ReportsById): readonly RewriteReport[] {
  if (reports.size === 0) return NONE;
  return [...reports.values()].filter((report) => report.count > 0);
}
