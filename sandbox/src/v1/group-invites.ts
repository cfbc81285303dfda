/** How does native v1 show and write group invites, in their three shapes? (Field map 2.8, traps T20 and T21.) */

import type { Context } from "../context.ts";
import { type JsonObject, member } from "../json.ts";
import { groupInvites, inviteRole } from "../resources/group-invites.ts";
import type { StoredRecord } from "../store/collection.ts";
import { parentOf } from "../store/uid.ts";
import type { V1Face } from "./face.ts";
import { viewRole } from "./roles.ts";
import { keep, pick } from "./shape.ts";

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
