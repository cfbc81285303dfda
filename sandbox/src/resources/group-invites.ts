/** Which rules do group invites follow? (Field map 2.8.) */

import type { Context } from "../context.ts";
import { type JsonObject, member } from "../json.ts";
import { invalid, notFound } from "../refusal.ts";
import type { StoredRecord } from "../store/collection.ts";
import { durationMs } from "../wire/scalars.ts";
import type { Draft, Resource, Write } from "./resource.ts";

const DEFAULT_TTL = "86400s";

function check({ context, next }: Write): Draft {
  const { ttl = DEFAULT_TTL, ...value } = next.value;
  const role = String(member(value, "roleUid") ?? "");
  if (role === "") throw invalid("roleUid", "a role is required");
  if (context.store.collection("roles").get(role) === undefined) throw notFound("Role", role);
  const ms = durationMs(String(ttl));
  if (ms <= 0) throw invalid("ttl", "it must be positive");
  const end = new Date(context.settings.clock().getTime() + ms);
  if (Number.isNaN(end.getTime())) throw invalid("ttl", "it is too long");
  return { value: { ...value, expirationTime: end.toISOString() }, extra: {} };
}

/** The role may be gone by now: then there is none to show. */
function joined(context: Context, record: StoredRecord): JsonObject {
  const role = inviteRole(context, record);
  if (role === undefined) return record.value;
  const { name = "", description = "", capabilities = [] } = role.value;
  return { ...record.value, role: { uid: role.uid, name, description, capabilities } };
}

/** The role that an invite gives, while it exists. */
export function inviteRole(context: Context, record: StoredRecord): StoredRecord | undefined {
  return context.store.collection("roles").get(String(member(record.value, "roleUid") ?? ""));
}

export const groupInvites: Resource = {
  name: "groupInvites",
  type: "GroupInvite",
  times: ["createTime"],
  check,
  secrets: ({ store }) => ({ value: { keyId: store.nextHex(16) }, extra: { code: store.nextHex(32) } }),
  joined,
};
