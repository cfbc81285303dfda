/** What is there to say of the body of a request, whatever its operation? */
import { JsonError } from "../json/error.ts";
import { type Node, parseTree } from "../json/tree.ts";
import type { Match } from "../model/match.ts";
import { Problem } from "../model/problem.ts";
import type { Operation, Shape } from "../model/resource.ts";
import { type BodyNotes, createBodyNotes, readBody, type UnknownPolicy } from "../translate/body.ts";
import type { ExplainedField } from "./explanation.ts";
import { explainFields, type PartOf } from "./fields.ts";
import { joinsOf } from "./place.ts";
import type { Recording } from "./record.ts";
import { type Differing, differingFrom } from "./stored-record.ts";

/** The shape of the operation's body; undefined when it reads none. */
function shapeOf(operation: Operation): Shape | undefined {
  return "body" in operation ? operation.body : undefined;
}

/** Its fields, each with what becomes of it. */
export function explainBody(
  bytes: Uint8Array,
  match: Match | undefined,
  calls: Recording["calls"],
  refusal: Problem | undefined,
  policy: UnknownPolicy,
): ExplainedField[] {
  const shape = match === undefined ? undefined : shapeOf(match.operation);
  if (match === undefined || shape === undefined || refusal?.reason === "INVALID_FILTER") return [];
  const { operation } = match;
  const replaces = operation.kind === "update" || ("method" in operation && operation.method === "PATCH");
  const body = treeOf(bytes);
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
function partsOf(operation: Operation): readonly PartOf[] {
  return joinsOf(operation).flatMap(({ v1, sub, take }) => {
    return sub === undefined || take === "record" ? [] : [{ v1, sub, member: take.member }];
  });
}

/** What the stored record is assumed to differ in, for an update that would look; `otherwise`: as `differingFrom` says. */
export function differingOf(bytes: Uint8Array, match: Match | undefined, otherwise = false): Differing {
  const shape = match?.operation.kind === "update" ? shapeOf(match.operation) : undefined;
  const none = { record: {}, fields: [], synced: undefined };
  return unlessRefused(() => differingFrom(bytes, shape?.rows ?? [], otherwise), none);
}

/** A note for a body that nobody reads. */
export function unreadBody(bytes: Uint8Array, match: Match | undefined): readonly string[] {
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
function treeOf(bytes: Uint8Array): Node | undefined {
  try {
    return parseTree(bytes);
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}
