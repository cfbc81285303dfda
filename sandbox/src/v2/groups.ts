/** How does v2 show groups? (Specification sections 2 and 4.) */

import { groups } from "../resources/groups.ts";
import { nameTest } from "../store/select.ts";
import type { V2Face } from "./face.ts";

export const groupsV2: V2Face = {
  resource: groups,
  domain: "iam",
  collection: "groups",
  operations: ["list", "get", "create", "update", "delete"],
  listRequest: "ListGroupsRequest",
  order: "uid",
  tests: nameTest,
};
