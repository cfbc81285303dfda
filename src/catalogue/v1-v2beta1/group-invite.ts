/** What does a group invite look like in a v1 list, and what in v2? (A code with which somebody joins a group.) */
import type { Resource, Row, Shape } from "../../model/resource.ts";
import { capability } from "../shared/capability.ts";
import { CREATED, ORG, ROLE, UPDATED } from "../shared/sample.ts";
import { recordTimes } from "../shared/times.ts";
import { idFilter } from "../shared/uidp.ts";

const INVITE = `${ORG}/5a5a5a5a5a5a5a5a`;

/** The role as an invite holds it: no times. v2 leaves the object out once the role is deleted; its uid remains. */
const role: readonly Row[] = [
  { v1: "id", v2: "uid", from: ["role.uid", "roleUid"], kind: "string", access: "output" },
  { v1: "name", v2: "name", kind: "string", access: "output" },
  { v1: "description", v2: "description", kind: "string", access: "output" },
  { v1: "capabilities", v2: "capabilities", kind: "enum", values: capability, list: true, access: "output" },
];

/** What a list shows: no code. Create asks for and answers with other shapes. */
const item: Shape = {
  rows: [
    { v1: "id", v2: "uid", kind: "string", access: "output" },
    { v1: "expiration", v2: "expirationTime", kind: "timestamp", access: "output" },
    { v1: "keyId", v2: "keyId", kind: "string", access: "output" },
    { v1: "role", v2: "role", kind: "message", rows: role, access: "output" },
    { v1: "email", v2: "email", kind: "string", zero: "" },
    ...recordTimes,
    { v1: "singleUse", v2: "singleUse", kind: "bool", zero: false },
  ],
  v2Only: ["roleUid", "ttl", "code"],
};

export default {
  name: "group-invite",
  domain: "iam",
  v1: "group_invites",
  v2: "groupInvites",
  items: "groupInvites",
  key: "id",
  list: "drain",
  // Newest first.
  orderedByUid: false,
  operations: [
    {
      kind: "list",
      name: "list",
      answer: item,
      filters: [
        idFilter,
        // v1 said "rooted under": read as directly under, since v1 has another word for the subtree elsewhere.
        { v1: "group", use: "send", v2: "uidp.children_of", kind: "string", local: { hierarchy: "children" } },
        { v1: "key_id", use: "send", v2: "key_id", kind: "string", local: { member: "keyId" } },
      ],
    },
    { kind: "get", name: "get", answer: item, extension: true },
    { kind: "native", name: "create", method: "POST", path: "group_invites/{group=**}" },
    { kind: "native", name: "delete", method: "DELETE", path: "group_invites/{id=**}" },
  ],
  examples: [
    {
      of: "answer",
      operation: "list",
      v2: {
        uid: INVITE,
        roleUid: ROLE,
        role: { uid: ROLE, name: "viewer", description: "built-in", capabilities: ["CAP_IAM_GROUPS_LIST"] },
        email: "new@example.com",
        expirationTime: UPDATED,
        singleUse: true,
        keyId: "key-1",
        createTime: CREATED,
        updateTime: CREATED,
      },
      v1: {
        id: INVITE,
        expiration: UPDATED,
        keyId: "key-1",
        role: { id: ROLE, name: "viewer", description: "built-in", capabilities: ["groups.list"] },
        email: "new@example.com",
        createdAt: CREATED,
        updatedAt: CREATED,
        singleUse: true,
      },
    },
    // The role is gone; the code and the time to live are create's.
    {
      of: "answer",
      operation: "list",
      v2: { uid: INVITE, roleUid: ROLE, ttl: "86400s", code: "secret", keyId: "key-1", createTime: CREATED },
      v1: {
        id: INVITE,
        expiration: null,
        keyId: "key-1",
        role: { id: ROLE, name: "", description: "", capabilities: [] },
        email: "",
        createdAt: CREATED,
        singleUse: false,
      },
    },
    { of: "filters", v1: `group=${ORG}&keyId=key-1`, v2: `uidp.children_of=${ORG}&key_id=key-1` },
  ],
} satisfies Resource;
