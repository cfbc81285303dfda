/** Role bindings: v1 beside v2. */
import type { Join, Resource, Shape } from "../../model/resource.ts";
import { createdAt, idFilter, uidpFilters } from "../common-fields.ts";
import { group } from "./group.ts";
import { role } from "./role.ts";

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
} satisfies Resource;
