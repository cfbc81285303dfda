/** The messages and enums of v2. `wire/schema.ts` reads them and explains the notation. */
import { VENDOR_KEY, VENDOR_MESSAGE, VENDOR_TYPES } from "./vendor.ts";

export const V2_MESSAGES = `
package ${VENDOR_TYPES}.iam.v2beta1
message Group
  1 uid string readonly
  2 name string
  3 description string
  4 resource_limits map<string,int32> readonly
  5 verified bool
  6 create_time timestamp readonly
  7 update_time timestamp readonly
  8 kind enum OrgKind
  9 status enum OrgStatus readonly
message ListGroupsRequest
  1 uidp UIDPFilter
  2 name string
  3 page_size int32
  4 page_token string
  5 order_by string
  6 skip int32
message Identity
  1 uid string readonly
  2 name string
  3 description string
  4 email string readonly
  5 email_unverified string readonly
  6 company string
  8 last_seen_time timestamp readonly
  9 create_time timestamp readonly
  10 update_time timestamp readonly
  20 claim_match Identity.ClaimMatch in relationship
  21 static_keys Identity.StaticKeys in relationship
  22 aws_identity Identity.AWSIdentity in relationship
  23 service_principal enum ServicePrincipal in relationship
message ListIdentitiesRequest
  1 uidp UIDPFilter
  2 name string
  3 relationship_type enum RelationshipType
  4 page_size int32
  5 page_token string
  6 order_by string
  7 skip int32
message LookupIdentityRequest
  1 issuer string
  2 subject string
message LookupIdentityResponse
  1 uid string readonly
message IdentityMetadata
  1 uid string readonly
  2 name string readonly
  3 given_name string readonly
  4 family_name string readonly
  5 company string
  6 updates_opt_in bool
  7 product string
  8 job_title string
  9 utm_campaign string
  10 utm_content string
  11 utm_medium string
  12 utm_source string
  13 utm_term string
  14 latest_form_submit_url string
  15 latest_internal_referring_url string
  16 hubspot_utk string
  17 self_serve bool
message UpdateIdentityMetadataRequest
  1 identity_metadata IdentityMetadata
  2 update_mask mask
message RequestGroupAccessRequest
  1 group_uid string
message RequestGroupAccessResponse
message Role
  1 uid string readonly
  2 name string
  3 description string
  4 capabilities []enum Capability
  5 create_time timestamp readonly
  6 update_time timestamp readonly
message ListRolesRequest
  1 uidp UIDPFilter
  2 name string
  3 page_size int32
  4 page_token string
  5 order_by string
  6 skip int32
message RoleBinding
  1 uid string readonly
  2 identity RoleBindingIdentity readonly
  3 group RoleBindingGroup readonly
  4 role RoleBindingRole readonly
  5 create_time timestamp readonly
  6 identity_uid string
  7 role_uid string
message ListRoleBindingsRequest
  1 uidp UIDPFilter
  2 identity string
  3 group string
  4 role string
  5 page_size int32
  6 page_token string
  7 order_by string
  8 skip int32
message BatchCreateRoleBindingsRequest
  1 parent string
  2 requests []CreateRoleBindingRequest
  3 role_uid string
message BatchCreateRoleBindingsResponse
  1 role_bindings []RoleBinding
message IdentityProvider
  1 uid string readonly
  2 name string
  3 description string
  4 create_time timestamp readonly
  5 update_time timestamp readonly
  6 default_role string
  20 oidc IdentityProvider.OIDC in configuration
  21 scim IdentityProvider.SCIM readonly
message ListIdentityProvidersRequest
  1 uidp UIDPFilter
  2 name string
  10 page_size int32
  11 page_token string
  12 order_by string
  13 skip int32
message AccountAssociation
  1 uid string readonly
  2 name string
  3 description string
  4 amazon AccountAssociation.Amazon
  5 google AccountAssociation.Google
  7 ${VENDOR_KEY} AccountAssociation.${VENDOR_MESSAGE}
  8 azure AccountAssociation.Azure
  9 create_time timestamp readonly
  10 update_time timestamp readonly
  11 github AccountAssociation.GitHub
message ListAccountAssociationsRequest
  1 uidp UIDPFilter
  2 name string
  3 page_size int32
  4 page_token string
  5 order_by string
  6 skip int32
message CheckAccountAssociationRequest
  1 uid string
  2 provider_type enum AccountProviderType
message CheckAccountAssociationResponse
  1 status enum CheckStatus
  2 reason string
  3 message string
message GroupInvite
  1 uid string readonly
  2 role_uid string
  10 role GroupInviteRole readonly
  3 email string
  4 ttl duration
  5 expiration_time timestamp readonly
  6 single_use bool
  7 code string readonly
  8 key_id string readonly
  9 create_time timestamp readonly
message ListGroupInvitesRequest
  1 uidp UIDPFilter
  2 key_id string
  3 page_size int32
  4 page_token string
  5 order_by string
  6 skip int32
message LookupGroupRequest
message LookupGroupResponse
  1 group Group
message CheckEligibilityResponse
  1 eligible bool
message GenerateScimTokenRequest
  1 identity_provider_uid string
  2 expire_time timestamp
  3 never_expires bool
message GenerateScimTokenResponse
  1 token string
  2 endpoint_url string
  3 expire_time timestamp
  4 identity_provider_uid string
  5 etag string
message RegenerateScimTokenRequest
  1 identity_provider_uid string
  2 overlap duration
  3 expire_time timestamp
  4 etag string
  5 never_expires bool
message RegenerateScimTokenResponse
  1 token string
  2 endpoint_url string
  3 expire_time timestamp
  4 identity_provider_uid string
  5 etag string
  6 previous_token_expire_time timestamp
  7 requested_overlap duration
message RevokeScimTokenRequest
  1 identity_provider_uid string
message RevokeScimTokenResponse
  1 identity_provider_uid string
  2 etag string
  3 enabled bool
  4 revoke_time timestamp
message SetScimEnabledRequest
  1 identity_provider_uid string
  2 enabled bool
  3 etag string
message SetScimEnabledResponse
  1 identity_provider_uid string
  2 enabled bool
  3 etag string
message Identity.ClaimMatch
  1 issuer string in iss
  2 issuer_pattern string in iss
  3 subject string in sub
  4 subject_pattern string in sub
  5 audience string in aud
  6 audience_pattern string in aud
  7 claims map<string,string>
  8 claim_patterns map<string,string>
message Identity.StaticKeys
  1 issuer string
  2 subject string
  3 issuer_keys string
  4 expiration_time timestamp
  5 audiences []string
message Identity.AWSIdentity
  1 aws_account string
  2 arn string in aws_arn
  3 arn_pattern string in aws_arn
  4 user_id string in aws_user_id
  5 user_id_pattern string in aws_user_id
message RoleBindingIdentity
  1 uid string readonly
  2 name string readonly
  3 description string readonly
  4 subject string readonly
  5 issuer string readonly
  6 email string readonly
message RoleBindingGroup
  1 uid string readonly
  2 name string readonly
  3 description string readonly
message RoleBindingRole
  1 uid string readonly
  2 name string readonly
  3 description string readonly
message CreateRoleBindingRequest
  1 parent string
  2 role_binding RoleBinding
message IdentityProvider.OIDC
  1 issuer string
  2 client_id string
  3 client_secret string
  4 additional_scopes []string
  5 groups_claim string
  6 correlation_rule enum IdentityProvider.OIDC.CorrelationRule fixed
  7 pkce_enabled bool
message IdentityProvider.SCIM
  1 enabled bool readonly
  3 endpoint_url string readonly
  4 token_expire_time timestamp readonly
  5 previous_token_expire_time timestamp readonly
  6 credential_state enum IdentityProvider.SCIM.CredentialState readonly
  7 etag string readonly
message AccountAssociation.Amazon
  1 account string
message AccountAssociation.Google
  1 project_id string
  2 project_number string
message AccountAssociation.${VENDOR_MESSAGE}
  1 service_bindings map<string,string>
message AccountAssociation.Azure
  1 tenant_id string
  2 client_ids map<string,string>
message AccountAssociation.GitHub
  2 app_installations map<int64,AccountAssociation.GitHubAppInstallations>
message GroupInviteRole
  1 uid string readonly
  2 name string readonly
  3 description string readonly
  4 capabilities []enum Capability readonly
message AccountAssociation.GitHubAppInstallations
  1 installations []AccountAssociation.GitHubInstallation
message AccountAssociation.GitHubInstallation
  1 installation_id int64
  2 name string
enum OrgKind
  ORG_KIND_UNSPECIFIED 0
  ORG_KIND_STARTER 1
  ORG_KIND_CUSTOMER 2
  ORG_KIND_DEV 3
  ORG_KIND_INFRA 4
  ORG_KIND_AWS_MARKETPLACE 5
enum OrgStatus
  ORG_STATUS_UNSPECIFIED 0
  ORG_STATUS_INITIALIZING 1
  ORG_STATUS_READY 2
  ORG_STATUS_SUSPENDED 3
enum ServicePrincipal
  SERVICE_PRINCIPAL_UNSPECIFIED 0
  SERVICE_PRINCIPAL_COSIGNED 1
  SERVICE_PRINCIPAL_INGESTER 2
  SERVICE_PRINCIPAL_CATALOG_SYNCER 3
  SERVICE_PRINCIPAL_APKO_BUILDER 4
  SERVICE_PRINCIPAL_ENTITLEMENT_SYNCER 5
  SERVICE_PRINCIPAL_TENANT_SCANNER 6
  SERVICE_PRINCIPAL_SEDIMENTOLOGY 7
  SERVICE_PRINCIPAL_SKILLUP 8
  SERVICE_PRINCIPAL_MATERIALIZER 9
  SERVICE_PRINCIPAL_MICROFLOW 10
  SERVICE_PRINCIPAL_GUARDENER 11
  SERVICE_PRINCIPAL_MICROVM 12
  SERVICE_PRINCIPAL_SKILLS 13
enum RelationshipType
  RELATIONSHIP_TYPE_UNSPECIFIED 0
  RELATIONSHIP_TYPE_CLAIM_MATCH 1
  RELATIONSHIP_TYPE_STATIC 2
  RELATIONSHIP_TYPE_AWS_IDENTITY 3
  RELATIONSHIP_TYPE_SERVICE_PRINCIPAL 4
enum AccountProviderType
  ACCOUNT_PROVIDER_TYPE_UNSPECIFIED 0
  ACCOUNT_PROVIDER_TYPE_GOOGLE 1
  ACCOUNT_PROVIDER_TYPE_AMAZON 2
  ACCOUNT_PROVIDER_TYPE_AZURE 3
enum CheckStatus
  CHECK_STATUS_UNSPECIFIED 0
  CHECK_STATUS_READY 1
  CHECK_STATUS_NOT_READY 2
enum IdentityProvider.OIDC.CorrelationRule
  CORRELATION_RULE_UNSPECIFIED 0
  CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID 1
  CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID 2
enum IdentityProvider.SCIM.CredentialState
  CREDENTIAL_STATE_UNSPECIFIED 0
  CREDENTIAL_STATE_NOT_ISSUED 1
  CREDENTIAL_STATE_LIVE 2
  CREDENTIAL_STATE_EXPIRED 3
  CREDENTIAL_STATE_REVOKED 4
  CREDENTIAL_STATE_ROTATING 5
package ${VENDOR_TYPES}.registry.v2beta1
message Repo
  1 uid string readonly
  2 name string
  3 description string
  4 catalog_tier enum CatalogTier
  5 bundles []string
  7 aliases []string
  8 active_tags []string
  9 sync_config=sync_config SyncConfig
  10 custom_overlay CustomOverlay
  11 create_time timestamp readonly
  12 update_time timestamp readonly
message RepoReadme
  1 uid string readonly
  2 content string
message ListReposRequest
  1 uidp UIDPFilter
  2 name string optional
  4 page_size int32
  5 page_token string
  6 order_by string
  7 skip int32
message Tag
  1 uid string readonly
  2 name string
  3 digest string
  4 update_time timestamp readonly
  5 deprecated bool
  6 bundles []string
message ListTagsRequest
  1 uidp UIDPFilter
  2 name string
  3 updated_since timestamp
  4 include_referrers bool
  5 include_dates bool
  6 include_epochs bool
  7 digest string
  10 page_size int32
  11 page_token string
  12 order_by string
  13 skip int32
message Size
  1 size int64
  2 architecture string
message GetSizeRequest
  1 repo_uid string
  2 digest string
  3 architecture string
message Architectures
  1 architectures []string
message GetArchitecturesRequest
  1 repo_uid string
  2 digest string
message SyncConfig
  1 source string
  2 unique_tags bool readonly
  3 expiration_time timestamp readonly
  4 google string
  5 amazon string
  6 azure string
  7 apko_overlay string readonly
  8 grace_period bool readonly
message CustomOverlay
  1 contents CustomOverlay.ImageContents
  2 environment map<string,string>
  3 annotations map<string,string>
  4 accounts CustomOverlay.Accounts
  5 certificates CustomOverlay.Certificates
message CustomOverlay.ImageContents
  1 packages []string
  2 runtime_repositories []string
  3 runtime_keyring []CustomOverlay.ImageContents.RuntimeKeyringEntry
message CustomOverlay.Accounts
  1 run_as string
  2 users []CustomOverlay.Accounts.User
  3 groups []CustomOverlay.Accounts.Group
message CustomOverlay.Certificates
  1 additional []CustomOverlay.Certificates.AdditionalEntry
  2 providers []string
message CustomOverlay.ImageContents.RuntimeKeyringEntry
  1 name string
  2 content string
message CustomOverlay.Accounts.User
  1 username string
  2 uid int32
  3 gid int32
  4 group_name string
  5 shell string
  6 home_dir string
message CustomOverlay.Accounts.Group
  1 groupname string
  2 gid int32
  3 members []string
message CustomOverlay.Certificates.AdditionalEntry
  1 name string
  2 content string
enum CatalogTier
  CATALOG_TIER_UNSPECIFIED 0
  CATALOG_TIER_APPLICATION 1
  CATALOG_TIER_BASE 2
  CATALOG_TIER_FIPS 3
  CATALOG_TIER_AI 4
  CATALOG_TIER_DEVTOOLS 5
  CATALOG_TIER_COMMERCIAL 6
package ${VENDOR_TYPES}.vulnerabilities.v2beta1
message Advisory
  1 uid string readonly
  2 advisory_id string readonly
  3 create_time timestamp readonly
  4 update_time timestamp readonly
  5 delete_time timestamp optional readonly
  6 author string
  7 artifact_name string
  8 artifact_type string
  9 artifact_architecture string
  10 component_name string
  11 component_location string
  12 component_type string
  13 aliases []string
  14 events []AdvisoryEvent
  15 legacy_advisory_id string optional readonly
  16 severities []Severity readonly
message ListAdvisoriesRequest
  1 uidp UIDPFilter
  2 advisory_ids []string
  3 legacy_advisory_ids []string
  4 artifact_names []string
  5 artifact_types []string
  6 artifact_architectures []string
  7 component_names []string
  8 component_types []string
  9 component_locations []string
  10 aliases []string
  11 origin string optional
  21 event_review_states []enum ReviewState
  22 event_authors []string
  23 exclude_event_authors []string
  24 event_reviewers []string
  25 event_types []enum EventTypeFilter
  26 latest_event_type enum EventTypeFilter optional
  30 page_size int32
  31 page_token string
  32 order_by string
  34 skip int32
  35 query string
message AdvisoryEvent
  1 uid string readonly
  2 create_time timestamp readonly
  3 findings bytes
  4 author string
  5 reviewer string
  6 review_state enum ReviewState
  7 issue string optional
  10 detection AdvisoryEvent.Detection in type
  11 fixed AdvisoryEvent.Fixed in type
  12 false_positive_determination AdvisoryEvent.FalsePositiveDetermination in type
  13 analysis_not_planned AdvisoryEvent.AnalysisNotPlanned in type
  14 fix_not_planned AdvisoryEvent.FixNotPlanned in type
  15 pending_upstream_fix AdvisoryEvent.PendingUpstreamFix in type
  16 true_positive_determination AdvisoryEvent.TruePositiveDetermination in type
  17 patched AdvisoryEvent.Patched in type
message Severity
  1 type enum Severity.Type
  2 score string
message AdvisoryEvent.Detection
  1 nvdapi AdvisoryEvent.Detection.NVDAPI in type
  2 manual AdvisoryEvent.Detection.Manual in type
  3 scanv1 AdvisoryEvent.Detection.ScanV1 in type
message AdvisoryEvent.Fixed
  1 fixed_version string
  2 note string
  3 scanner_version string
  4 grype_db_built string
  5 grype_db_checksum string
message AdvisoryEvent.FalsePositiveDetermination
  1 type enum AdvisoryEvent.FalsePositiveDetermination.Type
  2 note string
message AdvisoryEvent.AnalysisNotPlanned
  1 note string
message AdvisoryEvent.FixNotPlanned
  1 note string
message AdvisoryEvent.PendingUpstreamFix
  1 note string
message AdvisoryEvent.TruePositiveDetermination
  1 note string
message AdvisoryEvent.Patched
  1 patched_versions []string
  2 note string
message AdvisoryEvent.Detection.NVDAPI
  1 cpe_searched string
  2 cpe_found string
message AdvisoryEvent.Detection.Manual
message AdvisoryEvent.Detection.ScanV1
  1 scanner string
  2 subpackage string
  3 component_id string
  4 component string
  5 component_version string
  6 component_type string
  7 component_location string
  8 artifact_version string
  9 scanner_version string
  10 grype_db_built string
  11 grype_db_checksum string
enum ReviewState
  REVIEW_STATE_UNSPECIFIED 0
  REVIEW_STATE_PENDING 1
  REVIEW_STATE_APPROVED 2
  REVIEW_STATE_REQUEST_CHANGES 3
  REVIEW_STATE_REJECTED 4
enum EventTypeFilter
  EVENT_TYPE_FILTER_UNSPECIFIED 0
  EVENT_TYPE_FILTER_DETECTION 1
  EVENT_TYPE_FILTER_TRUE_POSITIVE_DETERMINATION 2
  EVENT_TYPE_FILTER_FIXED 3
  EVENT_TYPE_FILTER_FALSE_POSITIVE_DETERMINATION 4
  EVENT_TYPE_FILTER_ANALYSIS_NOT_PLANNED 5
  EVENT_TYPE_FILTER_FIX_NOT_PLANNED 6
  EVENT_TYPE_FILTER_PENDING_UPSTREAM_FIX 7
  EVENT_TYPE_FILTER_PATCHED 8
enum Severity.Type
  TYPE_UNSPECIFIED 0
  TYPE_CVSS_V2 1
  TYPE_CVSS_V3 2
  TYPE_CVSS_V4 3
enum AdvisoryEvent.FalsePositiveDetermination.Type
  TYPE_UNSPECIFIED 0
  TYPE_VULNERABILITY_RECORD_ANALYSIS_CONTESTED 1
  TYPE_COMPONENT_VULNERABILITY_MISMATCH 2
  TYPE_VULNERABLE_CODE_VERSION_NOT_USED 3
  TYPE_VULNERABLE_CODE_NOT_INCLUDED_IN_PACKAGE 4
  TYPE_VULNERABLE_CODE_NOT_IN_EXECUTION_PATH 5
  TYPE_VULNERABLE_CODE_CANNOT_BE_CONTROLLED_BY_ADVERSARY 6
  TYPE_INLINE_MITIGATIONS_EXIST 7
package ${VENDOR_TYPES}.common
message UIDPFilter
  1 ancestors_of string
  2 descendants_of string
  3 children_of string
  4 in_root bool
  5 ids []string
`;
