/** Does a client ask for another value of what v2 alone sets? (Trap T56: settings of a sync that v1 could change.) */
import { type Json, type JsonObject, member } from "../../model/json.ts";
import { Problem } from "../../model/problem.ts";
import type { Row, WritableRow } from "../../model/resource.ts";
import { createBodyNotes, readBody } from "../body.ts";
import { isSame } from "../same.ts";

/** A member that the client sent and v2 will not store. */
export interface FixedField {
  /** Dotted v1 path. */
  readonly v1: string;
  readonly v2Path: readonly string[];
  readonly row: Row;
  readonly value: Json;
}

/**
 * What `bytes` (a body that `readBody` has taken) says of such members: inside the messages that a mask names member by
 * member, those that v2 treats as server-set (`never`) or has no more. At the top of a record they are dropped instead.
 */
export function readFixed(bytes: Uint8Array, rows: readonly Row[]): FixedField[] {
  const messages = rows.flatMap(asSettable);
  if (messages.length === 0) return [];
  const body = readBody(bytes, messages, "drop", createBodyNotes());
  return [...body.fields.values()].flatMap(({ row: outer, nested }) =>
    [...(nested?.fields.values() ?? [])].map(({ row, raw }) => ({
      v1: `${outer.v1}.${row.v1}`,
      v2Path: [outer.v2 ?? outer.v1, row.v2 ?? row.v1],
      row,
      value: JSON.parse(raw) as Json,
    })),
  );
}

/** The message `row` with nothing but those members, as if v2 took them: then they are read. */
function asSettable(row: Row): Row[] {
  if (row.kind !== "message" || row.access === "output" || row.mask !== "members") return [];
  const fixed = row.rows.flatMap((each) =>
    isFixed(each) ? [{ ...each, mask: "always", v2: each.v2 ?? each.v1 }] : [],
  );
  return fixed.length === 0 ? [] : [{ ...row, rows: fixed as Row[] }];
}

function isFixed(row: Row): row is Row & WritableRow {
  return row.access !== "output" && (row.mask === "never" || row.v2 === null);
}

/**
 * Values that are the stored ones are merely sent back, and ignored. Throws `Problem` INVALID_BODY for any other: it would
 * be lost in silence. `stored`: the v2 record; empty for one that is yet to be made.
 */
export function refuseChanges(fixed: readonly FixedField[], stored: JsonObject): void {
  const changed = fixed.filter(({ v2Path, row, value }) => {
    const held = v2Path.reduce<Json | undefined>((at, name) => member(at, name), stored);
    return !isSame(value, held, row, false);
  });
  if (changed.length === 0) return;
  const names = changed.map(({ v1 }) => v1);
  throw new Problem("INVALID_BODY", `invalid body: ${names.join(", ")}: ${WHY}`, {
    fieldViolations: names.map((field) => ({ field, description: WHY })),
  });
}

const WHY = "is set by the platform in v2; leave it out, or send back the value that is stored";
