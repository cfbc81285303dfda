/** The records that a platform begins with. */
import type { SandboxSettings } from "../options.ts";
import { parentOf, type StoredRecord } from "../store/collection.ts";
import type { ResourceName } from "../store/store.ts";
import { normalMessage } from "../wire/encode.ts";
import { V2 } from "../wire/schema.ts";
import { ASSUMABLE, type SeededRoles, seedAllAccess, seedBindings, seedIdentities, seedRoles } from "./access.ts";
import { fullAdvisories, seedAdvisories } from "./advisories.ts";
import { type Builder, createBuilder } from "./build.ts";
import {
  fullAssociation,
  moreInvites,
  scimProviders,
  seedAssociations,
  seedInvites,
  seedProviders,
} from "./connections.ts";
import { type SeededGroups, seedFleet, seedGroups } from "./groups.ts";
import { createRandom } from "./prng.ts";
import { fullRegistry, seedRegistry } from "./registry.ts";

type Records = readonly StoredRecord[];

/** The records of a platform that nobody has called yet. Nobody changes them: any number of sandboxes may begin with them. */
export interface Seed {
  readonly records: ReadonlyMap<ResourceName, Records>;
  readonly wellKnown: WellKnown;
}

type SeedSettings = Pick<SandboxSettings, "seed" | "size" | "organisation" | "beyondV2">;
type Seeded = Map<ResourceName, Records>;

/** Adds records with their values in normal form. */
function add(seeded: Seeded, name: ResourceName, type: string, records: Records): void {
  const message = V2.message(type);
  const normal = records.map((record) => ({ ...record, value: normalMessage(V2, message, record.value) }));
  seeded.set(name, [...(seeded.get(name) ?? []), ...normal]);
}

/** Makes the records that follow from `settings`. */
export function createSeed(settings: SeedSettings): Seed {
  const { seed, size, organisation } = settings;
  const seeded: Seeded = new Map();
  const build = createBuilder(createRandom(seed));
  const groups = seedGroups(build, organisation);
  const roles = seedRoles(build, groups, organisation);
  const identities = seedIdentities(build, groups, organisation);
  const bindings = seedBindings(build, groups, roles, identities, organisation);
  add(seeded, "roles", "Role", roles.records);
  add(seeded, "identities", "Identity", identities);
  add(seeded, "roleBindings", "RoleBinding", bindings);
  const rest = organisation ? seedRest(settings, seeded, build, groups, roles, identities) : NOTHING_KNOWN;
  seeded.set("groups", [...groups.records, ...seedFleet(build, groups.root, size)]);
  const wellKnown = {
    rootGroup: groups.root,
    otherRootGroup: groups.otherRoot,
    someGroup: groups.teams[0] ?? groups.root,
    emptyGroup: emptyGroup(seeded, groups),
    viewerRole: roles.builtIn.get("viewer") ?? "",
    editorRole: roles.builtIn.get("editor") ?? "",
    ownerRole: roles.builtIn.get("owner") ?? "",
    customRole: roles.custom.at(-2) ?? "",
    identity: identities[0]?.uid ?? "",
    assumable: ASSUMABLE,
    roleBinding: bindings[0]?.uid ?? "",
    ...rest,
  };
  return { records: seeded, wellKnown };
}

function seedRest(
  settings: SeedSettings,
  seeded: Seeded,
  build: Builder,
  groups: SeededGroups,
  roles: ReturnType<typeof seedRoles>,
  identities: Records,
): OrganisationKnown {
  const providers = seedProviders(build, groups, roles);
  const associations = seedAssociations(build, groups, identities);
  const invites = seedInvites(build, groups, roles);
  const { repos, tags } = seedRegistry(build, groups, settings.beyondV2);
  const advisories = seedAdvisories(build, groups, settings.beyondV2);
  const more = seedMore(settings, groups, roles);
  add(seeded, "roles", "Role", more.roles);
  add(seeded, "identities", "Identity", more.identities);
  add(seeded, "roleBindings", "RoleBinding", more.roleBindings);
  add(seeded, "identityProviders", "IdentityProvider", [...providers, ...more.identityProviders]);
  add(seeded, "accountAssociations", "AccountAssociation", [...associations, ...more.accountAssociations]);
  add(seeded, "groupInvites", "GroupInvite", [...invites, ...more.groupInvites]);
  add(seeded, "repos", "Repo", [...repos, ...more.repos]);
  add(seeded, "tags", "Tag", [...tags, ...more.tags]);
  add(seeded, "advisories", "Advisory", [...advisories, ...more.advisories]);
  return {
    identityProvider: uidAt(providers, 0),
    accountAssociation: uidAt(associations, 0),
    groupInvite: uidAt(invites, 0),
    repo: uidAt(repos, 0),
    syncedRepo: uidAt(repos, 1),
    tag: uidAt(tags, 0),
    advisory: uidAt(advisories, 1),
    digest: String(tags[0]?.value["digest"] ?? ""),
    ...moreKnown(more),
  };
}

function uidAt(records: Records, index: number): string {
  return records.at(index)?.uid ?? "";
}

