/** Which list filters look at a record's place in the hierarchy? (Specification section 4: list parameters.) */
import type { Filter } from "../../model/resource.ts";

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
