/** What is there to say of the body of a request, whatever its operation? */
import { JsonError } from "../../json/error.ts";
import { type JsonNode, nodeAt, parseTree, rawOf } from "../../json/tree.ts";
import type { Json } from "../../model/json.ts";
import { Problem } from "../../model/problem.ts";
import type { OperationMatch } from "../../model/request.ts";
import type { Operation, Row, Shape } from "../../model/resource.ts";
import { type BodyNotes, createBodyNotes, namesOf, readBody, type UnknownPolicy } from "../../translate/body.ts";
import { isCompared, isZero } from "../../translate/update.ts";
import { differingFrom, joinsOf, type StoredDifference } from "./assumed-records.ts";
import type { ExplainedField, FieldOutcome } from "./explanation.ts";
import type { RecordedCall, Recording } from "./recording.ts";
import { shownMember } from "./secrets.ts";

/** The shape of the operation's body; undefined when it reads none. */
function shapeOf(operation: Operation): Shape | undefined {
  return "body" in operation ? operation.body : undefined;
}

/** Its fields, each with what becomes of it. */
export function explainBody(
  bytes: Uint8Array,
  match: OperationMatch | undefined,
  calls: Recording["calls"],
  refusal: Problem | undefined,
  policy: UnknownPolicy,
): ExplainedField[] {
  const shape = match === undefined ? undefined : shapeOf(match.operation);
  if (match === undefined || shape === undefined || refusal?.reason === "INVALID_FILTER") return [];
  const { operation } = match;
  const replaces = operation.kind === "update" || ("method" in operation && operation.method === "PATCH");
  const body = requestTree(bytes);
  return explainFields({
    shape,
    body,
    notes: notesOf(bytes, shape, policy),
    calls,
    replaces,
    refusal,
    partsOf: partsOf(operation),
  });
}

/** Members that lie in sub-resources. */
function partsOf(operation: Operation): readonly SubResourceMember[] {
  return joinsOf(operation).flatMap(({ v1, sub, take }) => {
    return sub === undefined || take === "record" ? [] : [{ v1, sub, member: take.member }];
  });
}

/** What the stored record is assumed to differ in, for an update that would look; `otherwise`: as `differingFrom` says. */
export function differingOf(bytes: Uint8Array, match: OperationMatch | undefined, otherwise = false): StoredDifference {
  const shape = match?.operation.kind === "update" ? shapeOf(match.operation) : undefined;
  const none = { record: {}, fields: [], synced: undefined };
  return unlessRefused(() => differingFrom(bytes, shape?.rows ?? [], otherwise), none);
}

/** A note for a body that nobody reads. */
export function unreadBody(bytes: Uint8Array, match: OperationMatch | undefined): readonly string[] {
  const isRead = match === undefined || shapeOf(match.operation) !== undefined;
  return bytes.length === 0 || isRead ? [] : ["the body is not read: this operation has none"];
}

function notesOf(bytes: Uint8Array, { rows }: Shape, policy: UnknownPolicy): BodyNotes {
  const notes = createBodyNotes();
  // Of a batch the elements are read one by one, under paths of their own.
  unlessRefused(() => readBody(bytes, rows, policy, notes), undefined);
  return notes;
}

/** What is refused is told elsewhere, by the recording. */
function unlessRefused<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof Problem) return otherwise;
    throw thrown;
  }
}