/** The order of these lists is that of their files. */
function moreKnown(more: MoreRecords) {
  const provider = (index: number) => uidAt(more.identityProviders, index);
  return {
    visitor: uidAt(more.identities, -1),
    scim: {
      unspecified: provider(0),
      notIssued: provider(1),
      live: provider(2),
      neverExpires: provider(3),
      expired: provider(4),
      revoked: provider(5),
      rotating: provider(6),
      ownerless: provider(7),
    },
    fullRepo: uidAt(more.repos, 0),
    fullAssociation: uidAt(more.accountAssociations, 0),
    fullAdvisory: uidAt(more.advisories, 0),
    orphanInvite: uidAt(more.groupInvites, 0),
  };
}

/** The last group with nothing in it at all. */
function emptyGroup(seeded: Seeded, groups: SeededGroups): string {
  const bound = new Set(seeded.get("roleBindings")?.map(({ uid }) => parentOf(uid)));
  return groups.leaves.findLast((uid) => !bound.has(uid)) ?? groups.otherRoot;
}

// Records of every form that a kind can have. They have their own random source, so that no other uid changes.

/** What `seedMore` made, by collection, and whom to name. */
export interface MoreRecords {
  readonly roles: Records;
  readonly identities: Records;
  readonly roleBindings: Records;
  readonly identityProviders: Records;
  readonly accountAssociations: Records;
  readonly groupInvites: Records;
  readonly repos: Records;
  readonly tags: Records;
  readonly advisories: Records;
}

/** The further records of the seeded organisation. */
export function seedMore(
  settings: Pick<SandboxSettings, "seed" | "beyondV2">,
  groups: SeededGroups,
  roles: SeededRoles,
): MoreRecords {
  const build = createBuilder(createRandom(`more of ${settings.seed}`));
  return {
    ...seedAllAccess(build, groups, roles.builtIn.get("owner") ?? ""),
    identityProviders: scimProviders(build, groups, roles),
    accountAssociations: [fullAssociation(build, groups)],
    groupInvites: moreInvites(build, groups, roles),
    ...fullRegistry(build, groups, settings.beyondV2),
    advisories: fullAdvisories(build, groups),
  };
}

// Seeded records worth naming.

/** Uids worth naming in documentation, tests and curl lines; a function of the seed alone. */
export interface WellKnown {
  /** The organisation `acme`: verified, more than 1,000 groups. */
  readonly rootGroup: string;
  /** Another organisation, to see what a scoped caller must not see. */
  readonly otherRootGroup: string;
  /** A team with ten groups below it. */
  readonly someGroup: string;
  /** A group with nothing in it: it can be deleted. */
  readonly emptyGroup: string;
  /** Built-in roles. */
  readonly viewerRole: string;
  readonly editorRole: string;
  readonly ownerRole: string;
  /** A role of the organisation's own that is bound to nobody: it can be deleted. */
  readonly customRole: string;
  /** An identity that a token of `assumable.issuer` and `.subject` may assume; it may edit the organisation. */
  readonly identity: string;
  readonly assumable: { readonly issuer: string; readonly subject: string };
  readonly roleBinding: string;
  /** One of each further kind; empty without the organisation. The repo has a readme, the provider a secret. */
  readonly identityProvider: string;
  readonly accountAssociation: string;
  readonly groupInvite: string;
  readonly repo: string;
  readonly syncedRepo: string;
  readonly tag: string;
  readonly advisory: string;
  /** A digest of `repo`, the image of `tag`; see the tags for more. */
  readonly digest: string;
  /** Somebody without rights whose mail domain is the name of the verified root group: `nobody#…` may ask for access. */
  readonly visitor: string;
  /** Identity providers by the state of their SCIM token. */
  readonly scim: ScimProviders;
  /** With all that such a record can say: a repo that is synced and has an overlay, an association with all five blocks. */
  readonly fullRepo: string;
  readonly fullAssociation: string;
  /** An advisory with every type of event. */
  readonly fullAdvisory: string;
  /** An invite whose role is gone. */
  readonly orphanInvite: string;
}

/** Uids of providers; empty without the organisation. */
export interface ScimProviders {
  readonly unspecified: string;
  readonly notIssued: string;
  readonly live: string;
  readonly neverExpires: string;
  readonly expired: string;
  readonly revoked: string;
  readonly rotating: string;
  /** Of an organisation with fewer than two owners: it cannot be switched on. The others can. */
  readonly ownerless: string;
}

const NO_SCIM: ScimProviders = {
  unspecified: "",
  notIssued: "",
  live: "",
  neverExpires: "",
  expired: "",
  revoked: "",
  rotating: "",
  ownerless: "",
};

/** What there is to name of the kinds that only the organisation has. */
export type OrganisationKnown = Omit<
  WellKnown,
  | "rootGroup"
  | "otherRootGroup"
  | "someGroup"
  | "emptyGroup"
  | "viewerRole"
  | "editorRole"
  | "ownerRole"
  | "customRole"
  | "identity"
  | "assumable"
  | "roleBinding"
>;

/** The same without the organisation. */
export const NOTHING_KNOWN: OrganisationKnown = {
  identityProvider: "",
  accountAssociation: "",
  groupInvite: "",
  repo: "",
  syncedRepo: "",
  tag: "",
  advisory: "",
  digest: "",
  visitor: "",
  scim: NO_SCIM,
  fullRepo: "",
  fullAssociation: "",
  fullAdvisory: "",
  orphanInvite: "",
};
