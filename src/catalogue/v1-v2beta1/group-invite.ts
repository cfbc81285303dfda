/** Group invites: v1 beside v2. (A code with which somebody joins a group.) */
import type { Resource, Row, Shape } from "../../model/resource.ts";
import { capability } from "../capability.ts";
import { createdAt, idFilter, specifiedUpdatedAt } from "../common-fields.ts";
import { CREATED, ORG, ROLE, UPDATED } from "../example-values.ts";

const INVITE = `${ORG}/5a5a5a5a5a5a5a5a`;

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
    {
      of: "body",
      operation: "create",
      v1: { group: ORG, ttl: "86400s", role: ROLE, email: "new@example.com", singleUse: true },
      v2: { ttl: "86400s", roleUid: ROLE, email: "new@example.com", singleUse: true },
    },
    {
      of: "body",
      operation: "create",
      v1: { ttl: "60.5s", role: ROLE, singleUse: false },
      v2: { ttl: "60.5s", roleUid: ROLE, singleUse: false },
    },
    {
      of: "answer",
      operation: "create",
      v2: {
        uid: INVITE,
        roleUid: ROLE,
        role: { uid: ROLE, name: "viewer", description: "built-in", capabilities: ["CAP_IAM_GROUPS_LIST"] },
        email: "new@example.com",
        expirationTime: UPDATED,
        singleUse: true,
        code: "secret",
        keyId: "key-1",
        createTime: CREATED,
        updateTime: CREATED,
      },
      v1: {
        id: INVITE,
        expiration: UPDATED,
        keyId: "key-1",
        role: { id: ROLE, name: "viewer", description: "built-in", capabilities: ["groups.list"] },
        code: "secret",
      },
    },
    {
      of: "answer",
      operation: "create",
      v2: { uid: INVITE, roleUid: ROLE, code: "secret" },
      v1: {
        id: INVITE,
        expiration: null,
        keyId: "",
        role: { id: ROLE, name: "", description: "", capabilities: [] },
        code: "secret",
      },
    },
    // Its errors name what v1 has.
    {
      of: "exchange",
      operation: "create",
      path: `group_invites/${ORG}`,
      body: { ttl: "1s", role: "nobody" },
      calls: [
        {
          call: `POST groupInvites/${ORG}`,
          body: { ttl: "1s", roleUid: "nobody" },
          status: 400,
          answer: {
            code: 3,
            message: "Invalid argument: role_uid: is no role",
            details: [
              {
                "@type": "type.googleapis.com/google.rpc.BadRequest",
                fieldViolations: [
                  { field: "role_uid", description: "is no role" },
                  { field: "ttl", description: "is too short" },
                ],
              },
            ],
          },
        },
      ],
      status: 400,
      answer: {
        code: 3,
        message: "Invalid argument: role: is no role",
        details: [
          {
            "@type": "type.googleapis.com/google.rpc.BadRequest",
            fieldViolations: [
              { field: "role", description: "is no role" },
              { field: "ttl", description: "is too short" },
            ],
          },
        ],
      },
    },
    { of: "filters", v1: `group=${ORG}&keyId=key-1`, v2: `uidp.children_of=${ORG}&key_id=key-1` },
  ],
} satisfies Resource;
