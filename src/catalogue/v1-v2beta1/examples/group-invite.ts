/** Examples of what v1 and v2 send: group invites. */
import type { Example } from "../../../model/resource.ts";
import { CREATED, ORG, ROLE, UPDATED } from "../../example-values.ts";

const INVITE = `${ORG}/5a5a5a5a5a5a5a5a`;

export default [
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
] as const satisfies readonly Example[];
