/** What becomes of each member of the request's body? (Read off the recorded calls: nothing is translated here.) */
import type { Node } from "../json/tree.ts";
import type { Problem } from "../model/problem.ts";
import type { Row, Shape } from "../model/resource.ts";
import { type BodyNotes, namesOf } from "../translate/body.ts";
import { nodeAt } from "../translate/node.ts";
import { isZero } from "../translate/same.ts";
import { isCompared } from "../translate/update.ts";
import type { ExplainedField, FieldFate } from "./explanation.ts";
import { elementOf, findIn, jsonOf, same, textOf, treeOf } from "./find.ts";
import type { RecordedCall } from "./record.ts";
import { shownMember } from "./secrets.ts";

/** A member of v1 that lies in a sub-resource of v2: the segment of its path, and v2's name. */
export interface PartOf {
  readonly v1: string;
  readonly sub: string;
  readonly member: string;
}

export interface FieldParts {
  readonly shape: Shape;
  /** The v1 body, parsed; undefined when it is empty. */
  readonly body: Node | undefined;
  /** What reading the body found odd. */
  readonly notes: BodyNotes;
  readonly calls: readonly RecordedCall[];
  /** True when what is left out means zero: a full replace. */
  readonly replaces: boolean;
  readonly refusal: Problem | undefined;
  readonly partsOf: readonly PartOf[];
}

/** Where a row stands: its own name is not in it. */
interface Place {
  readonly v1: string;
  readonly v2: string;
}

/**
 * Given members in their order, then those left out that are written or left alone all the same. Of a refused request only
 * what is refused: nothing becomes of the rest.
 */
export function explainFields(parts: FieldParts): ExplainedField[] {
  const bodies = parts.calls.map(({ request }) => (request.method === "GET" ? undefined : treeOf(request.body)));
  const { rows } = parts.shape;
  const own = new Set(rows.flatMap(({ v2 }) => v2 ?? []));
  const context: Context = { ...parts, bodies, own };
  const fields =
    parts.body?.kind === "array"
      ? parts.body.items.slice(0, MOST_ELEMENTS).flatMap((item, index) => {
          const elements = bodies.map((body) => elementOf(body, index));
          return membersOf(rows, item, { v1: `[${index}]`, v2: "" }, { ...context, bodies: elements });
        })
      : membersOf(rows, parts.body, { v1: "", v2: "" }, context);
  return parts.refusal === undefined ? withDeep(fields, parts.notes) : refusedOnly(fields, parts.refusal);
}

/** Elements of a batch are all alike. */
const MOST_ELEMENTS = 10;

interface Context extends FieldParts {
  /** Bodies of the calls that write, by number of the call. */
  readonly bodies: readonly (Node | undefined)[];
  /** v2 names of the shape's own members. */
  readonly own: ReadonlySet<string>;
}

function membersOf(rows: readonly Row[], node: Node | undefined, place: Place, context: Context): ExplainedField[] {
  const byName = namesOf(rows);
  const given = node?.kind === "object" ? node.members : [];
  const seen = new Set<Row>();
  const fields = given.flatMap(({ key, value }) => {
    const row = byName.get(key);
    if (row === undefined) return [unknownField(join(place.v1, key), key, value, context)];
    seen.add(row);
    return rowFields(row, key, value, place, context);
  });
  for (const row of rows) if (!seen.has(row)) fields.push(...rowFields(row, row.v1, undefined, place, context));
  return fields;
}

