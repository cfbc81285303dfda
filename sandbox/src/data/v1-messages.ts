/**
 * The messages and enums of native v1. `wire/schema.ts` reads them and explains the notation.
 * `unpublished` marks times that the published messages do not have; `recordTimes` decides whether records show them.
 */
import { VENDOR_KEY, VENDOR_MESSAGE, VENDOR_TYPES } from "./vendor.ts";

export const V1_MESSAGES = `
package ${VENDOR_TYPES}.iam
message Group
  1 id string
  2 name string
  3 description string
  4 resource_limits map<string,int32>
  5 verified bool
  6 kind enum OrgKind
  7 status enum OrgStatus
  created_at timestamp unpublished
  updated_at timestamp unpublished
message GroupFilter
  1 id string
  2 uidp UIDPFilter
  3 name string
message Identity
  1 id string
  2 name string
  3 description string
  4 created_at timestamp
  5 updated_at timestamp
  9 last_seen timestamp
  10 claim_match Identity.ClaimMatch in relationship
  11 static Identity.StaticKeys in relationship
  12 service_principal enum ServicePrincipal in relationship
  13 aws_identity Identity.AWSIdentity in relationship
message IdentityFilter
  1 uidp UIDPFilter
  2 id string
message LookupRequest
  1 issuer string
  2 subject string
message RequestGroupAccessRequest
  1 group_id string
message RequestGroupAccessResponse
message Role
  1 id string
  2 name string
  3 description string
  4 capabilities []string
  created_at timestamp unpublished
  updated_at timestamp unpublished
message InviteRole as Role
  1 id string
  2 name string
  3 description string
  4 capabilities []string
message RoleFilter
  1 id string
  2 name string
  3 parent string
  4 uidp UIDPFilter
message RoleBinding
  1 id string
  2 identity string
  3 group string
  4 role string
message RoleBindingList.Binding
  1 id string
  2 group Group
  3 identity string
  4 role Role
  5 email string
  6 claim_match_issuer string
  7 claim_match_subject string
  8 created_at timestamp
  9 email_unverified string
message RoleBindingFilter
  1 id string
  2 uidp UIDPFilter
message RoleBindingBatch
  1 role_bindings []RoleBinding
message IdentityProvider
  1 id string
  2 name string
  3 description string
  4 default_role string
  20 oidc IdentityProvider.OIDC in configuration
  21 scim IdentityProvider.SCIM
  created_at timestamp unpublished
  updated_at timestamp unpublished
message IdentityProviderFilter
  1 id string
  2 name string
  3 uidp UIDPFilter
message AccountAssociations
  1 group string
  2 amazon AccountAssociations.Amazon
  3 google AccountAssociations.Google
  7 ${VENDOR_KEY} AccountAssociations.${VENDOR_MESSAGE}
  8 azure AccountAssociations.Azure
  4 name string
  5 description string
  9 github AccountAssociations.GitHub
  created_at timestamp unpublished
  updated_at timestamp unpublished
message AccountAssociationsFilter
  1 group string
  2 name string
message AccountAssociationsCheckRequest
  1 group string
  2 account_type enum AccountAssociationsCheckRequest.AccountType
message AccountAssociationsStatus
  1 ready enum AccountAssociationsStatus.State
  2 reason string
  3 message string
message GroupInviteRequest
  1 group string
  2 ttl duration
  3 role string
  4 email string
  5 single_use bool
message GroupInvite
  1 id string
  2 expiration timestamp
  3 key_id string
  4 role InviteRole
  5 code string
message StoredGroupInvite
  1 id string
  2 expiration timestamp
  3 key_id string
  4 role InviteRole
  5 email string
  6 created_at timestamp
  7 single_use bool
message GroupInviteFilter
  1 group string
  2 id string
  3 key_id string
message LookupGroupRequest
message LookupGroupResponse
  1 group Group
message CheckEligibilityResponse
  1 eligible bool
message GenerateScimTokenRequest
  1 identity_provider_id string
  2 expire_time timestamp
  3 never_expires bool
message GenerateScimTokenResponse
  1 token string
  2 endpoint_url string
  3 expire_time timestamp
  4 identity_provider_id string
  5 etag string
message RegenerateScimTokenRequest
  1 identity_provider_id string
  2 overlap duration
  3 expire_time timestamp
  4 etag string
  5 never_expires bool
message RegenerateScimTokenResponse
  1 token string
  2 endpoint_url string
  3 expire_time timestamp
  4 identity_provider_id string
  5 etag string
  6 previous_token_expire_time timestamp
  7 requested_overlap duration
message RevokeScimTokenRequest
  1 identity_provider_id string
message RevokeScimTokenResponse
  1 identity_provider_id string
  2 etag string
  3 enabled bool
  4 revoke_time timestamp
message SetScimEnabledRequest
  1 identity_provider_id string
  2 enabled bool
  3 etag string
message SetScimEnabledResponse
  1 identity_provider_id string
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
  4 issuer_keys string
  5 expiration timestamp
  6 audiences []string
message Identity.AWSIdentity
  1 aws_account string
  3 arn string in aws_arn
  4 arn_pattern string in aws_arn
  5 user_id string in aws_user_id
  6 user_id_pattern string in aws_user_id
message IdentityProvider.OIDC
  1 issuer string
  2 client_id string
  3 client_secret string
  4 additional_scopes []string
  5 groups_claim string
  6 correlation_rule enum IdentityProvider.OIDC.CorrelationRule
  7 pkce_enabled bool
message IdentityProvider.SCIM
  1 enabled bool
  3 endpoint_url string
  4 token_expire_time timestamp
  5 previous_token_expire_time timestamp
  6 credential_state enum IdentityProvider.SCIM.CredentialState
  7 etag string
message AccountAssociations.Amazon
  1 account string
message AccountAssociations.Google
  1 project_id string
  2 project_number string
message AccountAssociations.${VENDOR_MESSAGE}
  1 service_bindings map<string,string>
message AccountAssociations.Azure
  1 tenant_id string
  2 client_ids map<string,string>
message AccountAssociations.GitHub
  2 app_installations map<int64,AccountAssociations.GitHubAppInstallations>
message AccountAssociations.GitHubAppInstallations
  1 installations []AccountAssociations.GitHubInstallation
message AccountAssociations.GitHubInstallation
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
  UNKNOWN 0
  COSIGNED 1
  INGESTER 2
  CATALOG_SYNCER 3
  APKO_BUILDER 4
  ENTITLEMENT_SYNCER 5
  TENANT_SCANNER 6
  SEDIMENTOLOGY 7
  SKILLUP 8
  MATERIALIZER 9
  MICROFLOW 10
  GUARDENER 11
  MICROVM 12
  SKILLS 13
enum AccountAssociationsCheckRequest.AccountType
  UNKNOWN 0
  GOOGLE 1
  AMAZON 2
  AZURE 3
enum AccountAssociationsStatus.State
  UNKNOWN 0
  Ready 1
  NotReady 2
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
package ${VENDOR_TYPES}.events
message IdentityMetadata
  1 onboarding_questions IdentityMetadata.OnboardingQuestions
  2 name string
  4 given_name string
  5 family_name string
  3 updatesOptIn bool
message IdentityMetadata.OnboardingQuestions
  1 company_name string
  2 providers []string
  3 product string
  4 job_title string
  7 utm_campaign string
  8 utm_content string
  9 utm_medium string
  10 utm_source string
  11 utm_term string
  12 latest_form_submit_url string
  13 latest_internal_referring_url string
  14 hubspot_utk string
  15 self_serve bool
package ${VENDOR_TYPES}.registry
message Repo
  1 id string
  2 name string
  3 catalog_tier enum CatalogTier
  4 bundles []string
  5 readme string
  6 sync_config=sync_config SyncConfig
  7 custom_overlay CustomOverlay
  8 aliases []string
  9 create_time timestamp
  10 active_tags []string
  11 description string
  created_at timestamp unpublished
  updated_at timestamp unpublished
message RepoFilter
  1 uidp UIDPFilter
  2 name string
  3 id string
message CreateRepoRequest
  1 parent_id string
  2 repo Repo
  3 prevent_existing bool
message Tag
  1 id string
  2 name string
  3 digest string
  4 last_updated timestamp
  5 deprecated bool
  6 bundles []string
  updated_at timestamp unpublished
message TagFilter
  1 uidp UIDPFilter
  2 name string
  3 updated_since timestamp
  6 exclude_referrers bool
  7 exclude_dates bool
  8 exclude_epochs bool
  9 id string
  10 digest string
message Size
  1 size int64
  2 arch string
message SizeRequest
  1 repo_id string
  2 digest string
  3 arch string
message Archs
  1 archs []string
message ArchRequest
  1 repo_id string
  2 digest string
message GetRepoTagsSummaryRequest
  1 repo_id string
  2 exclude_referrers bool
  3 exclude_dates bool
  4 exclude_epochs bool
message RepoTagsSummary
  1 id string
  2 tag_count int64
  3 last_updated timestamp
  4 latest_tag Tag
  5 latest_version string
message SyncConfig
  1 source string
  2 unique_tags bool
  3 expiration timestamp
  4 google string
  5 amazon string
  6 azure string
  7 sync_apks bool
  8 apko_overlay string
  9 grace_period bool
message CustomOverlay
  1 contents ImageContents
  2 environment map<string,string>
  3 annotations map<string,string>
  4 accounts ApkoConfig.Accounts
  15 certificates CustomOverlay.Certificates
message ImageContents
  1 packages []string
  2 runtime_repositories []string
  3 runtime_keyring []ImageContents.RuntimeKeyringEntry
message ApkoConfig.Accounts
  1 groups []ApkoConfig.Accounts.Group
  2 users []ApkoConfig.Accounts.User
  3 run_as string
message CustomOverlay.Certificates
  1 additional []CustomOverlay.Certificates.AdditionalEntry
  2 providers []string
message ImageContents.RuntimeKeyringEntry
  1 name string
  2 content string
message ApkoConfig.Accounts.Group
  1 gid uint32
  2 group_name string
  3 members []string
message ApkoConfig.Accounts.User
  1 uid uint32
  2 user_name string
  3 gid uint32 optional
  4 group_name string
  5 shell string
  6 home_dir string
message CustomOverlay.Certificates.AdditionalEntry
  1 name string
  2 content string
enum CatalogTier
  UNKNOWN 0
  APPLICATION 4
  BASE 5
  FIPS 6
  AI 7
  DEVTOOLS 8
  COMMERCIAL 9
package ${VENDOR_TYPES}.vulnerabilities.v1
message Advisory
  1 id string
  2 artifact_type string
  3 artifact_name string
  5 artifact_architecture string
  6 component_name string optional
  7 component_location string optional
  8 component_type string optional
  10 created_at timestamp
  11 updated_at timestamp
  12 deleted_at timestamp optional
  13 aliases []string
  14 events []AdvisoryEvent
  15 advisory_id string
  16 author string
  19 legacyAdvisoryID string optional
message AdvisoryFilter
  23 advisory_ids []string
  24 legacy_advisory_ids []string
  17 id string
  16 uidp UIDPFilter
  2 artifact_type []string
  3 artifact_name []string
  5 component_name []string
  6 component_type []string
  20 component_location []string
  7 aliases []string
  8 artifact_architecture []string
  9 page_token string
  10 page_size int64
  11 event_statuses []enum ReviewStatus
  12 event_author []string
  18 event_reviewer []string
  13 event_types []enum EventTypeFilter
  14 order_by enum OrderBy
  15 exclude_event_author []string
  19 latest_event_type enum EventTypeFilter optional
  22 origin string optional
message CreateAdvisoryRequest
  1 parent_id string
  2 advisory Advisory
message CreateAdvisoryEventRequest
  1 parent_id string
  3 advisory_event AdvisoryEvent
message AdvisoryEventList
  1 parent_id string
  2 items []AdvisoryEvent
message AdvisoryEventFilter
  1 parent_id string
message AdvisoryEvent
  1 id string
  2 timestamp timestamp
  3 detection AdvisoryEvent.Detection in type
  4 fixed AdvisoryEvent.Fixed in type
  5 false_positive_determination AdvisoryEvent.FalsePositiveDetermination in type
  6 analysis_not_planned AdvisoryEvent.AnalysisNotPlanned in type
  7 fix_not_planned AdvisoryEvent.FixNotPlanned in type
  8 pending_upstream_fix AdvisoryEvent.PendingUpstreamFix in type
  9 true_positive_determination AdvisoryEvent.TruePositiveDetermination in type
  15 patched AdvisoryEvent.Patched in type
  16 component_location_changed AdvisoryEvent.ComponentLocationChanged in type
  10 findings bytes
  11 author string
  12 reviewer string
  13 status enum ReviewStatus
  14 issue string optional
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
message AdvisoryEvent.ComponentLocationChanged
  1 previous_location string
  2 new_location string
  3 note string
message AdvisoryEvent.Detection.NVDAPI
  1 cpe_searched string
  2 cpe_found string
message AdvisoryEvent.Detection.Manual
message AdvisoryEvent.Detection.ScanV1
  1 scanner string
  2 subpackage_name string
  3 component_id string
  4 component_name string
  5 component_version string
  6 component_type string
  7 component_location string
  8 artifact_version string
  9 scanner_version string
  10 grype_db_built string
  11 grype_db_checksum string
enum ReviewStatus
  UNKNOWN 0
  PENDING 1
  APPROVED 2
  REQUEST_CHANGES 3
  REJECTED 4
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
  EVENT_TYPE_FILTER_COMPONENT_LOCATION_CHANGED 9
enum OrderBy
  ORDER_BY_UNSPECIFIED 0
  ID_ASC 1
  ID_DESC 2
  CREATED_AT_ASC 3
  CREATED_AT_DESC 4
  ALIASES_ASC 5
  ALIASES_DESC 6
  UPDATED_AT_ASC 7
  UPDATED_AT_DESC 8
  DELETED_AT_ASC 9
  DELETED_AT_DESC 10
enum AdvisoryEvent.FalsePositiveDetermination.Type
  UNSPECIFIED 0
  VULNERABILITY_RECORD_ANALYSIS_CONTESTED 1
  COMPONENT_VULNERABILITY_MISMATCH 2
  VULNERABLE_CODE_VERSION_NOT_USED 3
  VULNERABLE_CODE_NOT_INCLUDED_IN_PACKAGE 4
  VULNERABLE_CODE_NOT_IN_EXECUTION_PATH 5
  VULNERABLE_CODE_CANNOT_BE_CONTROLLED_BY_ADVERSARY 6
  INLINE_MITIGATIONS_EXIST 7
package ${VENDOR_TYPES}.common
message UIDPFilter
  1 ancestors_of string
  2 descendants_of string
  3 children_of string
  4 in_root bool
  5 ids []string
`;
