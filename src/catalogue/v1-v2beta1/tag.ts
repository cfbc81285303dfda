/** Tags: v1 beside v2. (A name for an image in a repo.) */
import type { Filter, Resource, Row, Shape } from "../../model/resource.ts";
import { idFilter, nameFilter, specifiedCreatedAt, specifiedUpdatedAt, uidpFilters } from "../common-fields.ts";

const ID: Row = { v1: "id", v2: "uid", kind: "string", access: "output" };
const rest: readonly Row[] = [
  // v1's own word for it stays, beside the one that all records have.
  { v1: "lastUpdated", v2: "updateTime", kind: "timestamp", access: "output" },
  { ...specifiedUpdatedAt, v2: null, from: ["updateTime"] },
  specifiedCreatedAt,
  { v1: "deprecated", v2: "deprecated", kind: "bool", zero: false },
  { v1: "bundles", v2: "bundles", kind: "string", list: true, zero: [], echo: "normalised" },
];
const tag: Shape = {
  rows: [
    ID,
    { v1: "name", v2: "name", kind: "string", zero: "" },
    { v1: "digest", v2: "digest", kind: "string", zero: "" },
    ...rest,
  ],
  v2Only: [],
};
const body: Shape = {
  rows: [
    ID,
    // v2 finds a tag by its name, so an update keeps it.
    { v1: "name", v2: "name", kind: "string", zero: "", mask: "when-present" },
    // v1 did without: an update that leaves it out keeps what is stored. None is made up for a new tag.
    { v1: "digest", v2: "digest", kind: "string", zero: "", mask: "when-present", required: true },
    ...rest,
  ],
  v2Only: [],
};

/** v1 showed everything unless told otherwise, v2 shows none of it unless told otherwise. */
const excludes: readonly Filter[] = [
  { v1: "exclude_referrers", use: "inverted", v2: "include_referrers" },
  { v1: "exclude_dates", use: "inverted", v2: "include_dates" },
  { v1: "exclude_epochs", use: "inverted", v2: "include_epochs" },
];

/** Of all tags of a repo: v2 has nothing like it. `from` names what is found out about them. */
const summary: Shape = {
  rows: [
    { v1: "id", v2: "uid", kind: "string", access: "output" },
    { v1: "tagCount", v2: null, from: ["count"], kind: "int64", access: "output" },
    { v1: "lastUpdated", v2: null, from: ["updated"], kind: "timestamp", access: "output" },
    { v1: "latestTag", v2: null, from: ["latest"], kind: "message", rows: tag.rows, access: "output" },
    { v1: "latestVersion", v2: null, from: ["version"], kind: "string", access: "output" },
  ],
  v2Only: ["count", "updated", "latest", "version", "updateTime"],
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
        ...excludes,
        { v1: "digest", use: "send", v2: "digest", kind: "string", local: { member: "digest" } },
      ],
    },
    { kind: "get", name: "get", answer: tag, extension: true },
    {
      kind: "create",
      name: "create",
      body,
      answer: tag,
      docs: { differs: ["v2 updates an existing tag with that name"] },
    },
    {
      kind: "update",
      name: "update",
      body,
      answer: tag,
      by: "replace-by-create",
      docs: {
        calls: "`GET` of the tag, and `POST` of its name below its repo",
        differs: [
          "requires the capability to create tags, and produces a create event",
          "400 for another `name`: v2 would create a second tag",
        ],
      },
    },
    { kind: "delete", name: "delete" },
    {
      kind: "composite",
      name: "summarise",
      method: "GET",
      path: "repotagssummary/{repo_id=**}",
      by: "summarise",
      guessed: true,
      filters: excludes,
      answer: summary,
      docs: {
        calls: "the list of all tags of the repo",
        differs: [
          "`latestTag` is the tag updated last, `latestVersion` the highest name made of numbers and dots: v1 does not document their meaning",
        ],
      },
    },
    { kind: "native", name: "list-history", method: "GET", path: "tags/{parent_id=**}/history" },
  ],
} satisfies Resource;