/** One line for a row, and more for the members of its message where they do not simply go along. */
function rowFields(row: Row, key: string, value: Node | undefined, place: Place, context: Context): ExplainedField[] {
  const at = join(place.v1, key);
  const part = place.v1 === "" ? context.partsOf.find(({ v1 }) => v1 === row.v1) : undefined;
  if (part !== undefined) return [partField(part, value, context)];
  const v2 = row.v2 === null ? null : join(place.v2, row.v2);
  const given = value?.kind === "null" ? undefined : value;
  const found = v2 === null ? [] : findIn(context.bodies, v2, context.own);
  if (
    row.kind === "message" &&
    row.access !== "output" &&
    row.mask === "members" &&
    given !== undefined &&
    v2 !== null
  ) {
    return membersOf(row.rows, given, { v1: at, v2 }, context);
  }
  if (row.kind === "message" && row.list !== true && row.v2 === null && row.access !== "output") {
    // What v1 held together lies apart in v2.
    const spread = membersOf(row.rows, given, { v1: at, v2: place.v2 }, context);
    if (spread.some(({ sent }) => sent !== null)) return spread;
  }
  const verdict = judge(row, at, given, found[0]?.node, context) ?? (value === undefined ? undefined : NULL);
  if (verdict === undefined) return [];
  const explained: ExplainedField = {
    v1: at,
    v2,
    ...verdict,
    given: value === undefined ? null : shownMember(at, textOf(value)),
    sent: found[0] === undefined ? null : shownMember(at, textOf(found[0].node)),
    calls: found.map(({ call }) => call),
  };
  if (row.kind !== "message" || row.list === true || given === undefined || v2 === null) return [explained];
  const inner = membersOf(row.rows, given, { v1: at, v2 }, { ...context, replaces: false });
  return [explained, ...inner.filter(({ becomes }) => becomes !== "same")];
}

/** One line for what is written by a call of its own. */
function partField({ v1, sub, member }: PartOf, value: Node | undefined, context: Context): ExplainedField {
  const found = context.bodies.flatMap((body, index) => {
    const isOwn = context.calls[index]?.place.sub === sub;
    const node = isOwn ? nodeAt(body, member) : undefined;
    return node === undefined ? [] : [{ call: index + 1, node }];
  });
  const [first] = found;
  const verdict: Verdict =
    first === undefined
      ? { becomes: "left-alone", why: "left out or empty, so it is not written and what is stored stays" }
      : { becomes: context.replaces ? "when-different" : "renamed", why: "written by a call of its own" };
  return {
    v1,
    v2: `${sub}: ${member}`,
    ...verdict,
    given: value === undefined ? null : shownMember(v1, textOf(value)),
    sent: first === undefined ? null : shownMember(v1, textOf(first.node)),
    calls: found.map(({ call }) => call),
  };
}

interface Verdict {
  readonly becomes: FieldFate;
  readonly why: string;
}

const NULL: Verdict = { becomes: "dropped", why: "null counts as left out" };

/** Undefined: there is nothing to tell of it. */
function judge(
  row: Row,
  at: string,
  given: Node | undefined,
  sent: Node | undefined,
  context: Context,
): Verdict | undefined {
  const dropsName = context.notes.droppedEnums.includes(at);
  if (given === undefined || dropsName) {
    const left = leftOut(row, sent, context);
    if (!dropsName) return left;
    const why = "v1 does not know this name, and dropped it";
    return left === undefined ? { becomes: "dropped", why } : { ...left, why: `${why}; ${left.why}` };
  }
  if (sent !== undefined) return sentOn(row, given, sent, context);
  if (row.access === "output") return { becomes: "dropped", why: "set by the server, in both versions" };
  if (row.v2 === null) return { becomes: "dropped", why: "v2 has no such field" };
  if (row.mask === "never") return { becomes: "dropped", why: "v2 treats it as set by the server" };
  if (row.mask === "when-present") return { becomes: "left-alone", why: "an empty value counts as left out" };
  if (isCompared(row)) {
    return isZero(jsonOf(given), row) || row.kind === "enum"
      ? { becomes: "left-alone", why: "an empty value leaves the choice open, so it counts as left out" }
      : { becomes: "left-alone", why: "the stored record says the same, so it is not put into updateMask" };
  }
  return { becomes: "dropped", why: "this operation does not send it" };
}

