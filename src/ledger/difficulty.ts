/** How hard is a client to move to v2, and why? (Design section 8.) */
import type { ClientEntry, Difficulty } from "../model/ledger.ts";

/** The hardest need of a client; `none` when it never called v1. */
export function difficultyOf({ lastV1, needs }: Pick<ClientEntry, "lastV1" | "needs">): Difficulty {
  if (needs.lacking.length > 0) return "lacking";
  if (needs.zeroedFields.length > 0) return "full-replace";
  if (needs.longLists.length > 0) return "long-lists";
  if (needs.unknownFields.length > 0) return "unknown-fields";
  return lastV1 === undefined ? "none" : "renames";
}

/** One reason why a client is hard to move. */
export interface Reason {
  readonly what: string;
  /** Operations or fields, the first few; they may be the client's own texts. */
  readonly names: readonly string[];
  /** How many more there are. */
  readonly more: number;
}

/** Every reason, hardest first. */
export function reasonsOf({ lastV1, needs }: Pick<ClientEntry, "lastV1" | "needs">): readonly Reason[] {
  const { lacking, zeroedFields, longLists, unknownFields, unseen } = needs;
  const operation = (one: { resource: string; operation: string }) => `${one.resource} ${one.operation}`;
  const field = (one: { resource: string; field: string }) => `${one.resource} ${one.field}`;
  const known = [
    ...reason("uses operations that v2 lacks", lacking.map(operation)),
    ...reason("relies on full-replace PUT, left to zero", zeroedFields.map(field)),
    ...reason(
      "relies on unpaginated lists, longest",
      longLists.map(({ resource, records }) => `${resource} ${records}`),
    ),
    ...reason("sends fields that v2 does not know", unknownFields.map(field)),
  ];
  const none = { what: lastV1 === undefined ? "does not call v1" : "renames only", names: [], more: 0 };
  return [
    ...(known.length === 0 ? [none] : known),
    ...reason("perhaps more, nobody looked into", unseen.map(operation)),
  ];
}

/** The same as one line of a report. */
export function difficultyWords(entry: Pick<ClientEntry, "lastV1" | "needs">): string {
  return reasonsOf(entry)
    .map(({ what, names, more }) => {
      return names.length === 0 ? what : `${what}: ${names.join(", ")}${more > 0 ? `, and ${more} more` : ""}`;
    })
    .join(" · ");
}

const MOST_NAMED = 3;

function reason(what: string, names: readonly string[]): readonly Reason[] {
  if (names.length === 0) return [];
  return [{ what, names: names.slice(0, MOST_NAMED), more: Math.max(0, names.length - MOST_NAMED) }];
}