/** The body, when it is JSON. */
function requestTree(bytes: Uint8Array): JsonNode | undefined {
  try {
    return parseTree(bytes);
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

/** What becomes of each member of the request's body? (Read off the recorded calls: nothing is translated here.) */

/** A member of v1 that lies in a sub-resource of v2: the segment of its path, and v2's name. */
export interface SubResourceMember {
  readonly v1: string;
  readonly sub: string;
  readonly member: string;
}

export interface FieldParts {
  readonly shape: Shape;
  /** The v1 body, parsed; undefined when it is empty. */
  readonly body: JsonNode | undefined;
  /** What reading the body found odd. */
  readonly notes: BodyNotes;
  readonly calls: readonly RecordedCall[];
  /** True when what is left out means zero: a full replace. */
  readonly replaces: boolean;
  readonly refusal: Problem | undefined;
  readonly partsOf: readonly SubResourceMember[];
}

/** Where a row stands: its own name is not in it. */
interface RowPath {
  readonly v1: string;
  readonly v2: string;
}

/**
 * Given members in their order, then those left out that are written or left alone all the same. Of a refused request only
 * what is refused: nothing becomes of the rest.
 */
export function explainFields(parts: FieldParts): ExplainedField[] {
  const bodies = parts.calls.map(({ request }) => (request.method === "GET" ? undefined : callTree(request.body)));
  const { rows } = parts.shape;
  const own = new Set(rows.flatMap(({ v2 }) => v2 ?? []));
  const context: FieldContext = { ...parts, bodies, own };
  const fields =
    parts.body?.kind === "array"
      ? parts.body.items.slice(0, MOST_ELEMENTS).flatMap((item, index) => {
          const elements = bodies.map((body) => elementOf(body, index));
          return membersOf(rows, item, { v1: `[${index}]`, v2: "" }, { ...context, bodies: elements });
        })
      : membersOf(rows, parts.body, { v1: "", v2: "" }, context);
  return parts.refusal === undefined ? withDeep(fields, parts.notes) : refusedFields(fields, parts.refusal);
}

/** Elements of a batch are all alike. */
const MOST_ELEMENTS = 10;

interface FieldContext extends FieldParts {
  /** Bodies of the calls that write, by number of the call. */
  readonly bodies: readonly (JsonNode | undefined)[];
  /** v2 names of the shape's own members. */
  readonly own: ReadonlySet<string>;
}

function membersOf(
  rows: readonly Row[],
  node: JsonNode | undefined,
  place: RowPath,
  context: FieldContext,
): ExplainedField[] {
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
function rowFields(
  row: Row,
  key: string,
  value: JsonNode | undefined,
  place: RowPath,
  context: FieldContext,
): ExplainedField[] {
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
  const verdict =
    fieldVerdict(row, at, given, found[0]?.node, context) ?? (value === undefined ? undefined : NULL_VERDICT);
  if (verdict === undefined) return [];
  const explained: ExplainedField = {
    v1: at,
    v2,
    ...verdict,
    given: value === undefined ? null : shownMember(at, nodeText(value)),
    sent: found[0] === undefined ? null : shownMember(at, nodeText(found[0].node)),
    calls: found.map(({ call }) => call),
  };
  if (row.kind !== "message" || row.list === true || given === undefined || v2 === null) return [explained];
  const inner = membersOf(row.rows, given, { v1: at, v2 }, { ...context, replaces: false });
  return [explained, ...inner.filter(({ becomes }) => becomes !== "same")];
}

/** One line for what is written by a call of its own. */
function partField(
  { v1, sub, member }: SubResourceMember,
  value: JsonNode | undefined,
  context: FieldContext,
): ExplainedField {
  const found = context.bodies.flatMap((body, index) => {
    const isOwn = context.calls[index]?.place.sub === sub;
    const node = isOwn ? nodeAt(body, member) : undefined;
    return node === undefined ? [] : [{ call: index + 1, node }];
  });
  const [first] = found;
  const verdict: FieldVerdict =
    first === undefined
      ? { becomes: "left-alone", why: "left out or empty, so it is not written and what is stored stays" }
      : { becomes: context.replaces ? "when-different" : "renamed", why: "written by a call of its own" };
  return {
    v1,
    v2: `${sub}: ${member}`,
    ...verdict,
    given: value === undefined ? null : shownMember(v1, nodeText(value)),
    sent: first === undefined ? null : shownMember(v1, nodeText(first.node)),
    calls: found.map(({ call }) => call),
  };
}

interface FieldVerdict {
  readonly becomes: FieldOutcome;
  readonly why: string;
}

const NULL_VERDICT: FieldVerdict = { becomes: "dropped", why: "null counts as left out" };

/** Undefined: there is nothing to tell of it. */
function fieldVerdict(
  row: Row,
  at: string,
  given: JsonNode | undefined,
  sent: JsonNode | undefined,
  context: FieldContext,
): FieldVerdict | undefined {
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
    return isZero(nodeJson(given), row) || row.kind === "enum"
      ? { becomes: "left-alone", why: "an empty value leaves the choice open, so it counts as left out" }
      : { becomes: "left-alone", why: "the stored record says the same, so it is not put into updateMask" };
  }
  return { becomes: "dropped", why: "this operation does not send it" };
}

function sentOn(row: Row, given: JsonNode, sent: JsonNode, { replaces }: FieldContext): FieldVerdict {
  const becomes = sameJson(given, sent) ? (row.v1 === row.v2 ? "same" : "renamed") : "converted";
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

function leftOut(row: Row, sent: JsonNode | undefined, { replaces }: FieldContext): FieldVerdict | undefined {
  if (sent !== undefined) {
    if (row.access !== "output" && row.mask === "unless-synced") {
      return {
        becomes: "when-different",
        why: "left out, so emptied if the stored record has it: v1 replaces everything here",
      };
    }
    return isZero(nodeJson(sent), row)
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

function unknownField(at: string, key: string, value: JsonNode, context: FieldContext): ExplainedField {
  const found = findIn(context.bodies, at.includes(".") ? "" : key, context.own);
  const sent = found[0]?.node;
  const verdict: FieldVerdict =
    sent !== undefined && sameJson(value, sent)
      ? { becomes: "passed", why: "v1 knows no such field; unknownFields.request is pass" }
      : { becomes: "dropped", why: "v1 knows no such field" };
  return {
    v1: at,
    v2: null,
    ...verdict,
    given: shownMember(at, nodeText(value)),
    sent: verdict.becomes === "passed" && sent !== undefined ? shownMember(at, nodeText(sent)) : null,
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
function refusedFields(fields: readonly ExplainedField[], { fieldViolations }: Problem): ExplainedField[] {
  const bare = { v2: null, given: null, sent: null, calls: [] } as const;
  return fieldViolations.map(({ field, description }): ExplainedField => {
    const line = fields.find(({ v1 }) => v1 === field) ?? bare;
    return { ...line, v1: field, becomes: "refused", why: description };
  });
}

function join(prefix: string, name: string): string {
  return prefix === "" ? name : `${prefix}.${name}`;
}

/** Where in the body of a call does a member stand? */

/**
 * Calls that carry the member at the dotted path `v2`, at the top of their body or in what wraps it. `own`: names of members
 * that are never a wrapping.
 */
export function findIn(
  bodies: readonly (JsonNode | undefined)[],
  v2: string,
  own: ReadonlySet<string>,
): { readonly call: number; readonly node: JsonNode }[] {
  if (v2 === "") return [];
  return bodies.flatMap((body, index) => {
    const node = nodeAt(body, v2) ?? wrapped(body, v2, own);
    return node === undefined ? [] : [{ call: index + 1, node }];
  });
}

/** Some verbs wrap what they are about: `{"group":{…}}`, `{"parent":"…","roleBinding":{…}}`. */
function wrapped(body: JsonNode | undefined, v2: string, own: ReadonlySet<string>): JsonNode | undefined {
  if (body?.kind !== "object" || body.members.length > 2) return undefined;
  for (const { key, value } of body.members) {
    const found = own.has(key) ? undefined : nodeAt(value, v2);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Element `index` of the list that a batch holds. */
export function elementOf(body: JsonNode | undefined, index: number): JsonNode | undefined {
  const list = body?.kind === "object" ? body.members.find(({ value }) => value.kind === "array")?.value : body;
  return list?.kind === "array" ? list.items[index] : undefined;
}

/** A body as a tree; undefined when there is none. */
export function callTree(body: Uint8Array | undefined): JsonNode | undefined {
  return body === undefined || body.length === 0 ? undefined : parseTree(body, { surrogates: "pass" });
}

/** The JSON text of a node. */
export function nodeText(node: JsonNode): string {
  return Buffer.from(rawOf(node)).toString("utf8");
}

/** Its value. */
export function nodeJson(node: JsonNode): Json {
  return JSON.parse(nodeText(node)) as Json;
}

/** Whether two nodes say the same, up to white space. */
export function sameJson(a: JsonNode, b: JsonNode): boolean {
  return nodeText(a) === nodeText(b) || JSON.stringify(nodeJson(a)) === JSON.stringify(nodeJson(b));
}
