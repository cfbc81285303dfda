/** What does the platform hold before anybody called it? */
import type { SandboxSettings } from "../options.ts";
import type { StoredRecord } from "../store/collection.ts";
import type { ResourceName } from "../store/store.ts";
import { parentOf } from "../store/uid.ts";
import { normalMessage } from "../wire/encode.ts";
import { V2 } from "../wire/schemas.ts";
import { ASSUMABLE, seedBindings, seedIdentities, seedRoles } from "./access.ts";
import { seedAdvisories } from "./advisories.ts";
import { type Builder, createBuilder } from "./build.ts";
import { seedAssociations, seedInvites, seedProviders } from "./connections.ts";
import { type SeededGroups, seedFleet, seedGroups } from "./groups.ts";
import { type MoreRecords, seedMore } from "./more.ts";
import { createRandom } from "./prng.ts";
import { seedRegistry } from "./registry.ts";
import { NOTHING_KNOWN, type OrganisationKnown, type WellKnown } from "./well-known.ts";

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
