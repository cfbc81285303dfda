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
import { createRandom } from "./prng.ts";
import { seedRegistry } from "./registry.ts";

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
}

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
  const rest = organisation ? seedRest(context, build, groups, roles, identities) : NOTHING;
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

const NOTHING = {
  identityProvider: "",
  accountAssociation: "",
  groupInvite: "",
  repo: "",
  syncedRepo: "",
  tag: "",
  advisory: "",
};

function seedRest(
  context: Context,
  build: Builder,
  groups: SeededGroups,
  roles: ReturnType<typeof seedRoles>,
  identities: Records,
): typeof NOTHING {
  const providers = seedProviders(build, groups, roles);
  const associations = seedAssociations(build, groups, identities);
  const invites = seedInvites(build, groups, roles);
  const { repos, tags } = seedRegistry(build, groups);
  const advisories = seedAdvisories(build, groups, context.settings.beyondV2);
  load(context, "identityProviders", "IdentityProvider", providers);
  load(context, "accountAssociations", "AccountAssociation", associations);
  load(context, "groupInvites", "GroupInvite", invites);
  load(context, "repos", "Repo", repos);
  load(context, "tags", "Tag", tags);
  load(context, "advisories", "Advisory", advisories);
  return {
    identityProvider: providers[0]?.uid ?? "",
    accountAssociation: associations[0]?.uid ?? "",
    groupInvite: invites[0]?.uid ?? "",
    repo: repos[0]?.uid ?? "",
    syncedRepo: repos[1]?.uid ?? "",
    tag: tags[0]?.uid ?? "",
    advisory: advisories[1]?.uid ?? "",
  };
}

/** The last group with nothing in it at all. */
function emptyGroup(context: Context, groups: SeededGroups): string {
  const bindings = context.store.collection("roleBindings");
  return groups.leaves.findLast((uid) => bindings.children(uid).length === 0) ?? groups.otherRoot;
}
