/** Roles, identities and role bindings of the seeded organisation. */
import { CAPABILITIES } from "../data/capabilities.ts";
import type { JsonObject } from "../json.ts";
import type { StoredRecord } from "../store/collection.ts";
import { AWKWARD_TEXTS, type Builder } from "./build.ts";
import type { SeededGroups } from "./groups.ts";

/** The issuer and subject of the one identity that documentation assumes. */
export const ASSUMABLE = { issuer: "https://ci.example.com", subject: "repo:acme/app:ref:refs/heads/main" } as const;

const PUBLIC = CAPABILITIES.filter(([v1, , , internal]) => v1 !== "" && v1 !== "internal" && !internal);

function granting(test: (capability: string) => boolean): number[] {
  return PUBLIC.filter(([v1]) => test(v1)).map(([, , number]) => number);
}

const BUILT_IN: readonly (readonly [name: string, grants: (capability: string) => boolean])[] = [
  ["viewer", (one) => one.endsWith(".list")],
  ["editor", (one) => /\.(?:list|create|update)$/.test(one)],
  ["owner", () => true],
  ["registry.pull", (one) => /^(?:repo|tag|manifest)s?\.list$/.test(one)],
  ["registry.push", (one) => /^(?:repo|tag|manifest)s?\.(?:list|create|update)$/.test(one)],
  ["registry.admin", (one) => /^(?:repo|tag|manifest)s?\./.test(one)],
  ["iam.viewer", (one) => /^(?:groups|identity|roles|role_bindings)\.list$/.test(one)],
  ["iam.admin", (one) => /^(?:groups|identity|roles|role_bindings)\./.test(one)],
  ["advisory.viewer", (one) => /(?:advisor|vuln).*\.list$/.test(one)],
  ["group.invites", (one) => one.startsWith("group_invites.")],
];

export interface SeededRoles {
  readonly records: readonly StoredRecord[];
  /** Built-in roles by name. */
  readonly builtIn: ReadonlyMap<string, string>;
  readonly custom: readonly string[];
}

/** Ten built-in roles at the root and twenty of the organisation's own, one of them bound to nobody and one empty. */
export function seedRoles(build: Builder, groups: SeededGroups, organisation: boolean): SeededRoles {
  const builtIn = new Map<string, string>();
  const records = BUILT_IN.map(([name, grants]) => {
    const uid = build.uid("");
    builtIn.set(name, uid);
    const value = { uid, name, description: `Built-in ${name} role`, capabilities: granting(grants), ...build.times() };
    return build.record(value);
  });
  const custom: string[] = [];
  for (let index = 0; index < (organisation ? 20 : 0); index++) {
    const parent = index % 2 === 0 ? groups.root : (groups.teams[index] ?? groups.root);
    const uid = build.uid(parent);
    custom.push(uid);
    const capabilities = granting(() => build.random.chance(index === 19 ? 0 : 0.1));
    const description = build.random.pick(AWKWARD_TEXTS);
    const text = description === "" ? {} : { description };
    const held = capabilities.length === 0 ? {} : { capabilities };
    records.push(build.record({ uid, name: `custom-${index}`, ...text, ...held, ...build.times() }));
  }
  return { records, builtIn, custom };
}

function claims(build: Builder, index: number): JsonObject {
  if (index === 0) return { claimMatch: { ...ASSUMABLE } };
  const kind = index % 8;
  if (kind < 4) {
    const match: JsonObject = { issuer: "https://token.example.com", subject: `workload-${index}` };
    if (kind === 1) match["audience"] = "sandbox";
    // Keys of these maps are the customer's own words: none of them may ever be renamed.
    if (kind === 2) match["claims"] = { id: "7", uid: "u", createdAt: "never", "x.y/z": "1", __proto: "p" };
    if (kind === 3) match["claimPatterns"] = { role: "^(a|b)$", updatedAt: ".*" };
    return { claimMatch: match };
  }
  if (kind === 4)
    return { claimMatch: { issuerPattern: "https://.*\\.example\\.com", subjectPattern: `w-${index}-.+` } };
  if (kind === 5) return staticKeys(build, index);
  if (kind === 6) return { servicePrincipal: 1 + (index % 6) };
  const aws = {
    awsAccount: String(100_000_000_000 + index),
    arn: `arn:aws:sts::${index}:assumed-role/r`,
    userIdPattern: "AROA.*",
  };
  return { awsIdentity: aws };
}

function staticKeys(build: Builder, index: number): JsonObject {
  const issuerKeys = JSON.stringify({ keys: [{ kty: "RSA", id: "k1", n: build.random.hex(16), e: "AQAB" }] });
  const keys: JsonObject = { issuer: "https://static.example.com", subject: `static-${index}`, issuerKeys };
  if (index % 16 === 5)
    return { staticKeys: { ...keys, audiences: ["sandbox"], expirationTime: "2027-01-01T00:00:00Z" } };
  return { staticKeys: keys };
}

