/** Examples of what v1 and v2 send: role bindings. */
import type { Example } from "../../../model/resource.ts";
import { CREATED, GROUP, IDENTITY, invalid, ORG, ROLE } from "../../example-values.ts";

const BINDING = `${ORG}/99aa99aa99aa99aa`;

const hydrated = {
  uid: BINDING,
  identity: {
    uid: IDENTITY,
    name: "ci",
    description: "builds",
    subject: "ci",
    issuer: "https://token.example.com",
    email: "ci@example.com",
  },
  group: { uid: GROUP, name: "platform team", description: "keeps the lights on" },
  role: { uid: ROLE, name: "viewer", description: "built-in" },
  createTime: CREATED,
};

const joinedRole = {
  resource: "role",
  v2: {
    uid: ROLE,
    name: "viewer",
    description: "built-in",
    capabilities: ["CAP_IAM_GROUPS_LIST"],
    createTime: CREATED,
    updateTime: CREATED,
  },
};

const shownRole = {
  id: ROLE,
  name: "viewer",
  description: "built-in",
  capabilities: ["groups.list"],
  createdAt: CREATED,
  updatedAt: CREATED,
};

const shown = {
  identity: IDENTITY,
  role: shownRole,
  email: "ci@example.com",
  claimMatchIssuer: "https://token.example.com",
  claimMatchSubject: "ci",
  createdAt: CREATED,
};

const team = {
  name: "platform team",
  description: "keeps the lights on",
  resourceLimits: { idps: 2 },
  verified: true,
  kind: "ORG_KIND_CUSTOMER",
  status: "ORG_STATUS_READY",
};

export default [
  {
    of: "answer",
    operation: "list",
    v2: { ...hydrated, identityUid: IDENTITY, roleUid: ROLE },
    joined: [
      { resource: "group", v2: { uid: GROUP, ...team, createTime: CREATED, updateTime: CREATED } },
      joinedRole,
      { resource: "identity", v2: { uid: IDENTITY, name: "ci", emailUnverified: "CI@example.com" } },
    ],
    v1: {
      id: BINDING,
      group: { id: GROUP, ...team, createdAt: CREATED, updatedAt: CREATED },
      ...shown,
      emailUnverified: "CI@example.com",
    },
  },
  // Neither the group nor the identity can be read: what the binding holds of the group, and no unverified address.
  {
    of: "answer",
    operation: "get",
    v2: hydrated,
    joined: [joinedRole],
    v1: {
      id: BINDING,
      group: { id: GROUP, name: "platform team", description: "keeps the lights on" },
      ...shown,
      emailUnverified: "",
    },
  },
  // The minimal shape: no flat uids.
  {
    of: "answer",
    operation: "create",
    v2: hydrated,
    v1: { id: BINDING, identity: IDENTITY, group: GROUP, role: ROLE },
  },
  // Flat uids that are there but empty do not count.
  {
    of: "answer",
    operation: "update",
    v2: { ...hydrated, identityUid: "", roleUid: "" },
    v1: { id: BINDING, identity: IDENTITY, group: GROUP, role: ROLE },
  },
  {
    of: "body",
    operation: "create",
    v1: { identity: IDENTITY, role: ROLE },
    v2: { identityUid: IDENTITY, roleUid: ROLE },
  },
  {
    of: "body",
    operation: "create",
    v1: { id: BINDING, identity: IDENTITY, group: GROUP, role: ROLE },
    v2: { identityUid: IDENTITY, roleUid: ROLE },
  },
  {
    of: "update",
    v1: { identity: IDENTITY, group: GROUP, role: ROLE },
    mask: ["identityUid", "roleUid"],
    v2: { identityUid: IDENTITY, roleUid: ROLE },
  },
  {
    of: "update",
    v1: { role: ROLE },
    mask: ["identityUid", "roleUid"],
    v2: { identityUid: "", roleUid: ROLE },
  },
  // A platform that shows neither the group nor flat uids: the group is the parent.
  {
    of: "answer",
    operation: "create",
    v2: { uid: BINDING, identity: { uid: IDENTITY }, role: { uid: ROLE } },
    v1: { id: BINDING, identity: IDENTITY, group: ORG, role: ROLE },
  },
  {
    of: "exchange",
    operation: "create-batch",
    path: `rolebindings/batch/${GROUP}`,
    body: [
      { identity: IDENTITY, role: ROLE },
      { id: BINDING, identity: ORG, group: ORG, role: ROLE },
    ],
    calls: [
      {
        call: "POST roleBindings:batchCreate",
        body: {
          parent: GROUP,
          requests: [
            { parent: GROUP, roleBinding: { identityUid: IDENTITY, roleUid: ROLE } },
            { parent: GROUP, roleBinding: { identityUid: ORG, roleUid: ROLE } },
          ],
        },
        answer: {
          roleBindings: [
            { ...hydrated, identityUid: IDENTITY, roleUid: ROLE },
            { uid: `${GROUP}/77aa77aa77aa77aa`, identityUid: ORG, roleUid: ROLE, createTime: CREATED },
          ],
        },
      },
    ],
    answer: {
      roleBindings: [
        { id: BINDING, identity: IDENTITY, group: GROUP, role: ROLE },
        { id: `${GROUP}/77aa77aa77aa77aa`, identity: ORG, group: GROUP, role: ROLE },
      ],
    },
  },
  // The platform takes none of them, and says which is wrong.
  {
    of: "exchange",
    operation: "create-batch",
    path: `rolebindings/batch/${GROUP}`,
    body: [{ identity: IDENTITY, role: ROLE }, { identity: IDENTITY }],
    calls: [
      {
        call: "POST roleBindings:batchCreate",
        body: {
          parent: GROUP,
          requests: [
            { parent: GROUP, roleBinding: { identityUid: IDENTITY, roleUid: ROLE } },
            { parent: GROUP, roleBinding: { identityUid: IDENTITY } },
          ],
        },
        status: 400,
        answer: invalid("requests[1].role_binding.role_uid", {
          field: "requests[1].roleBinding.roleUid",
          description: "is required",
        }),
      },
    ],
    status: 400,
    answer: invalid("[1].role", { field: "[1].role", description: "is required" }),
  },
  { of: "filters", v1: `uidp.childrenOf=${ORG}`, v2: `uidp.children_of=${ORG}` },
] as const satisfies readonly Example[];
