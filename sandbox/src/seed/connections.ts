/** How is the seeded organisation connected to the world: identity providers, account associations, invites? */

import { VENDOR_KEY } from "../data/vendor.ts";
import type { JsonObject } from "../json.ts";
import type { StoredRecord } from "../store/collection.ts";
import type { SeededRoles } from "./access.ts";
import { AWKWARD_TEXTS, type Builder } from "./build.ts";
import type { SeededGroups } from "./groups.ts";

/** Four providers: with a secret, with PKCE, with SCIM, and one as bare as can be. */
export function seedProviders(build: Builder, groups: SeededGroups, roles: SeededRoles): readonly StoredRecord[] {
  const defaultRole = roles.builtIn.get("viewer") ?? "";
  const provider = (name: string, oidc: JsonObject, more: JsonObject = {}, extra: JsonObject = {}) =>
    build.record(
      {
        uid: build.uid(groups.root),
        name,
        defaultRole,
        ...build.times(),
        oidc: { issuer: `https://${name}.example.com`, clientId: `client-${name}`, ...oidc },
        ...more,
      },
      extra,
    );
  const scim = {
    enabled: true,
    endpointUrl: "https://scim.platform.example/v2/acme",
    tokenExpireTime: "2027-05-05T00:00:00Z",
    credentialState: 2,
    etag: '"1-7f"',
  };
  return [
    provider("okta", { additionalScopes: ["email", "groups"], groupsClaim: "groups" }, {}, { clientSecret: "s3cret" }),
    provider("entra", { correlationRule: 2, pkceEnabled: true }, { description: "Größe & Co", scim }),
    provider(
      "keycloak",
      { pkceEnabled: true },
      { scim: { endpointUrl: "https://scim.platform.example/v2/x", credentialState: 1 } },
    ),
    provider("bare", {}, {}, { clientSecret: "x" }),
  ];
}

/** Twelve associations, each group's own, of every provider there is. */
export function seedAssociations(
  build: Builder,
  groups: SeededGroups,
  identities: readonly StoredRecord[],
): readonly StoredRecord[] {
  const bindings = { INGESTER: identities[1]?.uid ?? "", COSIGNED: identities[2]?.uid ?? "" };
  const blocks: readonly JsonObject[] = [
    { amazon: { account: "123456789012" } },
    { google: { projectId: "acme-prod", projectNumber: "98765432109876543210" } },
    { azure: { tenantId: "t-1", clientIds: { id: "c1", uid: "c2", role: "c3" } } },
    { [VENDOR_KEY]: { serviceBindings: bindings } },
    {
      github: {
        appInstallations: { "9007199254740993": { installations: installations(3) }, "12": { installations: [] } },
      },
    },
    {},
  ];
  return [groups.root, ...groups.teams.slice(0, 11)].map((uid, index) => {
    const description = build.random.pick(AWKWARD_TEXTS);
    const text = description === "" ? {} : { description };
    return build.record({ uid, name: `accounts-${index}`, ...text, ...blocks[index % 6], ...build.times() });
  });
}

/** Installation ids beyond what a JavaScript number can hold. */
function installations(count: number): JsonObject[] {
  return Array.from({ length: count }, (_, index) => ({
    installationId: String(9_223_372_036_854_775_800n + BigInt(index)),
    ...(index === 0 ? {} : { name: `org-${index}` }),
  }));
}

/** Twenty invites; the last one gives a role that no longer exists. */
export function seedInvites(build: Builder, groups: SeededGroups, roles: SeededRoles): readonly StoredRecord[] {
  const names = [...roles.builtIn.values(), ...roles.custom];
  return Array.from({ length: 20 }, (_, index) => {
    const parent = index % 3 === 0 ? groups.root : (groups.teams[index] ?? groups.root);
    const roleUid = index === 19 ? build.uid(groups.root) : (names[index % names.length] ?? "");
    const email = index % 2 === 0 ? { email: `new${index}@acme.example` } : {};
    const once = index % 4 === 0 ? { singleUse: true } : {};
    const value = { uid: build.uid(parent), roleUid, keyId: build.random.hex(16), createTime: build.time() };
    const until = { expirationTime: "2027-02-03T04:05:06Z" };
    return build.record({ ...value, ...email, ...once, ...until }, { code: build.random.hex(32) });
  });
}
