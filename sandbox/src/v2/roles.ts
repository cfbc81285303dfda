/** How does v2 show roles? (Specification sections 2 and 4; field map 2.4 and 3.3.) */

import { invalid } from "../refusal.ts";
import { capabilitiesOf, roles } from "../resources/roles.ts";
import { nameTest } from "../store/select.ts";
import type { V2Face } from "./face.ts";

export const rolesV2: V2Face = {
  resource: roles,
  domain: "iam",
  collection: "roles",
  operations: ["list", "get", "create", "update", "delete"],
  listRequest: "ListRolesRequest",
  order: "uid",
  tests: nameTest,
  demand: (next, before) => {
    if (before === undefined && capabilitiesOf(next).length === 0) {
      throw invalid("capabilities", "a role has at least one capability");
    }
  },
};