/** About 60 people at the root and 240 workloads below groups, of all four kinds. */
export function seedIdentities(build: Builder, groups: SeededGroups, organisation: boolean): readonly StoredRecord[] {
  const records: StoredRecord[] = [];
  for (let index = 0; index < (organisation ? 240 : 1); index++) {
    const parent = index === 0 ? groups.root : (groups.teams[index % groups.teams.length] ?? groups.root);
    const description = build.random.chance(0.3) ? build.random.pick(AWKWARD_TEXTS) : `workload ${index}`;
    const text = description === "" ? {} : { description };
    const seen = build.random.chance(0.9) ? { lastSeenTime: build.time() } : {};
    const company = build.random.chance(0.2) ? { company: "Acme Ünlimited" } : {};
    const value = { uid: build.uid(parent), name: `workload-${index}`, ...text, ...company, ...seen };
    records.push(build.record({ ...value, ...build.times(), ...claims(build, index) }));
  }
  for (let index = 0; index < (organisation ? 60 : 0); index++) {
    const mail = `person${index}@acme.example`;
    const known = index % 7 === 0 ? { emailUnverified: mail } : { email: mail };
    const match = { claimMatch: { issuer: "https://login.example.com", subject: `user|${build.random.hex(12)}` } };
    const value = { uid: build.uid(""), name: `person-${index}`, ...known, lastSeenTime: build.time() };
    records.push(build.record({ ...value, ...build.times(), ...match }));
  }
  return records;
}

/** 450 bindings spread over root, teams and stages; the first lets the assumable identity edit the organisation. */
export function seedBindings(
  build: Builder,
  groups: SeededGroups,
  roles: SeededRoles,
  identities: readonly StoredRecord[],
  organisation: boolean,
): readonly StoredRecord[] {
  // The last custom roles stay unbound: one of them can be deleted.
  const names = [...roles.builtIn.values(), ...roles.custom.slice(0, -2)];
  const places = [groups.root, ...groups.teams, ...groups.leaves];
  const records: StoredRecord[] = [];
  for (let index = 0; index < (organisation ? 450 : 1); index++) {
    const place = index === 0 ? groups.root : (places[build.random.int(places.length)] ?? groups.root);
    const who = index === 0 ? identities[0] : identities[build.random.int(identities.length)];
    const role = index === 0 ? roles.builtIn.get("editor") : names[build.random.int(names.length)];
    const value = { uid: build.uid(place), identityUid: who?.uid ?? "", roleUid: role ?? "", createTime: build.time() };
    records.push(build.record(value));
  }
  return records;
}

// Roles with every capability, identities with every kind of relationship.

/** The numbers of service principals; zero is a name like any other in a oneof. */
const PRINCIPALS = 13;

/** A role with what only staff may grant, so that some role holds each capability that has a name in v1. */
function internalRole(build: Builder, groups: SeededGroups): StoredRecord {
  const internal = CAPABILITIES.filter(([v1, , , internalOnly]) => v1 === "internal" || internalOnly);
  const capabilities = internal.map(([, , number]) => number);
  const value = { uid: build.uid(groups.root), name: "everything internal", capabilities };
  return build.record({ ...value, ...build.times() });
}

const CLAIMS: readonly JsonObject[] = [
  { issuer: "https://a.example", subjectPattern: "^s-.+$", audiencePattern: "^aud-\\d$" },
  {
    issuerPattern: "^https://.+$",
    subject: "s",
    audience: "a",
    claims: { id: "1", uid: "2", role: "3", createdAt: "4", issuer: "5" },
    claimPatterns: { id: ".*", updatedAt: ".+", claims: "x" },
  },
];

const AWS: readonly JsonObject[] = [
  { awsAccount: "000000000012", arnPattern: "^arn:aws:.*$", userId: "AROAEXAMPLE" },
  { awsAccount: "123456789012", arn: "arn:aws:iam::123456789012:role/r", userId: "" },
];

/** A key set without times or audiences has none of either; the other one has all there is. */
function staticKeyForms(): readonly JsonObject[] {
  const keys = { issuer: "https://keys.example", subject: "s", issuerKeys: '{"keys":[{"id":"k","uid":"k"}]}' };
  return [keys, { ...keys, expirationTime: "2026-12-31T23:59:59.123456Z", audiences: ["one"] }];
}

/** One identity of each form (two of them owners), one without any, and one whose mail domain is the name of the organisation. */
export function seedAllAccess(build: Builder, groups: SeededGroups, ownerRole: string) {
  const principals = Array.from({ length: PRINCIPALS + 1 }, (_, number) => ({ servicePrincipal: number }));
  const forms: readonly JsonObject[] = [
    ...CLAIMS.map((claimMatch) => ({ claimMatch })),
    ...AWS.map((awsIdentity) => ({ awsIdentity })),
    ...staticKeyForms().map((keys) => ({ staticKeys: keys })),
    ...principals,
    {},
  ];
  const identities = forms.map((form, index) => {
    const value = { uid: build.uid(groups.root), name: `form-${index}`, ...build.times() };
    return build.record({ ...value, ...form });
  });
  const match = { issuer: "https://login.example.com", subject: "user|visitor" };
  const visitor = { uid: build.uid(""), name: "visitor", email: "visitor@acme", lastSeenTime: build.time() };
  identities.push(build.record({ ...visitor, ...build.times(), claimMatch: match }));
  // Two owners of the organisation: without them SCIM cannot be switched on.
  const roleBindings = identities.slice(0, 2).map((owner) => {
    const value = { uid: build.uid(groups.root), identityUid: owner.uid, roleUid: ownerRole };
    return build.record({ ...value, createTime: build.time() });
  });
  return { roles: [internalRole(build, groups)], identities, roleBindings };
}
