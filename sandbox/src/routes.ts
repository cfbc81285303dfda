/** Which operations does the platform have? */
import type { Context } from "./context.ts";
import type { Route } from "./gateway/route.ts";
import { accountAssociationsV1, checkAssociationV1 } from "./v1/account-associations.ts";
import { advisoriesV1 } from "./v1/advisories.ts";
import { type V1Face, v1Routes } from "./v1/face.ts";
import { groupInvitesV1 } from "./v1/group-invites.ts";
import { groupsV1 } from "./v1/groups.ts";
import { identitiesV1, lookupIdentityV1 } from "./v1/identities.ts";
import { identityMetadataV1 } from "./v1/identity-metadata.ts";
import { identityProvidersV1 } from "./v1/identity-providers.ts";
import { imagesV1 } from "./v1/images.ts";
import { reposV1 } from "./v1/repos.ts";
import { batchCreateV1, roleBindingsV1 } from "./v1/role-bindings.ts";
import { rolesV1 } from "./v1/roles.ts";
import { tagsV1 } from "./v1/tags.ts";
import { accountAssociationsV2, checkAssociationV2 } from "./v2/account-associations.ts";
import { advisoriesV2 } from "./v2/advisories.ts";
import { type V2Face, v2Routes } from "./v2/face.ts";
import { groupInvitesV2 } from "./v2/group-invites.ts";
import { groupsV2 } from "./v2/groups.ts";
import { identitiesV2, lookupIdentityV2 } from "./v2/identities.ts";
import { identityMetadataV2 } from "./v2/identity-metadata.ts";
import { identityProvidersV2 } from "./v2/identity-providers.ts";
import { imagesV2 } from "./v2/images.ts";
import { readmeRoutes, reposV2 } from "./v2/repos.ts";
import { batchCreateV2, roleBindingsV2 } from "./v2/role-bindings.ts";
import { rolesV2 } from "./v2/roles.ts";
import { tagsV2 } from "./v2/tags.ts";
import { verbRoutes } from "./verbs.ts";

const V1_FACES: readonly V1Face[] = [
  groupsV1,
  identitiesV1,
  rolesV1,
  roleBindingsV1,
  identityProvidersV1,
  accountAssociationsV1,
  groupInvitesV1,
  reposV1,
  tagsV1,
];
const V2_FACES: readonly V2Face[] = [
  groupsV2,
  identitiesV2,
  rolesV2,
  roleBindingsV2,
  identityProvidersV2,
  accountAssociationsV2,
  groupInvitesV2,
  reposV2,
  tagsV2,
  advisoriesV2,
];

/** Every route of both faces. */
export function allRoutes(context: Context): readonly Route[] {
  return [
    ...V1_FACES.flatMap((face) => v1Routes(context, face)),
    ...V2_FACES.flatMap((face) => v2Routes(context, face)).filter((route) => !isShadowed(context, route)),
    lookupIdentityV1(context),
    lookupIdentityV2(context),
    identityMetadataV1(context),
    identityMetadataV2(context),
    batchCreateV1(context),
    batchCreateV2(context),
    checkAssociationV1(context),
    checkAssociationV2(context),
    ...readmeRoutes(context),
    ...imagesV1(context),
    ...imagesV2(context),
    ...advisoriesV1(context),
    ...verbRoutes(context),
  ];
}

/** In the generated order of the public gateway the list of identity providers cannot be reached (trap T67). */
function isShadowed(context: Context, route: Route): boolean {
  return (
    context.settings.shadowedProviderList && route.collection === "identityProviders" && route.shape === "collection"
  );
}
