/** Identity providers, account associations and group invites of the seeded organisation. */
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

// Providers, associations and invites of every form.

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
