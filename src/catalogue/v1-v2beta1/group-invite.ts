/** Group invites: v1 beside v2. (A code with which somebody joins a group.) */
import type { Resource, Row, Shape } from "../../model/resource.ts";
import { capability } from "../capability.ts";
import { createdAt, idFilter, specifiedUpdatedAt } from "../common-fields.ts";

/** The role as an invite holds it: no times. v2 leaves the object out once the role is deleted; its uid remains. */
const role: readonly Row[] = [
  { v1: "id", v2: "uid", from: ["role.uid", "roleUid"], kind: "string", access: "output" },
  { v1: "name", v2: "name", kind: "string", access: "output" },
  { v1: "description", v2: "description", kind: "string", access: "output" },
  { v1: "capabilities", v2: "capabilities", kind: "enum", values: capability, list: true, access: "output" },
];

/** What a list shows: no code. */
const item: Shape = {
  rows: [
    { v1: "id", v2: "uid", kind: "string", access: "output" },
    { v1: "expiration", v2: "expirationTime", kind: "timestamp", access: "output" },
    { v1: "keyId", v2: "keyId", kind: "string", access: "output" },
    { v1: "role", v2: "role", kind: "message", rows: role, access: "output" },
    { v1: "email", v2: "email", kind: "string", zero: "" },
    createdAt,
    specifiedUpdatedAt,
    { v1: "singleUse", v2: "singleUse", kind: "bool", zero: false },
  ],
  v2Only: ["roleUid", "ttl", "code"],
};

/** What create asks for: the role is a uid here. */
const asked: Shape = {
  rows: [
    // The path says which group, whatever the body says.
    { v1: "group", v2: null, from: ["uid/.."], kind: "string", access: "output" },
    // v2 wants one, v1 did not. None is made up.
    { v1: "ttl", v2: "ttl", kind: "duration", zero: null, required: true },
    { v1: "role", v2: "roleUid", kind: "string", zero: "" },
    { v1: "email", v2: "email", kind: "string", zero: "" },
    { v1: "singleUse", v2: "singleUse", kind: "bool", zero: false },
  ],
  v2Only: ["uid"],
};

/** What create answers: the code, once, and neither address nor times. */
const made: Shape = {
  rows: [
    { v1: "id", v2: "uid", kind: "string", access: "output" },
    { v1: "expiration", v2: "expirationTime", kind: "timestamp", access: "output" },
    { v1: "keyId", v2: "keyId", kind: "string", access: "output" },
    { v1: "role", v2: "role", kind: "message", rows: role, access: "output" },
    { v1: "code", v2: "code", kind: "string", access: "output" },
  ],
  v2Only: ["roleUid", "ttl", "email", "singleUse", "createTime", "updateTime"],
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
    { kind: "create", name: "create", body: asked, answer: made },
    { kind: "delete", name: "delete" },
  ],
} satisfies Resource;
