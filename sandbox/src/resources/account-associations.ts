/** Which rules do account associations follow? One per group, with the group's uid. (Field map 2.7, trap T22.) */
import type { Resource } from "./resource.ts";

export const accountAssociations: Resource = {
  name: "accountAssociations",
  type: "AccountAssociation",
  times: ["createTime", "updateTime"],
  uidFor: (parent) => parent,
  twin: (context, parent) => context.store.collection("accountAssociations").get(parent),
  check: ({ next }) => next,
  removalIsIdempotent: true,
};
