/** Which rules do groups follow? (Specification sections 2 and 3; field map T54.) */

import type { Context } from "../context.ts";
import { type JsonObject, member } from "../json.ts";
import { forbidden, invalid, precondition } from "../refusal.ts";
import type { StoredRecord } from "../store/collection.ts";
import { RESOURCES } from "../store/store.ts";
import type { Draft, Resource, Write } from "./resource.ts";

const NAME = /^[a-z0-9 ._-]{1,}$/;
/** ORG_STATUS_READY. */
const READY = 2;

/** Throws unless `name` matches the one pattern that names of groups and identities have. */
export function checkName(value: JsonObject): void {
  if (!NAME.test(String(member(value, "name") ?? ""))) throw invalid("name", `name must match ${NAME.source}`);
}

function check(write: Write): Draft {
  const { next, before, caller, parent } = write;
  checkName(next.value);
  const verified = member(next.value, "verified") === true;
  if (verified !== (member(before?.value, "verified") === true) && !caller.staff) throw forbidden();
  const kind = Number(member(next.value, "kind") ?? 0);
  if (parent === "") {
    if (verified && kind === 0) throw invalid("kind", "a verified root group has a kind");
    return before === undefined ? { value: { ...next.value, status: READY }, extra: next.extra } : next;
  }
  const inherited = inheritedKind(write);
  if (kind !== inherited && (kind !== 0 || before !== undefined)) {
    throw invalid("kind", "a subgroup inherits the kind of its parent");
  }
  return { value: { ...next.value, kind: inherited }, extra: next.extra };
}

/** The kind a subgroup has: its own once it exists, its parent's before. */
function inheritedKind({ before, context, parent }: Write): number {
  const source = before ?? context.store.collection("groups").get(parent);
  return Number(member(source?.value, "kind") ?? 0);
}

function checkRemoval(context: Context, record: StoredRecord): void {
  for (const name of RESOURCES) {
    const collection = context.store.collection(name);
    const inside = collection.children(record.uid).length > 0 || (name !== "groups" && collection.get(record.uid));
    if (inside) throw precondition("RESOURCE_NOT_EMPTY", record.uid, `the group still contains ${name}`);
  }
}

export const groups: Resource = {
  name: "groups",
  type: "Group",
  rootless: true,
  times: ["createTime", "updateTime"],
  check,
  checkRemoval,
};
