/** What becomes of each member of a request's body and each parameter of its query, read from the recorded calls: nothing is translated here. */
import { JsonError } from "../../json/error.ts";
import { type JsonNode, nodeAt, parseTree, rawOf } from "../../json/tree.ts";
import type { Json } from "../../model/json.ts";
import { type Problem, unlessProblem } from "../../model/problem.ts";
import type { OperationMatch } from "../../model/request.ts";
import type { Filter, Operation, Row, Shape } from "../../model/resource.ts";
import { isSecretName, MASKED, withoutTokens } from "../../model/secrets.ts";
import { camelCase, snakeCase } from "../../model/text.ts";
import { type BodyNotes, createBodyNotes, namesOf, readBody, type UnknownPolicy } from "../../translate/body.ts";
import { parseQuery } from "../../translate/query.ts";
import { isZero } from "../../translate/same.ts";
import { isCompared } from "../../translate/update.ts";
import { differingFrom, joinsOf, NO_DIFFERENCE, type StoredDifference } from "./assumed-records.ts";
import type { ExplainedField, ExplainedParameter, FieldOutcome, ParameterOutcome } from "./explanation.ts";
import type { RecordedCall } from "./recording.ts";
import { shownMember } from "./secrets.ts";

/** The shape of the operation's body; undefined when it reads none. */
export function bodyShape(operation: Operation): Shape | undefined {
  return "body" in operation ? operation.body : undefined;
}

/** How the stored record is assumed to differ from the body of an update; `otherwise`: as in `differingFrom`. */
export function storedDifference(
  bytes: Uint8Array,
  match: OperationMatch | undefined,
  otherwise = false,
): StoredDifference {
  const shape = match?.operation.kind === "update" ? bodyShape(match.operation) : undefined;
  return unlessProblem(() => differingFrom(bytes, shape?.rows ?? [], otherwise)) ?? NO_DIFFERENCE;
}

/** A batch has no more elements than these that are explained: they are all alike. */
const MAX_ELEMENTS = 10;

/**
 * The given members in their order, then the omitted ones that are written or left alone. Of a refused request only what
 * is refused.
 */
export function explainBody(
  bytes: Uint8Array,
  match: OperationMatch | undefined,
  calls: readonly RecordedCall[],
  refusal: Problem | undefined,
  policy: UnknownPolicy,
): ExplainedField[] {
  const shape = match === undefined ? undefined : bodyShape(match.operation);
  if (match === undefined || shape === undefined || refusal?.reason === "INVALID_FILTER") return [];
  const { operation } = match;
  const { rows } = shape;
  const notes = createBodyNotes();
  // The elements of a batch are read one by one, under paths of their own. The recording reports what is refused.
  unlessProblem(() => readBody(bytes, rows, policy, notes));
  const context: FieldContext = {
    calls,
    bodies: calls.map(({ request: { method, body } }) =>
      method === "GET" || body === undefined || body.length === 0 ? undefined : parseTree(body, { surrogates: "pass" }),
    ),
    own: new Set(rows.flatMap(({ v2 }) => v2 ?? [])),
    notes,
    replaces: operation.kind === "update" || ("method" in operation && operation.method === "PATCH"),
    parts: joinsOf(operation).flatMap(({ v1, sub, take }) =>
      sub === undefined || take === "record" ? [] : [{ v1, sub, member: take.member }],
    ),
  };
  const body = requestTree(bytes);
  const fields =
    body?.kind === "array"
      ? body.items.slice(0, MAX_ELEMENTS).flatMap((item, index) => {
          const bodies = context.bodies.map((each) => elementOf(each, index));
          return membersOf(rows, item, { v1: `[${index}]`, v2: "" }, { ...context, bodies });
        })
      : membersOf(rows, body, { v1: "", v2: "" }, context);
  return refusal === undefined ? withDeep(fields, notes) : refusedFields(fields, refusal);
}

