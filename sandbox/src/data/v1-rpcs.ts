/**
 * The services of native v1, and the messages that only gRPC has: over HTTP, parameters and lists have no message of their own.
 * An rpc is `NAME REQUEST RESPONSE METHOD PATH [BODY]`; the path and the body are those of the rpc's HTTP rule.
 */
import { VENDOR_TYPES } from "./vendor.ts";

export const V1_RPCS = `
package ${VENDOR_TYPES}.iam
message AccountAssociationsList
  1 items []AccountAssociations
message DeleteAccountAssociationsRequest
  1 group string
message CreateGroupRequest
  1 parent string
  2 group Group
message GroupList
  1 items []Group
message DeleteGroupRequest
  1 id string
message CheckEligibilityRequest
message CreateRoleRequest
  1 parent_id string
  2 role Role
message RoleList
  1 items []Role
message DeleteRoleRequest
  1 id string
message GroupInviteList
  1 items []StoredGroupInvite
message DeleteGroupInviteRequest
  1 id string
message CreateIdentityRequest
  1 parent_id string
  2 identity Identity
message IdentityList
  1 items []Identity
message DeleteIdentityRequest
  1 id string
message CreateIdentityProviderRequest
  1 parent_id string
  2 identity_provider IdentityProvider
message IdentityProviderList
  1 items []IdentityProvider
message DeleteIdentityProviderRequest
  1 id string
message CreateRoleBindingRequest
  1 parent string
  2 role_binding RoleBinding
message CreateRoleBindingBatchRequest
  1 parent string
  2 role_bindings []RoleBinding
message RoleBindingList
  1 items []RoleBindingList.Binding
message DeleteRoleBindingRequest
  1 id string
message TermsNotAcceptedDetail
  1 missing []MissingDocument
message MissingDocument
  1 id string
  2 label string
  3 url string
service GroupAccountAssociations
  Create AccountAssociations AccountAssociations POST /iam/v1/account_associations/{group=**} *
  Update AccountAssociations AccountAssociations PUT /iam/v1/account_associations/{group=**} *
  List AccountAssociationsFilter AccountAssociationsList GET /iam/v1/account_associations
  Delete DeleteAccountAssociationsRequest empty DELETE /iam/v1/account_associations/{group=**}
  Check AccountAssociationsCheckRequest AccountAssociationsStatus POST /iam/v1/account_associations/{group=**}:check *
service Groups
  Create CreateGroupRequest Group POST /iam/v1/groups/{parent=**} group
  Update Group Group PUT /iam/v1/groups/{id=**} *
  List GroupFilter GroupList GET /iam/v1/groups
  Delete DeleteGroupRequest empty DELETE /iam/v1/groups/{id=**}
  LookupGroup LookupGroupRequest LookupGroupResponse GET /iam/v1/groups:lookupGroup
  RequestGroupAccess RequestGroupAccessRequest RequestGroupAccessResponse POST /iam/v1/groups/{group_id=**}:requestGroupAccess *
  CheckEligibility CheckEligibilityRequest CheckEligibilityResponse GET /iam/v1/groups:checkEligibility
service Roles
  Create CreateRoleRequest Role POST /iam/v1/roles/{parent_id=**} role
  Update Role Role PUT /iam/v1/roles/{id=**} *
  List RoleFilter RoleList GET /iam/v1/roles
  Delete DeleteRoleRequest empty DELETE /iam/v1/roles/{id=**}
service GroupInvites
  Create GroupInviteRequest GroupInvite POST /iam/v1/group_invites/{group=**} *
  List GroupInviteFilter GroupInviteList GET /iam/v1/group_invites
  Delete DeleteGroupInviteRequest empty DELETE /iam/v1/group_invites/{id=**}
service Identities
  Create CreateIdentityRequest Identity POST /iam/v1/identities/{parent_id=**} identity
  Update Identity Identity PUT /iam/v1/identities/{id=**} *
  List IdentityFilter IdentityList GET /iam/v1/identities
  Lookup LookupRequest Identity GET /iam/v1/identities/lookup
  Delete DeleteIdentityRequest empty DELETE /iam/v1/identities/{id=**}
service IdentityProviders
  Create CreateIdentityProviderRequest IdentityProvider POST /iam/v1/identityProviders/{parent_id=**} identity_provider
  Update IdentityProvider IdentityProvider PUT /iam/v1/identityProviders/{id=**} *
  List IdentityProviderFilter IdentityProviderList GET /iam/v1/identityProviders
  Delete DeleteIdentityProviderRequest empty DELETE /iam/v1/identityProviders/{id=**}
  GenerateScimToken GenerateScimTokenRequest GenerateScimTokenResponse POST /iam/v1/identityProviders/{identity_provider_id=**}:generateScimToken *
  RegenerateScimToken RegenerateScimTokenRequest RegenerateScimTokenResponse POST /iam/v1/identityProviders/{identity_provider_id=**}:regenerateScimToken *
  RevokeScimToken RevokeScimTokenRequest RevokeScimTokenResponse POST /iam/v1/identityProviders/{identity_provider_id=**}:revokeScimToken *
  SetScimEnabled SetScimEnabledRequest SetScimEnabledResponse POST /iam/v1/identityProviders/{identity_provider_id=**}:setScimEnabled *
service RoleBindings
  Create CreateRoleBindingRequest RoleBinding POST /iam/v1/rolebindings/{parent=**} role_binding
  CreateBatch CreateRoleBindingBatchRequest RoleBindingBatch POST /iam/v1/rolebindings/batch/{parent=**} role_bindings
  Update RoleBinding RoleBinding PUT /iam/v1/rolebindings/{id=**} *
  List RoleBindingFilter RoleBindingList GET /iam/v1/rolebindings
  Delete DeleteRoleBindingRequest empty DELETE /iam/v1/rolebindings/{id=**}
package ${VENDOR_TYPES}.registry
message RepoList
  1 items []Repo
message DeleteRepoRequest
  1 id string
message CreateTagRequest
  1 repo_id string
  2 tag Tag
message DeleteTagRequest
  1 id string
message TagList
  1 items []Tag
service Registry
  CreateRepo CreateRepoRequest Repo POST /registry/v1/repos/{parent_id=**} repo
  UpdateRepo Repo Repo PUT /registry/v1/repos/{id=**} *
  ListRepos RepoFilter RepoList GET /registry/v1/repos
  DeleteRepo DeleteRepoRequest empty DELETE /registry/v1/repos/{id=**}
  CreateTag CreateTagRequest Tag POST /registry/v1/tags/{repo_id=**} tag
  UpdateTag Tag Tag PUT /registry/v1/tags/{id=**} *
  DeleteTag DeleteTagRequest empty DELETE /registry/v1/tags/{id=**}
  ListTags TagFilter TagList GET /registry/v1/tags
  GetRepoTagsSummary GetRepoTagsSummaryRequest RepoTagsSummary GET /registry/v1/repotagssummary/{repo_id=**}
  GetArchs ArchRequest Archs GET /registry/v1/repos/{repo_id=**}/digests/{digest=*}/architectures
  GetSize SizeRequest Size GET /registry/v1/repos/{repo_id=**}/digests/{digest=*}/size
package ${VENDOR_TYPES}.vulnerabilities.v1
message AdvisoriesList
  1 id string
  2 items []Advisory
  3 next_page_token string
  4 total_count int64 optional
message DeleteAdvisoryRequest
  1 id string
service Advisories
  Create CreateAdvisoryRequest Advisory POST /vulnerabilities/v1/advisories *
  List AdvisoryFilter AdvisoriesList GET /vulnerabilities/v1/advisories
  Update Advisory Advisory PUT /vulnerabilities/v1/advisories/{id=**} *
  Delete DeleteAdvisoryRequest empty DELETE /vulnerabilities/v1/advisories/{id=**}
  CreateAdvisoryEvent CreateAdvisoryEventRequest AdvisoryEvent POST /vulnerabilities/v1/advisories/{parent_id=**}/events *
  ListAdvisoryEvents AdvisoryEventFilter AdvisoryEventList GET /vulnerabilities/v1/advisories/{parent_id=**}/events
  UpdateAdvisoryEvent AdvisoryEvent AdvisoryEvent PUT /vulnerabilities/v1/advisory_events/{id=**} *
package ${VENDOR_TYPES}.events
service Identities
  UpdateMetadata IdentityMetadata IdentityMetadata PATCH /iam/v1/identities/metadata *
package ${VENDOR_TYPES}.oidc
message ExchangeRequest
  1 aud []string
  2 scope string
  4 identity string
  5 cap []string
  7 identity_provider string
  8 scopes []string
message ExchangeRefreshTokenRequest
  1 aud []string
  2 scope string
  3 cap []string
  4 scopes []string
message RawToken
  1 token string
  2 refresh_token string
  3 expiry timestamp
message TokenPair
  1 token RawToken
  2 refresh_token RawToken
service SecurityTokenService
  Exchange ExchangeRequest RawToken POST /sts/exchange
  ExchangeRefreshToken ExchangeRefreshTokenRequest TokenPair POST /sts/exchange_refresh_token
`;
