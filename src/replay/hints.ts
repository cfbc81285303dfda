/** Possible causes of a difference: the setting that avoids it, or a trap between the two versions (docs/traps.md). */
import type { Difference } from "../model/comparison.ts";
import { type Operation, type RecordTimes, type Row, unpublishedPaths } from "../model/resource.ts";
import { settingFor } from "../shadow/results.ts";

export interface DifferenceHint {
  /** `option: value`. */
  readonly set?: string;
  /** Its id and what is easy to get wrong. */
  readonly trap?: string;
}

type Place = Pick<Difference, "class" | "path">;

interface KnownTrap {
  readonly id: string;
  /** As in docs/traps.md. */
  readonly trap: string;
  /** `resource operation`. */
  readonly of?: RegExp;
  readonly path?: RegExp;
  readonly class?: RegExp;
  readonly kind?: Row["kind"];
  /** The translated value. */
  readonly translated?: RegExp;
}

/** The first one that fits: special ones before general ones. Only what concerns reads. */
export const KNOWN_TRAPS: readonly KnownTrap[] = [
  { id: "TRAP-04", trap: "capabilities are dotted words in v1 and enum names in v2", path: /capabilities/ },
  { id: "TRAP-05", trap: "catalog tiers with the same name have other numbers in v2", path: /catalogTier|bundles/ },
  {
    id: "TRAP-06",
    trap: "`sync_config` is spelled this way in the JSON of both versions, but its members are camelCase",
    path: /sync_?config/i,
  },
  { id: "TRAP-07", trap: "`uid` in an overlay is the number of a user", path: /\.users\[\]\.uid$|runAs/ },
  {
    id: "TRAP-08",
    trap: "`userName` and `groupName` change their spelling in some places only",
    path: /(?:user|group)_?name/i,
  },
  {
    id: "TRAP-10",
    trap: "v2's repos come without their readme, so a client that writes back what it read erases it",
    path: /readme/,
  },
  { id: "TRAP-15", trap: "v1 says which tags to leave out, v2 which to include", of: /^tag /, path: /^items\[\]$/ },
  {
    id: "TRAP-18",
    trap: "v2's bindings show less of role, group and identity than v1's: a role looks as if it granted nothing",
    of: /^role-binding /,
    path: /(?:role|group|identity)\./,
  },
  {
    id: "TRAP-16",
    trap: "v2 returns objects where v1 returned the ids of identity, group and role",
    of: /^(?:role-binding|group-invite) /,
    path: /(?:identity|group|role)$/,
  },
  { id: "TRAP-22", trap: "the uid of an association is its group", of: /^account-association /, path: /group$/ },
  { id: "TRAP-23", trap: "keys of service bindings look like enum names", path: /serviceBindings/ },
  {
    id: "TRAP-39",
    trap: "v1's list of advisories was paged, and named its owner",
    of: /^advisory list$/,
    path: /^(?:nextPageToken|owner|totalCount)/,
  },
  {
    id: "TRAP-38",
    trap: "events of advisories have other names in v2 and meaningful empty types, and one type is missing",
    of: /^advisory /,
    path: /events/,
  },
  {
    id: "TRAP-49",
    trap: "v2's list of providers leaves out the state of SCIM tokens",
    of: /^identity-provider /,
    path: /scim/i,
  },
  {
    id: "TRAP-03",
    trap: "a Get returns 404 or 403 where v1's list by id was empty",
    of: / list$/,
    class: /^status$/,
    translated: /^40[34]/,
  },
  {
    id: "TRAP-65",
    trap: "without an architecture v2 returns the size for amd64",
    path: /[sS]ize/,
  },
  { id: "TRAP-35", trap: "each of v2's lists has its own name for its records", path: /^items$/ },
  {
    id: "TRAP-02",
    trap: "v2 splits its lists into pages, 50 records each by default",
    path: /^items\[\]$/,
    class: /^missing$/,
  },
  {
    id: "TRAP-01",
    trap: "v2 lists ignore unknown parameters, including `id`: a filter becomes the whole list",
    path: /^items\[\]$/,
    class: /^extra$/,
  },
  { id: "TRAP-24", trap: "maps that the client fills may have keys that look like field names", kind: "map" },
  { id: "TRAP-37", trap: "64-bit numbers are strings in JSON", kind: "int64", class: /^value$/ },
  { id: "TRAP-32", trap: "enum names differ by a prefix, by another word, or not at all", kind: "enum" },
  { id: "TRAP-41", trap: "times are renamed in most messages, each in its own way", kind: "timestamp" },
  { id: "TRAP-63", trap: "v2 may or may not include zero values", class: /^presence$/ },
];

export interface HintContext {
  readonly resource: string;
  readonly operation: Operation;
  /** The translated value, if it is known. */
  readonly translated?: string | undefined;
  /** `v1.recordTimes`. */
  readonly recordTimes: RecordTimes;
}

export function hintFor(
  place: Place,
  { resource, operation, translated = "", recordTimes }: HintContext,
): DifferenceHint {
  const hidesTime =
    place.class === "missing" && recordTimes === "published" && unpublishedPaths(operation).includes(place.path);
  const ofPresence = place.class === "presence" ? "upstream.v2.omitsZeros: auto" : undefined;
  const set = hidesTime ? "v1.recordTimes: all" : (settingFor(place, operation) ?? ofPresence);
  const name = `${resource} ${operation.name}`;
  const isOfBody = place.class !== "status" && place.class !== "error";
  const kind = isOfBody ? rowKind(operation, place.path) : undefined;
  const known = KNOWN_TRAPS.find(
    (one) =>
      one.of?.test(name) !== false &&
      one.path?.test(place.path) !== false &&
      one.class?.test(place.class) !== false &&
      one.translated?.test(translated) !== false &&
      (one.kind === undefined || one.kind === kind),
  );
  return {
    ...(set === undefined ? {} : { set }),
    ...(known === undefined ? {} : { trap: `${known.id}: ${known.trap}` }),
  };
}

/** The kind of the row at a path of `Difference.path`. */
function rowKind(operation: Operation, path: string): Row["kind"] | undefined {
  if (!("answer" in operation)) return undefined;
  let rows: readonly Row[] = operation.answer.rows;
  let kind: Row["kind"] | undefined;
  for (const name of path.replace(/^items\[\]\.?/, "").split(".")) {
    const row = rows.find(({ v1 }) => v1 === name.replace("[]", ""));
    kind = row?.kind;
    if (row?.kind !== "message") break;
    rows = row.rows;
  }
  return kind;
}
