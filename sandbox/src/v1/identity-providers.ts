/** How does native v1 show and write identity providers? (Field map 2.6.) */

import { type JsonObject, member } from "../json.ts";
import { identityProviders } from "../resources/identity-providers.ts";
import type { Draft } from "../resources/resource.ts";
import type { StoredRecord } from "../store/collection.ts";
import { nameTest } from "../store/select.ts";
import type { V1Face } from "./face.ts";
import { keep, times } from "./shape.ts";

const SAME = ["name", "description", "defaultRole", "oidc"] as const;

function viewProvider(record: StoredRecord): JsonObject {
  return { id: record.uid, ...keep(record.value, [...SAME, "scim"]), ...times(record.value) };
}

/** A PUT without the secret keeps it: reads never return it, so no client could send it back. */
function readProvider(given: JsonObject, before: StoredRecord | undefined): Draft {
  const value = { ...keep(given, SAME), ...keep(before?.value, ["scim", "createTime"]) };
  const secret = member(before?.extra, "clientSecret");
  const oidc = member(value, "oidc") as JsonObject | undefined;
  const silent = oidc !== undefined && (member(oidc, "clientSecret") ?? "") === "";
  const kept = silent && secret !== undefined ? { oidc: { ...oidc, clientSecret: secret } } : {};
  return { value: { ...value, ...kept }, extra: before?.extra ?? {} };
}

export const identityProvidersV1: V1Face = {
  resource: identityProviders,
  domain: "iam",
  collection: "identityProviders",
  operations: ["list", "create", "update", "delete"],
  filter: "IdentityProviderFilter",
  item: "IdentityProvider",
  view: viewProvider,
  tests: nameTest,
  key: "id",
  write: { message: "IdentityProvider", read: readProvider, answer: "IdentityProvider", view: viewProvider },
};
