/**
 * The services of v2, and the messages that only gRPC has: over HTTP, parameters and lists have no message of their own.
 * An rpc is `NAME REQUEST RESPONSE METHOD PATH [BODY]`; the path and the body are those of the rpc's HTTP rule.
 */
import { VENDOR_TYPES } from "./vendor.ts";

export const V2_RPCS = `
package ${VENDOR_TYPES}.iam.v2beta1
message CreateAccountAssociationRequest
  1 parent string
  2 account_association AccountAssociation
message UpdateAccountAssociationRequest
  1 account_association AccountAssociation
  2 update_mask mask
message ListAccountAssociationsResponse
  1 account_associations []AccountAssociation
  2 next_page_token string
  3 total_count int64 optional
  4 skipped int32
message DeleteAccountAssociationRequest
  1 uid string
message CreateGroupRequest
  1 parent string
  2 group Group
message UpdateGroupRequest
  1 group Group
  2 update_mask mask
message ListGroupsResponse
  1 groups []Group
  2 next_page_token string
  3 total_count int64 optional
  4 skipped int32
message DeleteGroupRequest
  1 uid string
message CheckEligibilityRequest
message CreateRoleRequest
  1 parent string
  2 role Role
message UpdateRoleRequest
  1 role Role
  2 update_mask mask
message ListRolesResponse
  1 roles []Role
  2 next_page_token string
  3 total_count int64 optional
  4 skipped int32
message DeleteRoleRequest
  1 uid string
message CreateGroupInviteRequest
  1 parent string
  2 group_invite GroupInvite
message ListGroupInvitesResponse
  1 group_invites []GroupInvite
  2 next_page_token string
  3 total_count int64 optional
  4 skipped int32
message DeleteGroupInviteRequest
  1 uid string
message CreateIdentityRequest
  1 parent string
  2 identity Identity
message UpdateIdentityRequest
  1 identity Identity
  2 update_mask mask
message ListIdentitiesResponse
  1 identities []Identity
  2 next_page_token string
  3 total_count int64 optional
  4 skipped int32
message DeleteIdentityRequest
  1 uid string
message CreateIdentityProviderRequest
  1 parent string
  2 identity_provider IdentityProvider
message UpdateIdentityProviderRequest
  1 identity_provider IdentityProvider
  2 update_mask mask
message ListIdentityProvidersResponse
  1 identity_providers []IdentityProvider
  2 next_page_token string
  3 total_count int64 optional
  4 skipped int32
message DeleteIdentityProviderRequest
  1 uid string
message UpdateRoleBindingRequest
  1 role_binding RoleBinding
  2 update_mask mask
message ListRoleBindingsResponse
  1 role_bindings []RoleBinding
  2 next_page_token string
  3 total_count int64 optional
  4 skipped int32
message DeleteRoleBindingRequest
  1 uid string
message GetAccountAssociationRequest
  1 uid string
message GetGroupInviteRequest
  1 uid string
message GetGroupRequest
  1 uid string
message GetIdentityRequest
  1 uid string
message GetIdentityProviderRequest
  1 uid string
message GetRoleBindingRequest
  1 uid string
message GetRoleRequest
  1 uid string
message TermsNotAcceptedDetail
  1 missing []MissingDocument
message MissingDocument
  1 id string
  2 label string
  3 url string
service AccountAssociationsService
  CreateAccountAssociation CreateAccountAssociationRequest AccountAssociation POST /iam/v2beta1/accountAssociations/{parent=**} account_association
  UpdateAccountAssociation UpdateAccountAssociationRequest AccountAssociation PATCH /iam/v2beta1/accountAssociations/{account_association.uid=**} account_association
  ListAccountAssociations ListAccountAssociationsRequest ListAccountAssociationsResponse GET /iam/v2beta1/accountAssociations
  DeleteAccountAssociation DeleteAccountAssociationRequest empty DELETE /iam/v2beta1/accountAssociations/{uid=**}
  CheckAccountAssociation CheckAccountAssociationRequest CheckAccountAssociationResponse POST /iam/v2beta1/accountAssociations/{uid=**}:checkAccountAssociation *
  GetAccountAssociation GetAccountAssociationRequest AccountAssociation GET /iam/v2beta1/accountAssociations/{uid=**}
service GroupsService
  CreateGroup CreateGroupRequest Group POST /iam/v2beta1/groups/{parent=**} group
  UpdateGroup UpdateGroupRequest Group PATCH /iam/v2beta1/groups/{group.uid=**} group
  ListGroups ListGroupsRequest ListGroupsResponse GET /iam/v2beta1/groups
  DeleteGroup DeleteGroupRequest empty DELETE /iam/v2beta1/groups/{uid=**}
  LookupGroup LookupGroupRequest LookupGroupResponse GET /iam/v2beta1/groups:lookupGroup
  RequestGroupAccess RequestGroupAccessRequest RequestGroupAccessResponse POST /iam/v2beta1/groups/{group_uid=**}:requestGroupAccess *
  CheckEligibility CheckEligibilityRequest CheckEligibilityResponse GET /iam/v2beta1/groups:checkEligibility
  GetGroup GetGroupRequest Group GET /iam/v2beta1/groups/{uid=**}
service RolesService
  CreateRole CreateRoleRequest Role POST /iam/v2beta1/roles/{parent=**} role
  UpdateRole UpdateRoleRequest Role PATCH /iam/v2beta1/roles/{role.uid=**} role
  ListRoles ListRolesRequest ListRolesResponse GET /iam/v2beta1/roles
  DeleteRole DeleteRoleRequest empty DELETE /iam/v2beta1/roles/{uid=**}
  GetRole GetRoleRequest Role GET /iam/v2beta1/roles/{uid=**}
service GroupInvitesService
  CreateGroupInvite CreateGroupInviteRequest GroupInvite POST /iam/v2beta1/groupInvites/{parent=**} group_invite
  ListGroupInvites ListGroupInvitesRequest ListGroupInvitesResponse GET /iam/v2beta1/groupInvites
  DeleteGroupInvite DeleteGroupInviteRequest empty DELETE /iam/v2beta1/groupInvites/{uid=**}
  GetGroupInvite GetGroupInviteRequest GroupInvite GET /iam/v2beta1/groupInvites/{uid=**}
service IdentitiesService
  CreateIdentity CreateIdentityRequest Identity POST /iam/v2beta1/identities/{parent=**} identity
  UpdateIdentity UpdateIdentityRequest Identity PATCH /iam/v2beta1/identities/{identity.uid=**} identity
  ListIdentities ListIdentitiesRequest ListIdentitiesResponse GET /iam/v2beta1/identities
  LookupIdentity LookupIdentityRequest LookupIdentityResponse GET /iam/v2beta1/identities:lookupIdentity
  DeleteIdentity DeleteIdentityRequest empty DELETE /iam/v2beta1/identities/{uid=**}
  UpdateIdentityMetadata UpdateIdentityMetadataRequest IdentityMetadata PATCH /iam/v2beta1/identities:updateIdentityMetadata *
  GetIdentity GetIdentityRequest Identity GET /iam/v2beta1/identities/{uid=**}
service IdentityProvidersService
  CreateIdentityProvider CreateIdentityProviderRequest IdentityProvider POST /iam/v2beta1/identityProviders/{parent=**} identity_provider
  UpdateIdentityProvider UpdateIdentityProviderRequest IdentityProvider PATCH /iam/v2beta1/identityProviders/{identity_provider.uid=**} identity_provider
  ListIdentityProviders ListIdentityProvidersRequest ListIdentityProvidersResponse GET /iam/v2beta1/identityProviders
  DeleteIdentityProvider DeleteIdentityProviderRequest empty DELETE /iam/v2beta1/identityProviders/{uid=**}
  GenerateScimToken GenerateScimTokenRequest GenerateScimTokenResponse POST /iam/v2beta1/identityProviders/{identity_provider_uid=**}:generateScimToken *
  RegenerateScimToken RegenerateScimTokenRequest RegenerateScimTokenResponse POST /iam/v2beta1/identityProviders/{identity_provider_uid=**}:regenerateScimToken *
  RevokeScimToken RevokeScimTokenRequest RevokeScimTokenResponse POST /iam/v2beta1/identityProviders/{identity_provider_uid=**}:revokeScimToken *
  SetScimEnabled SetScimEnabledRequest SetScimEnabledResponse POST /iam/v2beta1/identityProviders/{identity_provider_uid=**}:setScimEnabled *
  GetIdentityProvider GetIdentityProviderRequest IdentityProvider GET /iam/v2beta1/identityProviders/{uid=**}
service RoleBindingsService
  CreateRoleBinding CreateRoleBindingRequest RoleBinding POST /iam/v2beta1/roleBindings/{parent=**} role_binding
  BatchCreateRoleBindings BatchCreateRoleBindingsRequest BatchCreateRoleBindingsResponse POST /iam/v2beta1/roleBindings:batchCreate *
  UpdateRoleBinding UpdateRoleBindingRequest RoleBinding PATCH /iam/v2beta1/roleBindings/{role_binding.uid=**} role_binding
  ListRoleBindings ListRoleBindingsRequest ListRoleBindingsResponse GET /iam/v2beta1/roleBindings
  DeleteRoleBinding DeleteRoleBindingRequest empty DELETE /iam/v2beta1/roleBindings/{uid=**}
  GetRoleBinding GetRoleBindingRequest RoleBinding GET /iam/v2beta1/roleBindings/{uid=**}
package ${VENDOR_TYPES}.registry.v2beta1
message CreateRepoRequest
  1 parent string
  2 repo Repo
message UpdateRepoRequest
  1 repo Repo
  2 update_mask mask
message ListReposResponse
  1 repos []Repo
  2 next_page_token string
  3 total_count int64 optional
  4 skipped int32
message DeleteRepoRequest
  1 uid string
message CreateTagRequest
  1 parent string
  2 tag Tag
message DeleteTagRequest
  1 uid string
message ListTagsResponse
  1 tags []Tag
  2 next_page_token string
  3 total_count int64 optional
  4 skipped int32
message GetRepoRequest
  1 uid string
message GetRepoReadmeRequest
  1 uid string
message UpdateRepoReadmeRequest
  1 repo_readme RepoReadme
  2 update_mask mask
message GetTagRequest
  1 uid string
service ReposService
  CreateRepo CreateRepoRequest Repo POST /registry/v2beta1/repos/{parent=**} repo
  UpdateRepo UpdateRepoRequest Repo PATCH /registry/v2beta1/repos/{repo.uid=**} repo
  ListRepos ListReposRequest ListReposResponse GET /registry/v2beta1/repos
  DeleteRepo DeleteRepoRequest empty DELETE /registry/v2beta1/repos/{uid=**}
  GetRepo GetRepoRequest Repo GET /registry/v2beta1/repos/{uid=**}
  GetRepoReadme GetRepoReadmeRequest RepoReadme GET /registry/v2beta1/repos/{uid=**}/readme
  UpdateRepoReadme UpdateRepoReadmeRequest RepoReadme PATCH /registry/v2beta1/repos/{repo_readme.uid=**}/readme repo_readme
service TagsService
  CreateTag CreateTagRequest Tag POST /registry/v2beta1/tags/{parent=**} tag
  DeleteTag DeleteTagRequest empty DELETE /registry/v2beta1/tags/{uid=**}
  ListTags ListTagsRequest ListTagsResponse GET /registry/v2beta1/tags
  GetTag GetTagRequest Tag GET /registry/v2beta1/tags/{uid=**}
service ImagesService
  GetArchitectures GetArchitecturesRequest Architectures GET /registry/v2beta1/repos/{repo_uid=**}/digests/{digest}/architectures
  GetSize GetSizeRequest Size GET /registry/v2beta1/repos/{repo_uid=**}/digests/{digest}/size
package ${VENDOR_TYPES}.vulnerabilities.v2beta1
message ListAdvisoriesResponse
  1 advisories []Advisory
  2 next_page_token string
  3 total_count int64 optional
  4 skipped int32
message GetAdvisoryRequest
  1 uid string
service AdvisoriesService
  ListAdvisories ListAdvisoriesRequest ListAdvisoriesResponse GET /vulnerabilities/v2beta1/advisories
  GetAdvisory GetAdvisoryRequest Advisory GET /vulnerabilities/v2beta1/advisories/{uid=**}
`;