/** Undefined when the body is not JSON. */
function requestTree(bytes: Uint8Array): JsonNode | undefined {
  try {
    return parseTree(bytes);
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

/** Element `index` of the list that a batch holds. */
function elementOf(body: JsonNode | undefined, index: number): JsonNode | undefined {
  const list = body?.kind === "object" ? body.members.find(({ value }) => value.kind === "array")?.value : body;
  return list?.kind === "array" ? list.items[index] : undefined;
}

/** A v1 member that lies in a sub-resource of v2: the segment of its path, and v2's name. */
interface SubResourceMember {
  readonly v1: string;
  readonly sub: string;
  readonly member: string;
}

interface FieldContext {
  readonly calls: readonly RecordedCall[];
  /** Bodies of the calls that write, by number of the call. */
  readonly bodies: readonly (JsonNode | undefined)[];
  /** v2 names of the shape's own members. */
  readonly own: ReadonlySet<string>;
  /** What was unusual in the body. */
  readonly notes: BodyNotes;
  /** A full replace: an omitted member means its zero. */
  readonly replaces: boolean;
  readonly parts: readonly SubResourceMember[];
}

/** The message around a row, as dotted paths. */
interface RowPath {
  readonly v1: string;
  readonly v2: string;
}

function membersOf(
  rows: readonly Row[],
  node: JsonNode | undefined,
  around: RowPath,
  context: FieldContext,
): ExplainedField[] {
  const byName = namesOf(rows);
  const given = node?.kind === "object" ? node.members : [];
  const seen = new Set<Row>();
  const fields = given.flatMap(({ key, value }) => {
    const row = byName.get(key);
    if (row === undefined) return [unknownField(join(around.v1, key), key, value, context)];
    seen.add(row);
    return rowFields(row, key, value, around, context);
  });
  for (const row of rows) if (!seen.has(row)) fields.push(...rowFields(row, row.v1, undefined, around, context));
  return fields;
}

/** One line for a row, and more for the members of its message that change. */
function rowFields(
  row: Row,
  key: string,
  value: JsonNode | undefined,
  around: RowPath,
  context: FieldContext,
): ExplainedField[] {
  const at = join(around.v1, key);
  const part = around.v1 === "" ? context.parts.find(({ v1 }) => v1 === row.v1) : undefined;
  if (part !== undefined) return [partField(part, value, context)];
  const v2 = row.v2 === null ? null : join(around.v2, row.v2);
  const given = value?.kind === "null" ? undefined : value;
  const found = v2 === null ? [] : findIn(context.bodies, v2, context.own);
  if (row.kind === "message" && row.access !== "output") {
    if (row.mask === "members" && given !== undefined && v2 !== null)
      return membersOf(row.rows, given, { v1: at, v2 }, context);
    if (row.list !== true && v2 === null) {
      // What v1 held together is apart in v2.
      const spread = membersOf(row.rows, given, { v1: at, v2: around.v2 }, context);
      if (spread.some(({ sent }) => sent !== null)) return spread;
    }
  }
  const verdict =
    fieldVerdict(row, at, given, found[0]?.node, context) ?? (value === undefined ? undefined : NULL_VERDICT);
  if (verdict === undefined) return [];
  const explained = fieldOf(at, v2, verdict, value, found);
  if (row.kind !== "message" || row.list === true || given === undefined || v2 === null) return [explained];
  const inner = membersOf(row.rows, given, { v1: at, v2 }, { ...context, replaces: false });
  return [explained, ...inner.filter(({ becomes }) => becomes !== "same")];
}

/** A member in the body of a call, which is numbered from 1. */
interface FoundMember {
  readonly call: number;
  readonly node: JsonNode;
}

function fieldOf(
  v1: string,
  v2: string | null,
  verdict: FieldVerdict,
  given: JsonNode | undefined,
  found: readonly FoundMember[],
): ExplainedField {
  const sent = found[0]?.node;
  return {
    v1,
    v2,
    ...verdict,
    given: given === undefined ? null : shownMember(v1, nodeText(given)),
    sent: sent === undefined ? null : shownMember(v1, nodeText(sent)),
    calls: found.map(({ call }) => call),
  };
}

/** One line for a member that a call of its own writes. */
function partField(
  { v1, sub, member }: SubResourceMember,
  value: JsonNode | undefined,
  { bodies, calls, replaces }: FieldContext,
): ExplainedField {
  const found = bodies.flatMap((body, index) => {
    const node = calls[index]?.subject.sub === sub ? nodeAt(body, member) : undefined;
    return node === undefined ? [] : [{ call: index + 1, node }];
  });
  const verdict: FieldVerdict =
    found.length === 0
      ? { becomes: "left-alone", why: "left out or empty, so it is not written and what is stored stays" }
      : { becomes: replaces ? "when-different" : "renamed", why: "written by a call of its own" };
  return fieldOf(v1, `${sub}: ${member}`, verdict, value, found);
}

interface FieldVerdict {
  readonly becomes: FieldOutcome;
  readonly why: string;
}

const NULL_VERDICT: FieldVerdict = { becomes: "dropped", why: "null counts as left out" };

/** Undefined when there is nothing to say. */
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
  const becomes = isSameJson(given, sent) ? (row.v1 === row.v2 ? "same" : "renamed") : "converted";
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

function unknownField(at: string, key: string, value: JsonNode, { bodies, own }: FieldContext): ExplainedField {
  const found = findIn(bodies, at.includes(".") ? "" : key, own);
  const why = "v1 knows no such field";
  const isPassed = found[0] !== undefined && isSameJson(value, found[0].node);
  if (!isPassed) return fieldOf(at, null, { becomes: "dropped", why }, value, []);
  return fieldOf(at, null, { becomes: "passed", why: `${why}; unknownFields.request is pass` }, value, found);
}

/** Adds the members that were dropped inside lists and maps. */
function withDeep(fields: readonly ExplainedField[], notes: BodyNotes): ExplainedField[] {
  const known = new Set(fields.map(({ v1 }) => v1));
  const deep = (paths: readonly string[], why: string) =>
    paths
      .filter((path) => !known.has(path))
      .map((v1): ExplainedField => ({ v1, v2: null, becomes: "dropped", why, given: null, sent: null, calls: [] }));
  const all = [
    ...fields,
    ...deep(notes.unknown, "v1 knows no such field"),
    ...deep(notes.droppedEnums, "v1 does not know this name, and dropped it"),
    ...deep(notes.serverSet, "v2 treats it as set by the server"),
  ];
  return all.map((field) => ({ ...field, v1: withoutTokens(field.v1) }));
}

/** The fields that the refusal names, with the lines that they would have had. */
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

/**
 * The calls whose body holds the member at the dotted path `v2`, at its top or inside what wraps it. `own`: names of
 * members that never wrap others.
 */
function findIn(bodies: FieldContext["bodies"], v2: string, own: ReadonlySet<string>): FoundMember[] {
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

function nodeText(node: JsonNode): string {
  return Buffer.from(rawOf(node)).toString("utf8");
}

function nodeJson(node: JsonNode): Json {
  return JSON.parse(nodeText(node)) as Json;
}

/** Up to white space. */
function isSameJson(a: JsonNode, b: JsonNode): boolean {
  return nodeText(a) === nodeText(b) || JSON.stringify(nodeJson(a)) === JSON.stringify(nodeJson(b));
}

interface ParameterParts {
  /** Raw, without `?`. */
  readonly query: string;
  readonly filters: readonly Filter[];
  readonly calls: readonly RecordedCall[];
  readonly refusal: Problem | undefined;
}

/**
 * Parameters in the order of the query, then those that are sent although the client gave none. Of a refused request only
 * what is refused.
 */
export function explainParameters(parts: ParameterParts): ExplainedParameter[] {
  if (parts.refusal !== undefined) return refusedParameters(parts.refusal);
  // A query that cannot be read gets this far only where nothing reads it.
  const given = unlessProblem(() => parseQuery(parts.query)) ?? [];
  const [call] = parts.calls;
  const first = call?.subject.params ?? new URLSearchParams();
  const explained = given.map(({ name, value }): ExplainedParameter => {
    const filter = parts.filters.find(({ v1 }) => v1 === name || camelCase(v1) === name);
    const shown = isSecretName(name) && value !== "" ? MASKED : withoutTokens(value);
    const base = { v1: withoutTokens(name), given: shown };
    if (filter === undefined) {
      return { ...base, sent: null, becomes: "ignored", why: "v1 knows no such parameter, and ignored it" };
    }
    return { ...base, ...outcomeOf(filter, value, first, call?.subject.kind === "record") };
  });
  const added = parts.filters.filter(
    (filter) => filter.use === "inverted" && !given.some(({ name }) => snakeCase(name) === filter.v1),
  );
  return [...explained, ...added.flatMap((filter) => addedOutcome(filter, first))];
}

type SentParameter = Pick<ExplainedParameter, "sent" | "becomes" | "why">;

function outcomeOf(filter: Filter, value: string, sent: URLSearchParams, single: boolean): SentParameter {
  // v1's parent is one of two filters of v2.
  const parent = ["uidp.children_of", "uidp.in_root"].find((name) => sent.has(name));
  const v2 = "v2" in filter ? filter.v2 : filter.use === "parent" ? parent : undefined;
  const values = v2 === undefined ? [] : sent.getAll(v2);
  const found = values.includes(value) ? value : values[0];
  if (v2 !== undefined && found !== undefined) {
    const pair = isSecretName(filter.v1) ? `${v2}=${MASKED}` : `${v2}=${withoutTokens(found)}`;
    return { sent: pair, ...sentOutcome(filter, v2, found === value) };
  }
  if (filter.use === "get") return getOutcome(value, sent);
  const isElement = "repeated" in filter && filter.repeated === true;
  if (value === "" && !isElement)
    return { sent: null, becomes: "ignored", why: "an empty text is no filter, as in v1" };
  if (single) return { sent: null, becomes: "applied", why: "by carryover, to the one record: a Get takes no filters" };
  return { sent: null, becomes: "ignored", why: "v1's zero value is no filter" };
}

function sentOutcome(filter: Filter, v2: string, same: boolean): { becomes: ParameterOutcome; why: string } {
  if (filter.use === "inverted") return { becomes: "inverted", why: "v2 asks for the opposite" };
  if (filter.use === "parent") {
    return { becomes: "applied", why: "v2's nearest filter is sent, and each uid tested by carryover" };
  }
  if (!same) return { becomes: "converted", why: "v2's form of the value" };
  return snakeCase(filter.v1) === v2 ? { becomes: "sent", why: "" } : { becomes: "renamed", why: "v2's name" };
}

function getOutcome(value: string, sent: URLSearchParams): SentParameter {
  if (value === "") return { sent: null, becomes: "ignored", why: "an empty text is no filter, as in v1" };
  const byList = sent.getAll("uidp.ids").includes(value);
  if (byList) return { sent: `uidp.ids=${value}`, becomes: "renamed", why: "another filter needs the list" };
  if (sent.get("page_size") === "1") {
    return { sent: null, becomes: "applied", why: "nothing can match; the platform is only asked who may ask" };
  }
  return { sent: null, becomes: "get", why: "a Get of the one record: v2's lists take no id" };
}

function addedOutcome(filter: Filter, sent: URLSearchParams): ExplainedParameter[] {
  const v2 = "v2" in filter ? filter.v2 : "";
  const value = sent.get(v2);
  if (value === null) return [];
  const why = "always sent: without it v2 shows less than v1 did";
  return [{ v1: filter.v1, given: null, sent: `${v2}=${value}`, becomes: "added", why }];
}

function refusedParameters({ reason, fieldViolations }: Problem): ExplainedParameter[] {
  const violations = reason === "INVALID_FILTER" ? fieldViolations : [];
  return violations.map(({ field, description }): ExplainedParameter => {
    return { v1: field, given: null, sent: null, becomes: "refused", why: description };
  });
}
