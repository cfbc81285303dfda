/** Which rules do roles follow? (Field map 2.4 and section 6.) */

import type { Context } from "../context.ts";
import { CAPABILITIES } from "../data/capabilities.ts";
import { type JsonObject, member } from "../json.ts";
import { invalid, precondition } from "../refusal.ts";
import type { StoredRecord } from "../store/collection.ts";
import type { Draft, Resource, Write } from "./resource.ts";

const BY_NUMBER = new Map(CAPABILITIES.map((row) => [row[2], row]));
/** CAP_INTERNAL. */
const INTERNAL = 2;

/** The numbers of a role's capabilities. */
export function capabilitiesOf(role: JsonObject | undefined): readonly number[] {
  const list = member(role, "capabilities");
  return Array.isArray(list) ? list.map(Number) : [];
}

/** True when a role allows changing anything. */
export function allowsWrites(role: JsonObject | undefined): boolean {
  return capabilitiesOf(role).some((one) => /\.(create|update|delete)$/.test(BY_NUMBER.get(one)?.[0] ?? ""));
}

function check({ before, next, caller }: Write): Draft {
  if (before !== undefined && !before.uid.includes("/") && !caller.staff) throw builtIn(before.uid);
  if ((member(next.value, "name") ?? "") === "") throw invalid("name", "a name is required");
  const held = capabilitiesOf(next.value);
  const secret = held.find((one) => BY_NUMBER.get(one)?.[3] === true);
  if (secret !== undefined && !held.includes(INTERNAL)) {
    throw invalid("capabilities", `${BY_NUMBER.get(secret)?.[1]} needs CAP_INTERNAL beside it`);
  }
  return next;
}

function builtIn(uid: string) {
  return precondition("ROLE_BUILT_IN", uid, "built-in roles are managed by the platform");
}

function checkRemoval(context: Context, record: StoredRecord): void {
  if (!record.uid.includes("/")) throw builtIn(record.uid);
  const bindings = context.store.collection("roleBindings");
  const bound = bindings.uids().some((uid) => member(bindings.get(uid)?.value, "roleUid") === record.uid);
  if (bound) throw precondition("ROLE_IN_USE", record.uid, "the role is bound to an identity");
}

export const roles: Resource = {
  name: "roles",
  type: "Role",
  times: ["createTime", "updateTime"],
  check,
  checkRemoval,
  open: (uid) => !uid.includes("/"),
};
