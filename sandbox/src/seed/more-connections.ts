/** Which providers, associations and invites show every form that they can have? */

import { VENDOR_KEY } from "../data/vendor.ts";
import type { JsonObject } from "../json.ts";
import type { StoredRecord } from "../store/collection.ts";
import type { SeededRoles } from "./access.ts";
import type { Builder } from "./build.ts";
import type { SeededGroups } from "./groups.ts";

const ENDPOINT = "https://scim.platform.example/v2/";

/** By name of the provider; the numbers are those of CredentialState. */
const SCIM: readonly (readonly [name: string, scim: JsonObject])[] = [
  ["scim-unspecified", { enabled: false }],
  ["scim-not-issued", { credentialState: 1 }],
  ["scim-live", { enabled: true, credentialState: 2, tokenExpireTime: "2027-08-09T10:11:12.500Z" }],
  ["scim-never-expires", { enabled: true, credentialState: 2 }],
  ["scim-expired", { enabled: true, credentialState: 3, tokenExpireTime: "2025-01-01T00:00:00Z" }],
  ["scim-revoked", { credentialState: 4 }],
  [
    "scim-rotating",
    {
      enabled: true,
      credentialState: 5,
      tokenExpireTime: "2027-08-09T10:11:12Z",
      previousTokenExpireTime: "2026-02-03T04:05:06Z",
    },
  ],
];

/**
 * A provider in each state of its SCIM token, named after it; every correlation rule is used by some. The last one belongs to
 * an organisation without owners, so that it cannot be switched on.
 */
export function scimProviders(build: Builder, groups: SeededGroups, roles: SeededRoles): readonly StoredRecord[] {
  const defaultRole = roles.builtIn.get("viewer") ?? "";
  const ownerless = [...SCIM, ["scim-ownerless", { credentialState: 1 }] as const];
  return ownerless.map(([name, scim], index) => {
    const rule = index % 3 === 0 ? {} : { correlationRule: index % 3 };
    const oidc = { issuer: `https://${name}.example.com`, clientId: name, pkceEnabled: true, ...rule };
    const uid = build.uid(index < SCIM.length ? groups.root : groups.otherRoot);
    const state = { ...scim, endpointUrl: `${ENDPOINT}${name}`, etag: `"${build.random.hex(8)}"` };
    return build.record({ uid, name, defaultRole, ...build.times(), oidc, scim: state });
  });
}

/** An association with all five blocks, in the last team that has none; its maps hold the keys that must not be renamed. */
export function fullAssociation(build: Builder, groups: SeededGroups): StoredRecord {
  const installations = [{ installationId: "9007199254740993", name: "uid" }, { installationId: "-1" }];
  return build.record({
    uid: groups.teams.at(-1) ?? groups.otherRoot,
    name: "everything",
    description: "all five",
    amazon: { account: "210987654321" },
    google: { projectId: "id", projectNumber: "18446744073709551616" },
    azure: { tenantId: "group", clientIds: { group: "g", uid: "u", id: "i", createTime: "c", createdAt: "d" } },
    [VENDOR_KEY]: { serviceBindings: { INGESTER: "a/b", UNKNOWN: "", SERVICE_PRINCIPAL_INGESTER: "no", uid: "u" } },
    github: { appInstallations: { "9223372036854775807": { installations }, "-5": {}, "0": { installations: [] } } },
    ...build.times(),
  });
}

/** An invite to a role that never was, with an address and for one use, and one that has been over for a year. */
export function moreInvites(build: Builder, groups: SeededGroups, roles: SeededRoles): readonly StoredRecord[] {
  const at = groups.teams[0] ?? groups.root;
  const invite = (roleUid: string, expirationTime: string) => {
    const value = { uid: build.uid(at), roleUid, keyId: build.random.hex(16), createTime: build.time() };
    const rest = { expirationTime, email: "both@acme.example", singleUse: true };
    return build.record({ ...value, ...rest }, { code: build.random.hex(32) });
  };
  return [
    invite(build.uid(groups.root), "2027-02-03T04:05:06.789Z"),
    invite(roles.builtIn.get("owner") ?? "", "2025-02-03T04:05:06Z"),
  ];
}
