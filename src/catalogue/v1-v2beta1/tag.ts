/** What does a tag look like in v1, and what in v2? (A name for an image in a repo.) */
import type { Resource, Shape } from "../../model/resource.ts";
import { CREATED, ORG_GROUP_QUERY, REPO, UPDATED } from "../shared/sample.ts";
import { createdAt } from "../shared/times.ts";
import { idFilter, nameFilter, uidpFilters } from "../shared/uidp.ts";

const TAG = `${REPO}/0f0f0f0f0f0f0f0f`;
const DIGEST = "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae";

const tag: Shape = {
  rows: [
    { v1: "id", v2: "uid", kind: "string", access: "output" },
    { v1: "name", v2: "name", kind: "string", zero: "" },
    { v1: "digest", v2: "digest", kind: "string", zero: "" },
    // v1's own word for it stays, beside the one that all records have.
    { v1: "lastUpdated", v2: "updateTime", kind: "timestamp", access: "output" },
    { v1: "updatedAt", v2: null, from: ["updateTime"], kind: "timestamp", access: "output", presence: "explicit" },
    createdAt,
    { v1: "deprecated", v2: "deprecated", kind: "bool", zero: false },
    { v1: "bundles", v2: "bundles", kind: "string", list: true, zero: [], echo: "normalised" },
  ],
  v2Only: [],
};

export default {
  name: "tag",
  domain: "registry",
  v1: "tags",
  v2: "tags",
  items: "tags",
  key: "id",
  list: "drain",
  orderedByUid: true,
  operations: [
    {
      kind: "list",
      name: "list",
      answer: tag,
      filters: [
        idFilter,
        nameFilter,
        ...uidpFilters,
        { v1: "updated_since", use: "send", v2: "updated_since", kind: "timestamp" },
        // v1 showed everything unless told otherwise, v2 shows none of it unless told otherwise.
        { v1: "exclude_referrers", use: "inverted", v2: "include_referrers" },
        { v1: "exclude_dates", use: "inverted", v2: "include_dates" },
        { v1: "exclude_epochs", use: "inverted", v2: "include_epochs" },
        { v1: "digest", use: "send", v2: "digest", kind: "string", local: { member: "digest" } },
      ],
    },
    { kind: "get", name: "get", answer: tag, extension: true },
    { kind: "native", name: "create", method: "POST", path: "tags/{repo_id=**}" },
    { kind: "native", name: "update", method: "PUT", path: "tags/{id=**}" },
    { kind: "native", name: "delete", method: "DELETE", path: "tags/{id=**}" },
    { kind: "native", name: "list-history", method: "GET", path: "tags/{parent_id=**}/history" },
  ],
  examples: [
    {
      of: "answer",
      operation: "list",
      v2: {
        uid: TAG,
        name: "1.2.3",
        digest: DIGEST,
        createTime: CREATED,
        updateTime: UPDATED,
        deprecated: true,
        bundles: ["base", "fips"],
      },
      v1: {
        id: TAG,
        name: "1.2.3",
        digest: DIGEST,
        lastUpdated: UPDATED,
        updatedAt: UPDATED,
        createdAt: CREATED,
        deprecated: true,
        bundles: ["base", "fips"],
      },
    },
    {
      of: "answer",
      operation: "list",
      v2: { uid: TAG, name: "latest" },
      v1: { id: TAG, name: "latest", digest: "", lastUpdated: null, deprecated: false, bundles: [] },
    },
    {
      of: "filters",
      v1: `uidp.children_of=${ORG_GROUP_QUERY}&name=latest`,
      v2: `uidp.children_of=${ORG_GROUP_QUERY}&name=latest&include_referrers=true&include_dates=true&include_epochs=true`,
    },
    {
      of: "filters",
      v1: "excludeReferrers=true&exclude_dates=false&exclude_epochs=true&digest=sha256%3A2c26",
      v2: "digest=sha256%3A2c26&include_referrers=false&include_dates=true&include_epochs=false",
    },
    {
      of: "filters",
      v1: "updatedSince=2026-03-01T09%3A30%3A00Z",
      v2: "updated_since=2026-03-01T09%3A30%3A00Z&include_referrers=true&include_dates=true&include_epochs=true",
    },
  ],
} satisfies Resource;
