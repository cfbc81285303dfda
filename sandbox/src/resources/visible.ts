/** Which records does a caller see in a list? (Field map 1.J: lists are unscoped calls over what the caller may read.) */

import { type Caller, mayRead, readsAll } from "../auth/caller.ts";
import type { Context } from "../context.ts";
import type { StoredRecord } from "../store/collection.ts";
import { type PlaceFilter, type RecordTest, type Selection, select } from "../store/select.ts";
import type { Resource } from "./resource.ts";

/** The records that pass `place` and `tests` and that the caller may read. */
export function visible(
  context: Context,
  resource: Resource,
  caller: Caller,
  place: PlaceFilter,
  tests: readonly RecordTest[],
): Selection {
  const collection = context.store.collection(resource.name);
  if (readsAll(caller)) return select(collection, place, tests);
  const [only, ...others] = caller.grants;
  const unfiltered = !place.inRoot && place.ids.length === 0 && place.childrenOf + place.ancestorsOf === "";
  if (only && others.length === 0 && resource.open === undefined && unfiltered && place.descendantsOf === "") {
    return select(collection, { ...place, descendantsOf: only.scope }, tests);
  }
  const allowed = (record: StoredRecord) => mayRead(caller, record.uid) || resource.open?.(record.uid) === true;
  return select(collection, place, [...tests, allowed]);
}
