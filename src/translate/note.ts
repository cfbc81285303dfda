/** What of a request body is worth counting? (Design: unknown fields; progress.) */
import type { BodyNotes } from "./body.ts";
import type { Tools } from "./tools.ts";

/** Writes what was learnt of a body into the exchange: names, never values. */
export function noteBody(notes: BodyNotes, tools: Pick<Tools, "exchange">): void {
  const { exchange } = tools;
  for (const name of notes.unknown) exchange.unknownFields.push({ direction: "request", name });
  for (const _ of notes.droppedEnums) exchange.notes.push("enum-dropped");
  for (const _ of notes.serverSet) exchange.notes.push("server-set-dropped");
}
