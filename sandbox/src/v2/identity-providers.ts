/** How does v2 show identity providers? (Field map 2.6 and 3.5.) */

import { type JsonObject, member } from "../json.ts";
import { invalid } from "../refusal.ts";
import { identityProviders, withSecret } from "../resources/identity-providers.ts";
import { nameTest } from "../store/select.ts";
import type { V2Face } from "./face.ts";

/** Lists leave the state of the SCIM token out (trap T49). */
function listed(value: JsonObject): JsonObject {
  const scim = member(value, "scim") as JsonObject | undefined;
  if (scim === undefined) return value;
  const { tokenExpireTime: _time, previousTokenExpireTime: _previous, credentialState: _state, ...rest } = scim;
  return { ...value, scim: rest };
}

export const identityProvidersV2: V2Face = {
  resource: identityProviders,
  domain: "iam",
  collection: "identityProviders",
  operations: ["list", "get", "create", "update", "delete"],
  listRequest: "ListIdentityProvidersRequest",
  order: "uid",
  tests: nameTest,
  listed,
  editable: withSecret,
  demand: (next) => {
    if ((member(next, "defaultRole") ?? "") === "") throw invalid("defaultRole", "a default role is required");
  },
};
