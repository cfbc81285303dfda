/** Examples of what v1 and v2 send: roles. */
import type { Example } from "../../../model/resource.ts";
import { CREATED, ORG, ROLE, UPDATED } from "../../example-values.ts";

export default [
  {
    of: "answer",
    operation: "list",
    v2: {
      uid: ROLE,
      name: "viewer",
      description: "built-in: sees everything",
      capabilities: ["CAP_IAM_GROUPS_LIST", "CAP_IAM_ROLES_LIST"],
      createTime: CREATED,
      updateTime: UPDATED,
    },
    v1: {
      id: ROLE,
      name: "viewer",
      description: "built-in: sees everything",
      capabilities: ["groups.list", "roles.list"],
      createdAt: CREATED,
      updatedAt: UPDATED,
    },
  },
  // The minimal shape: nothing but uid, name and description.
  {
    of: "answer",
    operation: "list",
    v2: { uid: ROLE, name: "viewer", description: "built-in" },
    v1: { id: ROLE, name: "viewer", description: "built-in", capabilities: [] },
  },
  {
    of: "body",
    operation: "create",
    v1: { name: "auditor", capabilities: ["group_invites.list", "role_bindings.list"] },
    v2: { name: "auditor", capabilities: ["CAP_IAM_GROUP_INVITES_LIST", "CAP_IAM_ROLE_BINDINGS_LIST"] },
  },
  {
    of: "update",
    v1: { id: ROLE, name: "auditor", capabilities: ["groups.list"] },
    mask: ["name", "description", "capabilities"],
    v2: { name: "auditor", description: "", capabilities: ["CAP_IAM_GROUPS_LIST"] },
  },
  {
    of: "update",
    v1: { name: "auditor", description: "none left" },
    mask: ["name", "description", "capabilities"],
    v2: { name: "auditor", description: "none left", capabilities: [] },
  },
  // The built-in roles are at the root.
  { of: "filters", v1: "parent=%2F", v2: "uidp.in_root=true" },
  { of: "filters", v1: `parent=${ORG}&name=auditor`, v2: `uidp.children_of=${ORG}&name=auditor` },
] as const satisfies readonly Example[];
