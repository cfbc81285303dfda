/** When was a record made and last changed? (Specification section 9: createdAt and updatedAt become createTime and updateTime.) */
import type { Filter, Row } from "../model/resource.ts";

/** Every record shows both when v2 sends them; what v2 does not send is not there (so: explicit presence). */
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

/** The same two where the specification alone says so: the published v1 message has no such time. */
export const specifiedCreatedAt = { ...createdAt, unpublished: true } as const satisfies Row;
export const specifiedUpdatedAt = { ...updatedAt, unpublished: true } as const satisfies Row;
export const specifiedTimes: readonly Row[] = [specifiedCreatedAt, specifiedUpdatedAt];

/** Which list filters look at a record's place in the hierarchy? (Specification section 4: list parameters.) */

/** Same names and meanings in both versions, on every list that takes them. */
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

/** The record with one uid. v2 has no such parameter and would answer with the whole list: a Get instead. */
export const idFilter: Filter = { v1: "id", use: "get" };

/** Exact match on the name. An empty one is no filter, also where v2 could tell it from an absent one. */
export const nameFilter: Filter = { v1: "name", use: "send", v2: "name", kind: "string", local: { member: "name" } };

/** How do rows read that a client can set elsewhere, where they are only shown? */

/** The same rows, never sent: the message around them is part of an answer alone. */
export function shownOnly(rows: readonly Row[]): readonly Row[] {
  return rows.map((row): Row => {
    if (row.access === "output") return row;
    const { zero: _, mask: __, echo: ___, required: ____, ...rest } = row;
    return { ...rest, access: "output" };
  });
}
