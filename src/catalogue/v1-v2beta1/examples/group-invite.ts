/** Examples of what v1 and v2 send: group invites. */
import type { Example } from "../../../model/resource.ts";
import { CREATED, invalid, ORG, ROLE, UPDATED } from "../../example-values.ts";

const INVITE = `${ORG}/5a5a5a5a5a5a5a5a`;

const made = {
  roleUid: ROLE,
  role: { uid: ROLE, name: "viewer", description: "built-in", capabilities: ["CAP_IAM_GROUPS_LIST"] },
  email: "new@example.com",
  expirationTime: UPDATED,
  singleUse: true,
};
const shownRole = { id: ROLE, name: "viewer", description: "built-in", capabilities: ["groups.list"] };
const goneRole = { id: ROLE, name: "", description: "", capabilities: [] };
const tooShort = { field: "ttl", description: "is too short" };

export default [
  {
    of: "answer",
    operation: "list",
    v2: { uid: INVITE, ...made, keyId: "key-1", createTime: CREATED, updateTime: CREATED },
    v1: {
      id: INVITE,
      expiration: UPDATED,
      keyId: "key-1",
      role: shownRole,
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
      role: goneRole,
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
    v2: { uid: INVITE, ...made, code: "secret", keyId: "key-1", createTime: CREATED, updateTime: CREATED },
    v1: { id: INVITE, expiration: UPDATED, keyId: "key-1", role: shownRole, code: "secret" },
  },
  {
    of: "answer",
    operation: "create",
    v2: { uid: INVITE, roleUid: ROLE, code: "secret" },
    v1: { id: INVITE, expiration: null, keyId: "", role: goneRole, code: "secret" },
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
        answer: invalid("role_uid", { field: "role_uid", description: "is no role" }, tooShort),
      },
    ],
    status: 400,
    answer: invalid("role", { field: "role", description: "is no role" }, tooShort),
  },
  { of: "filters", v1: `group=${ORG}&keyId=key-1`, v2: `uidp.children_of=${ORG}&key_id=key-1` },
] as const satisfies readonly Example[];
