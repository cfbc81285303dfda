/** How does v2 show group invites? (Field map 2.8 and 3.7.) */
import { member } from "../json.ts";
import { invalid } from "../refusal.ts";
import { groupInvites } from "../resources/group-invites.ts";
import type { V2Face } from "./face.ts";

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
