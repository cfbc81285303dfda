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

/** Every reason in words, hardest first, the first few of each named: for a line of a report. */
export function difficultyWords({ lastV1, needs }: Pick<ClientEntry, "lastV1" | "needs">): string {
  const { lacking, zeroedFields, longLists, unknownFields, unseen } = needs;
  const operation = (one: { resource: string; operation: string }) => `${one.resource} ${one.operation}`;
  const field = (one: { resource: string; field: string }) => `${one.resource} ${one.field}`;
  const reasons = [
    words("uses operations that v2 lacks", lacking.map(operation)),
    words("relies on full-replace PUT, left to zero", zeroedFields.map(field)),
    words(
      "relies on unpaginated lists, longest",
      longLists.map(({ resource, records }) => `${resource} ${records}`),
    ),
    words("sends fields that v2 does not know", unknownFields.map(field)),
  ].filter((reason) => reason !== "");
  const known = lastV1 === undefined && reasons.length === 0 ? "does not call v1" : "renames only";
  const all = reasons.length === 0 ? [known] : reasons;
  return [...all, words("perhaps more, nobody looked into", unseen.map(operation))].filter(Boolean).join(" · ");
}

const MOST_NAMED = 3;

function words(what: string, names: readonly string[]): string {
  if (names.length === 0) return "";
  const more = names.length > MOST_NAMED ? `, and ${names.length - MOST_NAMED} more` : "";
  return `${what}: ${names.slice(0, MOST_NAMED).join(", ")}${more}`;
}
