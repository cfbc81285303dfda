/** What does the platform hold before anybody called it? */
import type { Context } from "../context.ts";
import type { StoredRecord } from "../store/collection.ts";
import type { ResourceName } from "../store/store.ts";
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

/** Seeded values in their normal form, under their own names. */
function load(context: Context, name: ResourceName, type: string, records: Records): void {
  const message = V2.message(type);
  const normal = records.map((record) => ({ ...record, value: normalMessage(V2, message, record.value) }));
  context.store.collection(name).load(normal);
}

/** Fills the store. */
export function seedStore(context: Context): WellKnown {
  const { seed, size, organisation } = context.settings;
  const build = createBuilder(createRandom(seed));
  const groups = seedGroups(build, organisation);
  const roles = seedRoles(build, groups, organisation);
  const identities = seedIdentities(build, groups, organisation);
  const bindings = seedBindings(build, groups, roles, identities, organisation);
  load(context, "roles", "Role", roles.records);
  load(context, "identities", "Identity", identities);
  load(context, "roleBindings", "RoleBinding", bindings);
  const rest = organisation ? seedRest(context, build, groups, roles, identities) : NOTHING_KNOWN;
  context.store.collection("groups").load([...groups.records, ...seedFleet(build, groups.root, size)]);
  return {
    rootGroup: groups.root,
    otherRootGroup: groups.otherRoot,
    someGroup: groups.teams[0] ?? groups.root,
    emptyGroup: emptyGroup(context, groups),
    viewerRole: roles.builtIn.get("viewer") ?? "",
    editorRole: roles.builtIn.get("editor") ?? "",
    ownerRole: roles.builtIn.get("owner") ?? "",
    customRole: roles.custom.at(-2) ?? "",
    identity: identities[0]?.uid ?? "",
    assumable: ASSUMABLE,
    roleBinding: bindings[0]?.uid ?? "",
    ...rest,
  };
}

function seedRest(
  context: Context,
  build: Builder,
  groups: SeededGroups,
  roles: ReturnType<typeof seedRoles>,
  identities: Records,
): OrganisationKnown {
  const providers = seedProviders(build, groups, roles);
  const associations = seedAssociations(build, groups, identities);
  const invites = seedInvites(build, groups, roles);
  const { repos, tags } = seedRegistry(build, groups, context.settings.beyondV2);
  const advisories = seedAdvisories(build, groups, context.settings.beyondV2);
  const more = seedMore(context, groups, roles);
  load(context, "roles", "Role", more.roles);
  load(context, "identities", "Identity", more.identities);
  load(context, "roleBindings", "RoleBinding", more.roleBindings);
  load(context, "identityProviders", "IdentityProvider", [...providers, ...more.identityProviders]);
  load(context, "accountAssociations", "AccountAssociation", [...associations, ...more.accountAssociations]);
  load(context, "groupInvites", "GroupInvite", [...invites, ...more.groupInvites]);
  load(context, "repos", "Repo", [...repos, ...more.repos]);
  load(context, "tags", "Tag", [...tags, ...more.tags]);
  load(context, "advisories", "Advisory", [...advisories, ...more.advisories]);
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
function emptyGroup(context: Context, groups: SeededGroups): string {
  const bindings = context.store.collection("roleBindings");
  return groups.leaves.findLast((uid) => bindings.children(uid).length === 0) ?? groups.otherRoot;
}
