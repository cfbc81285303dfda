/** How does native v1 show and write groups? (Field map 2.1.) */

import type { Caller } from "../auth/caller.ts";
import type { Context } from "../context.ts";
import { type JsonObject, member } from "../json.ts";
import { groups } from "../resources/groups.ts";
import type { Draft } from "../resources/resource.ts";
import type { StoredRecord } from "../store/collection.ts";
import { nameTest } from "../store/select.ts";
import type { V1Face } from "./face.ts";
import { keep, times } from "./shape.ts";

/** A group as v1 knows it. */
export function viewGroup(record: StoredRecord): JsonObject {
  const same = keep(record.value, ["name", "description", "resourceLimits", "verified", "kind", "status"]);
  return { id: record.uid, ...same, ...times(record.value) };
}

/**
 * A full replace of what a v1 client may set. Limits and status belong to the server. A customer's silence about
 * `verified` and `kind` is no request to change them: only staff clear them by leaving them out.
 */
function readGroup(given: JsonObject, before: StoredRecord | undefined, _context: Context, caller: Caller): Draft {
  const server = keep(before?.value, ["createTime", "resourceLimits", "status"]);
  const guarded: JsonObject = {};
  const verified = member(given, "verified") === true;
  const keepVerified = !verified && !caller.staff && member(before?.value, "verified") === true;
  if (verified || keepVerified) guarded["verified"] = true;
  const asked = Number(member(given, "kind") ?? 0);
  const kind = asked === 0 ? member(before?.value, "kind") : asked;
  if (kind !== undefined) guarded["kind"] = kind;
  return { value: { ...keep(given, ["name", "description"]), ...guarded, ...server }, extra: before?.extra ?? {} };
}

export const groupsV1: V1Face = {
  resource: groups,
  domain: "iam",
  collection: "groups",
  operations: ["list", "create", "update", "delete"],
  filter: "GroupFilter",
  item: "Group",
  view: viewGroup,
  tests: nameTest,
  key: "id",
  write: { message: "Group", read: readGroup, answer: "Group", view: viewGroup },
};
