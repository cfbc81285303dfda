/** Which writes can be proved by reading? */
import type { Match } from "../model/match.ts";
import { readFixed } from "../translate/composites/fixed.ts";

/**
 * True when reads after native's write show what the translation would have done. Not so where the translation looks at
 * the record first and decides by what it finds (a name that is taken or changed, settings that v2 alone sets): native has
 * changed that by now. Nor for verbs, batches and wrapped updates: v2 has no record to read behind their paths.
 */
export function isProvable({ operation }: Match, body: Uint8Array): boolean {
  switch (operation.kind) {
    case "delete":
      return true;
    case "create":
      return operation.by === undefined;
    case "update":
      return (
        operation.by === undefined || (operation.by === "replace-with-sub" && !saysFixed(operation.body.rows, body))
      );
    default:
      return false;
  }
}

/** Something that the translation would have refused to change. */
function saysFixed(rows: Parameters<typeof readFixed>[1], body: Uint8Array): boolean {
  try {
    return readFixed(body, rows).length > 0;
  } catch {
    // Refused as a whole: that does not depend on the record.
    return false;
  }
}
