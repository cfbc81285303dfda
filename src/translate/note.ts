/** What of a body, or of an answer, is worth counting? (Design: unknown fields; progress.) */
import type { Report } from "../json/plan.ts";
import type { Row } from "../model/resource.ts";
import { type BodyNotes, createBodyNotes, readBody, type UnknownPolicy, type V2Body } from "./body.ts";
import type { Tools } from "./tools.ts";

/** Reads a v1 body by `rows`, and notes what was learnt of it, also when it is refused. Throws what `readBody` throws. */
export function readNoted(
  bytes: Uint8Array,
  rows: readonly Row[],
  unknown: UnknownPolicy,
  tools: Pick<Tools, "exchange">,
): V2Body {
  const notes = createBodyNotes();
  try {
    return readBody(bytes, rows, unknown, notes);
  } finally {
    noteBody(notes, tools);
  }
}

/** Writes what was learnt of a body into the exchange: names, never values. */
function noteBody(notes: BodyNotes, tools: Pick<Tools, "exchange">): void {
  const { exchange } = tools;
  for (const name of notes.unknown) noteUnknown(exchange, "request", name);
  for (const _ of notes.droppedEnums) exchange.notes.push("enum-dropped");
  for (const _ of notes.serverSet) exchange.notes.push("server-set-dropped");
}

/** More names tell nobody anything; they come from outside, and their number must be bounded. */
const MOST_NAMES = 1_000;

function noteUnknown({ unknownFields }: Tools["exchange"], direction: "request" | "response", name: string): void {
  if (unknownFields.length < MOST_NAMES) unknownFields.push({ direction, name });
}

/** Writes what the rewriter met in an answer into the exchange: names, never values. */
export function noteReports(reports: readonly Report[], tools: Pick<Tools, "exchange">): void {
  for (const { kind, object, member } of reports) {
    const name = object === "" ? member : `${object}.${member}`;
    if (kind === "unknown") noteUnknown(tools.exchange, "response", name);
    else tools.exchange.notes.push(`answer-${kind}`);
  }
}
