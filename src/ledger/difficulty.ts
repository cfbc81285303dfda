/** How hard a client is to move to v2, and why. */
import type { ClientEntry, Difficulty } from "./entry.ts";

/** The part of an entry that decides. */
export type ClientUsage = Pick<ClientEntry, "lastV1" | "operations" | "needs">;

/** True for paths that the catalogue does not know, so that carryover cannot name their replacement in v2. */
export function isUnknown({ resource }: { readonly resource: string }): boolean {
  return resource === "unknown";
}

/** True if the client calls such paths, even without success: an error does not show that v1 lacks the path. */
export function callsUnknown({ operations, needs }: Pick<ClientUsage, "operations" | "needs">): boolean {
  return operations.some(isUnknown) || needs.lacking.some(isUnknown);
}

/** The hardest need of a client; `none` if it never called v1, `unknown` if one that is harder may be among what nobody saw. */
export function difficultyOf(entry: ClientUsage): Difficulty {
  const { lastV1, needs } = entry;
  if (needs.lacking.length > 0 || callsUnknown(entry)) return "lacking";
  if (needs.zeroedFields.length > 0) return "full-replace";
  if (needs.unseen.length > 0) return "unknown";
  if (needs.longLists.length > 0) return "long-lists";
  if (needs.unknownFields.length > 0) return "unknown-fields";
  return lastV1 === undefined ? "none" : "renames";
}

/** The reason of a client that calls v1 and has no need of its own. */
export const RENAMES_ONLY = "renames only";

/** One reason why a client is hard to move. */
export interface DifficultyReason {
  readonly what: string;
  /** The first few operations or fields, which may be the client's own texts. */
  readonly names: readonly string[];
  /** How many more there are. */
  readonly more: number;
}

/** Every reason, hardest first: the first one is why `difficultyOf` returns what it does. */
export function reasonsOf(entry: ClientUsage): readonly DifficultyReason[] {
  const { lastV1, needs } = entry;
  const { lacking, zeroedFields, longLists, unknownFields, unseen } = needs;
  const operation = (one: { resource: string; operation: string }) => `${one.resource} ${one.operation}`;
  const field = (one: { resource: string; field: string }) => `${one.resource} ${one.field}`;
  const isUnseen = difficultyOf(entry) === "unknown";
  const reasons = [
    ...reason("uses operations that v2 lacks", lacking.filter((one) => !isUnknown(one)).map(operation)),
    ...(callsUnknown(entry) ? [{ what: "calls paths that carryover does not know", names: [], more: 0 }] : []),
    ...reason("relies on full-replace PUT, left to zero", zeroedFields.map(field)),
    ...reason(`${isUnseen ? "unknown" : "perhaps more"}, nobody looked into`, unseen.map(operation)),
    ...reason(
      "relies on unpaginated lists, longest",
      longLists.map(({ resource, records }) => `${resource} ${records}`),
    ),
    ...reason("sends fields that v2 does not know", unknownFields.map(field)),
  ];
  const none = { what: lastV1 === undefined ? "does not call v1" : RENAMES_ONLY, names: [], more: 0 };
  return reasons.length === 0 ? [none] : reasons;
}

/** The same as one line of a report. */
export function difficultyWords(entry: ClientUsage): string {
  return reasonsOf(entry)
    .map(({ what, names, more }) => {
      return names.length === 0 ? what : `${what}: ${names.join(", ")}${more > 0 ? `, and ${more} more` : ""}`;
    })
    .join(" · ");
}

const MOST_NAMED = 3;

function reason(what: string, names: readonly string[]): readonly DifficultyReason[] {
  if (names.length === 0) return [];
  return [{ what, names: names.slice(0, MOST_NAMED), more: Math.max(0, names.length - MOST_NAMED) }];
}