function sentOn(row: Row, given: Node, sent: Node, { replaces }: Context): Verdict {
  const becomes = same(given, sent) ? (row.v1 === row.v2 ? "same" : "renamed") : "converted";
  if (replaces && isCompared(row)) {
    return { becomes: "when-different", why: "put into updateMask only if the stored record says otherwise" };
  }
  const why = becomes === "converted" ? conversion(row) : becomes === "renamed" ? "v2's name" : "";
  return { becomes, why };
}

function conversion(row: Row): string {
  if (row.kind === "enum") return "v2's name of the value";
  return row.kind === "message" || row.kind === "map" ? "members in v2's words" : "v2's form of the value";
}

function leftOut(row: Row, sent: Node | undefined, { replaces }: Context): Verdict | undefined {
  if (sent !== undefined) {
    if (row.access !== "output" && row.mask === "unless-synced") {
      return {
        becomes: "when-different",
        why: "left out, so emptied if the stored record has it: v1 replaces everything here",
      };
    }
    return isZero(jsonOf(sent), row)
      ? { becomes: "set-to-zero", why: "left out, so emptied: v1 replaces everything here" }
      : { becomes: "kept", why: "left out, so sent as it is stored (the value here is from an example)" };
  }
  if (!replaces || row.access === "output" || row.v2 === null || row.mask === "never") return undefined;
  if (row.syncs === true) {
    return {
      becomes: "when-different",
      why: "left out, so removed if the stored record has it: v1 replaces everything here",
    };
  }
  return { becomes: "left-alone", why: LEFT_ALONE[row.mask ?? "always"] };
}

const STAYS = "left out and not put into updateMask, so what is stored stays; v1 would have emptied it";
const LEFT_ALONE = {
  always: "left out and not written",
  "when-present": STAYS,
  "when-changed": STAYS,
  "unless-synced": "left out, and the record is synced, so what is stored stays; v1 would have emptied it",
  members: STAYS,
  never: "left out",
} as const;

function unknownField(at: string, key: string, value: Node, context: Context): ExplainedField {
  const found = findIn(context.bodies, at.includes(".") ? "" : key, context.own);
  const sent = found[0]?.node;
  const verdict: Verdict =
    sent !== undefined && same(value, sent)
      ? { becomes: "passed", why: "v1 knows no such field; unknownFields.request is pass" }
      : { becomes: "dropped", why: "v1 knows no such field" };
  return {
    v1: at,
    v2: null,
    ...verdict,
    given: shownMember(at, textOf(value)),
    sent: verdict.becomes === "passed" && sent !== undefined ? shownMember(at, textOf(sent)) : null,
    calls: verdict.becomes === "passed" ? found.map(({ call }) => call) : [],
  };
}

/** Members dropped inside of lists and maps, which have no line of their own. */
function withDeep(fields: readonly ExplainedField[], notes: BodyNotes): ExplainedField[] {
  const known = new Set(fields.map(({ v1 }) => v1));
  const deep = (paths: readonly string[], why: string) =>
    paths
      .filter((path) => !known.has(path))
      .map((v1): ExplainedField => ({ v1, v2: null, becomes: "dropped", why, given: null, sent: null, calls: [] }));
  return [
    ...fields,
    ...deep(notes.unknown, "v1 knows no such field"),
    ...deep(notes.droppedEnums, "v1 does not know this name, and dropped it"),
    ...deep(notes.serverSet, "v2 treats it as set by the server"),
  ];
}

/** What the refusal names, with the line that it would have had. */
function refusedOnly(fields: readonly ExplainedField[], { fieldViolations }: Problem): ExplainedField[] {
  const bare = { v2: null, given: null, sent: null, calls: [] } as const;
  return fieldViolations.map(({ field, description }): ExplainedField => {
    const line = fields.find(({ v1 }) => v1 === field) ?? bare;
    return { ...line, v1: field, becomes: "refused", why: description };
  });
}

function join(prefix: string, name: string): string {
  return prefix === "" ? name : `${prefix}.${name}`;
}
