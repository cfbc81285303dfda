/** Is this JSON value what an unset member looks like? */
import { skipSpace } from "../json/scan.ts";
import { decimalOf, textOf } from "./compare-scalar.ts";
import { isDue, type Pace } from "./compare-skip.ts";
import { kindOf, membersOf, type Span } from "./compare-text.ts";
import type { Field } from "./shape.ts";
import { mapsOf } from "./table.ts";

/**
 * True for null, "", 0, false, [], {}, and for the zero that the field's kind has beside them. A message of nothing but zeros
 * is zero; a map with a key in it never is.
 */
export function* isZero(pace: Pace, span: Span, field: Field | undefined): Generator<void, boolean> {
  switch (kindOf(span)) {
    case "object": {
      if (field?.keyed === true) return isEmpty(span);
      for (const members of mapsOf(yield* membersOf(span, pace))) {
        for (const [name, value] of members) {
          if (!(yield* isZero(pace, value, fieldOf(field, name)))) return false;
          if (isDue(pace, 0)) yield;
        }
      }
      return true;
    }
    case "array":
      return isEmpty(span);
    case "string":
      if (span.end === span.start + 2) return true;
      // A longer text is no name of an enum.
      return field?.zero !== undefined && span.end - span.start < 1000 && textOf(span) === field.zero;
    case "number":
      return decimalOf(span) === "0";
    default:
      return span.text.bytes[span.start] !== 0x74;
  }
}

/** True for `{}` and `[]`. */
function isEmpty({ text: { view }, start, end }: Span): boolean {
  return skipSpace(view, start + 1) === end - 1;
}

/** The field of the member `name` of an object of `field`. */
export function fieldOf(field: Field | undefined, name: string): Field | undefined {
  if (field?.keyed !== true) return field?.members?.get(name);
  // Each value of a map is one of the messages, whose members are known by name.
  return field.members === undefined ? undefined : { ...field, keyed: false };
}

/** True for a value without members or elements. */
export function isScalar(span: Span): boolean {
  const kind = kindOf(span);
  return kind !== "object" && kind !== "array";
}
