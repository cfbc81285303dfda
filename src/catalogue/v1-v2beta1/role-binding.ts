/** Role bindings: v1 beside v2. */
import type { Join, Resource, Shape } from "../../model/resource.ts";
import { createdAt, idFilter, uidpFilters } from "../common-fields.ts";
import { CREATED, GROUP, IDENTITY, ORG, ROLE } from "../example-values.ts";
import { group } from "./group.ts";
import { role } from "./role.ts";

const BINDING = `${ORG}/99aa99aa99aa99aa`;

/** What a list shows: the whole group and the whole role. */
const item: Shape = {
  rows: [
    { v1: "id", v2: "uid", kind: "string", access: "output" },
    { v1: "group", v2: null, kind: "message", rows: group.rows, access: "output" },
    { v1: "identity", v2: null, from: ["identity.uid", "identityUid"], kind: "string", access: "output" },
    { v1: "role", v2: null, kind: "message", rows: role.rows, access: "output" },
    { v1: "email", v2: null, from: ["identity.email"], kind: "string", access: "output" },
    { v1: "claimMatchIssuer", v2: null, from: ["identity.issuer"], kind: "string", access: "output" },
    { v1: "claimMatchSubject", v2: null, from: ["identity.subject"], kind: "string", access: "output" },
    createdAt,
    { v1: "emailUnverified", v2: null, kind: "string", access: "output" },
  ],
  // Read by `from` and the joins; under these names v1 showed something else, or nothing.
  v2Only: ["identity", "group", "role", "identityUid", "roleUid"],
};

/** v2's reduced objects lack what v1 showed: a role without capabilities would look as if it granted nothing. */
const joins: readonly Join[] = [
  { v1: "group", resource: "group", by: "group.uid", take: "record", missing: { reduced: "group" } },
  { v1: "role", resource: "role", by: "role.uid", take: "record", missing: "error" },
  {
    v1: "emailUnverified",
    resource: "identity",
    by: "identity.uid",
    take: { member: "emailUnverified" },
    missing: "zero",
  },
];

/** What create and update speak: plain uids. v2 holds objects under two of these names and never takes those back. */
const flat: Shape = {
  rows: [
    { v1: "id", v2: "uid", kind: "string", access: "output" },
    { v1: "identity", v2: "identityUid", from: ["identityUid", "identity.uid"], kind: "string", zero: "" },
    // v1 ignored it in requests: the group is the parent in the path.
    { v1: "group", v2: null, from: ["group.uid", "uid/.."], kind: "string", access: "output" },
    { v1: "role", v2: "roleUid", from: ["roleUid", "role.uid"], kind: "string", zero: "" },
  ],
  v2Only: ["identity", "group", "role", "createTime"],
};

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

export default {
  name: "role-binding",
  domain: "iam",
  v1: "rolebindings",
  v2: "roleBindings",
  items: "roleBindings",
  key: "id",
  list: "drain",
  orderedByUid: true,
  operations: [
    { kind: "list", name: "list", answer: item, joins, filters: [idFilter, ...uidpFilters] },
    { kind: "get", name: "get", answer: item, joins, extension: true },
    { kind: "create", name: "create", body: flat, answer: flat },
    { kind: "update", name: "update", body: flat, answer: flat },
    { kind: "delete", name: "delete" },
    // A bare array of `body`; in v2 the parent stands in the body, and again in each request. All or none.
    {
      kind: "composite",
      name: "create-batch",
      method: "POST",
      path: "rolebindings/batch/{parent=**}",
      by: "create-batch",
      docs: {
        calls: "`POST roleBindings:batchCreate`, with the parent in the body",
        differs: ["400 for more than 25, the limit of v2"],
      },
      v2: "roleBindings:batchCreate",
      wrap: "roleBinding",
      body: flat,
      answer: flat,
    },
  ],
  examples: [
    {
      of: "answer",
      operation: "list",
      v2: { ...hydrated, identityUid: IDENTITY, roleUid: ROLE },
      joined: [
        {
          resource: "group",
          v2: {
            uid: GROUP,
            name: "platform team",
            description: "keeps the lights on",
            resourceLimits: { idps: 2 },
            verified: true,
            kind: "ORG_KIND_CUSTOMER",
            status: "ORG_STATUS_READY",
            createTime: CREATED,
            updateTime: CREATED,
          },
        },
        joinedRole,
        { resource: "identity", v2: { uid: IDENTITY, name: "ci", emailUnverified: "CI@example.com" } },
      ],
      v1: {
        id: BINDING,
        group: {
          id: GROUP,
          name: "platform team",
          description: "keeps the lights on",
          resourceLimits: { idps: 2 },
          verified: true,
          kind: "ORG_KIND_CUSTOMER",
          status: "ORG_STATUS_READY",
          createdAt: CREATED,
          updatedAt: CREATED,
        },
        identity: IDENTITY,
        role: shownRole,
        email: "ci@example.com",
        claimMatchIssuer: "https://token.example.com",
        claimMatchSubject: "ci",
        createdAt: CREATED,
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
        identity: IDENTITY,
        role: shownRole,
        email: "ci@example.com",
        claimMatchIssuer: "https://token.example.com",
        claimMatchSubject: "ci",
        createdAt: CREATED,
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
          answer: {
            code: 3,
            message: "Invalid argument: requests[1].role_binding.role_uid: is required",
            details: [
              {
                "@type": "type.googleapis.com/google.rpc.BadRequest",
                fieldViolations: [{ field: "requests[1].roleBinding.roleUid", description: "is required" }],
              },
            ],
          },
        },
      ],
      status: 400,
      answer: {
        code: 3,
        message: "Invalid argument: [1].role: is required",
        details: [
          {
            "@type": "type.googleapis.com/google.rpc.BadRequest",
            fieldViolations: [{ field: "[1].role", description: "is required" }],
          },
        ],
      },
    },
    { of: "filters", v1: `uidp.childrenOf=${ORG}`, v2: `uidp.children_of=${ORG}` },
  ],
} satisfies Resource;
