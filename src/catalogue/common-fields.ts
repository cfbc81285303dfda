/** Rows and filters that most resources have. */

import type { Filter, Row } from "../model/resource.ts";

/** Shown when v2 sends it; otherwise absent, hence the explicit presence. */
export const createdAt = {
  v1: "createdAt",
  v2: "createTime",
  kind: "timestamp",
  access: "output",
  presence: "explicit",
} as const satisfies Row;

export const updatedAt = {
  v1: "updatedAt",
  v2: "updateTime",
  kind: "timestamp",
  access: "output",
  presence: "explicit",
} as const satisfies Row;

/** Both, where the published v1 has them too. */
export const recordTimes: readonly Row[] = [createdAt, updatedAt];

/** The same, where only the specification has them: the published v1 message has no such member. */
export const specifiedCreatedAt = { ...createdAt, unpublished: true } as const satisfies Row;
export const specifiedUpdatedAt = { ...updatedAt, unpublished: true } as const satisfies Row;
export const specifiedTimes: readonly Row[] = [specifiedCreatedAt, specifiedUpdatedAt];

/** Filters by a record's place in the hierarchy: the same in both versions, on every list that takes them. */
export const uidpFilters: readonly Filter[] = [
  {
    v1: "uidp.ancestors_of",
    use: "send",
    v2: "uidp.ancestors_of",
    kind: "string",
    local: { hierarchy: "ancestors" },
  },
  {
    v1: "uidp.descendants_of",
    use: "send",
    v2: "uidp.descendants_of",
    kind: "string",
    local: { hierarchy: "descendants" },
  },
  { v1: "uidp.children_of", use: "send", v2: "uidp.children_of", kind: "string", local: { hierarchy: "children" } },
  { v1: "uidp.in_root", use: "send", v2: "uidp.in_root", kind: "bool", local: { hierarchy: "root" } },
  { v1: "uidp.ids", use: "send", v2: "uidp.ids", kind: "string", repeated: true, local: { hierarchy: "ids" } },
];

/** One record by its uid. v2's list has no such parameter and would return everything, so it becomes a Get. */
export const idFilter: Filter = { v1: "id", use: "get" };

/** Exact match. An empty name is no filter, even where v2 could tell it from an absent one. */
export const nameFilter: Filter = { v1: "name", use: "send", v2: "name", kind: "string", local: { member: "name" } };

/** The same rows for a message that is only part of a response. */
export function shownOnly(rows: readonly Row[]): readonly Row[] {
  return rows.map((row): Row => {
    if (row.access === "output") return row;
    const { zero: _, mask: __, echo: ___, required: ____, ...rest } = row;
    return { ...rest, access: "output" };
  });
}
