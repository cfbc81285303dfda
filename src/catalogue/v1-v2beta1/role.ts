/** Roles: v1 beside v2. */
import type { Resource, Shape } from "../../model/resource.ts";
import { capability } from "../capability.ts";
import { idFilter, nameFilter, specifiedTimes, uidpFilters } from "../common-fields.ts";
import { CREATED, ORG, ROLE, UPDATED } from "../example-values.ts";

/** Also what a role binding shows of its role. */
export const role: Shape = {
  rows: [
    { v1: "id", v2: "uid", kind: "string", access: "output" },
    { v1: "name", v2: "name", kind: "string", zero: "" },
    { v1: "description", v2: "description", kind: "string", zero: "" },
    // v1: dotted strings, v2: enum names, under the same key. A set: the order is v2's own.
    {
      v1: "capabilities",
      v2: "capabilities",
      kind: "enum",
      values: capability,
      list: true,
      zero: [],
      echo: "normalised",
    },
    ...specifiedTimes,
  ],
  v2Only: [],
};

export default {
  name: "role",
  domain: "iam",
  v1: "roles",
  v2: "roles",
  items: "roles",
  key: "id",
  list: "drain",
  orderedByUid: true,
  operations: [
    {
      kind: "list",
      name: "list",
      answer: role,
      filters: [idFilter, nameFilter, { v1: "parent", use: "parent" }, ...uidpFilters],
    },
    { kind: "get", name: "get", answer: role, extension: true },
    {
      kind: "create",
      name: "create",
      body: role,
      answer: role,
      docs: { differs: ["400 without `capabilities`"] },
    },
    { kind: "update", name: "update", body: role, answer: role },
    { kind: "delete", name: "delete" },
  ],
  examples: [
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
    // The built-in roles lie at the root.
    { of: "filters", v1: "parent=%2F", v2: "uidp.in_root=true" },
    { of: "filters", v1: `parent=${ORG}&name=auditor`, v2: `uidp.children_of=${ORG}&name=auditor` },
  ],
} satisfies Resource;
