/**
 * The messages and enums of native v1. `wire/schema.ts` reads them and explains the notation.
 * `unpublished` marks times that the published messages do not have; `recordTimes` decides whether records show them.
 */
import { VENDOR_KEY } from "./vendor.ts";

export const V1_MESSAGES = `
message Group
  id string
  name string
  description string
  resource_limits map<string,int32>
  verified bool
  kind enum OrgKind
  status enum OrgStatus
  created_at timestamp unpublished
  updated_at timestamp unpublished
message GroupFilter
  id string
  uidp UIDPFilter
  name string
message Identity
  id string
  name string
  description string
  created_at timestamp
  updated_at timestamp
  last_seen timestamp
  claim_match Identity.ClaimMatch in relationship
  static Identity.StaticKeys in relationship
  service_principal enum ServicePrincipal in relationship
  aws_identity Identity.AWSIdentity in relationship
message IdentityFilter
  uidp UIDPFilter
  id string
message LookupRequest
  issuer string
  subject string
message IdentityMetadata
  onboarding_questions IdentityMetadata.OnboardingQuestions
  name string
  given_name string
  family_name string
  updatesOptIn bool
message IdentityMetadata.OnboardingQuestions
  company_name string
  providers []string
  product string
  job_title string
  utm_campaign string
  utm_content string
  utm_medium string
  utm_source string
  utm_term string
  latest_form_submit_url string
  latest_internal_referring_url string
  hubspot_utk string
  self_serve bool
message RequestGroupAccessRequest
  group_id string
message RequestGroupAccessResponse
message Role
  id string
  name string
  description string
  capabilities []string
  created_at timestamp unpublished
  updated_at timestamp unpublished
message InviteRole
  id string
  name string
  description string
  capabilities []string
message RoleFilter
  id string
  name string
  parent string
  uidp UIDPFilter
message RoleBinding
  id string
  identity string
  group string
  role string
message RoleBindingList.Binding
  id string
  group Group
  identity string
  role Role
  email string
  claim_match_issuer string
  claim_match_subject string
  created_at timestamp
  email_unverified string
message RoleBindingFilter
  id string
  uidp UIDPFilter
message RoleBindingBatch
  role_bindings []RoleBinding
message IdentityProvider
  id string
  name string
  description string
  default_role string
  oidc IdentityProvider.OIDC in configuration
  scim IdentityProvider.SCIM
  created_at timestamp unpublished
  updated_at timestamp unpublished
message IdentityProviderFilter
  id string
  name string
  uidp UIDPFilter
message AccountAssociations
  group string
  amazon AccountAssociations.Amazon
  google AccountAssociations.Google
  ${VENDOR_KEY} AccountAssociations.Vendor
  azure AccountAssociations.Azure
  name string
  description string
  github AccountAssociations.GitHub
  created_at timestamp unpublished
  updated_at timestamp unpublished
message AccountAssociationsFilter
  group string
  name string
message AccountAssociationsCheckRequest
  group string
  account_type enum AccountAssociationsCheckRequest.AccountType
message AccountAssociationsStatus
  ready enum AccountAssociationsStatus.State
  reason string
  message string
message GroupInviteRequest
  group string
  ttl duration
  role string
  email string
  single_use bool
message GroupInvite
  id string
  expiration timestamp
  key_id string
  role InviteRole
  code string
message StoredGroupInvite
  id string
  expiration timestamp
  key_id string
  role InviteRole
  email string
  created_at timestamp
  single_use bool
message GroupInviteFilter
  group string
  id string
  key_id string
message Repo
  id string
  name string
  catalog_tier enum CatalogTier
  bundles []string
  readme string
  sync_config=sync_config SyncConfig
  custom_overlay CustomOverlay
  aliases []string
  create_time timestamp
  active_tags []string
  description string
  created_at timestamp unpublished
  updated_at timestamp unpublished
message RepoFilter
  uidp UIDPFilter
  name string
  id string
message CreateRepoRequest
  parent_id string
  repo Repo
  prevent_existing bool
message Tag
  id string
  name string
  digest string
  last_updated timestamp
  deprecated bool
  bundles []string
  updated_at timestamp unpublished
message TagFilter
  uidp UIDPFilter
  name string
  updated_since timestamp
  exclude_referrers bool
  exclude_dates bool
  exclude_epochs bool
  id string
  digest string
message Advisory
  id string
  artifact_type string
  artifact_name string
  artifact_architecture string
  component_name string optional
  component_location string optional
  component_type string optional
  created_at timestamp
  updated_at timestamp
  deleted_at timestamp optional
  aliases []string
  events []AdvisoryEvent
  advisory_id string
  author string
  legacyAdvisoryID string optional
message AdvisoryFilter
  advisory_ids []string
  legacy_advisory_ids []string
  id string
  uidp UIDPFilter
  artifact_type []string
  artifact_name []string
  component_name []string
  component_type []string
  component_location []string
  aliases []string
  artifact_architecture []string
  page_token string
  page_size int64
  event_statuses []enum ReviewStatus
  event_author []string
  event_reviewer []string
  event_types []enum EventTypeFilter
  order_by enum OrderBy
  exclude_event_author []string
  latest_event_type enum EventTypeFilter optional
  origin string optional
message UIDPFilter
  ancestors_of string
  descendants_of string
  children_of string
  in_root bool
  ids []string
message LookupGroupRequest
message LookupGroupResponse
  group Group
message CheckEligibilityResponse
  eligible bool
message GenerateScimTokenRequest
  identity_provider_id string
  expire_time timestamp
  never_expires bool
message GenerateScimTokenResponse
  token string
  endpoint_url string
  expire_time timestamp
  identity_provider_id string
  etag string
message RegenerateScimTokenRequest
  identity_provider_id string
  overlap duration
  expire_time timestamp
  etag string
  never_expires bool
message RegenerateScimTokenResponse
  token string
  endpoint_url string
  expire_time timestamp
  identity_provider_id string
  etag string
  previous_token_expire_time timestamp
  requested_overlap duration
message RevokeScimTokenRequest
  identity_provider_id string
message RevokeScimTokenResponse
  identity_provider_id string
  etag string
  enabled bool
  revoke_time timestamp
message SetScimEnabledRequest
  identity_provider_id string
  enabled bool
  etag string
message SetScimEnabledResponse
  identity_provider_id string
  enabled bool
  etag string
message Size
  size int64
  arch string
message SizeRequest
  repo_id string
  digest string
  arch string
message Archs
  archs []string
message ArchRequest
  repo_id string
  digest string
message GetRepoTagsSummaryRequest
  repo_id string
  exclude_referrers bool
  exclude_dates bool
  exclude_epochs bool
message RepoTagsSummary
  id string
  tag_count int64
  last_updated timestamp
  latest_tag Tag
  latest_version string
message CreateAdvisoryRequest
  parent_id string
  advisory Advisory
message CreateAdvisoryEventRequest
  parent_id string
  advisory_event AdvisoryEvent
message AdvisoryEventList
  parent_id string
  items []AdvisoryEvent
message AdvisoryEventFilter
  parent_id string
message Identity.ClaimMatch
  issuer string in iss
  issuer_pattern string in iss
  subject string in sub
  subject_pattern string in sub
  audience string in aud
  audience_pattern string in aud
  claims map<string,string>
  claim_patterns map<string,string>
message Identity.StaticKeys
  issuer string
  subject string
  issuer_keys string
  expiration timestamp
  audiences []string
message Identity.AWSIdentity
  aws_account string
  arn string in aws_arn
  arn_pattern string in aws_arn
  user_id string in aws_user_id
  user_id_pattern string in aws_user_id
message IdentityProvider.OIDC
  issuer string
  client_id string
  client_secret string
  additional_scopes []string
  groups_claim string
  correlation_rule enum IdentityProvider.OIDC.CorrelationRule
  pkce_enabled bool
message IdentityProvider.SCIM
  enabled bool
  endpoint_url string
  token_expire_time timestamp
  previous_token_expire_time timestamp
  credential_state enum IdentityProvider.SCIM.CredentialState
  etag string
message AccountAssociations.Amazon
  account string
message AccountAssociations.Google
  project_id string
  project_number string
message AccountAssociations.Vendor
  service_bindings map<string,string>
message AccountAssociations.Azure
  tenant_id string
  client_ids map<string,string>
message AccountAssociations.GitHub
  app_installations map<int64,AccountAssociations.GitHubAppInstallations>
message SyncConfig
  source string
  unique_tags bool
  expiration timestamp
  google string
  amazon string
  azure string
  sync_apks bool
  apko_overlay string
  grace_period bool
message CustomOverlay
  contents ImageContents
  environment map<string,string>
  annotations map<string,string>
  accounts ApkoConfig.Accounts
  certificates CustomOverlay.Certificates
message AdvisoryEvent
  id string
  timestamp timestamp
  detection AdvisoryEvent.Detection in type
  fixed AdvisoryEvent.Fixed in type
  false_positive_determination AdvisoryEvent.FalsePositiveDetermination in type
  analysis_not_planned AdvisoryEvent.AnalysisNotPlanned in type
  fix_not_planned AdvisoryEvent.FixNotPlanned in type
  pending_upstream_fix AdvisoryEvent.PendingUpstreamFix in type
  true_positive_determination AdvisoryEvent.TruePositiveDetermination in type
  patched AdvisoryEvent.Patched in type
  component_location_changed AdvisoryEvent.ComponentLocationChanged in type
  findings bytes
  author string
  reviewer string
  status enum ReviewStatus
  issue string optional
message AccountAssociations.GitHubAppInstallations
  installations []AccountAssociations.GitHubInstallation
message ImageContents
  packages []string
  runtime_repositories []string
  runtime_keyring []ImageContents.RuntimeKeyringEntry
message ApkoConfig.Accounts
  groups []ApkoConfig.Accounts.Group
  users []ApkoConfig.Accounts.User
  run_as string
message CustomOverlay.Certificates
  additional []CustomOverlay.Certificates.AdditionalEntry
  providers []string
message AdvisoryEvent.Detection
  nvdapi AdvisoryEvent.Detection.NVDAPI in type
  manual AdvisoryEvent.Detection.Manual in type
  scanv1 AdvisoryEvent.Detection.ScanV1 in type
message AdvisoryEvent.Fixed
  fixed_version string
  note string
  scanner_version string
  grype_db_built string
  grype_db_checksum string
message AdvisoryEvent.FalsePositiveDetermination
  type enum AdvisoryEvent.FalsePositiveDetermination.Type
  note string
message AdvisoryEvent.AnalysisNotPlanned
  note string
message AdvisoryEvent.FixNotPlanned
  note string
message AdvisoryEvent.PendingUpstreamFix
  note string
message AdvisoryEvent.TruePositiveDetermination
  note string
message AdvisoryEvent.Patched
  patched_versions []string
  note string
message AdvisoryEvent.ComponentLocationChanged
  previous_location string
  new_location string
  note string
message AccountAssociations.GitHubInstallation
  installation_id int64
  name string
message ImageContents.RuntimeKeyringEntry
  name string
  content string
message ApkoConfig.Accounts.Group
  gid uint32
  group_name string
  members []string
message ApkoConfig.Accounts.User
  uid uint32
  user_name string
  gid uint32 optional
  group_name string
  shell string
  home_dir string
message CustomOverlay.Certificates.AdditionalEntry
  name string
  content string
message AdvisoryEvent.Detection.NVDAPI
  cpe_searched string
  cpe_found string
message AdvisoryEvent.Detection.Manual
message AdvisoryEvent.Detection.ScanV1
  scanner string
  subpackage_name string
  component_id string
  component_name string
  component_version string
  component_type string
  component_location string
  artifact_version string
  scanner_version string
  grype_db_built string
  grype_db_checksum string
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
enum CatalogTier
  UNKNOWN 0
  APPLICATION 4
  BASE 5
  FIPS 6
  AI 7
  DEVTOOLS 8
  COMMERCIAL 9
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
enum AdvisoryEvent.FalsePositiveDetermination.Type
  UNSPECIFIED 0
  VULNERABILITY_RECORD_ANALYSIS_CONTESTED 1
  COMPONENT_VULNERABILITY_MISMATCH 2
  VULNERABLE_CODE_VERSION_NOT_USED 3
  VULNERABLE_CODE_NOT_INCLUDED_IN_PACKAGE 4
  VULNERABLE_CODE_NOT_IN_EXECUTION_PATH 5
  VULNERABLE_CODE_CANNOT_BE_CONTROLLED_BY_ADVERSARY 6
  INLINE_MITIGATIONS_EXIST 7
`;
