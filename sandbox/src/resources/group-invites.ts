/** Group invites: their rules, v1 and v2. */
import type { Context } from "../context.ts";
import { keep, pick, type V1Face } from "../faces/v1.ts";
import type { V2Face } from "../faces/v2.ts";
import { type JsonObject, member } from "../json.ts";
import { invalid, notFound } from "../refusal.ts";
import { parentOf, type StoredRecord } from "../store/collection.ts";
import { durationMs } from "../wire/scalars.ts";
import type { Draft, Resource, Write } from "./resource.ts";
import { viewRole } from "./roles.ts";

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

// v1: three shapes of an invite.

/** The role as an object; of a role that is gone only its id is left. */
function roleObject(record: StoredRecord, context: Context): JsonObject {
  const role = inviteRole(context, record);
  if (role === undefined) return { id: member(record.value, "roleUid") ?? "" };
  return keep(viewRole(role), ["id", "name", "description", "capabilities"]);
}

/** What creates and lists have in common. */
function viewShared(record: StoredRecord, context: Context): JsonObject {
  const moved = pick(record.value, [["expirationTime", "expiration"]]);
  return { id: record.uid, ...moved, ...keep(record.value, ["keyId"]), role: roleObject(record, context) };
}

function viewStored(record: StoredRecord, context: Context): JsonObject {
  const more = pick(record.value, [["createTime", "createdAt"]]);
  return { ...viewShared(record, context), ...keep(record.value, ["email", "singleUse"]), ...more };
}

export const groupInvitesV1: V1Face = {
  resource: groupInvites,
  domain: "iam",
  collection: "group_invites",
  operations: ["list", "create", "delete"],
  filter: "GroupInviteFilter",
  item: "StoredGroupInvite",
  view: viewStored,
  joins: true,
  // The contract does not say how deep `group` reaches: here it means the invites directly under it.
  tests: (request) => {
    const group = String(member(request, "group") ?? "");
    const key = String(member(request, "keyId") ?? "");
    return [
      ...(group === "" ? [] : [(record: StoredRecord) => parentOf(record.uid) === group]),
      ...(key === "" ? [] : [(record: StoredRecord) => member(record.value, "keyId") === key]),
    ];
  },
  key: "id",
  write: {
    message: "GroupInviteRequest",
    read: (given) => ({
      value: { ...keep(given, ["ttl", "email", "singleUse"]), ...pick(given, [["role", "roleUid"]]) },
      extra: {},
    }),
    answer: "GroupInvite",
    view: (record, context) => ({ ...viewShared(record, context), ...keep(record.extra, ["code"]) }),
  },
  names: new Map([
    ["uid", "id"],
    ["roleUid", "role"],
  ]),
};

// v2

export const groupInvitesV2: V2Face = {
  resource: groupInvites,
  domain: "iam",
  collection: "groupInvites",
  operations: ["list", "get", "create", "delete"],
  listRequest: "ListGroupInvitesRequest",
  order: "created_at desc",
  tests: (request) => {
    const key = member(request, "keyId") ?? "";
    return key === "" ? [] : [(record) => member(record.value, "keyId") === key];
  },
  demand: (next) => {
    if (member(next, "ttl") === undefined) throw invalid("ttl", "a time to live is required");
  },
  revealed: (record) => ({ code: member(record.extra, "code") ?? "" }),
};
