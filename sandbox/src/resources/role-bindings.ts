/** Which rules do role bindings follow, and what do they join? (Specification section 2; field map 2.5.) */

import type { Context } from "../context.ts";
import { type JsonObject, member } from "../json.ts";
import { invalid, notFound } from "../refusal.ts";
import type { StoredRecord } from "../store/collection.ts";
import { parentOf } from "../store/uid.ts";
import { claimsOf } from "./identities.ts";
import type { Draft, Resource, Write } from "./resource.ts";

/** What a binding ties together; undefined for what is no longer there. */
export function partsOf(context: Context, record: StoredRecord) {
  const find = (name: "identities" | "groups" | "roles", uid: unknown) =>
    context.store.collection(name).get(String(uid ?? ""));
  return {
    identity: find("identities", member(record.value, "identityUid")),
    group: find("groups", parentOf(record.uid)),
    role: find("roles", member(record.value, "roleUid")),
  };
}

function check({ context, next }: Write): Draft {
  const identity = String(member(next.value, "identityUid") ?? "");
  const role = String(member(next.value, "roleUid") ?? "");
  if (identity === "") throw invalid("identityUid", "an identity is required");
  if (role === "") throw invalid("roleUid", "a role is required");
  if (context.store.collection("identities").get(identity) === undefined) throw notFound("Identity", identity);
  if (context.store.collection("roles").get(role) === undefined) throw notFound("Role", role);
  return next;
}

function summary(record: StoredRecord | undefined, more: JsonObject = {}): JsonObject {
  if (record === undefined) return {};
  const name = member(record.value, "name") ?? "";
  return { uid: record.uid, name, description: member(record.value, "description") ?? "", ...more };
}

function joined(context: Context, record: StoredRecord): JsonObject {
  const { identity, group, role } = partsOf(context, record);
  const who = { ...claimsOf(identity?.value), email: member(identity?.value, "email") ?? "" };
  const flat = context.settings.nestedUidsOnly ? { identityUid: "", roleUid: "" } : {};
  return { ...record.value, ...flat, identity: summary(identity, who), group: summary(group), role: summary(role) };
}

export const roleBindings: Resource = {
  name: "roleBindings",
  type: "RoleBinding",
  times: ["createTime"],
  check,
  removalIsIdempotent: true,
  joined,
};
