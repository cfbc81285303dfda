/** Roles: v1 beside v2. */
import type { Resource, Shape } from "../../model/resource.ts";
import { capability } from "../capability.ts";
import { idFilter, nameFilter, specifiedTimes, uidpFilters } from "../common-fields.ts";

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
} satisfies Resource;
